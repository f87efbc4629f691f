#include "tamis/detail/math/chain.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using namespace tamis;
using namespace tamis::detail;

// InfiniFilter paper, section 3 and table 2.
TEST(chain, rates_are_the_papers) {
  EXPECT_DOUBLE_EQ(linear_chaining_rate(13, 0.8, 1), 0.8 / 8192);
  EXPECT_DOUBLE_EQ(linear_chaining_rate(13, 0.8, 100), 80.0 / 8192);
  EXPECT_DOUBLE_EQ(geometric_chaining_rate(13, 0.8, 1), 0.8 / 8192);
  EXPECT_DOUBLE_EQ(geometric_chaining_rate(13, 0.8, 1024), 0.8 * 11 / 8192);
  EXPECT_DOUBLE_EQ(sacrificing_rate(13, 0.8, 8192), 0.8);
  EXPECT_DOUBLE_EQ(decreasing_chaining_rate(5, 0.8, 1), 0.8 / 32);
  EXPECT_DOUBLE_EQ(decreasing_chaining_rate(5, 0.8, 3), 0.8 / 32 * (1 + 0.25 + 1.0 / 9));
  EXPECT_LT(decreasing_chaining_rate(5, 0.8, 100000), 0.8 / 32 * decreasing_chaining_limit);
  EXPECT_NEAR(decreasing_chaining_rate(5, 0.8, 100000), 0.8 / 32 * decreasing_chaining_limit, 1e-6);
}

TEST(chain, spaces_are_the_papers) {
  EXPECT_DOUBLE_EQ(chaining_space(13, 0.8), 20.0);
  EXPECT_DOUBLE_EQ(decreasing_chaining_space(5, 0.8, 1), 10.0);
  EXPECT_DOUBLE_EQ(decreasing_chaining_space(5, 0.8, 8), 15.0);
  EXPECT_DOUBLE_EQ(sacrificing_space(13, 0.8, 1), 20.0);
  EXPECT_DOUBLE_EQ(sacrificing_space(13, 0.8, 8192), 3.75);
}

TEST(chain, fingerprints_grow_by_twice_the_logarithm) {
  for (unsigned i = 1; i < 200; ++i) {
    EXPECT_EQ(decreasing_fingerprint(5, i), 5 + static_cast<unsigned>(std::ceil(2 * std::log2(i) - 1e-12))) << i;
  }
  EXPECT_EQ(decreasing_fingerprint(56, 9), 56u);
}

TEST(chain, one_of_many_says_yes) {
  chain_rate rate;
  EXPECT_EQ(rate.value(), 0.0);
  rate.add(0.5);
  rate.add(0.5);
  EXPECT_DOUBLE_EQ(rate.value(), 0.75);
  rate.add(1.0);
  EXPECT_DOUBLE_EQ(rate.value(), 1.0);
  chain_rate small;
  for (int i = 0; i < 10; ++i) small.add(1e-15);
  EXPECT_NEAR(small.value(), 1e-14, 1e-20);
}

}  // namespace
