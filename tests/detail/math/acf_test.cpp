// Thresholds against the published ones, and shapes that keep what was asked for.

#include "tamis/detail/math/acf.hpp"

#include <gtest/gtest.h>

namespace tamis::test {

using namespace detail;

namespace {

TEST(acf_math, thresholds_are_the_published_ones) {
  EXPECT_NEAR(acf_load_threshold(2, 1), 0.5, 1e-4);
  EXPECT_NEAR(acf_load_threshold(3, 1), 0.91794, 1e-4);
  EXPECT_NEAR(acf_load_threshold(4, 1), 0.97677, 1e-4);
  EXPECT_NEAR(acf_load_threshold(2, 2), 0.89701, 1e-4);
  EXPECT_NEAR(acf_load_threshold(2, 4), 0.98037, 1e-4);
}

TEST(acf_math, rate_is_kept_by_the_narrowest_fingerprint) {
  for (const double fpr : {0.2, 0.01, 1e-4, 1e-9}) {
    const acf_shape shape = acf_shape_for({.capacity = 100000, .fpr = fpr}).value();
    EXPECT_LE(acf_rate(shape.k, shape.b, shape.fingerprint, 0.95), fpr);
    EXPECT_GT(acf_rate(shape.k, shape.b, shape.fingerprint - 1, 0.95), fpr);
  }
}

TEST(acf_math, what_is_not_given_follows_the_load) {
  EXPECT_EQ(acf_shape_for({.capacity = 1000, .fpr = 0.1, .k = 2}).value().b, 4u);
  EXPECT_EQ(acf_shape_for({.capacity = 1000, .fpr = 0.1, .b = 1, .usual_k = 2}).value().k, 4u);
  EXPECT_FALSE(acf_shape_for({.capacity = 1000, .fpr = 0.1, .k = 3, .b = 1}).ok());
}

}  // namespace
}  // namespace tamis::test
