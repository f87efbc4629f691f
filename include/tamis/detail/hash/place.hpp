#pragma once

// Multiply-shift places for tables of any size: a digest is a fraction in [0, 1), times n its whole part is the place and what
// remains is again a fraction: the bits that follow. Digest order is place order, and in a table of 2n places a key of place i
// stands at 2i + (first following bit), whatever n is.

#include <cassert>
#include <cstdint>

#include "tamis/digest.hpp"

namespace tamis::detail {

// Place of a 64-bit fraction among `places`; each place has floor or ceil of 2^64 / places of the words.
TAMIS_INLINE constexpr std::uint64_t reduce(std::uint64_t fraction, std::uint64_t places) {
  return multiply_wide(fraction, places).high;
}

// The same for a fraction of fewer bits.  Requires: bits <= 32, fraction < 2^bits, places <= 2^32.
TAMIS_INLINE constexpr std::uint64_t reduce_short(unsigned bits, std::uint64_t fraction, std::uint64_t places) {
  return fraction * places >> bits;
}

// The place of a digest's first word, in which the second one has no say: a compiler that sees the hash leaves a word out that
// nobody asks for.
struct word_placed {
  std::uint64_t place;
  std::uint64_t rest;  // the following bits; about 64 - log2(places) of them are random
};
TAMIS_INLINE constexpr word_placed place_of_word(std::uint64_t word, std::uint64_t places) {
  assert(places != 0);
  const wide_product product = multiply_wide(word, places);
  return {product.high, product.low};
}

// The digests whose first word `place_of_word` sends to one place.  Requires: place < places < 2^63.
constexpr digest_range digests_of_word_place(std::uint64_t place, std::uint64_t places) {
  assert(place < places && places >> 63 == 0);
  const auto first_of = [places](std::uint64_t p) {
    return static_cast<std::uint64_t>(((static_cast<uint128>(p) << 64) + places - 1) / places);
  };
  const std::uint64_t last = place + 1 == places ? all_digests.last.high : first_of(place + 1) - 1;
  return {{first_of(place), 0}, {last, all_digests.last.low}};
}

}  // namespace tamis::detail
