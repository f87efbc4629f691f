#pragma once

// The bits of a digest after its place, without an end: a quotient table's remainders and extensions are read from here.
//
//   | place: log2(n) bits | what multiplication by n leaves: 128 - log2(n) bits | bits 128, 129, … of the digest's stream |
//
// Multiplying by n pushes as many constant bits into the low end as the place takes from the high end; those are never used.

#include <bit>
#include <cstdint>

#include "tamis/hash/bit_stream.hpp"
#include "tamis/hash/place.hpp"

namespace tamis {

class following_bits {
 public:
  following_bits() = default;
  TAMIS_INLINE constexpr following_bits(digest d, std::uint64_t places) : following_bits(d, place_of(d, places), places) {}

  TAMIS_INLINE constexpr digest source() const { return digest_; }
  TAMIS_INLINE constexpr std::uint64_t place() const { return placed_.place; }

  // The first `width` bits.  Requires: 1 <= width <= 64.
  TAMIS_INLINE constexpr std::uint64_t head(unsigned width) const { return placed_.rest.high >> (64 - width); }

  // The `width` bits from bit `first` after the place on, right-aligned.  Requires: 1 <= width <= 64.
  constexpr std::uint64_t bits(std::uint64_t first, unsigned width) const {
    if (first + width <= random_bits_) return placed_.rest.bits(static_cast<unsigned>(first), width);
    const bit_stream stream(digest_);
    if (first >= random_bits_) return stream.bits(128 + first - random_bits_, width);
    const auto here = static_cast<unsigned>(random_bits_ - first);
    return placed_.rest.bits(static_cast<unsigned>(first), here) << (width - here) | stream.bits(128, width - here);
  }

 private:
  TAMIS_INLINE constexpr following_bits(digest d, placed p, std::uint64_t places)
      : digest_(d), placed_(p), random_bits_(128 - static_cast<unsigned>(std::bit_width(places - 1))) {}

  digest digest_;
  placed placed_{};
  unsigned random_bits_ = 0;
};

}  // namespace tamis
