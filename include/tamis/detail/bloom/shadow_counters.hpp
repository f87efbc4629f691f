#pragma once

// Counting shadows: each bit of each shadow word is a counter of four bits in slow memory, so that keys can be taken out again.
// The fast table stays as it is: its word has a one where the counter of its set is not zero.

#include <algorithm>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/bits/sticky_counters.hpp"
#include "tamis/detail/bloom/hash_sets.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

class shadow_counters {
 public:
  static result<shadow_counters> make(std::uint64_t blocks, unsigned width, const word_layout& layout) {
    const auto counters = checked_multiply(blocks, std::uint64_t{layout.sets()} * width);
    if (!counters) return failure{"the counters of " + std::to_string(blocks) + " words cannot be addressed"};
    shadow_counters made;
    TAMIS_TRY(made.counters_, sticky_counters<4>::make(*counters));
    return made;
  }

  std::uint64_t bits() const { return counters_.bits(); }

  template <unsigned W>
  bool accepts(std::uint64_t block, const std::uint32_t*, unsigned set, digest d, const word_layout& layout) const {
    bool all = true;
    for_each<W>(block, set, d, layout, [&](std::uint64_t i) { all &= counters_.get(i) != 0; });
    return all;
  }

  template <unsigned W>
  void insert(std::uint64_t block, std::uint32_t* active, digest d, const word_layout& layout) {
    hash_sets<W>(d, layout.selector<W>(active), layout).set_all(active);
    for (unsigned set = 0; set < layout.sets(); ++set) {
      for_each<W>(block, set, d, layout, [this](std::uint64_t i) { counters_.increment(i); });
    }
  }

  // Requires: every set accepts the key.
  template <unsigned W>
  void erase(std::uint64_t block, std::uint32_t* active, digest d, const word_layout& layout) {
    // A key that was never inserted may have two of its places on one counter of 1: lower no counter below zero.
    const auto lower = [this](std::uint64_t i) {
      if (counters_.get(i) != 0) counters_.decrement(i);
    };
    for (unsigned set = 0; set < layout.sets(); ++set) for_each<W>(block, set, d, layout, lower);
    const unsigned set = layout.selector<W>(active);
    hash_sets<W>(d, set, layout).for_each([&](unsigned bit) {
      if (counters_.get(counter<W>(block, set, bit, layout)) == 0) active[bit / 32] &= ~(std::uint32_t{1} << bit % 32);
    });
  }

  template <unsigned W>
  void activate(std::uint64_t block, std::uint32_t* active, unsigned set, const word_layout& layout) {
    for (unsigned lane = 0; lane < W / 32; ++lane) active[lane] = ones<W>(block, set, lane, layout);
    active[W / 32 - 1] |= set;
  }

  template <unsigned W>
  void merge(std::uint64_t block, std::uint32_t* active, const shadow_counters& other, const std::uint32_t*,
             const word_layout& layout) {
    const std::uint64_t first = block * layout.sets() * W;
    for (std::uint64_t i = first; i < first + std::uint64_t{layout.sets()} * W; ++i) counters_.add(i, other.counters_.get(i));
    activate<W>(block, active, layout.selector<W>(active), layout);
  }

  TAMIS_INLINE void prefetch(std::uint64_t, const word_layout&) const {}

  template <unsigned W>
  bool agrees(std::uint64_t block, const std::uint32_t* active, const word_layout& layout) const {
    const unsigned selector = layout.selector<W>(active);
    for (unsigned set = 0; set < layout.sets(); ++set) {
      if (is_wrong((ones<W>(block, set, W / 32 - 1, layout) & (layout.sets() - 1)) != 0)) return false;
    }
    for (unsigned lane = 0; lane < W / 32; ++lane) {
      const std::uint32_t expected = ones<W>(block, selector, lane, layout) | (lane == W / 32 - 1 ? selector : 0);
      if (is_wrong(active[lane] != expected)) return false;
    }
    return true;
  }
  status fits(const block_words& active, const word_layout& layout) const {
    const auto expected = checked_multiply(active.blocks(), std::uint64_t{layout.sets()} * active.width());
    if (is_wrong(counters_.size() != expected)) return failure{"the counters do not fit the words"};
    return {};
  }

  friend bool operator==(const shadow_counters&, const shadow_counters&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.counters_);
  }

 private:
  template <unsigned W>
  TAMIS_INLINE static std::uint64_t counter(std::uint64_t block, unsigned set, unsigned bit, const word_layout& layout) {
    return (block * layout.sets() + set) * W + bit;
  }
  template <unsigned W, class Visit>
  TAMIS_INLINE void for_each(std::uint64_t block, unsigned set, digest d, const word_layout& layout, Visit visit) const {
    hash_sets<W>(d, set, layout).for_each([&](unsigned bit) { visit(counter<W>(block, set, bit, layout)); });
  }
  template <unsigned W>
  std::uint32_t ones(std::uint64_t block, unsigned set, unsigned lane, const word_layout& layout) const {
    return counters_.nonzero_of_32(counter<W>(block, set, lane * 32, layout));
  }

  sticky_counters<4> counters_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
