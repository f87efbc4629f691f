#include "tamis/detail/hash/place.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tests/support/bounds.hpp"
#include "tests/support/keys.hpp"

namespace tamis {

using namespace detail;

namespace {

constexpr std::uint64_t seed = 4;
constexpr std::uint64_t sizes[] = {1,    2,    3,       5,           7,          64,         65,
                                   1000, 1023, 1000003, 0xfffffffbu, 1ull << 32, 1ull << 40, (1ull << 63) + 12345};

digest one_above(digest d) { return {d.high + (d.low == ~std::uint64_t{0}), d.low + 1}; }

TEST(place_of_word, keeps_the_order_of_words) {
  SCOPED_TRACE(seed);
  random_source random(seed);
  std::vector<std::uint64_t> sorted(2000);
  for (std::uint64_t& word : sorted) word = random();
  sorted.insert(sorted.end(), {0, 1, std::uint64_t{1} << 63, ~std::uint64_t{0}});
  std::sort(sorted.begin(), sorted.end());
  for (const std::uint64_t places : sizes) {
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      const word_placed a = place_of_word(sorted[i - 1], places);
      const word_placed b = place_of_word(sorted[i], places);
      ASSERT_LE(a.place, b.place) << places;
      ASSERT_LT(b.place, places);
      if (a.place == b.place) {
        ASSERT_LE(a.rest, b.rest) << places;
      }
    }
  }
}

TEST(place_of_word, is_even) {
  SCOPED_TRACE(seed);
  random_source random(seed);
  for (const std::uint64_t places : {1u, 2u, 3u, 7u, 100u, 1000u}) {
    std::vector<std::uint64_t> counts(places);
    for (int i = 0; i < 500000; ++i) ++counts[place_of_word(random(), places).place];
    EXPECT_TRUE(test::even_by_chance(counts)) << places;
  }
}

TEST(place_of_word, rest_is_even_within_a_place) {
  SCOPED_TRACE(seed);
  random_source random(seed);
  std::vector<std::uint64_t> counts(64);
  for (int i = 0; i < 500000; ++i) ++counts[place_of_word(random(), 1000003).rest >> 58];
  EXPECT_TRUE(test::even_by_chance(counts));
}

TEST(place_of_word, doubling_takes_the_first_following_bit) {
  SCOPED_TRACE(seed);
  random_source random(seed);
  for (const std::uint64_t places : sizes) {
    if (places > 1ull << 62) continue;
    for (int i = 0; i < 1000; ++i) {
      const std::uint64_t word = random();
      const word_placed small = place_of_word(word, places);
      const word_placed large = place_of_word(word, 2 * places);
      ASSERT_EQ(large.place, 2 * small.place + (small.rest >> 63));
      ASSERT_EQ(large.rest, small.rest << 1);
    }
  }
}

TEST(digests_of_word_place, is_exactly_what_place_of_word_sends_there) {
  SCOPED_TRACE(seed);
  random_source random(seed);
  for (const std::uint64_t places : sizes) {
    if (places >> 63 != 0) continue;
    for (const std::uint64_t place : {std::uint64_t{0}, places / 2, places - 1, random.below(places), random.below(places)}) {
      const digest_range range = digests_of_word_place(place, places);
      ASSERT_EQ(range.first.low, 0u);
      ASSERT_EQ(range.last.low, ~std::uint64_t{0});
      ASSERT_EQ(place_of_word(range.first.high, places).place, place) << place << " of " << places;
      ASSERT_EQ(place_of_word(range.last.high, places).place, place) << place << " of " << places;
      if (place != 0) {
        ASSERT_EQ(place_of_word(range.first.high - 1, places).place, place - 1) << place << " of " << places;
      }
      if (place + 1 != places) {
        ASSERT_EQ(place_of_word(range.last.high + 1, places).place, place + 1) << place << " of " << places;
      }
    }
  }
}

TEST(digests_of_word_place, cover_everything_once) {
  for (const std::uint64_t places : {1u, 3u, 64u, 1023u}) {
    EXPECT_EQ(digests_of_word_place(0, places).first, all_digests.first);
    EXPECT_EQ(digests_of_word_place(places - 1, places).last, all_digests.last);
    for (std::uint64_t i = 1; i < places; ++i) {
      EXPECT_EQ(one_above(digests_of_word_place(i - 1, places).last), digests_of_word_place(i, places).first);
    }
  }
}

TEST(reduce, stays_below_and_reaches_both_ends) {
  for (const std::uint64_t places : sizes) {
    EXPECT_EQ(reduce(0, places), 0u);
    EXPECT_EQ(reduce(~std::uint64_t{0}, places), places - 1);
  }
}

}  // namespace
}  // namespace tamis
