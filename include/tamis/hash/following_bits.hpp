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
  TAMIS_INLINE constexpr following_bits(digest d, std::uint64_t places)
      : high_(in_register(d.high)), low_(in_register(d.low)), places_(places) {
    const placed found = place_of(source(), places);
    place_ = found.place;
    rest_high_ = found.rest.high;
    rest_low_ = found.rest.low;
  }

  TAMIS_INLINE constexpr digest source() const { return {high_, low_}; }
  TAMIS_INLINE constexpr std::uint64_t place() const { return place_; }

  // The first `width` bits.  Requires: 1 <= width <= 64.
  TAMIS_INLINE constexpr std::uint64_t head(unsigned width) const { return rest_high_ >> (64 - width); }

  // The first 128 bits, of which so many are random.
  TAMIS_INLINE constexpr digest rest() const { return {rest_high_, rest_low_}; }
  TAMIS_INLINE constexpr unsigned random_bits() const { return 128 - static_cast<unsigned>(std::bit_width(places_ - 1)); }

  // The `width` bits from bit `first` after the place on, right-aligned.  Requires: 1 <= width <= 64.
  constexpr std::uint64_t bits(std::uint64_t first, unsigned width) const {
    const unsigned random = random_bits();
    if (first + width <= random) return rest().bits(static_cast<unsigned>(first), width);
    const bit_stream stream(source());
    if (first >= random) return stream.bits(128 + first - random, width);
    const auto here = static_cast<unsigned>(random - first);
    return rest().bits(static_cast<unsigned>(first), here) << (width - here) | stream.bits(128, width - here);
  }

 private:
  // Digests in parts: the compiler copies a whole one through memory, in the way of the place.
  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
  std::uint64_t place_ = 0;
  std::uint64_t rest_high_ = 0;
  std::uint64_t rest_low_ = 0;
  std::uint64_t places_ = 1;
};

}  // namespace tamis
