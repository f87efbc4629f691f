#include "tamis/detail/base/random.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "tests/support/bounds.hpp"

namespace tamis {

using namespace detail;

namespace {

constexpr std::uint64_t seed = 20240612;

// Vigna's splitmix64.c started from 0, published with Java's SplittableRandom.
TEST(random_source, is_splitmix64) {
  random_source random(0);
  for (const std::uint64_t expected : {0xe220a8397b1dcdafu, 0x6e789e6aa1b965f4u, 0x06c45d188009454fu, 0xf88bb8a8724c81ecu}) {
    EXPECT_EQ(random(), expected);
  }
}

TEST(random_source, same_seed_same_numbers) {
  random_source a(seed);
  random_source b(seed);
  random_source c(seed + 1);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t drawn = a();
    EXPECT_EQ(drawn, b());
    differs |= drawn != c();
  }
  EXPECT_TRUE(differs);
}

TEST(random_source, below_is_even_and_in_range) {
  random_source random(seed);
  for (const std::uint64_t bound : {1u, 2u, 3u, 7u, 100u}) {
    std::vector<std::uint64_t> counts(bound);
    for (int i = 0; i < 100000; ++i) ++counts.at(random.below(bound));
    EXPECT_TRUE(test::even_by_chance(counts)) << bound << ", seed " << seed;
  }
  EXPECT_EQ(random.below(0), 0u);
}

TEST(random_source, unit_and_chance) {
  random_source random(seed);
  std::uint64_t hits = 0;
  for (int i = 0; i < 100000; ++i) {
    const double drawn = random.unit();
    ASSERT_TRUE(drawn >= 0.0 && drawn < 1.0);
    hits += random.chance(0.3);
  }
  EXPECT_TRUE(test::equal_by_chance(hits, 100000, 0.3)) << "seed " << seed;
  EXPECT_FALSE(random.chance(0.0));
  EXPECT_TRUE(random.chance(1.0));
}

TEST(random_source, parts_are_independent) {
  random_source random(seed);
  random_source a = random.split();
  random_source b = random.split();
  std::uint64_t equal_bits = 0;
  for (int i = 0; i < 1000; ++i) equal_bits += static_cast<std::uint64_t>(std::popcount(~(a() ^ b())));
  EXPECT_TRUE(test::equal_by_chance(equal_bits, 64000, 0.5)) << "seed " << seed;
}

}  // namespace
}  // namespace tamis
