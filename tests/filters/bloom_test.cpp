#include "tamis/filters/bloom.hpp"

#include <gtest/gtest.h>

#include "tests/support/bounds.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/keys.hpp"

namespace tamis {
namespace {

bloom make(std::uint64_t capacity, double bits_per_key, const char* k) {
  return bloom::create({.capacity = capacity, .bits_per_key = bits_per_key, .options = {{"k", k}}}).value();
}

TEST(bloom, has_exactly_the_cells_that_were_asked_for) {
  EXPECT_EQ(make(1000, 64, "3").bits().fast, 64000u);
  EXPECT_EQ(make(1, 1, "1").bits().fast, 64u);  // rounded up to a word
}

// At most k ones a key, and no less than one.
TEST(bloom, key_sets_at_most_k_bits) {
  for (const char* k : {"1", "2", "64"}) {
    bloom f = make(1000, 100, k);
    f.insert(test::keys(1)[0]);
    const double share = std::pow(f.expected_fpr(), 1.0 / std::stod(k));  // expected_fpr is (ones / cells)^k
    EXPECT_LE(share, std::stod(k) / 100000 * (1 + 1e-9));
    EXPECT_GT(share, 0.0);
  }
}

TEST(bloom, extreme_k_keep_their_keys_and_rate) {
  for (const char* k : {"1", "64"}) {
    bloom f = make(10000, 20, k);
    for (const digest d : test::keys(10000)) f.insert(d);
    std::uint64_t positives = 0;
    for (const digest d : test::strangers(100000)) positives += f.may_contain(d);
    EXPECT_TRUE(test::equal_by_chance(positives, 100000, f.expected_fpr())) << "k = " << k;
    for (const digest d : test::keys(10000)) ASSERT_TRUE(f.may_contain(d));
  }
}

TEST(bloom, one_cell_says_yes_to_everything_after_a_key) {
  bloom f = make(1, 0.001, "1");
  EXPECT_FALSE(f.may_contain(test::strangers(1)[0]));
  f.insert(test::keys(1)[0]);
  EXPECT_TRUE(f.may_contain(test::strangers(1)[0]));
  EXPECT_EQ(f.expected_fpr(), 1.0);
}

// Beyond its capacity the rate rises, and the filter says so.
TEST(bloom, overfilled_filter_states_its_rate) {
  bloom f = bloom::create({.capacity = 10000, .fpr = 0.01}).value();
  for (const digest d : test::keys(40000)) f.insert(d);
  EXPECT_GT(f.expected_fpr(), 0.2);
  std::uint64_t positives = 0;
  for (const digest d : test::strangers(50000)) positives += f.may_contain(d);
  EXPECT_TRUE(test::equal_by_chance(positives, 50000, f.expected_fpr()));
}

TEST(bloom, merging_is_the_union_of_bits) {
  bloom a = bloom::create({.capacity = 1000, .fpr = 0.01}).value();
  bloom b = a;
  bloom both = a;
  for (const digest d : test::keys(500)) a.insert(d), both.insert(d);
  for (const digest d : test::keys(500, 500)) b.insert(d), both.insert(d);
  ASSERT_TRUE(a.merge(b).ok());
  EXPECT_EQ(a, both);
  EXPECT_TRUE(test::refused(a.merge(make(1000, 10, "3")), "different shapes"));
}

}  // namespace
}  // namespace tamis
