#pragma once

// What filters cost that grow (Dayan, Bercea, Reviriego, Pagh: InfiniFilter, SIGMOD 2023). F: bits of a new fingerprint when
// the filter was made; alpha: share of the slots in use at which it grows; N = 2^X: how many times larger it is than at first;
// X: how many times it has doubled. Rates are those of a filter that is about to grow again.

#include <cstdint>

namespace tamis::detail {

// Equation 6: bits of a new fingerprint after X expansions, F + ceil(2 log2(X + 1)), if fingerprints grow.
unsigned growing_length(unsigned fingerprint, unsigned expansions);

// Equation 2: the share of entries that were inserted `age` expansions ago. The oldest ones are all of the first size: their
// share is twice that of the formula.
double age_share(unsigned age, unsigned expansions);

// Equations 3 and 5: (log2 N + 2) 2^(-F-1) alpha, for the basic and for the chained filter.
double infini_rate(unsigned fingerprint, double alpha, double expansions);

// Equation 10 as it is printed: 2^(-F-1) alpha times the sum of 1/i^2 up to X + 1, for growing fingerprints.
double growing_rate_printed(unsigned fingerprint, double alpha, unsigned expansions);
// The same sum with the entries of the first size counted whole and with the rounded lengths of equation 6. The printed one
// takes half of the former, so that it is too low; this one stays below growing_limit · 2^-F alpha.
double growing_rate(unsigned fingerprint, double alpha, unsigned expansions);
inline constexpr double growing_limit = 1.27;

// Equations 4 and 7: bits per entry of a filter that is about to grow. `metadata`: bits per slot beside age and fingerprint, 3
// in the paper.
double infini_bits(unsigned fingerprint, double alpha, double metadata);
double growing_bits(unsigned fingerprint, double alpha, unsigned expansions, double metadata);

// Section 4.2: how many filters there are, ceil((X + 1) / (F + 1)); and the same for growing fingerprints, by counting the
// generations that each filter takes.
unsigned infini_filters(unsigned fingerprint, unsigned expansions);
unsigned growing_filters(unsigned fingerprint, unsigned expansions);

// The other ways to grow: detail/math/chain.hpp.

}  // namespace tamis::detail
