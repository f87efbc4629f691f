#include "tamis/detail/math/growth.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tamis {

using namespace detail;

namespace {

TEST(growth, lengths_are_those_of_equation_6) {
  for (unsigned x = 0; x < 10000; ++x) {
    EXPECT_EQ(growing_length(5, x), 5 + static_cast<unsigned>(std::ceil(2 * std::log2(x + 1.0) - 1e-9))) << x;
  }
}

TEST(growth, shares_of_ages_sum_to_one) {
  for (unsigned x = 0; x < 20; ++x) {
    double sum = 0;
    for (unsigned age = 0; age <= x + 3; ++age) sum += age_share(age, x);
    EXPECT_DOUBLE_EQ(sum, 1.0);
  }
}

// Equation 3 is the mean of 2^-(F - age) alpha over the ages.
TEST(growth, rate_is_the_sum_over_the_ages) {
  for (unsigned x = 0; x <= 8; ++x) {
    double sum = 0;
    for (unsigned age = 0; age <= x; ++age) sum += age_share(age, x) * std::exp2(static_cast<double>(age) - 8) * 0.8;
    EXPECT_NEAR(infini_rate(8, 0.8, x), sum, 1e-15);
  }
}

TEST(growth, growing_rate_counts_the_first_generation_whole) {
  const double first = std::exp2(-8.0) * 0.8;
  EXPECT_DOUBLE_EQ(growing_rate(8, 0.8, 0), first);
  EXPECT_DOUBLE_EQ(growing_rate_printed(8, 0.8, 0), first / 2);
  double before = 0;
  for (unsigned x = 0; x < 1000; ++x) {
    EXPECT_GT(growing_rate(8, 0.8, x), before);
    before = growing_rate(8, 0.8, x);
    // The rounded lengths are no shorter than those of the printed equation.
    EXPECT_LE(before, growing_rate_printed(8, 0.8, x) + first / 2 + 1e-15);
  }
  EXPECT_LT(growing_rate(8, 0.8, 100000), growing_limit * first);
  EXPECT_LT(growing_rate_printed(8, 0.8, 100000), first * std::numbers::pi * std::numbers::pi / 12);
}

TEST(growth, number_of_filters_is_that_of_section_4_2) {
  for (unsigned f = 1; f <= 12; ++f) {
    for (unsigned x = 0; x <= 60; ++x) {
      EXPECT_EQ(infini_filters(f, x), (x + 1 + f) / (f + 1)) << f << " " << x;
      EXPECT_LE(growing_filters(f, x), infini_filters(f, x));
    }
  }
}

TEST(growth, bits_are_those_of_equations_4_and_7) {
  EXPECT_DOUBLE_EQ(infini_bits(12, 0.8, 3), 20.0);
  EXPECT_DOUBLE_EQ(growing_bits(4, 0.8, 3, 3), 15.0);
}

}  // namespace
}  // namespace tamis
