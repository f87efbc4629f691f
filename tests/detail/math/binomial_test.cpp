#include "tamis/detail/math/binomial.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tamis {

using namespace detail;

namespace {

// All chances of Binomial(trials, p) by adding one trial after the other: no logarithms, no gamma function.
std::vector<double> all_chances(std::uint64_t trials, double p) {
  std::vector<double> chances = {1.0};
  for (std::uint64_t t = 0; t < trials; ++t) {
    chances.push_back(0.0);
    for (std::size_t x = chances.size() - 1; x > 0; --x) chances[x] = chances[x] * (1 - p) + chances[x - 1] * p;
    chances[0] *= 1 - p;
  }
  return chances;
}

TEST(binomial, agrees_with_the_sum_over_all_outcomes) {
  for (const std::uint64_t trials : {0u, 1u, 2u, 7u, 50u, 300u}) {
    for (const double p : {0.0, 1e-9, 0.01, 0.3, 0.5, 0.97, 1.0}) {
      const std::vector<double> chances = all_chances(trials, p);
      double below = 0.0;
      for (std::uint64_t x = 0; x <= trials; ++x) {
        SCOPED_TRACE(::testing::Message() << trials << " trials, p = " << p << ", x = " << x);
        double above = 0.0;
        for (std::uint64_t y = trials + 1; y-- > x;) above += chances[y];
        below += chances[x];
        EXPECT_NEAR(binomial_pmf(trials, p, x), chances[x], 1e-12);
        EXPECT_NEAR(binomial_upper_tail(trials, p, x), above, 1e-12);
        EXPECT_NEAR(binomial_lower_tail(trials, p, x), below, 1e-12);
        if (above > 1e-300 && above < 1e-3) {
          EXPECT_NEAR(binomial_upper_tail(trials, p, x) / above, 1.0, 1e-9);
        }
      }
      EXPECT_EQ(binomial_upper_tail(trials, p, trials + 1), 0.0);
      EXPECT_EQ(binomial_pmf(trials, p, trials + 1), 0.0);
    }
  }
}

TEST(binomial, bounds_are_the_tightest) {
  for (const std::uint64_t trials : {1u, 100u, 10000u, 10000000u}) {
    for (const double p : {1e-7, 0.001, 0.2, 0.5, 0.9}) {
      for (const double fail : {1e-3, 1e-9, 1e-13}) {
        SCOPED_TRACE(::testing::Message() << trials << " trials, p = " << p << ", fail = " << fail);
        const std::uint64_t upper = binomial_upper_bound(trials, p, fail);
        EXPECT_LE(binomial_upper_tail(trials, p, upper + 1), fail);
        if (upper != 0) {
          EXPECT_GT(binomial_upper_tail(trials, p, upper), fail);
        }
        const std::uint64_t lower = binomial_lower_bound(trials, p, fail);
        if (lower != 0) {
          EXPECT_LE(binomial_lower_tail(trials, p, lower - 1), fail * (1 + 1e-6));
        }
        EXPECT_LE(lower, upper);
      }
    }
  }
}

TEST(binomial, large_numbers_follow_the_normal_law) {
  // 10^9 tosses of a coin, five standard deviations above the mean: 2.87e-7.
  const double deviation = std::sqrt(1e9 * 0.25);
  EXPECT_NEAR(binomial_upper_tail(1000000000, 0.5, static_cast<std::uint64_t>(5e8 + 5 * deviation)), 2.87e-7, 0.02e-7);
}

}  // namespace
}  // namespace tamis
