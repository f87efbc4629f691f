#pragma once

// A key's places in four tables of packed values, and the values that stand there, all four at once.
//
//   digest   │ quarter 0 │ quarter 1 │ quarter 2 │ quarter 3 │      32 bits each
//                  │           │           │           │
//   places    in table 0   in table 1   in table 2   in table 3
//                  │           │           │           │
//   values      compared with what the key has: with one value, or with two side by side
//
// Places by 32 bits are even enough for tables of up to 2^24 places: one place has at most 1/256 more keys than another.

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "tamis/base/compiler.hpp"
#include "tamis/base/digest.hpp"
#include "tamis/bits/packed_array.hpp"
#include "tamis/bits/word.hpp"
#include "tamis/hash/place.hpp"

#if TAMIS_HAS_AVX2
#include <immintrin.h>
#endif

namespace tamis::inline TAMIS_LEVEL {

inline constexpr std::uint64_t most_places_by_quarter = std::uint64_t{1} << 24;

TAMIS_INLINE constexpr std::uint32_t quarter_of(digest d, unsigned quarter) {
  return static_cast<std::uint32_t>((quarter < 2 ? d.high : d.low) >> (quarter % 2 * 32));
}

// Every quarter of a word as a fraction of 2^16, times so many.  Requires: places < 2^16.
TAMIS_INLINE std::uint64_t reduce_quarters(std::uint64_t word, std::uint64_t places) {
#if TAMIS_HAS_AVX2
  const __m128i quarters = _mm_cvtsi64_si128(static_cast<long long>(word));
  const __m128i reduced = _mm_mulhi_epu16(quarters, _mm_set1_epi16(static_cast<short>(places)));
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(reduced));
#else
  std::uint64_t all = 0;
  for (unsigned shift = 0; shift < 64; shift += 16) all |= reduce_short(16, word >> shift & 0xffff, places) << shift;
  return all;
#endif
}

// The four lowest values of a packed word, one in every quarter; `mask` has `width` ones in every quarter, at most 16.
TAMIS_INLINE std::uint64_t spread_to_quarters(std::uint64_t packed, [[maybe_unused]] std::uint64_t width, std::uint64_t mask) {
#if TAMIS_HAS_AVX2
  return pdep(packed, mask);
#else
  std::uint64_t all = 0;
  for (unsigned i = 0; i < 4; ++i) all |= packed >> i * width << 16 * i & mask & std::uint64_t{0xffff} << 16 * i;
  return all;
#endif
}

#if TAMIS_HAS_AVX2

// Four of the values that a packed array has.
class four_values {
 public:
  explicit four_values(__m256i values) : values_(values) {}

  // Which of the four are this value? Some of eight bits are set for each, those of the first are the lowest.
  TAMIS_INLINE std::uint32_t equal(std::uint64_t value) const {
    return mask(_mm256_cmpeq_epi64(values_, _mm256_set1_epi64x(static_cast<long long>(value))));
  }
  // Which are one or the other half of the word?  Requires: they have at most 32 bits.
  TAMIS_INLINE std::uint32_t equal_either(std::uint64_t pair) const {
    const __m256i twice = _mm256_shuffle_epi32(values_, _MM_SHUFFLE(2, 2, 0, 0));
    return mask(_mm256_cmpeq_epi32(twice, _mm256_set1_epi64x(static_cast<long long>(pair))));
  }
  // Which are any quarter of the word?  Requires: they have at most 16 bits.
  TAMIS_INLINE std::uint32_t equal_any(std::uint64_t quad) const {
    const __m256i spread = _mm256_set_epi64x(0x0908090809080908, 0x0100010001000100, 0x0908090809080908, 0x0100010001000100);
    const __m256i four_times = _mm256_shuffle_epi8(values_, spread);
    return mask(_mm256_cmpeq_epi16(four_times, _mm256_set1_epi64x(static_cast<long long>(quad))));
  }
  // In which is this bit set? A bit for each.
  template <unsigned Bit>
  TAMIS_INLINE std::uint32_t with_bit() const {
    return static_cast<std::uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_slli_epi64(values_, 63 - Bit))));
  }

 private:
  TAMIS_INLINE static std::uint32_t mask(__m256i equal) { return static_cast<std::uint32_t>(_mm256_movemask_epi8(equal)); }

  __m256i values_;
};

