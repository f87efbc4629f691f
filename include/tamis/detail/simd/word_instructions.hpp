#pragma once

// What a processor with BMI2 has as instructions. Contracts: detail/bits/word.hpp, whose functions are the best that there is.
// Where there are none the names are only declared.

#include <cassert>
#include <cstdint>

#include "tamis/detail/base/compiler.hpp"

#if TAMIS_HAS_AVX2
#include <immintrin.h>
#endif

namespace tamis::detail::inline TAMIS_LEVEL {

inline constexpr bool has_pdep = TAMIS_HAS_AVX2 != 0;  // and pext, select and all below
#if defined(__POPCNT__) || defined(__aarch64__)
inline constexpr bool has_popcount = true;
#else
inline constexpr bool has_popcount = false;
#endif

inline constexpr unsigned word_bits = 64;

// The lowest one of a word by itself; 0 of 0.
template <class Word>
TAMIS_INLINE constexpr Word lowest_bit(Word word) {
  return word & (~word + 1);
}

namespace plain {

inline constexpr std::uint64_t every_byte = 0x0101010101010101u;
inline constexpr std::uint64_t every_high_bit = 0x8080808080808080u;

}  // namespace plain

#if TAMIS_HAS_AVX2
namespace bmi2 {

TAMIS_INLINE std::uint64_t low_mask(unsigned n) {
  assert(n <= 255);  // the instruction reads a byte
  return _bzhi_u64(~std::uint64_t{0}, n);
}
TAMIS_INLINE std::uint64_t low_bits(std::uint64_t word, unsigned n) {
  assert(n <= 255);
  return _bzhi_u64(word, n);
}

TAMIS_INLINE std::uint64_t pdep(std::uint64_t source, std::uint64_t mask) { return _pdep_u64(source, mask); }
TAMIS_INLINE std::uint64_t pext(std::uint64_t source, std::uint64_t mask) { return _pext_u64(source, mask); }

TAMIS_INLINE unsigned select(std::uint64_t word, unsigned k) {
  const std::uint64_t kth = k < word_bits ? std::uint64_t{1} << k : 0;
  return static_cast<unsigned>(_tzcnt_u64(_pdep_u64(kth, word)));  // std::countr_zero would ask for 0 first
}

TAMIS_INLINE std::uint64_t select_pair(std::uint64_t word, unsigned k) {
  const std::uint64_t kth = k < word_bits ? std::uint64_t{3} << k : 0;
  return _pdep_u64(kth, word);
}

}  // namespace bmi2
#else
namespace bmi2 {

std::uint64_t low_mask(unsigned n);
std::uint64_t low_bits(std::uint64_t word, unsigned n);
std::uint64_t pdep(std::uint64_t source, std::uint64_t mask);
std::uint64_t pext(std::uint64_t source, std::uint64_t mask);
unsigned select(std::uint64_t word, unsigned k);
std::uint64_t select_pair(std::uint64_t word, unsigned k);

}  // namespace bmi2
#endif

}  // namespace tamis::detail::inline TAMIS_LEVEL
