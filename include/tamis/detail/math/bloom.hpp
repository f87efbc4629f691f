#pragma once

// Rates and sizes of Bloom filters.

#include <cstdint>

#include "tamis/result.hpp"

namespace tamis::detail {

// Rate of a Bloom filter of `bits` bits with `keys` keys and k places each: (1 - (1 - 1/m)^(kn))^k.
double bloom_rate(double bits, double keys, unsigned k);

// Rate of Bloom-1: every key sets k bits, drawn with replacement, in one of `words` words of `word_bits` bits. A word holds
// Binomial(n, 1/M) keys (ABF paper, equation 8); given i keys the chance is E[(X / w)^k], X = number of distinct bits that i·k
// throws hit. The usual closed form (1 - (1 - 1/w)^(ik))^k swaps expectation and power and is too low, for short words by
// several per cent.
double bloom1_rate(std::uint64_t words, unsigned word_bits, std::uint64_t keys, unsigned k);

// Rate of Bloom-1 with split words: every key sets one bit in each of the eight parts of its word. Given the number of keys
// in a word its parts are independent, and one place in a part passes with the expected share of ones: no approximation.
double split_bloom1_rate(std::uint64_t words, unsigned word_bits, std::uint64_t keys);

struct bloom_shape {
  std::uint64_t cells = 0;  // bits, counters or words
  unsigned k = 0;
};

inline constexpr unsigned most_bloom_places = 64;
inline constexpr unsigned most_bloom1_places = 16;
inline constexpr unsigned split_bloom1_places = 8;

// The smallest filter for `capacity` keys that the model says keeps the rate, or the best one of the given size. `k` = 0 leaves
// k to us. Errors name what cannot be reached.
result<bloom_shape> bloom_shape_for_rate(std::uint64_t capacity, double fpr, unsigned cell_bits, unsigned k);
result<bloom_shape> bloom_shape_for_bits(std::uint64_t capacity, double bits_per_key, unsigned cell_bits, unsigned k);
result<bloom_shape> bloom1_shape_for_rate(std::uint64_t capacity, double fpr, unsigned word_bits, unsigned k);
result<bloom_shape> bloom1_shape_for_bits(std::uint64_t capacity, double bits_per_key, unsigned word_bits, unsigned k);
result<bloom_shape> split_bloom1_shape_for_rate(std::uint64_t capacity, double fpr, unsigned word_bits);
result<bloom_shape> split_bloom1_shape_for_bits(std::uint64_t capacity, double bits_per_key, unsigned word_bits);

}  // namespace tamis::detail
