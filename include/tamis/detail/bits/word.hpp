#pragma once

// Bit tricks in 64-bit words: rank, select, deposit and extract, and the move of a bit range by up to a word.
//
// Bit 0 is the least significant one. Everything exists in pure C++ (`plain::`), and where the CPU level has better
// instructions also with those (`bmi2::`); the unqualified name is the best of them. Both stay callable, so that tests compare
// them.

#include <bit>
#include <cassert>
#include <cstdint>
#include <type_traits>

#include "tamis/detail/base/compiler.hpp"
#include "tamis/detail/simd/word_instructions.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

namespace plain {

// The low n bits, all of them if n is 64 or more.  Requires: n <= 255.
TAMIS_INLINE constexpr std::uint64_t low_mask(unsigned n) {
  assert(n <= 255);
  return n < word_bits ? (std::uint64_t{1} << n) - 1 : ~std::uint64_t{0};
}

TAMIS_INLINE constexpr std::uint64_t low_bits(std::uint64_t word, unsigned n) { return word & low_mask(n); }

// Byte j of the answer: how many ones bytes 0 to j of the word have.
TAMIS_INLINE constexpr std::uint64_t running_byte_counts(std::uint64_t word) {
  word -= (word >> 1) & 0x5555555555555555u;
  word = (word & 0x3333333333333333u) + ((word >> 2) & 0x3333333333333333u);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return word * every_byte;
}

TAMIS_INLINE constexpr unsigned popcount(std::uint64_t word) { return static_cast<unsigned>(running_byte_counts(word) >> 56); }

TAMIS_INLINE constexpr unsigned rank(std::uint64_t word, unsigned i) { return popcount(low_bits(word, i)); }

// How many bytes of `sums` are at most k.  Requires: k < 128 and every byte of `sums` <= 128, so that no byte borrows.
TAMIS_INLINE constexpr unsigned bytes_at_most(std::uint64_t sums, std::uint64_t k) {
  const std::uint64_t at_most = (((k * every_byte) | every_high_bit) - sums) & every_high_bit;
  return static_cast<unsigned>(((at_most >> 7) * every_byte) >> 56);
}

// S. Vigna, "Broadword implementation of rank/select queries" (2008), algorithm 2: find the byte by comparing all running sums
// with k at once, spread that byte to one bit per byte, and do the same again.
TAMIS_INLINE constexpr unsigned select(std::uint64_t word, unsigned k) {
  const std::uint64_t sums = running_byte_counts(word);
  if (k >= sums >> 56) return word_bits;
  const unsigned place = 8 * bytes_at_most(sums, k);
  const std::uint64_t k_in_byte = k - (((sums << 8) >> place) & 0xff);
  const std::uint64_t spread = (((word >> place) & 0xff) * every_byte) & 0x8040201008040201u;
  const std::uint64_t bits = ((spread + 0x7f7f7f7f7f7f7f7fu) & every_high_bit) >> 7;
  return place + bytes_at_most(bits * every_byte, k_in_byte);
}

TAMIS_INLINE constexpr std::uint64_t select_pair(std::uint64_t word, unsigned k) {
  const unsigned first = select(word, k);
  if (first == word_bits) return 0;
  const std::uint64_t above = word & ~low_mask(first + 1);
  return (std::uint64_t{1} << first) | lowest_bit(above);
}

// H. Warren, "Hacker's Delight", 7-4: a one of the mask has to move down by as many bits as there are zeros below it. Bit j of
// that distance, for all ones at once, says which of them move by 2^j in step j.
struct compress_steps {
  std::uint64_t moves[6] = {};

  constexpr explicit compress_steps(std::uint64_t mask) {
    std::uint64_t zeros_below = ~mask << 1;
    for (unsigned j = 0; j < 6; ++j) {
      std::uint64_t odd = zeros_below;  // becomes: is the number of zeros below this bit odd?
      for (unsigned shift = 1; shift < word_bits; shift *= 2) odd ^= odd << shift;
      moves[j] = odd & mask;
      mask = (mask ^ moves[j]) | (moves[j] >> (1u << j));
      zeros_below &= ~odd;
    }
  }
};

constexpr std::uint64_t pext(std::uint64_t source, std::uint64_t mask) {
  const compress_steps steps(mask);
  std::uint64_t word = source & mask;
  for (unsigned j = 0; j < 6; ++j) {
    const std::uint64_t moving = word & steps.moves[j];
    word = (word ^ moving) | (moving >> (1u << j));
  }
  return word;
}

constexpr std::uint64_t pdep(std::uint64_t source, std::uint64_t mask) {
  const compress_steps steps(mask);
  std::uint64_t word = source;
  for (unsigned j = 6; j-- > 0;) {
    word = (word & ~steps.moves[j]) | ((word << (1u << j)) & steps.moves[j]);
  }
  return word & mask;
}

}  // namespace plain

#define TAMIS_BEST(call)                                  \
  if constexpr (has_pdep) {                               \
    if (!std::is_constant_evaluated()) return bmi2::call; \
  }

// The low n bits, all of them if n is 64 or more.  Requires: n <= 255.
TAMIS_INLINE constexpr std::uint64_t low_mask(unsigned n) {
  TAMIS_BEST(low_mask(n));
  return plain::low_mask(n);
}
// Bits 0 to n - 1 of a word, and those from n on; the others are 0.  Requires: n <= 255.
TAMIS_INLINE constexpr std::uint64_t low_bits(std::uint64_t word, unsigned n) {
  TAMIS_BEST(low_bits(word, n));
  return plain::low_bits(word, n);
}
TAMIS_INLINE constexpr std::uint64_t high_bits(std::uint64_t word, unsigned n) { return word ^ low_bits(word, n); }

