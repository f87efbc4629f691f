#include "tamis/detail/math/quotient.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tamis/detail/base/random.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

TEST(quotient, rate_is_load_over_two_to_the_remainder) {
  EXPECT_EQ(quotient_rate(1000, 0, 8), 0.0);
  EXPECT_NEAR(quotient_rate(1 << 20, 996147, 8), 0.95 / 256, 0.95 / 256 / 256);
  EXPECT_NEAR(quotient_rate(1, 1, 1), 0.5, 1e-12);
  EXPECT_NEAR(quotient_rate(std::uint64_t{1} << 8, 1, 55), std::ldexp(1.0, -63), 1e-30);
  // One word of a digest cannot tell more apart than that.
  EXPECT_NEAR(quotient_rate(std::uint64_t{1} << 40, 1, 56), std::ldexp(1.0, -64), 1e-30);
  EXPECT_NEAR(quotient_rate(std::uint64_t{1} << 40, 1 << 10, 56), std::ldexp(1.0, -54), 1e-25);
}

TEST(quotient, example_of_theorem_4) { EXPECT_NEAR(selector_space(4), 0.812, 0.001); }

TEST(quotient, selector_distribution_sums_to_one_and_falls) {
  for (const double rate : {1.0 / 16, 1.0 / 256, 1.0 / 4096}) {
    for (const double share : {0.01, 0.1, 0.25, 0.4}) {
      const auto chances = selector_distribution(share / rate, rate);
      EXPECT_NEAR(std::accumulate(chances.begin(), chances.end(), 0.0), 1.0, 1e-9);
      EXPECT_NEAR(chances[0], std::exp(-share), 1e-12);
      for (std::size_t k = 1; k < chances.size(); ++k) EXPECT_LE(chances[k], chances[k - 1]);
    }
  }
  EXPECT_EQ(selector_entropy(0, 1.0 / 256), 0.0);
}

// What waits behind the last quotient at load 0.95, drawn a thousand times, stays far below the spare slots.
TEST(quotient, spare_slots_are_enough) {
  random_source random(1);
  for (const std::uint64_t quotients : {2, 20, 100, 1000, 10000}) {
    const auto keys = static_cast<std::uint64_t>(static_cast<double>(quotients) * quotient_load);
    double longest = 0;
    double mean = 0;
    constexpr int rounds = 1000;
    for (int round = 0; round < rounds; ++round) {
      std::vector<std::uint64_t> arriving(quotients);
      for (std::uint64_t i = 0; i < keys; ++i) ++arriving[random.below(quotients)];
      std::uint64_t waiting = 0;
      for (const std::uint64_t more : arriving) waiting = waiting + more - (waiting + more != 0);
      longest = std::max(longest, static_cast<double>(waiting));
      mean += static_cast<double>(waiting) / rounds;
    }
    EXPECT_LE(longest, static_cast<double>(quotient_spare(quotients))) << quotients << " quotients, mean " << mean;
  }
}

TEST(quotient, bits_that_are_left_over_lower_the_load) {
  const auto tight = quotient_shape_for_bits(1000000, 11.0, quotient_metadata, 0).value();
  const auto loose = quotient_shape_for_bits(1000000, 11.6, quotient_metadata, 0).value();
  EXPECT_EQ(tight.remainder, loose.remainder);
  EXPECT_GT(loose.quotients, tight.quotients);
  const auto fixed = quotient_shape_for_bits(1000000, 20.0, quotient_metadata, 8).value();
  EXPECT_EQ(fixed.remainder, 8u);
  EXPECT_FALSE(quotient_shape_for_bits(1000000, 3.0, quotient_metadata, 0).ok());
}

}  // namespace
