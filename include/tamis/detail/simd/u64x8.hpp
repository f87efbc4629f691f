#pragma once

// Eight words of 64 bits in one register, one key each: what batches of lookups compute with where there is AVX-512. +, &, <<
// and so on are the compiler's; a formula that is a template of its word then serves one key and eight. Elsewhere u64x8 is only
// a name, of which no formula can be made: what asks whether one exists for it finds none.

#include <cstddef>
#include <cstring>

#include "tamis/hasher.hpp"

#if TAMIS_HAS_AVX512
#include <immintrin.h>
#endif

namespace tamis::detail::inline TAMIS_LEVEL {

inline constexpr std::size_t keys_at_once = 8;

// A product. Of eight words, the lower halves are multiplied: no factor may have more than 32 bits.
TAMIS_INLINE constexpr std::uint64_t multiply_short(std::uint64_t word, std::uint64_t factor) { return word * factor; }

// 0 becomes 1. A branch, and hidden so that it stays one: it is hardly ever taken, and nothing waits for it, while an addition
// would stand before all that is made of the value.
TAMIS_INLINE std::uint64_t at_least_one(std::uint64_t bits) {
  if (bits == 0) [[unlikely]] {
    asm volatile("" : "+r"(bits));
    bits = 1;
  }
  return bits;
}

#if TAMIS_HAS_AVX512

using u64x8 [[gnu::vector_size(64)]] = std::uint64_t;

// All lanes, in the masked forms of intrinsics: GCC 12 warns of the others' undefined operand. No instruction has a mask then.
inline constexpr __mmask8 all_eight = 0xff;

TAMIS_INLINE __m512i vector_of(u64x8 words) { return reinterpret_cast<__m512i>(words); }
TAMIS_INLINE u64x8 words_of(__m512i vector) { return reinterpret_cast<u64x8>(vector); }

TAMIS_INLINE u64x8 load_eight(const void* from) {
  u64x8 loaded;
  std::memcpy(&loaded, from, sizeof loaded);
  return loaded;
}
TAMIS_INLINE u64x8 same_eight(std::uint64_t word) { return u64x8{} + word; }
TAMIS_INLINE u64x8 larger_of_eight(u64x8 words, std::uint64_t least) {
  return words_of(_mm512_maskz_max_epu64(all_eight, vector_of(words), vector_of(same_eight(least))));
}
TAMIS_INLINE u64x8 at_least_one(u64x8 bits) { return larger_of_eight(bits, 1); }

// The product of the lower halves.
TAMIS_INLINE u64x8 multiply_halves(u64x8 a, u64x8 b) {
  return words_of(_mm512_maskz_mul_epu32(all_eight, vector_of(a), vector_of(b)));
}

TAMIS_INLINE u64x8 multiply_short(u64x8 words, std::uint64_t factor) { return multiply_halves(words, same_eight(factor)); }
TAMIS_INLINE u64x8 multiply_short(u64x8 words, u64x8 factors) { return multiply_halves(words, factors); }

struct eight_wide_products {
  u64x8 high;
  u64x8 low;
};
TAMIS_INLINE eight_wide_products multiply_eight_wide(u64x8 a, std::uint64_t b) {
  constexpr std::uint64_t low_half = 0xffff'ffffu;
  const u64x8 b_low = same_eight(b & low_half);
  const u64x8 b_high = same_eight(b >> 32);
  const u64x8 low = multiply_halves(a, b_low);
  // No sum overflows: a product of halves is at most 2^64 - 2^33 + 1.
  const u64x8 middle = multiply_halves(a >> 32, b_low) + (low >> 32);
  const u64x8 other = multiply_halves(a, b_high) + (middle & low_half);
  return {multiply_halves(a >> 32, b_high) + (middle >> 32) + (other >> 32), other << 32 | (low & low_half)};
}
// As reduce() of detail/hash/place.hpp.
TAMIS_INLINE u64x8 reduce_eight(u64x8 fractions, std::uint64_t places) {
  if (places >> 32 != 0) return multiply_eight_wide(fractions, places).high;
  const u64x8 factor = same_eight(places);
  return (multiply_halves(fractions >> 32, factor) + (multiply_halves(fractions, factor) >> 32)) >> 32;
}

// The first words of eight digests that are at hand,
TAMIS_INLINE u64x8 first_words(const digest* digests) {
  const u64x8 even{0, 2, 4, 6, 8, 10, 12, 14};
  const __m512i lower = vector_of(load_eight(digests));
  const __m512i upper = vector_of(load_eight(digests + keys_at_once / 2));
  return words_of(_mm512_permutex2var_epi64(lower, vector_of(even), upper));
}
// and of eight integers, which are hashed together. The same as hasher::fast_word.  Requires: the family `fast`.
template <integer_key Key>
TAMIS_INLINE u64x8 first_words(const hasher& hash, const Key* keys) {
  assert(hash.family() == hash_family::fast);
  u64x8 words;
  if constexpr (sizeof(Key) == sizeof(std::uint64_t)) {
    words = load_eight(keys);
  } else {
    for (std::size_t i = 0; i < keys_at_once; ++i) words[i] = static_cast<std::uint64_t>(keys[i]);
  }
  const auto [high, low] = multiply_eight_wide(words ^ hash.bitflip(), hasher::first_factor);
  words = high + (low << 1);
  words ^= words >> 37;
  words *= hasher::second_factor;
  return words ^ words >> 32;
}

#else

struct u64x8 {};
u64x8 first_words(const digest* digests);
template <integer_key Key>
u64x8 first_words(const hasher& hash, const Key* keys);

#endif

}  // namespace tamis::detail::inline TAMIS_LEVEL
