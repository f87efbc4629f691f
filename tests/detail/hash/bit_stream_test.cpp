#include "tamis/detail/hash/bit_stream.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <bitset>
#include <set>
#include <string>

#include "tests/support/bounds.hpp"

namespace tamis {

using namespace detail;

namespace {

constexpr std::uint64_t seed = 3;

TEST(bit_stream, begins_with_the_digest) {
  random_source random(seed);
  const digest d{random(), random()};
  const bit_stream stream(d);
  for (unsigned first = 0; first <= 64; ++first) EXPECT_EQ(stream.bits(first, 64), d.bits(first, 64));
}

// Any window is the same cut out of one long string, across the borders at 128, 256, … too.
TEST(bit_stream, is_one_string) {
  random_source random(seed);
  for (int round = 0; round < 5; ++round) {
    const bit_stream stream({random(), random()});
    std::string text;
    for (unsigned i = 0; i < 600; ++i) text += stream.bits(i, 1) == 1 ? '1' : '0';
    for (unsigned first = 0; first < 520; ++first) {
      EXPECT_EQ(stream.bits(first, 0), 0u);
      for (const unsigned width : {1u, 2u, 7u, 8u, 31u, 32u, 33u, 63u, 64u}) {
        ASSERT_EQ(stream.bits(first, width), std::bitset<64>(text.substr(first, width)).to_ullong()) << first << " + " << width;
      }
    }
  }
}

// A stream that wrapped round would repeat the 128 bits of the digest.
TEST(bit_stream, never_wraps) {
  random_source random(seed);
  const bit_stream stream({random(), random()});
  std::set<std::uint64_t> words;
  constexpr unsigned blocks = 10000;
  for (std::uint64_t i = 0; i < blocks; ++i) words.insert(stream.bits(64 * i, 64));
  EXPECT_EQ(words.size(), blocks);
}

// Keys that agree in their first 128 bits but for one still part at once afterwards: every later bit is a coin toss.
TEST(bit_stream, neighbours_part_behind_the_digest) {
  random_source random(seed);
  std::uint64_t equal = 0;
  std::uint64_t compared = 0;
  for (int round = 0; round < 200; ++round) {
    const digest d{random(), random()};
    for (const digest neighbour :
         {digest{d.high ^ 1, d.low}, digest{d.high, d.low ^ 1}, digest{d.high ^ (1ull << 63), d.low}}) {
      for (std::uint64_t first = 128; first < 1024; first += 64) {
        equal +=
            static_cast<std::uint64_t>(std::popcount(~(bit_stream(d).bits(first, 64) ^ bit_stream(neighbour).bits(first, 64))));
        compared += 64;
      }
    }
  }
  EXPECT_TRUE(test::equal_by_chance(equal, compared, 0.5)) << "seed " << seed;
}

TEST(bit_stream, blocks_do_not_resemble_each_other) {
  random_source random(seed);
  std::uint64_t equal = 0;
  std::uint64_t compared = 0;
  for (int round = 0; round < 500; ++round) {
    const bit_stream stream({random(), random()});
    for (std::uint64_t block = 0; block < 8; ++block) {
      equal += static_cast<std::uint64_t>(std::popcount(~(stream.bits(128 * block, 64) ^ stream.bits(128 * (block + 1), 64))));
      compared += 64;
    }
  }
  EXPECT_TRUE(test::equal_by_chance(equal, compared, 0.5)) << "seed " << seed;
}

}  // namespace
}  // namespace tamis
