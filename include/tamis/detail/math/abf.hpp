#pragma once

// Sizes and rates of adaptive Bloom filters: the model of section IV of the ABF paper (equations 3 to 10).
//
// The workload of the model: N keys are in; A others are asked for, each lookup takes one of them at random, t·A lookups in
// all. Of the a of them that fall into a word with n keys, Z_c are false positives by set c. The word goes from set to set, one
// lookup that is a false positive each, and stays where Z_c = 0. Adaptation is the blind one of the paper's evaluation.

#include <cstdint>
#include <optional>

#include "tamis/detail/math/bloom.hpp"

namespace tamis::detail {

// f(n, w): the chance that a word of w payload bits with n keys accepts another key (equation 3, which is exact).
double abf_word_rate(unsigned payload_bits, std::uint64_t keys, unsigned k);

struct abf_setting {
  std::uint64_t words = 0;    // M
  unsigned payload_bits = 0;  // w without the selector
  unsigned k = 0;
  unsigned sets = 2;            // S
  std::uint64_t keys = 0;       // N
  std::uint64_t negatives = 0;  // A
  double repeats = 1.0;         // t
  unsigned decimation = 1;      // d: only every d-th false positive is acted on
};

// False-positive rate of the setting, equations 4 to 10 as the paper means them, for any S: each Z_c is Binomial(a, f(n, w)),
// and the words go round for ever. Two things in it are approximate, and it comes out too high, as the paper says.
double abf_printed_rate(const abf_setting& setting);

// The same without the two approximations, for any S: Z_c is Binomial(a, (X/w)^k) with the distribution of X, the number of
// ones, instead of its mean; and the lookups end after t·A, before a word has reached its stationary state. What is left are
// lookups that come as a Poisson process (exact but for terms of 1/M) and, with d > 1, a decimation that picks false positives
// at random instead of every d-th of the whole filter. The numbers are good to about 1e-5 of the rate.
double abf_rate(const abf_setting& setting);

// What a filter is made for; exactly one of fpr and bits_per_key is given.
struct abf_wish {
  std::uint64_t capacity = 0;
  std::optional<double> fpr;           // of keys that are asked for the first time
  std::optional<double> bits_per_key;  // of fast memory, selectors included
  unsigned word_bits = 64;
  unsigned sets = 2;
  unsigned words_per_key = 1;  // j
  unsigned k = 0;              // bits in each of the j words; 0: the best
};

// Number of words, and bits in each word. A key of Bloom-j is j keys of Bloom-1 that all have to be accepted.
result<bloom_shape> abf_shape(const abf_wish& wish);

}  // namespace tamis::detail
