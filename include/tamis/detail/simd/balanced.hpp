#pragma once

// Where two words have had equally many ones, all 64 bits at once: see detail/bits/balance.hpp.

#include <cstdint>
#include <cstring>

#include "tamis/detail/simd/word_instructions.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

inline constexpr bool has_balanced = TAMIS_HAS_AVX2 != 0;
inline constexpr bool has_balanced_pair = TAMIS_HAS_AVX512 != 0;

#if TAMIS_HAS_AVX2
namespace avx2_only {

// Byte i of the answer: -1 if bit i is one, else 0.
TAMIS_INLINE __m256i spread(std::uint64_t word, unsigned half) {
  const __m256i bits = _mm256_set1_epi32(static_cast<int>(word >> (32 * half)));
  const __m256i byte = _mm256_setr_epi64x(0x0000000000000000, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201u));
  return _mm256_cmpeq_epi8(_mm256_and_si256(_mm256_shuffle_epi8(bits, byte), bit), bit);
}

TAMIS_INLINE __m256i running_sums(__m256i x) {
  x = _mm256_add_epi8(x, _mm256_slli_si256(x, 1));
  x = _mm256_add_epi8(x, _mm256_slli_si256(x, 2));
  x = _mm256_add_epi8(x, _mm256_slli_si256(x, 4));
  x = _mm256_add_epi8(x, _mm256_slli_si256(x, 8));
  const __m256i totals = _mm256_shuffle_epi8(x, _mm256_set1_epi8(15));
  return _mm256_add_epi8(x, _mm256_permute2x128_si256(totals, totals, 0x08));  // the low lane's total joins the high lane
}

// All 64 running differences at once; no branch depends on how the runs lie.
TAMIS_INLINE std::uint64_t balanced(std::uint64_t a, std::uint64_t b) {
  const __m256i low = running_sums(_mm256_sub_epi8(spread(b, 0), spread(a, 0)));
  const __m256i total = _mm256_shuffle_epi8(_mm256_permute4x64_epi64(low, 0xff), _mm256_set1_epi8(15));
  const __m256i high = _mm256_add_epi8(running_sums(_mm256_sub_epi8(spread(b, 1), spread(a, 1))), total);
  const auto zeros = [](__m256i x) {
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(x, _mm256_setzero_si256())));
  };
  return zeros(low) | std::uint64_t{zeros(high)} << 32;
}

}  // namespace avx2_only
#endif

#if TAMIS_HAS_AVX512
namespace avx512_only {

// The same with fewer instructions: a byte of a word counts its ones up to each of its bits by itself, and one multiplication
// adds up the differences of whole bytes.
TAMIS_INLINE std::uint64_t balanced(std::uint64_t a, std::uint64_t b) {
  const __m512i every_a = _mm512_set1_epi64(static_cast<long long>(a));
  const __m512i every_b = _mm512_set1_epi64(static_cast<long long>(b));
  const auto counts = [](std::uint64_t word) { return _mm_popcnt_epi8(_mm_cvtsi64_si128(static_cast<long long>(word))); };
  // Eight are added to each difference, so that none is negative.
  const __m128i differences = _mm_sub_epi8(_mm_add_epi8(counts(a), _mm_set1_epi8(8)), counts(b));
  const auto sums = static_cast<std::uint64_t>(_mm_cvtsi128_si64(differences)) * plain::every_byte << 8;
  const auto eight_of = [](long long byte) { return 0x0101010101010101 * byte; };
  const __m512i byte =
      _mm512_setr_epi64(eight_of(0), eight_of(1), eight_of(2), eight_of(3), eight_of(4), eight_of(5), eight_of(6), eight_of(7));
  const __m512i up_to = _mm512_set1_epi64(static_cast<long long>(0xff7f3f1f0f070301u));
  const auto ones = [&](__m512i every) {
    return _mm512_popcnt_epi8(_mm512_and_si512(_mm512_shuffle_epi8(every, byte), up_to));
  };
  const __m512i before = _mm512_shuffle_epi8(_mm512_set1_epi64(static_cast<long long>(sums)), byte);
  const __m512i eights = _mm512_slli_epi64(byte, 3);
  return _mm512_cmpeq_epi8_mask(_mm512_add_epi8(ones(every_a), before), _mm512_add_epi8(ones(every_b), eights));
}

// The same for words that lie side by side in memory, `a` first: `a` counted up to x, or before x if Before is true, and `b`
// before x and from bit `from` on. Only the sums go through another kind of register: that is what a search through many
// headers waits for.  Requires: bits of the answer below `from` are not looked at.
template <bool Before>
TAMIS_INLINE std::uint64_t balanced_pair(const std::uint8_t* words, unsigned from) {
  const __m128i pair = _mm_loadu_si128(reinterpret_cast<const __m128i*>(words));
  // Masked: GCC 12 warns of the other form.
  const __m512i every = _mm512_maskz_broadcast_i64x2(0xff, pair);
  const __m128i counts = _mm_popcnt_epi8(pair);
  const __m128i differences = _mm_sub_epi8(_mm_add_epi8(counts, _mm_set1_epi8(8)), _mm_srli_si128(counts, 8));
  std::uint64_t b;
  std::memcpy(&b, words + 8, sizeof b);
  const std::uint64_t sums = (static_cast<std::uint64_t>(_mm_cvtsi128_si64(differences)) * plain::every_byte << 8) +
                             static_cast<std::uint64_t>(_mm_popcnt_u64(bmi2::low_bits(b, from))) * plain::every_byte;
  const auto eight_of = [](long long byte) { return 0x0101010101010101 * byte; };
  const __m512i byte =
      _mm512_setr_epi64(eight_of(0), eight_of(1), eight_of(2), eight_of(3), eight_of(4), eight_of(5), eight_of(6), eight_of(7));
  const __m512i before_b = _mm512_set1_epi64(0x7f3f1f0f07030100);
  const __m512i up_to_a = Before ? before_b : _mm512_set1_epi64(static_cast<long long>(0xff7f3f1f0f070301u));
  const __m512i ones_a = _mm512_popcnt_epi8(_mm512_and_si512(_mm512_shuffle_epi8(every, byte), up_to_a));
  const __m512i byte_b = _mm512_add_epi8(byte, _mm512_set1_epi8(8));
  const __m512i ones_b = _mm512_popcnt_epi8(_mm512_and_si512(_mm512_shuffle_epi8(every, byte_b), before_b));
  const __m512i before = _mm512_shuffle_epi8(_mm512_set1_epi64(static_cast<long long>(sums)), byte);
  return _mm512_cmpeq_epi8_mask(_mm512_add_epi8(ones_a, before), _mm512_add_epi8(ones_b, _mm512_slli_epi64(byte, 3)));
}

}  // namespace avx512_only
#endif

// The best that there is.
namespace vectors {

#if TAMIS_HAS_AVX512
using avx512_only::balanced;
using avx512_only::balanced_pair;
#else
#if TAMIS_HAS_AVX2
using avx2_only::balanced;
#else
std::uint64_t balanced(std::uint64_t a, std::uint64_t b);
#endif
template <bool Before>
std::uint64_t balanced_pair(const std::uint8_t* words, unsigned from);
#endif

}  // namespace vectors

}  // namespace tamis::detail::inline TAMIS_LEVEL
