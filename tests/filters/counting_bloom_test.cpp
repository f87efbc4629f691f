#include "tamis/filters/counting_bloom.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tests/support/keys.hpp"

namespace tamis {

using namespace detail;

namespace {

constexpr std::uint64_t seed = 9;

TEST(counting_bloom, key_inserted_beyond_15_sticks) {
  counting_bloom f = counting_bloom::create({.capacity = 100, .fpr = 0.01}).value();
  const digest often = test::keys(1)[0];
  for (int i = 0; i < 20; ++i) f.insert(often);
  EXPECT_GE(f.count(often), 20u);  // more than a counter can say: all keys that there are
  for (int i = 0; i < 20; ++i) EXPECT_EQ(f.erase(often), erase_result::erased);
  EXPECT_TRUE(f.may_contain(often));  // stuck: visible for ever, but nothing else is lost
  EXPECT_EQ(f.keys(), 0u);
}

TEST(counting_bloom, up_to_14_copies_are_counted_exactly_and_leave_nothing) {
  counting_bloom f = counting_bloom::create({.capacity = 1000, .fpr = 0.002, .options = {{"k", "1"}}}).value();
  const digest d = test::keys(1)[0];
  for (std::uint64_t copies = 1; copies <= 14; ++copies) {
    f.insert(d);
    EXPECT_EQ(f.count(d), copies);
  }
  for (std::uint64_t copies = 14; copies-- > 0;) {
    f.erase(d);
    EXPECT_EQ(f.count(d), copies);
  }
  EXPECT_FALSE(f.may_contain(d));
}

// A table so small that most counters stick. A filter that lowered a stuck counter would lose keys here.
TEST(counting_bloom, overfilled_table_never_loses_a_key) {
  SCOPED_TRACE(seed);
  random_source random(seed);
  counting_bloom f = counting_bloom::create({.capacity = 100, .bits_per_key = 16, .options = {{"k", "4"}}}).value();
  const std::vector<digest> universe = test::keys(2000);
  std::vector<std::uint64_t> copies(universe.size());
  std::uint64_t in = 0;
  for (int step = 0; step < 30000; ++step) {
    const std::size_t i = random.below(universe.size());
    if (copies[i] == 0 || random.chance(0.5)) {
      f.insert(universe[i]);
      ++copies[i];
      ++in;
    } else {
      ASSERT_EQ(f.erase(universe[i]), erase_result::erased);
      --copies[i];
      --in;
    }
    ASSERT_EQ(f.may_contain(universe[i]) || copies[i] == 0, true);
  }
  EXPECT_EQ(f.keys(), in);
  for (std::size_t i = 0; i < universe.size(); ++i) {
    ASSERT_GE(f.count(universe[i]), copies[i]);
    if (copies[i] != 0) {
      ASSERT_TRUE(f.may_contain(universe[i]));
    }
  }
}

TEST(counting_bloom, normal_load_empties_completely) {
  counting_bloom f = counting_bloom::create({.capacity = 5000, .fpr = 0.01}).value();
  const counting_bloom empty = f;
  for (int round = 0; round < 5; ++round) {
    for (const digest d : test::keys(5000)) f.insert(d);
    for (const digest d : test::keys(5000)) ASSERT_EQ(f.erase(d), erase_result::erased);
  }
  EXPECT_EQ(f, empty);
}

TEST(counting_bloom, merged_counters_stick_too) {
  counting_bloom a = counting_bloom::create({.capacity = 100, .fpr = 0.01}).value();
  counting_bloom b = a;
  const digest d = test::keys(1)[0];
  for (int i = 0; i < 10; ++i) a.insert(d), b.insert(d);
  ASSERT_TRUE(a.merge(b).ok());
  EXPECT_GE(a.count(d), 20u);
  for (int i = 0; i < 19; ++i) a.erase(d);
  EXPECT_TRUE(a.may_contain(d));
}

// Erasing a key that was never in breaks the promise, but must not wrap a counter around.
TEST(counting_bloom, erasing_a_false_positive_goes_no_lower_than_zero) {
  counting_bloom f = counting_bloom::create({.capacity = 2, .bits_per_key = 8, .options = {{"k", "8"}}}).value();
  for (const digest d : test::keys(3)) f.insert(d);
  for (const digest d : test::strangers(1000)) f.erase(d);
  EXPECT_EQ(f.keys(), 0u);
}

}  // namespace
}  // namespace tamis
