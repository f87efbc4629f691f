#pragma once

// A column of bytes of which 64 are compared in one step, and ranges move by one place: what a quotient table keeps its
// remainders in.

#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "tamis/detail/base/compiler.hpp"
#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/base/zeroed_array.hpp"
#include "tamis/detail/bits/word.hpp"
#include "tamis/detail/simd/bytes.hpp"
#include "tamis/result.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// Readers may share a column; a writer must be alone, because a move touches up to 33 bytes.
class byte_column {
 public:
  static constexpr std::uint64_t spare_bytes = 64;  // so that 64 bytes may be read, and 33 written, from any byte of the column

  static result<byte_column> make(std::uint64_t size) {
    byte_column made;
    TAMIS_TRY(made.bytes_, zeroed_array<std::uint8_t>::make(size + spare_bytes));
    return made;
  }

  // A copy with zeros behind it.  Requires: size >= size().
  result<byte_column> lengthened(std::uint64_t size) const {
    byte_column longer;
    TAMIS_TRY(longer.bytes_, bytes_.lengthened(size + spare_bytes));
    return longer;
  }

  std::uint64_t size() const { return bytes_.size() < spare_bytes ? 0 : bytes_.size() - spare_bytes; }
  std::uint64_t bits() const { return bytes_.bytes() * 8; }

  const std::uint8_t* data() const { return bytes_.data(); }
  std::uint8_t* data() { return bytes_.data(); }

  TAMIS_INLINE std::uint8_t get(std::uint64_t i) const { return bytes_[i]; }
  TAMIS_INLINE void set(std::uint64_t i, std::uint8_t value) { bytes_[i] = value; }
  // Which of the 64 values from value i on are equal to `value`; those beyond the end are zero.
  TAMIS_INLINE std::uint64_t equal(std::uint64_t i, std::uint8_t value) const { return equal_bytes(bytes_.data() + i, value); }
  TAMIS_INLINE std::uint64_t equal_sixteen(std::uint64_t i, std::uint8_t value) const {
    return equal_sixteen_bytes(bytes_.data() + i, value);
  }
  TAMIS_INLINE std::uint64_t agree_above_last_one(std::uint64_t i, std::uint8_t asked) const {
    return tamis::detail::agree_above_last_one(bytes_.data() + i, asked);
  }
  TAMIS_INLINE std::uint64_t sixteen_agree_above_last_one(std::uint64_t i, std::uint8_t asked) const {
    return tamis::detail::sixteen_agree_above_last_one(bytes_.data() + i, asked);
  }
  TAMIS_INLINE void prefetch(std::uint64_t i) const { prefetch_read(bytes_.data() + i); }

  // As packed_array: [first, last) goes up or down by one place.
  TAMIS_INLINE void move_up(std::uint64_t first, std::uint64_t last) {
    assert(first <= last && last < size());
    move_bytes_up(bytes_.data() + first, last - first);
  }
  // Of the 64 values from `first` on, [at, last) goes up by one place, and value `at` is set.
  // Requires: first is a multiple of 64.
  TAMIS_INLINE void insert_among(std::uint64_t first, unsigned at, unsigned last, std::uint8_t value) {
    assert(first % 64 == 0 && at <= last && last < 64 && first + last < size());
    insert_byte(bytes_.data() + first, at, last, value);
  }
  // The same backwards: (at, end) goes down by one place, and value end - 1 becomes 0.
  TAMIS_INLINE void remove_among(std::uint64_t first, unsigned at, unsigned end) {
    assert(first % 64 == 0 && at < end && end <= 64 && first + end <= size());
    remove_byte(bytes_.data() + first, at, end);
  }
  // The same where the first value behind them comes in as the last.
  TAMIS_INLINE void pull_among(std::uint64_t first, unsigned at) {
    assert(first % 64 == 0 && at < 64 && first + 64 < size());
    pull_bytes(bytes_.data() + first, at);
  }
  TAMIS_INLINE void move_down(std::uint64_t first, std::uint64_t last) {
    assert(1 <= first && first <= last && last <= size());
    move_bytes_down(bytes_.data() + first, last - first);
  }

  friend bool operator==(const byte_column&, const byte_column&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.bytes_);
  }
  status validate() const {
    if (is_wrong(bytes_.size() != 0 && bytes_.size() < spare_bytes)) return failure{"a column of bytes lacks its spare bytes"};
    for (std::uint64_t i = size(); i < bytes_.size(); ++i) {
      if (is_wrong(bytes_[i] != 0)) return failure{"a column of bytes has values after its end"};
    }
    return {};
  }

 private:
  zeroed_array<std::uint8_t> bytes_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
