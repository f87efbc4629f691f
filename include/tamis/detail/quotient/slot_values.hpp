#pragma once

// The values of a table's slots, of 1 to 64 bits each, in planes that lie apart: the low eight bits of every slot in a column
// of bytes, of which 64 are compared at once, the other bits packed.
//
//   width 8        | bytes |                        width 12   | bytes |  packed: 4 bits a slot |
//   below 8        | packed: no bytes at all |
//
// One value in 256 agrees by chance in its low bits, so the packed plane is hardly ever read for a value that is not there.

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <string>
#include <utility>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/bits/byte_column.hpp"
#include "tamis/detail/bits/packed_array.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

class slot_values {
 public:
  // `size` zeros of `width` bits.
  static result<slot_values> make(std::uint64_t size, unsigned width) {
    slot_values made;
    if (width >= 8) {
      TAMIS_TRY(made.low_, byte_column::make(size));
    }
    if (width != 8) {
      TAMIS_TRY(made.rest_, packed_array<dynamic_width>::make(size, width >= 8 ? width - 8 : width));
    }
    made.size_ = size;
    made.width_ = width;
    return made;
  }

  // A copy with zeros behind it.  Requires: size >= size().
  result<slot_values> lengthened(std::uint64_t size) const {
    slot_values longer;
    if (width_ >= 8) {
      TAMIS_TRY(longer.low_, low_.lengthened(size));
    }
    if (width_ != 8) {
      TAMIS_TRY(longer.rest_, rest_.lengthened(size));
    }
    longer.size_ = size;
    longer.width_ = width_;
    return longer;
  }

  std::uint64_t size() const { return size_; }
  unsigned width() const { return width_; }
  std::uint64_t bits() const { return low_.bits() + rest_.bits(); }

  // The low eight bits of all slots, one byte each.  Requires: width() >= 8.
  const std::uint8_t* low_bytes() const { return low_.data(); }
  std::uint8_t* low_bytes() { return low_.data(); }
  // The other bits, and one of them.  Requires: 8 < width <= 64.
  const std::byte* rest_bytes() const { return rest_.data(); }
  TAMIS_INLINE static std::uint64_t rest_at(const std::byte* rests, std::uint64_t i, unsigned width) {
    return packed_array<dynamic_width>::get(rests, i, width - 8);
  }

  // `Width`, here and below, may say the width.
  template <unsigned Width = 0>
  TAMIS_INLINE std::uint64_t get(std::uint64_t i) const {
    if (Width == 8 || width_ == 8) return low_.get(i);
    return width_ < 8 ? rest_.get(i) : rest_.get(i) << 8 | low_.get(i);
  }
  template <unsigned Width = 0>
  TAMIS_INLINE void set(std::uint64_t i, std::uint64_t value) {
    if (Width == 8 || width_ >= 8) low_.set(i, static_cast<std::uint8_t>(value));
    if (Width != 8 && width_ != 8) rest_.set(i, width_ < 8 ? value : value >> 8);
  }

  // The same for a slot that is zero.
  TAMIS_INLINE void set_zero(std::uint64_t i, std::uint64_t value) {
    if (width_ >= 8) low_.set(i, static_cast<std::uint8_t>(value));
    if (width_ != 8) rest_.set_zero(i, width_ < 8 ? value : value >> 8);
  }

  // The 64 values from `first` on.  Requires: first is a multiple of 64; they exist, and fit a Word.
  template <class Word>
  TAMIS_INLINE void read_block(std::uint64_t first, Word* out) const {
    if (width_ == 8) {
      std::copy_n(low_.data() + first, word_bits, out);
      return;
    }
    if (has_pdep && sizeof(Word) == 1) {
      // Eight at a time, of which the bits stand one behind the other.
      const std::uint64_t bits = low_mask(width_) * plain::every_byte;
      const std::byte* const packed = rest_.data() + first / 8 * width_;
      for (unsigned i = 0; i < word_bits; i += 8) {
        std::uint64_t eight;
        std::memcpy(&eight, packed + std::size_t{i} / 8 * width_, sizeof eight);
        eight = pdep(eight, bits);
        std::memcpy(out + i, &eight, sizeof eight);
      }
      return;
    }
    if (has_pdep && sizeof(Word) == 2 && width_ > 8) {
      // Four at a time: their low bytes and their other bits, spread to 16 bits each.
      const unsigned width = width_ - 8;
      const std::uint64_t rest_bits = low_mask(width) * 0x0001000100010001u << 8;
      const std::byte* const rest = rest_.data() + first / 8 * width;
      for (unsigned i = 0; i < word_bits; i += 4) {
        std::uint64_t rests;
        std::uint32_t lows;
        std::memcpy(&rests, rest + i * width / 8, sizeof rests);
        std::memcpy(&lows, low_.data() + first + i, sizeof lows);
        const std::uint64_t four = pdep(rests >> (i * width % 8), rest_bits) | pdep(lows, 0x00ff00ff00ff00ffu);
        std::memcpy(out + i, &four, sizeof four);
      }
      return;
    }
    for (unsigned i = 0; i < word_bits; ++i) out[i] = static_cast<Word>(get(first + i));
  }

