#pragma once

// Picks 32-bit lanes out of a block of W = 32, 64, 128, 256 or 512 bits, eight at a time.

#include <cstdint>

#include "tamis/detail/base/compiler.hpp"

#if TAMIS_HAS_AVX2
#include <immintrin.h>

namespace tamis::detail::inline TAMIS_LEVEL {

// Lane `lanes` mod W/32 of the block for each of eight numbers. With W = 512 the lowest three bits count inside a half, and the
// sign of `upper` says which half.
template <unsigned W>
TAMIS_INLINE __m256i pick_lanes(const std::uint32_t* block, __m256i lanes, [[maybe_unused]] __m256i upper) {
  const auto half_at = [](const std::uint32_t* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); };
  if constexpr (W == 32) {
    return _mm256_set1_epi32(static_cast<int>(*block));
  } else if constexpr (W == 64) {
    long long both;
    __builtin_memcpy(&both, block, sizeof both);
    return _mm256_permutevar8x32_epi32(_mm256_set1_epi64x(both), lanes);
  } else if constexpr (W == 128) {
    const __m128i four = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block));
    return _mm256_permutevar8x32_epi32(_mm256_broadcastsi128_si256(four), lanes);
  } else {
    const __m256i low = _mm256_permutevar8x32_epi32(half_at(block), lanes);
    if constexpr (W == 256) return low;
    const __m256i high = _mm256_permutevar8x32_epi32(half_at(block + 8), lanes);
    const __m256 picked = _mm256_blendv_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high), _mm256_castsi256_ps(upper));
    return _mm256_castps_si256(picked);
  }
}

// Lane i of the block for the i-th of eight. With W = 512 the sign of `upper` says of which half.
template <unsigned W>
TAMIS_INLINE __m256i own_lanes(const std::uint32_t* block, [[maybe_unused]] __m256i upper) {
  const auto half_at = [](const std::uint32_t* from) { return _mm256_loadu_ps(reinterpret_cast<const float*>(from)); };
  static_assert(W == 256 || W == 512);
  if constexpr (W == 256) return _mm256_castps_si256(half_at(block));
  return _mm256_castps_si256(_mm256_blendv_ps(half_at(block), half_at(block + 8), _mm256_castsi256_ps(upper)));
}

}  // namespace tamis::detail::inline TAMIS_LEVEL

#endif
