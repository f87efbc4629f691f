#pragma once

// The binomial distribution, exactly: how many keys fall into a word, and how many false positives are too many to be chance.

#include <cstdint>

namespace tamis::detail {

// P(X = x) and P(X >= x) for X ~ Binomial(trials, probability).
double binomial_pmf(std::uint64_t trials, double probability, std::uint64_t x);
double binomial_upper_tail(std::uint64_t trials, double probability, std::uint64_t x);
double binomial_lower_tail(std::uint64_t trials, double probability, std::uint64_t x);  // P(X <= x)

// The largest count that chance still explains: P(X > bound) <= fail.
std::uint64_t binomial_upper_bound(std::uint64_t trials, double probability, double fail);
// The smallest such count: P(X < bound) <= fail.
std::uint64_t binomial_lower_bound(std::uint64_t trials, double probability, double fail);

}  // namespace tamis::detail
