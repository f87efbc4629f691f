#pragma once

// The words of adaptive Bloom filters (Reviriego, Sánchez-Macián, Rottenstreich and Larrabeiti, "Adaptive one memory access
// Bloom filters", section III): a fast table in which every word is stored by one of S sets of places, named by its selector,
// and a slow table of shadows with the same word by every set. A word may change to another set at any time, since each of its
// shadows holds all of its keys.
//
//   fast   digest.high ──► │ payload by set 2                │ 2 │      all that a lookup reads
//                                     ▲ activate
//   slow   Shadows         │ by set 0 │ by set 1 │ by set 2 │ by set 3 │      written by insert, read by adapt
//
// Shadows is shadow_words, shadow_counters (which can erase) or spare_words. It offers, for the block and its active word:
//
//   accepts(…, set, digest)   may the key be in, by this set?
//   insert(…, digest)         the key is in by every set, and in the active word
//   activate(…, set)          the active word becomes the one of this set
//   merge, agrees             all keys of another table; does the active word belong to its shadows?

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "tamis/detail/bloom/hash_sets.hpp"
#include "tamis/detail/io/archive.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

template <class Shadows>
class switchable_words {
 public:
  // Requires: the layout is one for words of this width.
  static result<switchable_words> make(std::uint64_t blocks, unsigned width, const word_layout& layout) {
    switchable_words made;
    TAMIS_TRY(made.active_, block_words::make(blocks, width));
    TAMIS_TRY(made.shadows_, Shadows::make(blocks, width, layout));
    made.layout_ = layout;
    return made;
  }

  // As many words, without keys.
  result<switchable_words> emptied() const { return make(blocks(), width(), layout_); }

  std::uint64_t blocks() const { return active_.blocks(); }
  unsigned width() const { return active_.width(); }
  const word_layout& layout() const { return layout_; }
  std::uint64_t fast_bits() const { return active_.bits(); }
  std::uint64_t slow_bits() const { return shadows_.bits(); }

  // Algorithm 1. Words of 64 bits, which are the usual ones, have a way of their own that nothing else lengthens.
  TAMIS_INLINE bool may_contain(digest d) const {
    if (width() != 64 || layout_.k() > places_per_seed) [[unlikely]]
      return may_contain_in_any_width(d.high, d.low);
    const std::uint32_t* active = active_.block<64>(active_.block_of(d));
    return hash_sets<64>(d, layout_.selector<64>(active), layout_).all_set_of_one_seed(active);
  }

  // Algorithm 2.
  void insert(digest d) {
    visit_block(d, [&](auto width, std::uint64_t block, std::uint32_t* active) {
      shadows_.template insert<width>(block, active, d, layout_);
    });
  }

  // Takes a key out again.  Requires: every set accepts it.
  void erase(digest d) requires requires(Shadows s, const word_layout& l) { s.template erase<32>(0, nullptr, digest(), l); }
  {
    visit_block(d, [&](auto width, std::uint64_t block, std::uint32_t* active) {
      shadows_.template erase<width>(block, active, d, layout_);
    });
  }

  // Does a set other than the active one say that the key is not in? Then it is not (section III.B). Reads slow memory.
  bool rejected_by_another(digest d) const {
    return active_.with_width([&](auto width) { return first_rejecting<width>(d).has_value(); });
  }

  // Algorithm 3: changes the word of a false positive to the next set that rejects it. False, and no change, if there is none.
  bool adapt(digest d) {
    return active_.with_width([&](auto width) {
      const std::optional<unsigned> set = first_rejecting<width>(d);
      if (set) activate<width>(d, *set);
      return set.has_value();
    });
  }

  // The switch of the paper's evaluation: to the next set, unseen. True if that rejects the key.
  bool adapt_blindly(digest d) {
    return active_.with_width([&](auto width) {
      const std::uint32_t* active = active_.block<width>(active_.block_of(d));
      activate<width>(d, (layout_.selector<width>(active) + 1) & (layout_.sets() - 1));
      return !accepted<width>(active, d, layout_);
    });
  }

  // Requires: same shape.
  void merge(const switchable_words& other) {
    active_.with_width([&](auto width) {
      for (std::uint64_t block = 0; block < blocks(); ++block) {
        shadows_.template merge<width>(block, active_.block<width>(block), other.shadows_,
                                       other.active_.template block<width>(block), layout_);
      }
    });
  }
  bool same_shape(const switchable_words& other) const {
    return blocks() == other.blocks() && width() == other.width() && layout_ == other.layout_;
  }