  // Which of the slots first + {bits of `among`} hold `value`.  Requires: those slots exist.
  template <unsigned Width = 0>
  TAMIS_INLINE std::uint64_t matches(std::uint64_t first, std::uint64_t among, std::uint64_t value) const {
    assert(Width == 0 || Width == width_);
    if (Width == 0 && width_ < 8) return narrow_matches(first, among, value);
    among &= low_.equal(first, static_cast<std::uint8_t>(value));
    if constexpr (Width == 8) return among;
    return width_ == 8 ? among : rest_matches(first, among, value >> 8);
  }

  // Are all of the slots first + {bits of `among`} zero?  Requires: first is a multiple of 64; the 64 slots from there on
  // exist.
  bool are_zero(std::uint64_t first, std::uint64_t among) const {
    if (width_ >= 8 && (among & ~low_.equal(first, 0)) != 0) return false;
    const unsigned width = width_ >= 8 ? width_ - 8 : width_;
    if (has_pdep && width <= 8) {
      const std::byte* const packed = rest_.data() + first / 8 * width;
      const std::uint64_t lowest = width == 0 ? 0 : low_mask(8 * width) / low_mask(width);  // bit 0 of each of eight values
      std::uint64_t found = 0;
      for (unsigned i = 0; i < word_bits && width != 0; i += 8) {
        std::uint64_t eight;
        std::memcpy(&eight, packed + std::size_t{i} / 8 * width, sizeof eight);
        found |= eight & pdep(among >> i, lowest) * low_mask(width);
      }
      return found == 0;
    }
    if (width == 0) return true;
    for (; among != 0; among &= among - 1) {
      if (rest_.get(first + first_of(among)) != 0) return false;
    }
    return true;
  }

  // The same for the sixteen slots from `first` on, with less memory to read.  Requires: among < 2^16.
  TAMIS_INLINE std::uint64_t matches_of_sixteen(std::uint64_t first, std::uint64_t among, std::uint64_t value) const {
    if (width_ < 8) return narrow_matches(first, among, value);
    among &= low_.equal_sixteen(first, static_cast<std::uint8_t>(value));
    return width_ == 8 ? among : rest_matches(first, among, value >> 8);
  }

  // Slots that may agree with `asked` above their lowest one (detail/growing/prefix_entry.hpp): all that do, zeros among them,
  // and those of which only the low eight bits do.
  TAMIS_INLINE std::uint64_t prefix_candidates(std::uint64_t first, std::uint64_t among, std::uint64_t asked) const {
    if (width_ >= 8) return low_.agree_above_last_one(first, static_cast<std::uint8_t>(asked)) & among;
    return narrow_candidates(first, among, asked);
  }

  // The same for the sixteen slots from `first` on.  Requires: width() >= 8; those of them that are asked about exist.
  TAMIS_INLINE std::uint64_t prefix_candidates_of_sixteen(std::uint64_t first, std::uint64_t asked) const {
    return low_.sixteen_agree_above_last_one(first, static_cast<std::uint8_t>(asked));
  }

  template <unsigned Width = 0>
  TAMIS_INLINE void prefetch(std::uint64_t i) const {
    if (Width == 8 || width_ >= 8) {
      low_.prefetch(i);
    } else {
      rest_.prefetch(i);
    }
  }

  // All planes, also of the slots behind, up to which values may have to move.
  TAMIS_INLINE void prefetch_whole(std::uint64_t i) const {
    constexpr unsigned behind = 40;
    if (width_ >= 8) {
      low_.prefetch(i);
      low_.prefetch(i + behind);
    }
    if (width_ != 8) {
      rest_.prefetch(i);
      rest_.prefetch(i + behind);
    }
  }

