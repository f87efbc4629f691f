#include "tamis/detail/math/binomial.hpp"

#include <algorithm>
#include <cmath>

namespace tamis::detail {
namespace {

// log P(X = x); lgamma_r keeps its sign to itself, which makes it safe for threads.
double log_pmf(std::uint64_t trials, double p, std::uint64_t x) {
  if (x > trials) return -INFINITY;
  if (p <= 0.0) return x == 0 ? 0.0 : -INFINITY;
  if (p >= 1.0) return x == trials ? 0.0 : -INFINITY;
  const auto log_factorial = [](std::uint64_t v) {
    int sign = 0;
    return lgamma_r(static_cast<double>(v) + 1.0, &sign);
  };
  const auto n = static_cast<double>(trials);
  const auto k = static_cast<double>(x);
  return log_factorial(trials) - log_factorial(x) - log_factorial(trials - x) + k * std::log(p) + (n - k) * std::log1p(-p);
}

// Sums terms that shrink from `term` on: the ratio of neighbours is p/(1-p) times (n-x)/(x+1), and falls with x.
double sum_upwards(std::uint64_t trials, double p, std::uint64_t x, double term) {
  const double odds = p / (1.0 - p);
  double sum = 0.0;
  for (; x <= trials && term > 0.0; ++x) {
    sum += term;
    const double ratio = odds * static_cast<double>(trials - x) / static_cast<double>(x + 1);
    if (ratio < 1.0 && term < sum * 1e-17) break;
    term *= ratio;
  }
  return std::min(sum, 1.0);
}

}  // namespace

double binomial_pmf(std::uint64_t trials, double p, std::uint64_t x) { return std::exp(log_pmf(trials, p, x)); }

double binomial_upper_tail(std::uint64_t trials, double p, std::uint64_t x) {
  if (x == 0) return 1.0;
  if (x > trials || p <= 0.0) return 0.0;
  if (p >= 1.0) return 1.0;
  // Above the mean the terms shrink from x on; below it the complement is the small side.
  if (static_cast<double>(x) >= static_cast<double>(trials) * p) return sum_upwards(trials, p, x, binomial_pmf(trials, p, x));
  return 1.0 - binomial_lower_tail(trials, p, x - 1);
}

double binomial_lower_tail(std::uint64_t trials, double p, std::uint64_t x) {
  if (x >= trials) return 1.0;
  if (static_cast<double>(x) <= static_cast<double>(trials) * p) {  // mirror: P(X <= x) = P(n - X >= n - x)
    if (p >= 1.0) return 0.0;
    return sum_upwards(trials, 1.0 - p, trials - x, binomial_pmf(trials, p, x));
  }
  return 1.0 - binomial_upper_tail(trials, p, x + 1);
}

std::uint64_t binomial_upper_bound(std::uint64_t trials, double p, double fail) {
  const auto exceeds = [&](std::uint64_t bound) { return binomial_upper_tail(trials, p, bound + 1) > fail; };
  std::uint64_t low = 0;
  std::uint64_t high = trials;  // P(X > trials) = 0
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (exceeds(middle))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

std::uint64_t binomial_lower_bound(std::uint64_t trials, double p, double fail) {
  return trials - binomial_upper_bound(trials, 1.0 - p, fail);
}

}  // namespace tamis::detail
