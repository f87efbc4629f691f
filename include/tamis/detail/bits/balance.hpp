#pragma once

// Where two words have had equally many ones: in a block of a quotient table, the places where every run that has begun has
// ended.
//
//   a: quotients that have begun a run   . 1 1 . . . 1 .       bit x is balanced if both words have
//   b: runs that have ended              . . . . 1 1 . .       equally many ones among bits 0 to x
//   balanced                             x . . . . x . .

#include <bit>
#include <cassert>
#include <cstdint>

#include "tamis/detail/bits/word.hpp"
#include "tamis/detail/simd/balanced.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

namespace plain {

// Hops: with k ones of `a` so far, the first bit that can be balanced is the one where `b` reaches its k-th one.
TAMIS_INLINE constexpr unsigned first_balanced(std::uint64_t a, std::uint64_t b, unsigned from) {
  for (unsigned x = from; x < word_bits;) {
    const unsigned begun = rank(a, x + 1);
    if (begun == rank(b, x + 1)) return x;
    x = tamis::detail::select(b, begun - 1);
  }
  return word_bits;
}

TAMIS_INLINE constexpr std::uint64_t balanced(std::uint64_t a, std::uint64_t b) {
  std::uint64_t all = 0;
  int more = 0;  // ones of `a` than of `b`, up to bit x
  for (unsigned x = 0; x < word_bits; ++x) {
    more += static_cast<int>(a >> x & 1) - static_cast<int>(b >> x & 1);
    all |= static_cast<std::uint64_t>(more == 0) << x;
  }
  return all;
}

}  // namespace plain

// Bit x of the answer: have `a` and `b` equally many ones among bits 0 to x?
TAMIS_INLINE std::uint64_t balanced(std::uint64_t a, std::uint64_t b) {
  if constexpr (has_balanced) return vectors::balanced(a, b);
  return plain::balanced(a, b);
}

// The first such bit x >= from; 64 if there is none.
// Requires: from <= 255; from bit `from` on, `b` never has more ones than `a`.
TAMIS_INLINE unsigned first_balanced(std::uint64_t a, std::uint64_t b, unsigned from) {
  assert(from <= 255);
  if constexpr (has_balanced) return static_cast<unsigned>(std::countr_zero(high_bits(balanced(a, b), from)));
  return plain::first_balanced(a, b, from);
}

}  // namespace tamis::detail::inline TAMIS_LEVEL
