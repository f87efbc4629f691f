#pragma once

// A key's places in four tables of packed values, and the values that stand there, all four at once.
//
//   digest   │ quarter 0 │ quarter 1 │ quarter 2 │ quarter 3 │      32 bits each
//                  │           │           │           │
//   places    in table 0   in table 1   in table 2   in table 3
//                  │           │           │           │
//   values      compared with what the key has: with one value, or with two or four side by side
//
// Places by 32 bits are even enough for tables of up to 2^24 places: one place has at most 1/256 more keys than another.

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tamis/detail/base/compiler.hpp"
#include "tamis/digest.hpp"

#if TAMIS_HAS_AVX2
#include <immintrin.h>
#endif

namespace tamis::detail::inline TAMIS_LEVEL {

inline constexpr std::uint64_t most_places_by_quarter = std::uint64_t{1} << 24;

TAMIS_INLINE constexpr std::uint32_t quarter_of(digest d, unsigned quarter) {
  return static_cast<std::uint32_t>((quarter < 2 ? d.high : d.low) >> (quarter % 2 * 32));
}

// Four numbers of 16 bits, as an operand of vector instructions.
struct alignas(16) quarters {
  std::uint64_t word = 0;
  std::uint64_t padding = 0;
};

// Every quarter of a word as a fraction of 2^16, times its factor, and so much more.
TAMIS_INLINE std::uint64_t reduce_quarters(std::uint64_t word, const quarters& factors, const quarters& sums) {
#if TAMIS_HAS_AVX2
  const auto operand = [](const quarters& from) { return _mm_load_si128(reinterpret_cast<const __m128i*>(&from)); };
  const __m128i reduced = _mm_mulhi_epu16(_mm_cvtsi64_si128(static_cast<long long>(word)), operand(factors));
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_add_epi16(reduced, operand(sums))));
#else
  std::uint64_t all = 0;
  for (unsigned shift = 0; shift < 64; shift += 16) {
    const auto quarter = [shift](std::uint64_t from) { return from >> shift & 0xffff; };
    all |= (((quarter(word) * quarter(factors.word) >> 16) + quarter(sums.word)) & 0xffff) << shift;
  }
  return all;
#endif
}

// The four lowest values of a packed word, one in every quarter; `mask` has `width` ones in every quarter, at most 16.
TAMIS_INLINE std::uint64_t spread_to_quarters(std::uint64_t packed, [[maybe_unused]] std::uint64_t width, std::uint64_t mask) {
#if TAMIS_HAS_AVX2
  return _pdep_u64(packed, mask);
#else
  std::uint64_t all = 0;
  for (unsigned i = 0; i < 4; ++i) all |= packed >> i * width << 16 * i & mask & std::uint64_t{0xffff} << 16 * i;
  return all;
#endif
}

// The same number for each of four, as an operand of vector instructions: one that has to be spread first costs one more.
using four_times = std::array<std::uint64_t, 4>;
TAMIS_INLINE constexpr four_times each(std::uint64_t number) { return {number, number, number, number}; }

// Four tables of so many places each, one behind the other.  Requires: size <= most_places_by_quarter.
struct four_tables {
  explicit constexpr four_tables(std::uint64_t size) : places(each(size)), begins{0, size, 2 * size, 3 * size} {
    assert(size <= most_places_by_quarter);
  }
  four_times places;
  four_times begins;
};

// Their values of so many bits.  Requires: bits <= 32.
struct packed_values {
  explicit constexpr packed_values(unsigned bits) : width(each(bits)), mask(each((std::uint64_t{1} << bits) - 1)) {
    assert(bits <= 32);
  }
  four_times width;
  four_times mask;
};

#if TAMIS_HAS_AVX2

// Four of the values that a packed array has.
class four_values {
 public:
  explicit four_values(__m256i values) : values_(values) {}

