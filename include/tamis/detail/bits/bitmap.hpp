#pragma once

// Any number of bits, also beyond 2^32. Bit i is bit i % 64 of word i / 64; the unused bits of the last word are zero.

#include <bit>
#include <cassert>
#include <cstdint>
#include <string>

#include "tamis/detail/base/access.hpp"
#include "tamis/detail/base/checked.hpp"
#include "tamis/detail/base/compiler.hpp"
#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/base/zeroed_array.hpp"
#include "tamis/detail/bits/word.hpp"
#include "tamis/result.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// Readers may share a bitmap; a writer must be alone, because a write touches the whole word. With atomic_access (access.hpp)
// bits may be set while others read and set them. A bitmap that was moved from may only be assigned to or destroyed.
class bitmap {
 public:
  bitmap() = default;

  // `size` zero bits.
  static result<bitmap> make(std::uint64_t size) {
    bitmap made;
    TAMIS_TRY(made.words_, zeroed_array<std::uint64_t>::make(divide_up(size, word_bits)));
    made.size_ = size;
    return made;
  }

  std::uint64_t size() const { return size_; }
  std::uint64_t bits() const { return words_.bytes() * 8; }  // of memory

  template <class Access = plain_access>
  TAMIS_INLINE bool get(std::uint64_t i) const {
    assert(i < size_);
    return ((Access::load(words_[i / word_bits]) >> (i % word_bits)) & 1) != 0;
  }

  template <class Access = plain_access>
  TAMIS_INLINE void set(std::uint64_t i) {
    assert(i < size_);
    Access::add_bits(words_[i / word_bits], one(i));
  }

  TAMIS_INLINE void reset(std::uint64_t i) {
    assert(i < size_);
    words_[i / word_bits] &= ~one(i);
  }

  TAMIS_INLINE void assign(std::uint64_t i, bool bit) {
    assert(i < size_);
    words_[i / word_bits] = blend(words_[i / word_bits], bit ? ~std::uint64_t{0} : 0, one(i));
  }

  // Bits 64 w to 64 w + 63; those beyond the end are zero.
  TAMIS_INLINE std::uint64_t word(std::uint64_t w) const { return words_[w]; }

  TAMIS_INLINE void prefetch(std::uint64_t i) const { prefetch_read(words_.data() + i / word_bits); }

  // How many ones [first, last) has.  Requires: first <= last <= size().
  std::uint64_t count(std::uint64_t first, std::uint64_t last) const {
    assert(first <= last && last <= size_);
    if (first == last) return 0;
    const std::uint64_t bottom = first / word_bits;
    const std::uint64_t top = (last - 1) / word_bits;
    std::uint64_t ones = 0;
    for (std::uint64_t w = bottom; w < top; ++w) ones += popcount(words_[w]);
    ones += rank(words_[top], in_word(last - 1) + 1);
    return ones - rank(words_[bottom], in_word(first));
  }
  std::uint64_t count() const { return count(0, size_); }

  // The first one (zero) at or after `from`; size() if there is none.  Requires: from <= size().
  std::uint64_t find_one(std::uint64_t from) const { return find(from, 0); }
  std::uint64_t find_zero(std::uint64_t from) const { return find(from, ~std::uint64_t{0}); }

  // Bits [i, last) go up by one, over what bit `last` was, and bit i becomes `bit`.  Requires: i <= last < size().
  void insert(std::uint64_t i, std::uint64_t last, bool bit) {
    assert(i <= last && last < size_);
    move_bits_up(words_.data(), i, last, 1);
    assign(i, bit);
  }

  // Undoes insert: bits [i + 1, last] go down by one, over what bit i was, and bit `last` becomes `bit`.
  // Requires: i <= last < size().
  void remove(std::uint64_t i, std::uint64_t last, bool bit) {
    assert(i <= last && last < size_);
    move_bits_down(words_.data(), i + 1, last + 1, 1);
    assign(last, bit);
  }

  // Sets every bit that `other` has set.  Requires: same size.
  template <class Access = plain_access>
  void unite(const bitmap& other) {
    assert(size_ == other.size_);
    for (std::uint64_t w = 0; w < words_.size(); ++w) Access::add_bits(words_[w], Access::load(other.words_[w]));
  }

  template <class Access>
  bitmap copied() const {
    bitmap copy;
    copy.size_ = size_;
    copy.words_ = words_.template copied<Access>();
    return copy;
  }

  // Of every `by` bits one: are any of them set?  Requires: by divides size().
  result<bitmap> folded(std::uint64_t by) const {
    assert(size_ % by == 0);
    TAMIS_TRY(bitmap smaller, make(size_ / by));
    for (std::uint64_t i = find_one(0); i < size_; i = find_one(i + 1)) smaller.set(i / by);
    return smaller;
  }

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.size_, self.words_);
  }

  // Do the fields agree? For fields that came from outside.
  status validate() const {
    if (is_wrong(words_.size() != divide_up(size_, word_bits))) {
      return failure{"a bitmap of " + std::to_string(size_) + " bits has " + std::to_string(words_.size()) +
                     " words, but needs " + std::to_string(divide_up(size_, word_bits))};
    }
    if (is_wrong(in_word(size_) != 0 && (words_[size_ / word_bits] & ~low_mask(in_word(size_))) != 0)) {
      return failure{"a bitmap of " + std::to_string(size_) + " bits has ones after its end"};
    }
    return {};
  }

  friend bool operator==(const bitmap&, const bitmap&) = default;

 private:
  static constexpr unsigned in_word(std::uint64_t i) { return static_cast<unsigned>(i % word_bits); }
  static constexpr std::uint64_t one(std::uint64_t i) { return std::uint64_t{1} << (i % word_bits); }

  // The first bit at or after `from` that is one after flipping the bits of `flip`. An unused bit of the last
  // word may be found, but then the first of them: size(), as promised.
  std::uint64_t find(std::uint64_t from, std::uint64_t flip) const {
    assert(from <= size_);
    if (from == size_) return size_;
    std::uint64_t w = from / word_bits;
    std::uint64_t candidates = (words_[w] ^ flip) & ~low_mask(in_word(from));
    while (candidates == 0) {
      if (++w == words_.size()) return size_;
      candidates = words_[w] ^ flip;
    }
    return w * word_bits + static_cast<unsigned>(std::countr_zero(candidates));
  }

  std::uint64_t size_ = 0;
  zeroed_array<std::uint64_t> words_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
