#pragma once

// Unsigned values of 1 to 64 bits, packed without gaps: value i is bits [i * width, (i + 1) * width) of an array of words,
// where bit b is bit b % 64 of word b / 64. A value may straddle two words.
//
//   width 12:  | v0 | v1 | v2 | v3 | v4 | v5 .. | .. v5 | v6 | ... |  unused: 0  | spare word: 0 |
//              word 0                           | word 1           last used word
//
// The spare word lets every read and write take 8 bytes from where its value begins without leaving the allocation.

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "tamis/detail/base/checked.hpp"
#include "tamis/detail/base/compiler.hpp"
#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/base/zeroed_array.hpp"
#include "tamis/detail/bits/word.hpp"
#include "tamis/result.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

static_assert(std::endian::native == std::endian::little,
              "packed_array reads words at byte addresses, which finds the right bits on little-endian machines only");

inline constexpr unsigned dynamic_width = 0;

// How many words an array takes, the spare one included. Not part of the template, so that it is compiled once for all widths.
TAMIS_COLD inline result<std::uint64_t> words_for_packed(std::uint64_t size, unsigned width) {
  if (width < 1 || width > word_bits) {
    return failure{"a packed array cannot have values of " + std::to_string(width) + " bits: 1 to 64 are allowed"};
  }
  const std::optional<std::uint64_t> bits = checked_multiply(size, width);
  if (!bits) {
    return failure{"a packed array of " + std::to_string(size) + " values of " + std::to_string(width) +
                   " bits would have 2^64 bits or more"};
  }
  return *bits == 0 ? 0 : divide_up(*bits, word_bits) + 1;
}

TAMIS_COLD inline status validate_packed(std::uint64_t size, unsigned width, const zeroed_array<std::uint64_t>& words) {
  TAMIS_TRY(const std::uint64_t needed, words_for_packed(size, width));
  if (is_wrong(words.size() != needed)) {
    return failure{"a packed array of " + std::to_string(size) + " values of " + std::to_string(width) + " bits has " +
                   std::to_string(words.size()) + " words, but needs " + std::to_string(needed)};
  }
  if (needed == 0) return {};
  const std::uint64_t used = size * width;  // words_for_packed found that this fits
  const unsigned in_last = static_cast<unsigned>(used % word_bits);
  const std::uint64_t unused = in_last == 0 ? 0 : words[used / word_bits] & ~low_mask(in_last);
  if (is_wrong((unused | words[needed - 1]) != 0)) {
    return failure{"a packed array of " + std::to_string(size) + " values of " + std::to_string(width) +
                   " bits has ones after its end"};
  }
  return {};
}

// Width is 1 to 64, or dynamic_width: then it is chosen at run time. Both have the same layout and the same saved fields.
// Readers may share an array; a writer must be alone, because a write also touches its value's neighbours. An array that was
// moved from may only be assigned to or destroyed.
template <unsigned Width>
class packed_array {
  static_assert(Width <= word_bits);
  static constexpr bool is_dynamic = Width == dynamic_width;

 public:
  packed_array() = default;

  // `size` zeros.
  static result<packed_array> make(std::uint64_t size) requires(!is_dynamic) { return make_of_width(size, Width); }
  static result<packed_array> make(std::uint64_t size, unsigned width) requires is_dynamic {
    return make_of_width(size, width);
  }

  // A copy with zeros behind it.  Requires: size >= size().
  result<packed_array> lengthened(std::uint64_t size) const {
    TAMIS_TRY(const std::uint64_t words, words_for_packed(size, width()));
    packed_array longer;
    TAMIS_TRY(longer.words_, words_.lengthened(words));
    longer.size_ = size;
    longer.width_ = width_;
    return longer;
  }

  std::uint64_t size() const { return size_; }
  std::uint64_t bits() const { return words_.bytes() * 8; }  // of memory

  TAMIS_INLINE unsigned width() const {
    if constexpr (is_dynamic) return width_;
    return Width;
  }
  TAMIS_INLINE std::uint64_t max_value() const { return ~std::uint64_t{0} >> (word_bits - width()); }

  TAMIS_INLINE std::uint64_t get(std::uint64_t i) const {
    assert(i < size_);
    const std::uint64_t bit = i * width();
    if (one_load()) {
      std::uint64_t word;
      std::memcpy(&word, bytes() + bit / 8, sizeof word);
      return (word >> (bit % 8)) & max_value();
    } else {
      const std::uint64_t* word = words_.data() + bit / word_bits;
      const unsigned shift = static_cast<unsigned>(bit % word_bits);
      return ((word[0] >> shift) | (word[1] << 1 << (word_bits - 1 - shift))) & max_value();
    }
  }

  // The same where only the bytes are at hand.  Requires: width <= 57.
  const std::byte* data() const { return bytes(); }
  TAMIS_INLINE static std::uint64_t get(const std::byte* data, std::uint64_t i, unsigned width) {
    assert(width <= 57);
    std::uint64_t word;
    std::memcpy(&word, data + i * width / 8, sizeof word);
    return word >> (i * width % 8) & low_mask(width);
  }

  // Requires: value <= max_value().
  TAMIS_INLINE void set(std::uint64_t i, std::uint64_t value) {
    assert(i < size_ && value <= max_value());
    const std::uint64_t bit = i * width();
    if (one_load()) {
      std::uint64_t word;
      std::memcpy(&word, bytes() + bit / 8, sizeof word);
      word = blend(word, value << (bit % 8), max_value() << (bit % 8));
      std::memcpy(bytes() + bit / 8, &word, sizeof word);
    } else {
      std::uint64_t* word = words_.data() + bit / word_bits;
      const unsigned shift = static_cast<unsigned>(bit % word_bits);
      word[0] = blend(word[0], value << shift, max_value() << shift);
      word[1] = blend(word[1], value >> 1 >> (word_bits - 1 - shift), max_value() >> 1 >> (word_bits - 1 - shift));
    }
  }

