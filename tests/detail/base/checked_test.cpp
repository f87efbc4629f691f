#include "tamis/detail/base/checked.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tamis {

using namespace detail;

namespace {

constexpr std::uint64_t most = ~std::uint64_t{0};

TEST(checked, sums_and_products_that_do_not_fit) {
  EXPECT_EQ(checked_add(most, 0), most);
  EXPECT_EQ(checked_add(most, 1), std::nullopt);
  EXPECT_EQ(checked_multiply(std::uint64_t{1} << 32, (std::uint64_t{1} << 32) - 1), most - (std::uint64_t{1} << 32) + 1);
  EXPECT_EQ(checked_multiply(std::uint64_t{1} << 32, std::uint64_t{1} << 32), std::nullopt);
  EXPECT_EQ(checked_multiply(0, most), 0u);
}

TEST(checked, ceil_of_what_64_bits_can_hold) {
  EXPECT_EQ(checked_ceil(0.0), 0u);
  EXPECT_EQ(checked_ceil(0.1), 1u);
  EXPECT_EQ(checked_ceil(3.0), 3u);
  EXPECT_EQ(checked_ceil(std::nextafter(3.0, 4.0)), 4u);
  EXPECT_EQ(checked_ceil(0x1p62), std::uint64_t{1} << 62);
  for (const double bad : {-1.0, 0x1p63, 1e300, std::numeric_limits<double>::infinity(), std::nan("")}) {
    EXPECT_EQ(checked_ceil(bad), std::nullopt) << bad;
  }
}

TEST(checked, division_rounds_up) {
  EXPECT_EQ(divide_up(0, 7), 0u);
  EXPECT_EQ(divide_up(7, 7), 1u);
  EXPECT_EQ(divide_up(8, 7), 2u);
  EXPECT_EQ(divide_up(most, 64), (most >> 6) + 1);
}

TEST(checked, increment_stays_at_the_top) {
  EXPECT_EQ(saturating_increment(0), 1u);
  EXPECT_EQ(saturating_increment(most), most);
}

}  // namespace
}  // namespace tamis
