#pragma once

// Picks 32-bit lanes out of a block of W = 32, 64, 128, 256 or 512 bits, eight at a time.

#include <cstdint>

#include "tamis/detail/base/access.hpp"
#include "tamis/detail/base/compiler.hpp"

#if TAMIS_HAS_AVX2
#include <immintrin.h>

namespace tamis::detail::inline TAMIS_LEVEL {

// Memory of a vector's size that is only read with `Access`. C++ has no atomic load of more than a word or two, and takes any
// other of what somebody changes for a race. The processor does not mind: every byte is read as it is at one moment, and of
// bits that are only ever set no more is needed. So the load is said in words that the compiler does not look into.
template <class Vector, class Access>
TAMIS_INLINE Vector load_vector(const std::uint32_t* from) {
  Vector lanes;
  if constexpr (Access::is_atomic) {
    using any_vector [[gnu::may_alias, gnu::aligned(4)]] = Vector;
    asm volatile("vmovdqu %1, %0" : "=x"(lanes) : "m"(*reinterpret_cast<const any_vector*>(from)));
  } else {
    __builtin_memcpy(&lanes, from, sizeof lanes);
  }
  return lanes;
}

// Lane `lanes` mod W/32 of the block for each of eight numbers. With W = 512 the lowest three bits count inside a half, and the
// sign of `upper` says which half.
template <unsigned W, class Access = plain_access>
TAMIS_INLINE __m256i pick_lanes(const std::uint32_t* block, __m256i lanes, [[maybe_unused]] __m256i upper) {
  const auto half_at = [](const std::uint32_t* from) { return load_vector<__m256i, Access>(from); };
  if constexpr (W == 32) {
    return _mm256_set1_epi32(static_cast<int>(Access::load(*block)));
  } else if constexpr (W == 64) {
    long long both;
    if constexpr (Access::is_atomic) {
      both = static_cast<long long>(std::uint64_t{Access::load(block[1])} << 32 | Access::load(block[0]));
    } else {
      __builtin_memcpy(&both, block, sizeof both);
    }
    return _mm256_permutevar8x32_epi32(_mm256_set1_epi64x(both), lanes);
  } else if constexpr (W == 128) {
    const auto four = load_vector<__m128i, Access>(block);
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
template <unsigned W, class Access = plain_access>
TAMIS_INLINE __m256i own_lanes(const std::uint32_t* block, [[maybe_unused]] __m256i upper) {
  const auto half_at = [](const std::uint32_t* from) { return load_vector<__m256, Access>(from); };
  static_assert(W == 256 || W == 512);
  if constexpr (W == 256) return _mm256_castps_si256(half_at(block));
  return _mm256_castps_si256(_mm256_blendv_ps(half_at(block), half_at(block + 8), _mm256_castsi256_ps(upper)));
}

}  // namespace tamis::detail::inline TAMIS_LEVEL

#endif
