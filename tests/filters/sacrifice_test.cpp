#include "tamis/filters/sacrifice.hpp"

#include <gtest/gtest.h>

#include "tests/filters/growing_checks.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;
using tamis::test::draw;

sacrifice make(std::uint64_t capacity, unsigned fingerprint) {
  return sacrifice::create({.capacity = capacity, .fpr = 0.5, .options = {{"fingerprint", std::to_string(fingerprint)}}})
      .value();
}

TEST(sacrifice, grows_with_deletes_and_loses_nothing) {
  for (const unsigned fingerprint : {12u, 13u, 30u}) {
    sacrifice filter = make(30, fingerprint);
    test::grow_with_deletes(filter, 1 << 16, std::ldexp(1.0 / 38, -static_cast<int>(fingerprint)), fingerprint);
    EXPECT_EQ(filter.expansions(), 12u);
  }
}

TEST(sacrifice, doubling_is_what_a_table_of_twice_the_size_would_hold) {
  random_source random(1);
  sacrifice grown = make(1000, 9);
  sacrifice large = make(2000, 8);
  for (const digest d : draw(random, 1000)) {
    ASSERT_EQ(grown.insert(d), insert_result::inserted);
    ASSERT_EQ(large.insert(d), insert_result::inserted);
  }
  ASSERT_TRUE(grown.expand().ok());
  std::vector<sacrifice::fingerprint> a;
  std::vector<sacrifice::fingerprint> b;
  grown.for_each([&](sacrifice::fingerprint f) { a.push_back(f); });
  large.for_each([&](sacrifice::fingerprint f) { b.push_back(f); });
  EXPECT_EQ(a, b);
}

TEST(sacrifice, rate_doubles_as_the_model_says) {
  random_source random(2);
  sacrifice filter = make(800, 12);
  for (unsigned x = 0; x < 8; ++x) {
    while (filter.keys() < 800u << x) ASSERT_EQ(filter.insert(draw(random)), insert_result::inserted);
    EXPECT_EQ(filter.expansions(), x);
    const double model = sacrificing_rate(12, 0.8, 1u << x);
    EXPECT_NEAR(filter.expected_fpr(), model, model * model + 1e-12);
    constexpr std::uint64_t queries = 200000;
    EXPECT_TRUE(test::equal_by_chance(test::false_positives(filter, random, queries), queries, filter.expected_fpr()));
  }
}

// Without a bit left, places answer alone: 1 - e^-load of all queries are positives. Then the slots run out and it refuses.
TEST(sacrifice, ends_after_as_many_doublings_as_it_had_bits) {
  random_source random(3);
  sacrifice filter = make(100, 4);
  std::vector<digest> in;
  while (true) {
    const digest d = draw(random);
    const sacrifice before = filter;
    if (filter.insert(d) == insert_result::full) {
      EXPECT_EQ(filter, before);
      break;
    }
    in.push_back(d);
  }
  EXPECT_EQ(filter.expansions(), 4u);
  EXPECT_GE(in.size(), 1600u);
  const sacrifice before = filter;
  EXPECT_FALSE(filter.expand().ok());
  EXPECT_EQ(filter, before);
  for (const digest d : in) ASSERT_TRUE(filter.may_contain(d));
  EXPECT_GE(filter.expected_fpr(), 0.55);
  EXPECT_TRUE(test::equal_by_chance(test::false_positives(filter, random, 100000), 100000, filter.expected_fpr()));
  EXPECT_NEAR(static_cast<double>(filter.bits().fast), 3.0 * 2000, 3.0 * 512);
  for (const digest d : in) ASSERT_EQ(filter.erase(d), erase_result::erased);
  EXPECT_EQ(filter.keys(), 0u);
}

TEST(sacrifice, merges_what_has_doubled_equally_often) {
  random_source random(4);
  sacrifice a = make(500, 9);
  sacrifice b = make(500, 9);
  const std::vector<digest> keys = draw(random, 600);
  for (std::size_t i = 0; i < keys.size(); ++i) (i % 2 == 0 ? a : b).insert(keys[i]);
  ASSERT_TRUE(a.merge(b).ok());
  for (const digest d : keys) ASSERT_TRUE(a.may_contain(d));
  ASSERT_TRUE(b.expand().ok());
  EXPECT_FALSE(a.merge(b).ok());
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(a.insert(draw(random)), insert_result::inserted);
  for (const digest d : keys) ASSERT_TRUE(a.may_contain(d));
}

}  // namespace
