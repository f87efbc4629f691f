#pragma once

// The bits of a digest after its quotient, without an end: a quotient table's remainders and extensions are read from here.
//
//   first word times n   | quotient | what remains: 64 - log2(n) random bits |   then the second word, then bits 128, 129, …
//                                                                               of the digest's stream
//
// Multiplying by n pushes as many bits into the low end as the quotient takes from the high end; those say nothing new and are
// never used. The quotient and the first bits come from the first word alone, so that a lookup which needs no more does not
// wait for the second one.

#include <bit>
#include <cstdint>

#include "tamis/detail/hash/bit_stream.hpp"
#include "tamis/detail/hash/place.hpp"

namespace tamis::detail {

// The first eight bits, if all of them come from the first word.  Requires: at most 2^56 quotients.
TAMIS_INLINE constexpr std::uint8_t first_byte_of(const word_placed& p) { return static_cast<std::uint8_t>(p.rest >> 56); }

class hash_suffix {
 public:
  hash_suffix() = default;
  TAMIS_INLINE constexpr hash_suffix(digest d, std::uint64_t quotients)
      : high_(in_register(d.high)), low_(d.low), quotients_(quotients) {
    const word_placed found = place_of_word(high_, quotients);
    quotient_ = found.place;
    rest_ = found.rest;
  }

  TAMIS_INLINE constexpr digest source() const { return {high_, low_}; }
  TAMIS_INLINE constexpr std::uint64_t quotient() const { return quotient_; }

  // The first `width` bits.  Requires: 1 <= width <= 64.
  TAMIS_INLINE constexpr std::uint64_t head(unsigned width) const {
    return (width <= first_bits() ? rest_ : rest().high) >> (64 - width);
  }
  TAMIS_INLINE constexpr std::uint8_t first_byte() const { return first_byte_of({quotient_, rest_}); }

  // The first 128 bits, of which so many are random.
  TAMIS_INLINE constexpr digest rest() const {
    const unsigned first = first_bits();
    if (first == 64) return {rest_, low_};
    if (first == 0) return {low_, 0};
    return {rest_ >> (64 - first) << (64 - first) | low_ >> first, low_ << (64 - first)};
  }
  TAMIS_INLINE constexpr unsigned random_bits() const { return 64 + first_bits(); }

  // The `width` bits from bit `first` after the quotient on, right-aligned.  Requires: 1 <= width <= 64.
  constexpr std::uint64_t bits(std::uint64_t first, unsigned width) const {
    const unsigned random = random_bits();
    if (first + width <= random) return rest().bits(static_cast<unsigned>(first), width);
    const bit_stream stream(source());
    if (first >= random) return stream.bits(128 + first - random, width);
    const auto here = static_cast<unsigned>(random - first);
    return rest().bits(static_cast<unsigned>(first), here) << (width - here) | stream.bits(128, width - here);
  }

 private:
  // Random bits of the first word behind the quotient.
  TAMIS_INLINE constexpr unsigned first_bits() const { return 64 - static_cast<unsigned>(std::bit_width(quotients_ - 1)); }

  // Digests in parts: the compiler copies a whole one through memory, in the way of the quotient.
  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
  std::uint64_t quotient_ = 0;
  std::uint64_t rest_ = 0;
  std::uint64_t quotients_ = 1;
};

}  // namespace tamis::detail
