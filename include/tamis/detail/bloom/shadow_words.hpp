#pragma once

// The shadows of adaptive words (detail/bloom/switchable_words.hpp says what a shadow table offers): for each word of the fast
// table one word per set, side by side, so that an adaptation reads one stretch of slow memory.
//
//   fast  │ word 0 │ word 1 │ …
//   slow  │ set 0, set 1, … S - 1 of word 0 │ set 0, set 1, … of word 1 │ …      selectors are zero here

#include <algorithm>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/bloom/hash_sets.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

class shadow_words {
 public:
  static result<shadow_words> make(std::uint64_t blocks, unsigned width, const word_layout& layout) {
    const auto words = checked_multiply(blocks, layout.sets());
    if (!words) return failure{"the shadows of " + std::to_string(blocks) + " words cannot be addressed"};
    shadow_words made;
    TAMIS_TRY(made.words_, block_words::make(*words, width));
    return made;
  }

  std::uint64_t bits() const { return words_.bits(); }

  template <unsigned W>
  TAMIS_INLINE bool accepts(std::uint64_t block, const std::uint32_t*, unsigned set, digest d,
                            const word_layout& layout) const {
    return hash_sets<W>(d, set, layout).all_set(word<W>(block, set, layout));
  }

  template <unsigned W>
  void insert(std::uint64_t block, std::uint32_t* active, digest d, const word_layout& layout) {
    hash_sets<W>(d, layout.selector<W>(active), layout).set_all(active);
    for (unsigned set = 0; set < layout.sets(); ++set) hash_sets<W>(d, set, layout).set_all(word<W>(block, set, layout));
  }

  template <unsigned W>
  void activate(std::uint64_t block, std::uint32_t* active, unsigned set, const word_layout& layout) {
    std::copy_n(word<W>(block, set, layout), W / 32, active);
    active[W / 32 - 1] |= set;
  }

  template <unsigned W>
  void merge(std::uint64_t block, std::uint32_t* active, const shadow_words& other, const std::uint32_t*,
             const word_layout& layout) {
    std::uint32_t* mine = word<W>(block, 0, layout);
    const std::uint32_t* theirs = other.word<W>(block, 0, layout);
    for (unsigned lane = 0; lane < layout.sets() * (W / 32); ++lane) mine[lane] |= theirs[lane];
    activate<W>(block, active, layout.selector<W>(active), layout);
  }

  TAMIS_INLINE void prefetch(std::uint64_t block, const word_layout& layout) const {
    words_.with_width([&](auto width) { prefetch_write(word<width>(block, 0, layout)); });
  }

  template <unsigned W>
  bool agrees(std::uint64_t block, const std::uint32_t* active, const word_layout& layout) const {
    for (unsigned set = 0; set < layout.sets(); ++set) {
      if (is_wrong(layout.selector<W>(word<W>(block, set, layout)) != 0)) return false;
    }
    const std::uint32_t* shadow = word<W>(block, layout.selector<W>(active), layout);
    return !is_wrong(!std::equal(active, active + W / 32 - 1, shadow)) &&
           !is_wrong(active[W / 32 - 1] != (shadow[W / 32 - 1] | layout.selector<W>(active)));
  }
  status fits(const block_words& active, const word_layout& layout) const {
    if (is_wrong(words_.width() != active.width()) ||
        is_wrong(words_.blocks() != checked_multiply(active.blocks(), layout.sets()))) {
      return failure{"the shadows do not fit the words"};
    }
    return {};
  }

  friend bool operator==(const shadow_words&, const shadow_words&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.words_);
  }

 private:
  template <unsigned W>
  TAMIS_INLINE std::uint32_t* word(std::uint64_t block, unsigned set, const word_layout& layout) {
    return words_.block<W>(block * layout.sets() + set);
  }
  template <unsigned W>
  TAMIS_INLINE const std::uint32_t* word(std::uint64_t block, unsigned set, const word_layout& layout) const {
    return words_.block<W>(block * layout.sets() + set);
  }

  block_words words_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
