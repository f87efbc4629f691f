#include "tamis/detail/hash/hash_suffix.hpp"

#include <gtest/gtest.h>

#include "tamis/detail/base/random.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

TEST(hash_suffix, reads_bit_by_bit_what_it_reads_at_once) {
  random_source random(1);
  for (int round = 0; round < 2000; ++round) {
    const hash_suffix bits({random(), random()}, 1 + (random() >> random.below(64)));
    const std::uint64_t first = random.below(500);
    const auto width = static_cast<unsigned>(1 + random.below(64));
    std::uint64_t expected = 0;
    for (unsigned i = 0; i < width; ++i) expected = expected << 1 | bits.bits(first + i, 1);
    ASSERT_EQ(bits.bits(first, width), expected);
    ASSERT_EQ(bits.head(8), bits.bits(0, 8));
  }
}

// No bit is the same for all digests, wherever it lies: multiplication by a power of two leaves zeros that must not be used.
TEST(hash_suffix, every_bit_is_random) {
  for (const std::uint64_t quotients : {1ull, 2ull, 3ull, 1000ull, 1ull << 20, 1ull << 48}) {
    random_source random(quotients);
    constexpr int rounds = 400;
    int ones[300] = {};
    for (int round = 0; round < rounds; ++round) {
      const hash_suffix bits({random(), random()}, quotients);
      for (unsigned i = 0; i < 300; ++i) ones[i] += static_cast<int>(bits.bits(i, 1));
    }
    for (const int count : ones) {
      EXPECT_GT(count, rounds / 2 - 70);  // seven standard deviations
      EXPECT_LT(count, rounds / 2 + 70);
    }
  }
}

// A table that doubles takes the first following bit into the place.
TEST(hash_suffix, doubling_the_quotients_moves_one_bit) {
  random_source random(3);
  for (int round = 0; round < 2000; ++round) {
    const digest d{random(), random()};
    const std::uint64_t quotients = 1 + random.below(1 << 30);
    const hash_suffix before(d, quotients);
    const hash_suffix after(d, 2 * quotients);
    ASSERT_EQ(after.quotient(), 2 * before.quotient() + before.bits(0, 1));
    ASSERT_EQ(after.bits(0, 40), before.bits(1, 40));
  }
}

}  // namespace
