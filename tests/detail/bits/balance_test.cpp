#include "tamis/detail/bits/balance.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "tamis/detail/base/random.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

unsigned bit_by_bit(std::uint64_t a, std::uint64_t b, unsigned from) {
  for (unsigned x = from; x < 64; ++x) {
    if (popcount(a & low_mask(x + 1)) == popcount(b & low_mask(x + 1))) return x;
  }
  return 64;
}

// Ones of b only where a has had more: a queue that never serves more than has come.
void draw_queue(random_source& random, double insert_queue, double services, std::uint64_t& a, std::uint64_t& b) {
  a = b = 0;
  for (unsigned x = 0, waiting = 0; x < 64; ++x) {
    if (random.chance(insert_queue)) a |= std::uint64_t{1} << x, ++waiting;
    if (waiting > 0 && random.chance(services)) b |= std::uint64_t{1} << x, --waiting;
  }
}

TEST(balance, agrees_with_counting_bit_by_bit) {
  random_source random(3);
  for (int i = 0; i < 20000; ++i) {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    draw_queue(random, random.unit(), random.unit(), a, b);
    for (unsigned from = 0; from <= 64; from += 1 + static_cast<unsigned>(random.below(9))) {
      const unsigned expected = bit_by_bit(a, b, from);
      ASSERT_EQ(first_balanced(a, b, from), expected) << std::hex << a << ' ' << b << ' ' << from;
      ASSERT_EQ(tamis::detail::plain::first_balanced(a, b, from), expected) << std::hex << a << ' ' << b << ' ' << from;
    }
    std::uint64_t all = 0;
    for (unsigned x = 0; x < 64; ++x) all |= std::uint64_t{bit_by_bit(a, b, x) == x} << x;
    ASSERT_EQ(balanced(a, b), all) << std::hex << a << ' ' << b;
    ASSERT_EQ(tamis::detail::plain::balanced(a, b), all) << std::hex << a << ' ' << b;
  }
}

TEST(balance, full_and_empty_words) {
  const std::uint64_t all = ~std::uint64_t{0};
  for (unsigned from = 0; from < 64; ++from) {
    EXPECT_EQ(first_balanced(0, 0, from), from);
    EXPECT_EQ(first_balanced(all, all, from), from);
    EXPECT_EQ(first_balanced(all, 0, from), 64u);
  }
  for (const unsigned from : {64u, 65u, 255u}) EXPECT_EQ(first_balanced(0, 0, from), 64u);
}

#if TAMIS_HAS_AVX512
TEST(balance, of_words_in_memory_agrees_with_that_of_words) {
  random_source random(4);
  for (int i = 0; i < 100000; ++i) {
    std::uint64_t a = 0;
    std::uint64_t ends = 0;
    draw_queue(random, random.unit(), random.unit(), a, ends);
    if (i % 4 == 0) ends = ~std::uint64_t{0};  // a long run of one slot each, of earlier blocks
    const auto from = static_cast<unsigned>(random.below(i % 8 == 0 ? 256 : 64));
    std::uint8_t words[17] = {};
    std::memcpy(words + 1, &a, sizeof a);
    std::memcpy(words + 9, &ends, sizeof ends);
    const std::uint64_t b = high_bits(ends, from) << 1;
    ASSERT_EQ(high_bits(avx512_only::balanced_pair<false>(words + 1, from), from), high_bits(balanced(a, b), from))
        << a << ' ' << ends;
    ASSERT_EQ(high_bits(avx512_only::balanced_pair<true>(words + 1, from), from), high_bits(balanced(a << 1, b), from))
        << a << ' ' << ends;
  }
}
#endif

}  // namespace