  // As packed_array: [first, last) goes up or down by one slot.
  TAMIS_INLINE void move_up(std::uint64_t first, std::uint64_t last) {
    if (width_ >= 8) low_.move_up(first, last);
    if (width_ != 8) rest_.move_up(first, last);
  }
  // Of the 64 slots from `first` on, [at, last) goes up by one, and slot `at` gets the value.
  // Requires: first is a multiple of 64.
  template <unsigned Width = 0>
  TAMIS_INLINE void insert_among(std::uint64_t first, unsigned at, unsigned last, std::uint64_t value) {
    if (Width == 8 || width_ >= 8) low_.insert_among(first, at, last, static_cast<std::uint8_t>(value));
    if (Width != 8 && width_ != 8) {
      rest_.move_up(first + at, first + last);
      rest_.set(first + at, width_ < 8 ? value : value >> 8);
    }
  }
  // Of the same slots, (at, end) goes down by one, and slot end - 1 becomes zero.
  template <unsigned Width = 0>
  TAMIS_INLINE void remove_among(std::uint64_t first, unsigned at, unsigned end) {
    if (Width == 8 || width_ >= 8) low_.remove_among(first, at, end);
    if (Width != 8 && width_ != 8) {
      rest_.move_down(first + at + 1, first + end);
      rest_.set(first + end - 1, 0);
    }
  }
  // The same for (at, 64], whose last stays where it is too.  Requires: it exists.
  template <unsigned Width = 0>
  TAMIS_INLINE void pull_among(std::uint64_t first, unsigned at) {
    if (Width == 8 || width_ >= 8) low_.pull_among(first, at);
    if (Width != 8 && width_ != 8) rest_.move_down(first + at + 1, first + word_bits + 1);
  }
  // Of the 64 slots from `first` on, those from `at` to the next one of zeros go up by one, and slot `at` gets the value. Where
  // that one was; 64, and nothing has changed, if there is none or if values are narrower than a byte.
  // Requires: at <= 64; first is a multiple of 64; the 64 slots exist.
  TAMIS_INLINE unsigned insert_before_zero(std::uint64_t first, unsigned at, std::uint64_t value) {
    if (width_ < 8) return word_bits;
    std::uint64_t zeros = high_bits(low_.equal(first, 0), at);
    if (width_ > 8) {
      const auto rests = rest_.from(first);
      while (zeros != 0 && rests.get(first_of(zeros)) != 0) zeros &= zeros - 1;
      if (zeros == 0) return word_bits;
      rests.insert(at, first_of(zeros), value >> 8);
    } else if (zeros == 0) {
      return word_bits;
    }
    low_.insert_among(first, at, first_of(zeros), static_cast<std::uint8_t>(value));
    return first_of(zeros);
  }
  TAMIS_INLINE void move_down(std::uint64_t first, std::uint64_t last) {
    if (width_ >= 8) low_.move_down(first, last);
    if (width_ != 8) rest_.move_down(first, last);
  }

  // As many slots of another width, with the same low bytes and zeros beside them.  Requires: both have at least eight bits.
  result<slot_values> low_bytes_in(unsigned width) const {
    assert(width_ >= 8 && width >= 8);
    slot_values made = {};
    made.size_ = size_;
    made.width_ = width;
    made.low_ = low_;
    if (width != 8) {
      TAMIS_TRY(made.rest_, packed_array<dynamic_width>::make(size_, width - 8));
    }
    return made;
  }
  // What stands beside the low byte.
  TAMIS_INLINE std::uint64_t rest(std::uint64_t i) const { return width_ == 8 ? 0 : rest_.get(i); }
  TAMIS_INLINE void set_zero_rest(std::uint64_t i, std::uint64_t rest) {
    if (width_ != 8) rest_.set_zero(i, rest);
  }

  friend bool operator==(const slot_values&, const slot_values&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.size_, self.width_, self.low_, self.rest_);
  }
  status validate() const {
    if (is_wrong(width_ < 1) || is_wrong(width_ > word_bits))
      return failure{"slots of " + std::to_string(width_) + " bits: 1 to 64 are allowed"};
    const std::uint64_t low = width_ >= 8 ? size_ : 0;
    const std::uint64_t rest = width_ != 8 ? size_ : 0;
    const unsigned rest_width = width_ >= 8 ? width_ - 8 : width_;
    if (is_wrong(low_.size() != low) || is_wrong(rest_.size() != rest) || is_wrong(rest != 0 && rest_.width() != rest_width)) {
      return failure{"the planes of " + std::to_string(size_) + " slots of " + std::to_string(width_) +
                     " bits have other sizes"};
    }
    return {};
  }

 private:
  static TAMIS_INLINE unsigned first_of(std::uint64_t mask) { return static_cast<unsigned>(std::countr_zero(mask)); }

  // Of the slots whose low bits match, nearly always none or one, those whose other bits do too.
  TAMIS_INLINE std::uint64_t rest_matches(std::uint64_t first, std::uint64_t among, std::uint64_t rest) const {
    std::uint64_t found = among;
    for (; among != 0; among &= among - 1) {
      if (rest_.get(first + static_cast<unsigned>(std::countr_zero(among))) != rest) found ^= lowest_bit(among);
    }
    return found;
  }
  TAMIS_NOINLINE std::uint64_t narrow_matches(std::uint64_t first, std::uint64_t among, std::uint64_t value) const {
    return rest_matches(first, among, value);
  }

  TAMIS_NOINLINE std::uint64_t narrow_candidates(std::uint64_t first, std::uint64_t among, std::uint64_t asked) const {
    std::uint64_t found = among;
    for (; among != 0; among &= among - 1) {
      const std::uint64_t slot = rest_.get(first + static_cast<unsigned>(std::countr_zero(among)));
      if (((slot ^ asked) & ~(slot ^ (slot - 1))) != 0) found ^= lowest_bit(among);
    }
    return found;
  }

  std::uint64_t size_ = 0;
  std::uint32_t width_ = 1;
  byte_column low_;
  packed_array<dynamic_width> rest_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