// Without the instruction, std::popcount is a call into the compiler's library.
TAMIS_INLINE constexpr unsigned popcount(std::uint64_t word) {
  if constexpr (has_popcount) return static_cast<unsigned>(std::popcount(word));
  return plain::popcount(word);
}

// How many ones lie below bit i.  Requires: i <= 64.
TAMIS_INLINE constexpr unsigned rank(std::uint64_t word, unsigned i) { return popcount(low_bits(word, i)); }

// The position of the k-th one, counted from 0; 64 if there are not that many. Any k is allowed.
TAMIS_INLINE constexpr unsigned select(std::uint64_t word, unsigned k) {
  TAMIS_BEST(select(word, k));
  return plain::select(word, k);
}

// The k-th one and the one after it as a mask, as far as they exist: pdep(3 << k, word), but much faster where pdep is not an
// instruction. Any k is allowed.
TAMIS_INLINE constexpr std::uint64_t select_pair(std::uint64_t word, unsigned k) {
  TAMIS_BEST(select_pair(word, k));
  return plain::select_pair(word, k);
}

// The low bits of `source`, laid out at the ones of `mask`; zero elsewhere.
TAMIS_INLINE constexpr std::uint64_t pdep(std::uint64_t source, std::uint64_t mask) {
  TAMIS_BEST(pdep(source, mask));
  return plain::pdep(source, mask);
}

// The bits of `source` at the ones of `mask`, gathered at the low end.
TAMIS_INLINE constexpr std::uint64_t pext(std::uint64_t source, std::uint64_t mask) {
  TAMIS_BEST(pext(source, mask));
  return plain::pext(source, mask);
}

#undef TAMIS_BEST

// `ones` where the mask is one, `zeros` where it is zero.
TAMIS_INLINE constexpr std::uint64_t blend(std::uint64_t zeros, std::uint64_t ones, std::uint64_t mask) {
  return zeros ^ ((zeros ^ ones) & mask);
}

// A word whose bits [at, last) go up by one, over what bit `last` was, and whose bit `at` becomes `bit`.
// Requires: at <= last < 64; bit is 0 or 1.
TAMIS_INLINE constexpr std::uint64_t with_bit_inserted(std::uint64_t word, unsigned at, unsigned last, std::uint64_t bit) {
  const std::uint64_t moved = (word << 1 & ~low_mask(at + 1)) | bit << at;
  return blend(word, moved, low_mask(last + 1) & ~low_mask(at));
}
// A word whose bits (at, last] go down by one, over what bit `at` was, and whose bit `last` becomes 0.
// Requires: at <= last < 64.
TAMIS_INLINE constexpr std::uint64_t with_bit_removed(std::uint64_t word, unsigned at, unsigned last) {
  return blend(word, word >> 1 & low_mask(last), low_mask(last + 1) & ~low_mask(at));
}

// Bits [first, last) of an array of words go to [first + distance, last + distance); all other bits stay.
// Requires: 1 <= distance <= 64, last + distance bits exist.
inline void move_bits_up(std::uint64_t* words, std::uint64_t first, std::uint64_t last, unsigned distance) {
  assert(1 <= distance && distance <= word_bits);
  if (first >= last) return;
  // Whole words from the top, so that no source is overwritten before it is read; then the two ends get their old bits back.
  const std::uint64_t bottom = (first + distance) / word_bits;
  const std::uint64_t top = (last + distance - 1) / word_bits;
  const std::uint64_t old_bottom = words[bottom];
  const std::uint64_t old_top = words[top];
  for (std::uint64_t w = top; w > bottom; --w) {
    words[w] = (words[w] << (distance - 1) << 1) | (words[w - 1] >> (word_bits - distance));
  }
  const std::uint64_t below = bottom > 0 ? words[bottom - 1] : 0;
  words[bottom] = (words[bottom] << (distance - 1) << 1) | (below >> (word_bits - distance));
  words[bottom] = blend(words[bottom], old_bottom, low_mask(static_cast<unsigned>((first + distance) % word_bits)));
  words[top] = blend(old_top, words[top], low_mask(static_cast<unsigned>((last + distance - 1) % word_bits) + 1));
}

// Bits [first, last) of an array of words go to [first - distance, last - distance); all other bits stay.
// Requires: 1 <= distance <= 64, distance <= first.
inline void move_bits_down(std::uint64_t* words, std::uint64_t first, std::uint64_t last, unsigned distance) {
  assert(1 <= distance && distance <= word_bits);
  if (first >= last) return;
  assert(distance <= first);
  const std::uint64_t bottom = (first - distance) / word_bits;
  const std::uint64_t top = (last - distance - 1) / word_bits;
  const std::uint64_t old_bottom = words[bottom];
  const std::uint64_t old_top = words[top];
  for (std::uint64_t w = bottom; w < top; ++w) {
    words[w] = (words[w] >> (distance - 1) >> 1) | (words[w + 1] << (word_bits - distance));
  }
  // The word after the top one is read only if it has bits of the range: it may not exist.
  const std::uint64_t above = top < (last - 1) / word_bits ? words[top + 1] : 0;
  words[top] = (words[top] >> (distance - 1) >> 1) | (above << (word_bits - distance));
  words[bottom] = blend(words[bottom], old_bottom, low_mask(static_cast<unsigned>((first - distance) % word_bits)));
  words[top] = blend(old_top, words[top], low_mask(static_cast<unsigned>((last - distance - 1) % word_bits) + 1));
}

}  // namespace tamis::detail::inline TAMIS_LEVEL
