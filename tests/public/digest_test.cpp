#include "tamis/digest.hpp"

#include <gtest/gtest.h>

#include <bitset>
#include <string>

#include "tamis/detail/base/random.hpp"
#include "tests/support/keys.hpp"

namespace tamis {

using namespace detail;

namespace {

constexpr std::uint64_t seed = 1;

std::string bit_string(digest d) { return std::bitset<64>(d.high).to_string() + std::bitset<64>(d.low).to_string(); }

TEST(digest, bits_are_those_of_the_bit_string) {
  SCOPED_TRACE(seed);
  random_source random(seed);
  for (int round = 0; round < 20; ++round) {
    const digest d{random(), random()};
    const std::string text = bit_string(d);
    for (unsigned first = 0; first <= 128; ++first) {
      EXPECT_EQ(d.bits(first, 0), 0u);
      for (unsigned width = 1; width <= 64 && first + width <= 128; ++width) {
        ASSERT_EQ(d.bits(first, width), std::bitset<64>(text.substr(first, width)).to_ullong()) << first << " + " << width;
      }
    }
  }
}

TEST(digest, order_is_that_of_the_bit_string) {
  SCOPED_TRACE(seed);
  random_source random(seed);
  for (int round = 0; round < 1000; ++round) {
    const digest a{random() % 4, random()};
    const digest b{random() % 4, random()};
    EXPECT_EQ(a < b, bit_string(a) < bit_string(b));
    EXPECT_EQ(a == b, bit_string(a) == bit_string(b));
  }
}

TEST(digest, prefix_range_is_all_that_share_the_prefix) {
  SCOPED_TRACE(seed);
  random_source random(seed);
  for (unsigned width = 0; width <= 128; ++width) {
    const digest d{random(), random()};
    const digest_range range = prefix_range(d, width);
    const std::string prefix = bit_string(d).substr(0, width);
    EXPECT_EQ(bit_string(range.first), prefix + std::string(128 - width, '0'));
    EXPECT_EQ(bit_string(range.last), prefix + std::string(128 - width, '1'));
    EXPECT_TRUE(range.contains(d) && range.contains(range.first) && range.contains(range.last));
  }
  EXPECT_EQ(prefix_range({1, 2}, 0), all_digests);
}

TEST(digest, range_ends_where_it_ends) {
  const digest_range range = prefix_range({0x8000000000000000u, 0}, 1);
  EXPECT_FALSE(range.contains({0x7fffffffffffffffu, ~std::uint64_t{0}}));
  for (const digest d : test::extreme_digests) {
    EXPECT_TRUE(all_digests.contains(d));
    EXPECT_EQ(range.contains(d), d.high >> 63 == 1);
  }
}

}  // namespace
}  // namespace tamis