class four_places {
 public:
  four_places() = default;
  // Place t: one of `places` by quarter t, counted on from table to table.  Requires: places <= most_places_by_quarter.
  TAMIS_INLINE four_places(digest d, std::uint64_t places) {
    assert(places <= most_places_by_quarter);
    const __m256i each = _mm256_set1_epi64x(static_cast<long long>(places));
    const __m128i words =
        _mm_set_epi64x(static_cast<long long>(in_register(d.low)), static_cast<long long>(in_register(d.high)));
    const __m256i own = _mm256_srli_epi64(_mm256_mul_epu32(_mm256_cvtepu32_epi64(words), each), 32);
    places_ = _mm256_add_epi64(own, _mm256_mul_epu32(each, _mm256_set_epi64x(3, 2, 1, 0)));
  }
  TAMIS_INLINE std::uint64_t operator[](unsigned table) const { return static_cast<std::uint64_t>(places_[table]); }
  TAMIS_INLINE void copy_to(std::uint64_t* places) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(places), places_); }

  // The values there.  Requires: width <= 32, mask == low_mask(width). Four loads: a gather takes a third longer.
  TAMIS_INLINE four_values read(const std::byte* data, std::uint64_t width, std::uint64_t mask) const {
    assert(width <= 32);
    const __m256i bits = _mm256_mul_epu32(places_, _mm256_set1_epi64x(static_cast<long long>(width)));
    const __m256i bytes = _mm256_srli_epi64(bits, 3);
    const __m128i first = _mm256_castsi256_si128(bytes);
    const __m128i last = _mm256_extracti128_si256(bytes, 1);
    const __m256i words = _mm256_set_m128i(two_words(data + _mm_cvtsi128_si64(last), data + _mm_extract_epi64(last, 1)),
                                           two_words(data + _mm_cvtsi128_si64(first), data + _mm_extract_epi64(first, 1)));
    const __m256i shifted = _mm256_srlv_epi64(words, _mm256_and_si256(bits, _mm256_set1_epi64x(7)));
    return four_values(_mm256_and_si256(shifted, _mm256_set1_epi64x(static_cast<long long>(mask))));
  }

 private:
  TAMIS_INLINE static __m128i two_words(const std::byte* low, const std::byte* high) {
    const __m128d one = _mm_castsi128_pd(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(low)));
    return _mm_castpd_si128(_mm_loadh_pd(one, reinterpret_cast<const double*>(high)));
  }

  __m256i places_;
};

#else

class four_values {
 public:
  explicit four_values(const std::array<std::uint64_t, 4>& values) : values_(values) {}

  TAMIS_INLINE std::uint32_t equal(std::uint64_t value) const { return equal_part(value, 64); }
  TAMIS_INLINE std::uint32_t equal_either(std::uint64_t pair) const { return equal_part(pair, 32); }
  TAMIS_INLINE std::uint32_t equal_any(std::uint64_t quad) const { return equal_part(quad, 16); }
  template <unsigned Bit>
  TAMIS_INLINE std::uint32_t with_bit() const {
    std::uint32_t found = 0;
    for (unsigned t = 0; t < 4; ++t) found |= static_cast<std::uint32_t>(values_[t] >> Bit & 1) << t;
    return found;
  }

 private:
  TAMIS_INLINE std::uint32_t equal_part(std::uint64_t wanted, unsigned bits) const {
    std::uint32_t found = 0;
    for (unsigned shift = 0; shift < 64; shift += bits) {
      for (unsigned t = 0; t < 4; ++t) found |= std::uint32_t{values_[t] == (wanted >> shift & low_mask(bits))} << 8 * t;
    }
    return found;
  }

  std::array<std::uint64_t, 4> values_;
};

class four_places {
 public:
  four_places() = default;
  TAMIS_INLINE four_places(digest d, std::uint64_t places) {
    assert(places <= most_places_by_quarter);
    for (unsigned t = 0; t < 4; ++t) places_[t] = t * places + reduce_short(32, quarter_of(d, t), places);
  }
  TAMIS_INLINE std::uint64_t operator[](unsigned table) const { return places_[table]; }
  TAMIS_INLINE void copy_to(std::uint64_t* places) const { std::copy_n(places_.data(), 4, places); }

  TAMIS_INLINE four_values read(const std::byte* data, std::uint64_t width, std::uint64_t /*mask*/) const {
    assert(width <= 32);
    std::array<std::uint64_t, 4> values;
    for (unsigned t = 0; t < 4; ++t) {
      values[t] = packed_array<dynamic_width>::get(data, places_[t], static_cast<unsigned>(width));
    }
    return four_values(values);
  }

 private:
  std::array<std::uint64_t, 4> places_;
};

#endif

}  // namespace tamis::inline TAMIS_LEVEL