  // The chance that the word of a key that was never asked for accepts it: a word with X ones in its payload of w - s bits does
  // with (X / (w - s))^k.
  double rate() const {
    return active_.with_width([&](auto width) {
      const unsigned payload = width - layout_.selector_bits();
      std::vector<std::uint64_t> with_ones(width + 1);
      for (std::uint64_t block = 0; block < blocks(); ++block) {
        const std::uint32_t* active = active_.block<width>(block);
        int ones = -std::popcount(layout_.selector<width>(active));
        for (unsigned lane = 0; lane < width / 32; ++lane) ones += std::popcount(active[lane]);
        ++with_ones[static_cast<unsigned>(ones)];
      }
      double sum = 0.0;
      for (unsigned ones = 1; ones <= payload; ++ones) {
        sum += static_cast<double>(with_ones[ones]) * std::pow(static_cast<double>(ones) / payload, layout_.k());
      }
      return sum / static_cast<double>(blocks());
    });
  }

  TAMIS_INLINE void prefetch(digest d) const {
    active_.with_width([&](auto width) { prefetch_read(active_.block<width>(active_.block_of(d))); });
  }
  TAMIS_INLINE void prefetch_insert(digest d) const {
    const std::uint64_t block = active_.block_of(d);
    active_.with_width([&](auto width) { prefetch_write(active_.block<width>(block)); });
    shadows_.prefetch(block, layout_);
  }

  // For batches (batch.hpp).
  template <unsigned W>
  struct view {
    struct probe {
      const std::uint32_t* block;
      std::uint64_t low;  // of the digest
    };

    TAMIS_INLINE probe locate(digest d) const { return {first + reduce(d.high, blocks) * (W / 32), d.low}; }
    TAMIS_INLINE void prefetch(const probe& p) const { prefetch_read(p.block); }
    TAMIS_INLINE bool test(const probe& p) const { return accepted<W>(p.block, {0, p.low}, layout); }

    const std::uint32_t* first;
    std::uint64_t blocks;
    word_layout layout;
  };
  template <class Use>
  void with_view(Use use) const {
    active_.with_width([&](auto width) { use(view<width>{active_.block<width>(0), blocks(), layout_}); });
  }

  friend bool operator==(const switchable_words& a, const switchable_words& b) {
    return a.same_shape(b) && a.active_ == b.active_ && a.shadows_ == b.shadows_;
  }

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.layout_, self.active_, self.shadows_);
  }
  status validate() const {
    TAMIS_CHECK(layout_.fits(width()));
    TAMIS_CHECK(shadows_.fits(active_, layout_));
    return active_.with_width([&](auto width) -> status {
      for (std::uint64_t block = 0; block < blocks(); ++block) {
        if (shadows_.template agrees<width>(block, active_.block<width>(block), layout_)) continue;
        return failure{"word " + std::to_string(block) + " is not the one of its selector"};
      }
      return {};
    });
  }

 private:
  // Takes the digest in two halves: as one it would pass through memory, also on the way of the usual words.
  TAMIS_NOINLINE bool may_contain_in_any_width(std::uint64_t high, std::uint64_t low) const {
    const digest d{high, low};
    return active_.with_width(
        [&](auto width) { return accepted<width>(active_.block<width>(active_.block_of(d)), d, layout_); });
  }

  template <unsigned W>
  TAMIS_INLINE static bool accepted(const std::uint32_t* active, digest d, const word_layout& layout) {
    return hash_sets<W>(d, layout.selector<W>(active), layout).all_set(active);
  }

  template <class Visit>
  TAMIS_INLINE void visit_block(digest d, Visit visit) {
    const std::uint64_t block = active_.block_of(d);
    active_.with_width([&](auto width) { visit(width, block, active_.block<width>(block)); });
  }

  // The first set after the active one, in turn, that rejects the key.
  template <unsigned W>
  std::optional<unsigned> first_rejecting(digest d) const {
    const std::uint64_t block = active_.block_of(d);
    const std::uint32_t* active = active_.block<W>(block);
    for (unsigned step = 1; step < layout_.sets(); ++step) {
      const unsigned set = (layout_.selector<W>(active) + step) & (layout_.sets() - 1);
      if (!shadows_.template accepts<W>(block, active, set, d, layout_)) return set;
    }
    return std::nullopt;
  }

  template <unsigned W>
  void activate(digest d, unsigned set) {
    const std::uint64_t block = active_.block_of(d);
    shadows_.template activate<W>(block, active_.block<W>(block), set, layout_);
  }

  word_layout layout_;
  block_words active_;
  Shadows shadows_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