  // Which of the four are this value? Some of eight bits are set for each, those of the first are the lowest.
  TAMIS_INLINE std::uint32_t equal(std::uint64_t value) const {
    return mask(_mm256_cmpeq_epi64(values_, _mm256_set1_epi64x(static_cast<long long>(value))));
  }
  // Which are one of the lowest quarters of the word?  Requires: they have at most 16 bits, and no other quarter is 0.
  template <unsigned Quarters>
  TAMIS_INLINE std::uint32_t equal_any(std::uint64_t quarters) const {
    static_assert(Quarters == 2 || Quarters == 4);
    constexpr long long zeros = static_cast<long long>(0x8080'8080'0000'0000);  // in place of the value
    constexpr long long low = Quarters == 4 ? 0x0100'0100'0100'0100 : 0x0100'0100 | zeros;
    constexpr long long high = Quarters == 4 ? 0x0908'0908'0908'0908 : 0x0908'0908 | zeros;
    const __m256i each = _mm256_shuffle_epi8(values_, _mm256_set_epi64x(high, low, high, low));
    return mask(_mm256_cmpeq_epi16(each, _mm256_set1_epi64x(static_cast<long long>(quarters))));
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

class gather4 {
 public:
  gather4() = default;
  // Place t: one of table t by quarter t, counted on from table to table.
  TAMIS_INLINE gather4(digest d, const four_tables& tables) {
    const __m128i words =
        _mm_set_epi64x(static_cast<long long>(in_register(d.low)), static_cast<long long>(in_register(d.high)));
    const __m256i own = _mm256_srli_epi64(_mm256_mul_epu32(_mm256_cvtepu32_epi64(words), operand(tables.places)), 32);
    places_ = _mm256_add_epi64(own, operand(tables.begins));
  }
  TAMIS_INLINE std::uint64_t operator[](unsigned table) const { return static_cast<std::uint64_t>(places_[table]); }
  TAMIS_INLINE void copy_to(std::uint64_t* places) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(places), places_); }

  // The values there. Four loads: a gather takes a third longer.
  TAMIS_INLINE four_values read(const std::byte* data, const packed_values& values) const {
    const __m256i bits = _mm256_mul_epu32(places_, operand(values.width));
    const __m256i bytes = _mm256_srli_epi64(bits, 3);
    const __m128i first = _mm256_castsi256_si128(bytes);
    const __m128i last = _mm256_extracti128_si256(bytes, 1);
    const __m256i words = _mm256_set_m128i(two_words(data + _mm_cvtsi128_si64(last), data + _mm_extract_epi64(last, 1)),
                                           two_words(data + _mm_cvtsi128_si64(first), data + _mm_extract_epi64(first, 1)));
    const __m256i shifted = _mm256_srlv_epi64(words, _mm256_and_si256(bits, _mm256_set1_epi64x(7)));
    return four_values(_mm256_and_si256(shifted, operand(values.mask)));
  }

 private:
  TAMIS_INLINE static __m256i operand(const four_times& from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from.data()));
  }
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

  TAMIS_INLINE std::uint32_t equal(std::uint64_t value) const {
    std::uint32_t found = 0;
    for (unsigned t = 0; t < 4; ++t) found |= std::uint32_t{values_[t] == value} << 8 * t;
    return found;
  }
  template <unsigned Quarters>
  TAMIS_INLINE std::uint32_t equal_any(std::uint64_t quarters) const {
    std::uint32_t found = 0;
    for (unsigned q = 0; q < Quarters; ++q) found |= equal(quarters >> 16 * q & 0xffff);
    return found;
  }
  template <unsigned Bit>
  TAMIS_INLINE std::uint32_t with_bit() const {
    std::uint32_t found = 0;
    for (unsigned t = 0; t < 4; ++t) found |= static_cast<std::uint32_t>(values_[t] >> Bit & 1) << t;
    return found;
  }

 private:
  std::array<std::uint64_t, 4> values_;
};

class gather4 {
 public:
  gather4() = default;
  TAMIS_INLINE gather4(digest d, const four_tables& tables) {
    for (unsigned t = 0; t < 4; ++t) places_[t] = tables.begins[t] + (quarter_of(d, t) * tables.places[t] >> 32);
  }
  TAMIS_INLINE std::uint64_t operator[](unsigned table) const { return places_[table]; }
  TAMIS_INLINE void copy_to(std::uint64_t* places) const { std::copy_n(places_.data(), 4, places); }

  TAMIS_INLINE four_values read(const std::byte* data, const packed_values& values) const {
    std::array<std::uint64_t, 4> found;
    for (unsigned t = 0; t < 4; ++t) {
      const std::uint64_t bit = places_[t] * values.width[t];
      std::uint64_t word;
      std::memcpy(&word, data + bit / 8, sizeof word);
      found[t] = word >> bit % 8 & values.mask[t];
    }
    return four_values(found);
  }

 private:
  std::array<std::uint64_t, 4> places_;
};

#endif

}  // namespace tamis::detail::inline TAMIS_LEVEL
