#pragma once

// How far chance may go. Every statistical check of a run fails by chance with at most `check_fail`; there are fewer than
// 10,000 of them, so that a run fails by chance with less than 1e-9.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <span>

#include "tamis/detail/math/binomial.hpp"

namespace tamis::test {

inline constexpr double check_fail = 1e-13;

// Is a count that is Binomial(trials, p) with some p <= rate within what chance explains?
inline ::testing::AssertionResult at_most_by_chance(std::uint64_t count, std::uint64_t trials, double rate) {
  const std::uint64_t most = detail::binomial_upper_bound(trials, rate, check_fail);
  if (count <= most) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << count << " of " << trials << ", but a rate of " << rate << " explains at most "
                                       << most;
}

// The same for p >= rate.
inline ::testing::AssertionResult at_least_by_chance(std::uint64_t count, std::uint64_t trials, double rate) {
  const std::uint64_t least = detail::binomial_lower_bound(trials, rate, check_fail);
  if (count >= least) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << count << " of " << trials << ", but a rate of " << rate << " gives at least "
                                       << least;
}

inline ::testing::AssertionResult equal_by_chance(std::uint64_t count, std::uint64_t trials, double rate) {
  const ::testing::AssertionResult upper = at_most_by_chance(count, trials, rate);
  return upper ? at_least_by_chance(count, trials, rate) : upper;
}

// Are these counts even? Pearson's statistic against Laurent and Massart's bound (Annals of Statistics 2000, lemma 1):
// P(chi² of d degrees >= d + 2 sqrt(d x) + 2 x) <= exp(-x).
inline ::testing::AssertionResult even_by_chance(std::span<const std::uint64_t> counts) {
  double total = 0;
  for (const std::uint64_t count : counts) total += static_cast<double>(count);
  const double mean = total / static_cast<double>(counts.size());
  double statistic = 0;
  for (const std::uint64_t count : counts)
    statistic += (static_cast<double>(count) - mean) * (static_cast<double>(count) - mean) / mean;
  const double degrees = static_cast<double>(counts.size()) - 1;
  const double x = -std::log(check_fail);
  const double most = degrees + 2 * std::sqrt(degrees * x) + 2 * x;
  if (statistic <= most) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "chi squared is " << statistic << ", chance explains " << most;
}

}  // namespace tamis::test