  // The same for a value that is zero, in whole words: a load that follows a store of other bytes would wait for it.
  TAMIS_INLINE void set_zero(std::uint64_t i, std::uint64_t value) {
    assert(get(i) == 0 && value <= max_value());
    const std::uint64_t bit = i * width();
    std::uint64_t* word = words_.data() + bit / word_bits;
    const unsigned shift = static_cast<unsigned>(bit % word_bits);
    word[0] |= value << shift;
    word[1] |= value >> 1 >> (word_bits - 1 - shift);
  }

  TAMIS_INLINE void prefetch(std::uint64_t i) const { prefetch_read(bytes() + i * width() / 8); }

  // Values [first, last) go to [first + 1, last + 1), over what value `last` was; value `first` stays as it is, for the caller
  // to set.  Requires: first <= last < size().
  void move_up(std::uint64_t first, std::uint64_t last) {
    assert(first <= last && last < size_);
    move_bits_up(words_.data(), first * width(), last * width(), width());
  }

  // The values from one that begins a byte on.
  class part {
   public:
    TAMIS_INLINE std::uint64_t get(std::uint64_t i) const { return packed_array::get(bytes_, i, width_); }
    // move_up over a value of zero, and value `first` is set. What fits two words from where it begins on moves there.
    TAMIS_INLINE void insert(std::uint64_t first, std::uint64_t last, std::uint64_t value) const {
      assert(first <= last && get(last) == 0);
      const std::uint64_t bit = first * width_;
      const auto begin = static_cast<unsigned>(bit % 8);
      const std::uint64_t end = last * width_ + width_ - (bit - begin);
      if (end > std::uint64_t{2} * word_bits) return insert_far(first, last, value);
      // The second word is the first one again if it is not needed: then nothing of it changes, and it is stored first.
      const auto bits = static_cast<unsigned>(end);
      std::byte* const low_at = bytes_ + bit / 8;
      std::byte* const high_at = low_at + (bits > word_bits ? 8 : 0);
      std::uint64_t low;
      std::uint64_t high;
      std::memcpy(&low, low_at, sizeof low);
      std::memcpy(&high, high_at, sizeof high);
      const std::uint64_t moving = (low & low_mask(bits)) >> begin << begin;
      const std::uint64_t moving_high = high & low_mask(std::max(bits, word_bits) - word_bits);
      high = (high ^ moving_high) | moving_high << width_ | moving >> (word_bits - width_);
      low = (low ^ moving) | moving << width_ | value << begin;
      std::memcpy(high_at, &high, sizeof high);
      std::memcpy(low_at, &low, sizeof low);
    }

   private:
    friend packed_array;
    part(packed_array& array, std::uint64_t first)
        : array_(array), first_(first), bytes_(array.bytes() + first * array.width() / 8), width_(array.width()) {}
    TAMIS_NOINLINE void insert_far(std::uint64_t first, std::uint64_t last, std::uint64_t value) const {
      array_.move_up(first_ + first, first_ + last);
      array_.set(first_ + first, value);
    }

    packed_array& array_;
    std::uint64_t first_;
    std::byte* bytes_;
    unsigned width_;
  };
  // Requires: first * width() is a multiple of 8, width() <= 57.
  TAMIS_INLINE part from(std::uint64_t first) {
    assert(first * width() % 8 == 0 && one_load());
    return part(*this, first);
  }

  // Values [first, last) go to [first - 1, last - 1), over what value first - 1 was; value last - 1 stays as it is.
  // Requires: 1 <= first <= last <= size().
  void move_down(std::uint64_t first, std::uint64_t last) {
    assert(1 <= first && first <= last && last <= size_);
    move_bits_down(words_.data(), first * width(), last * width(), width());
  }

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.size_, self.width_, self.words_);
  }

  // Do the fields agree? For fields that came from outside.
  status validate() const {
    if (is_wrong(!is_dynamic && width_ != Width)) {
      return failure{"a packed array has values of " + std::to_string(width_) + " bits, but " + std::to_string(Width) +
                     " are expected"};
    }
    return validate_packed(size_, width_, words_);
  }

  friend bool operator==(const packed_array&, const packed_array&) = default;

 private:
  // Do all values lie within the 8 bytes from their first byte? Up to 57 bits always. A known width says more: values begin at
  // multiples of gcd(width, 8) bits within a byte, so that 58, 60 and 64 bits fit too. For a dynamic width this is a branch,
  // but one that never changes for an array: a loop hoists it, and it costs less than a second load (0.9 against 1.4 ns).
  TAMIS_INLINE bool one_load() const {
    if constexpr (is_dynamic) return width_ <= 57;
    return Width + 8 - std::gcd(Width, 8u) <= word_bits;
  }

  static result<packed_array> make_of_width(std::uint64_t size, unsigned width) {
    TAMIS_TRY(const std::uint64_t words, words_for_packed(size, width));
    packed_array made;
    TAMIS_TRY(made.words_, zeroed_array<std::uint64_t>::make(words));
    made.size_ = size;
    made.width_ = width;
    return made;
  }

  const std::byte* bytes() const { return reinterpret_cast<const std::byte*>(words_.data()); }
  std::byte* bytes() { return reinterpret_cast<std::byte*>(words_.data()); }

  std::uint64_t size_ = 0;
  std::uint32_t width_ = is_dynamic ? 1 : Width;  // saved, so that a file of another width is refused
  zeroed_array<std::uint64_t> words_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
