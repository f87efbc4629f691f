#pragma once

// Shadows for one memory (section VI of the ABF paper): where fast and slow words lie in the same memory, the word that is in
// use need not be kept a second time. Only the S - 1 others are, each with its selector, and switching swaps two words: one
// write more than with full shadows, and 1/S less memory.
//
// Spare word i keeps its selector as selector ^ (i + 1): zeroed memory is then a valid table (the active words have set 0, the
// spare ones 1 to S - 1), and a large new filter costs nothing before it is used.

#include <algorithm>
#include <cassert>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/bloom/hash_sets.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

class spare_words {
 public:
  static result<spare_words> make(std::uint64_t blocks, unsigned width, const word_layout& layout) {
    const auto words = checked_multiply(blocks, layout.sets() - 1);
    if (!words) return failure{"the spare words of " + std::to_string(blocks) + " words cannot be addressed"};
    spare_words made;
    TAMIS_TRY(made.words_, block_words::make(*words, width));
    return made;
  }

  std::uint64_t bits() const { return words_.bits(); }

  template <unsigned W>
  bool accepts(std::uint64_t block, const std::uint32_t* active, unsigned set, digest d, const word_layout& layout) const {
    return hash_sets<W>(d, set, layout).all_set(word<W>(block, active, set, layout));
  }

  template <unsigned W>
  void insert(std::uint64_t block, std::uint32_t* active, digest d, const word_layout& layout) {
    hash_sets<W>(d, layout.selector<W>(active), layout).set_all(active);
    for (unsigned i = 0; i + 1 < layout.sets(); ++i) {
      hash_sets<W>(d, set_of<W>(block, i, layout), layout).set_all(spare<W>(block, i, layout));
    }
  }

  template <unsigned W>
  void activate(std::uint64_t block, std::uint32_t* active, unsigned set, const word_layout& layout) {
    if (layout.selector<W>(active) == set) return;
    const unsigned i = find<W>(block, set, layout);
    std::uint32_t* wanted = spare<W>(block, i, layout);
    std::swap_ranges(wanted, wanted + W / 32, active);
    active[W / 32 - 1] ^= i + 1;
    wanted[W / 32 - 1] ^= i + 1;
  }

  template <unsigned W>
  void merge(std::uint64_t block, std::uint32_t* active, const spare_words& other, const std::uint32_t* other_active,
             const word_layout& layout) {
    const auto unite = [&](std::uint32_t* mine, unsigned set) {
      const std::uint32_t* theirs = other.word<W>(block, other_active, set, layout);
      for (unsigned lane = 0; lane + 1 < W / 32; ++lane) mine[lane] |= theirs[lane];
      mine[W / 32 - 1] |= theirs[W / 32 - 1] & ~(layout.sets() - 1);
    };
    unite(active, layout.selector<W>(active));
    for (unsigned i = 0; i + 1 < layout.sets(); ++i) unite(spare<W>(block, i, layout), set_of<W>(block, i, layout));
  }

  TAMIS_INLINE void prefetch(std::uint64_t block, const word_layout& layout) const {
    words_.with_width([&](auto width) { prefetch_write(spare<width>(block, 0, layout)); });
  }

  // Is every set there exactly once?
  template <unsigned W>
  bool agrees(std::uint64_t block, const std::uint32_t* active, const word_layout& layout) const {
    std::uint32_t seen = std::uint32_t{1} << layout.selector<W>(active);
    for (unsigned i = 0; i + 1 < layout.sets(); ++i) seen |= std::uint32_t{1} << set_of<W>(block, i, layout);
    return !is_wrong(seen != (std::uint32_t{1} << layout.sets()) - 1);
  }
  status fits(const block_words& active, const word_layout& layout) const {
    if (is_wrong(words_.width() != active.width()) ||
        is_wrong(words_.blocks() != checked_multiply(active.blocks(), layout.sets() - 1))) {
      return failure{"the spare words do not fit the words"};
    }
    return {};
  }

  friend bool operator==(const spare_words&, const spare_words&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.words_);
  }

 private:
  template <unsigned W>
  TAMIS_INLINE const std::uint32_t* spare(std::uint64_t block, unsigned i, const word_layout& layout) const {
    return words_.block<W>(block * (layout.sets() - 1) + i);
  }
  template <unsigned W>
  TAMIS_INLINE std::uint32_t* spare(std::uint64_t block, unsigned i, const word_layout& layout) {
    return words_.block<W>(block * (layout.sets() - 1) + i);
  }
  template <unsigned W>
  TAMIS_INLINE unsigned set_of(std::uint64_t block, unsigned i, const word_layout& layout) const {
    return layout.selector<W>(spare<W>(block, i, layout)) ^ (i + 1);
  }

  // Which spare word belongs to the set.  Requires: it is not the active one.
  template <unsigned W>
  unsigned find(std::uint64_t block, unsigned set, const word_layout& layout) const {
    unsigned i = 0;
    while (set_of<W>(block, i, layout) != set) ++i;
    assert(i + 1 < layout.sets());
    return i;
  }
  // The word of a set, wherever it is.
  template <unsigned W>
  const std::uint32_t* word(std::uint64_t block, const std::uint32_t* active, unsigned set, const word_layout& layout) const {
    if (layout.selector<W>(active) == set) return active;
    return spare<W>(block, find<W>(block, set, layout), layout);
  }

  block_words words_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
