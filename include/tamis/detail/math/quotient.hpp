#pragma once

// Rates, sizes and selector statistics of the quotient family.

#include <cstdint>
#include <vector>

#include "tamis/result.hpp"

namespace tamis::detail {

inline constexpr double quotient_load = 0.95;           // keys per quotient that a table is made for
inline constexpr double three_bit_load = 0.9;           // the same for the classic table, whose lookups walk through clusters
inline constexpr unsigned longest_remainder = 56;       // bits
inline constexpr double quotient_metadata = 2.125;      // bits per slot: occupied, runend and an eighth of a byte of offset
inline constexpr double three_bit_metadata = 3.0;       // the classic table: occupied, continuation, shifted
inline constexpr double quotient_coded_metadata = 3.0;  // with a 56-bit code per 64 slots

// Rate of a table of `keys` fingerprints: a query meets each of them with probability 2^-r / quotients, or 2^-64 if that is
// more, since quotient and remainder come from one word of 64 bits.
double quotient_rate(std::uint64_t quotients, std::uint64_t keys, unsigned remainder);

struct quotient_shape {
  std::uint64_t quotients = 0;
  std::uint64_t spare = 0;  // slots behind the last quotient's own
  unsigned remainder = 0;
};

// Slots that the runs of the last quotients need behind the table at load 0.95. What waits there is a queue with one service a
// slot; its tail falls by e^-0.1 a slot, so that 256 are exceeded with probability 5e-12. Small tables end before it gets long.
std::uint64_t quotient_spare(std::uint64_t quotients);

// The shortest remainder that keeps the rate, or the longest that fits the bits; `remainder` = 0 leaves it to us. Bits that are
// left over lower the load. `metadata`: bits per slot beside the remainder; `load`: keys per quotient at capacity, at most
// 0.95. Errors name what cannot be reached.
result<quotient_shape> quotient_shape_for_rate(std::uint64_t capacity, double fpr, unsigned remainder,
                                               double load = quotient_load);
result<quotient_shape> quotient_shape_for_bits(std::uint64_t capacity, double bits_per_key, double metadata, unsigned remainder,
                                               double load = quotient_load);

// TAF paper, Corollary 3: after c unique queries per key, the probability that a key's hash selector is k is at most this
// (exactly this for k = 0, up to terms of order 1/n).
double selector_probability(double c, double rate, unsigned k);
// A distribution made of these bounds: exact for 0, and in their proportion above, so that it sums to 1.
std::vector<double> selector_distribution(double c, double rate);
// Its entropy, in bits per key.
double selector_entropy(double c, double rate);
// Theorem 4: bits per key that suffice, in expectation, for n / (b·sqrt(rate)) unique queries.  Requires: b >= 2.
double selector_space(double b);

}  // namespace tamis::detail
