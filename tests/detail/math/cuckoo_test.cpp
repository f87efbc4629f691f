// Rates of the cuckoo family.

#include "tamis/detail/math/cuckoo.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tamis::test {

using namespace detail;

namespace {

// Equation 4 of the ASCF paper: eight slots, each occupied with probability `load` and then equal once in 2^f - 1 times.
TEST(cuckoo_math, rate_is_that_of_eight_slots) {
  for (const unsigned width : {4u, 8u, 12u, 16u, 24u}) {
    for (const double load : {0.1, 0.5, 0.95}) {
      constexpr double buckets = 1 << 20;
      const double slots = -std::expm1(8 * std::log1p(-load / (std::exp2(width) - 1)));
      EXPECT_NEAR(cuckoo_rate(buckets, width, 4 * buckets * load) / slots, 1.0, 0.03) << width << ", " << load;
    }
  }
}

// A bucket and its fingerprint come from one word of 64 bits: beyond that, longer fingerprints do not help.
TEST(cuckoo_math, rate_knows_that_a_word_has_64_bits) {
  const double buckets = std::exp2(36);
  const double keys = 3.8 * buckets;
  EXPECT_LT(cuckoo_rate(buckets, 26, keys), cuckoo_rate(buckets, 24, keys) / 3.9);
  EXPECT_DOUBLE_EQ(cuckoo_rate(buckets, 32, keys), cuckoo_rate(buckets, 30, keys));
  EXPECT_NEAR(cuckoo_rate(buckets, 32, keys) / (keys * std::exp2(-63)), 1.0, 1e-6);
}

}  // namespace
}  // namespace tamis::test
