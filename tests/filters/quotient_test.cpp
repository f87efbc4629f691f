#include "tamis/filters/quotient.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "tamis/batch.hpp"
#include "tamis/detail/base/random.hpp"
#include "tests/support/bounds.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

digest draw(random_source& random) { return {random(), random()}; }

quotient make(std::uint64_t capacity, unsigned remainder) {
  return quotient::create({.capacity = capacity, .fpr = 0.5, .options = {{"remainder", std::to_string(remainder)}}}).value();
}

TEST(quotient, keeps_all_keys_up_to_its_capacity_for_every_remainder) {
  random_source random(1);
  for (const unsigned remainder : {1u, 3u, 5u, 8u, 9u, 13u, 16u, 24u, 56u}) {
    for (const std::uint64_t capacity : {1, 2, 60, 1000, 20000}) {
      quotient filter = make(capacity, remainder);
      std::vector<digest> keys;
      for (std::uint64_t i = 0; i < capacity; ++i) keys.push_back(draw(random));
      for (const digest key : keys) ASSERT_EQ(filter.insert(key), insert_result::inserted) << capacity;
      for (const digest key : keys) ASSERT_TRUE(filter.may_contain(key));
      EXPECT_EQ(filter.keys(), capacity);
      EXPECT_TRUE(filter.validate().ok() && filter.table().validate().ok());
    }
  }
}

TEST(quotient, rate_is_the_expected_one) {
  random_source random(2);
  for (const unsigned remainder : {4u, 8u, 12u}) {
    quotient filter = make(50000, remainder);
    for (int i = 0; i < 50000; ++i) filter.insert(draw(random));
    constexpr std::uint64_t trials = 1000000;
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < trials; ++i) wrong += filter.may_contain(draw(random));
    EXPECT_TRUE(test::equal_by_chance(wrong, trials, filter.expected_fpr()));
  }
}

TEST(quotient, a_full_filter_refuses_and_loses_nothing) {
  random_source random(3);
  quotient filter = make(500, 8);
  std::vector<digest> in;
  for (int i = 0; i < 5000; ++i) {
    const digest key = draw(random);
    const quotient before = filter;
    if (filter.insert(key) == insert_result::inserted) {
      in.push_back(key);
    } else {
      ASSERT_EQ(filter, before);
    }
  }
  EXPECT_EQ(filter.keys(), in.size());
  for (const digest key : in) ASSERT_TRUE(filter.may_contain(key));
  for (const digest key : in) ASSERT_EQ(filter.erase(key), erase_result::erased);
  EXPECT_EQ(filter, make(500, 8));
}

TEST(quotient, iterates_in_the_order_of_digests_and_merges) {
  random_source random(4);
  quotient a = make(4000, 12);
  quotient b = make(4000, 12);
  std::vector<quotient::fingerprint> expected;
  for (int i = 0; i < 4000; ++i) {
    const digest key = draw(random);
    (random.chance(0.3) ? a : b).insert(key);
    expected.push_back(a.fingerprint_of(key));
  }
  ASSERT_TRUE(a.merge(b).ok());
  std::sort(expected.begin(), expected.end());
  std::vector<quotient::fingerprint> found;
  a.for_each([&](quotient::fingerprint f) { found.push_back(f); });
  EXPECT_EQ(found, expected);
  EXPECT_TRUE(a.table().validate().ok());

  const quotient before = a;
  quotient full = make(4000, 12);
  for (int i = 0; i < 3900; ++i) full.insert(draw(random));
  EXPECT_FALSE(a.merge(full).ok()) << "both together do not fit";
  EXPECT_EQ(a, before);
  EXPECT_FALSE(a.merge(make(4000, 8)).ok());
  EXPECT_FALSE(a.merge(make(4001, 12)).ok());
}

TEST(quotient, takes_the_remainder_and_three_bits_a_slot) {
  const quotient filter = make(900000, 13);
  EXPECT_NEAR(static_cast<double>(filter.bits().fast), 16.0 * 1000000, 16.0 * 400);
}

TEST(quotient, batches_agree_with_single_calls) {
  random_source random(6);
  for (const unsigned remainder : {5u, 8u, 13u}) {
    quotient filter = make(3000, remainder);
    std::vector<digest> digests;
    for (int i = 0; i < 6000; ++i) digests.push_back(draw(random));
    EXPECT_EQ(insert_many(filter, std::span(digests).first(3000)), 3000u);
    const auto out = std::make_unique<bool[]>(digests.size());
    may_contain_many(filter, digests, std::span(out.get(), digests.size()));
    for (std::size_t i = 0; i < digests.size(); ++i) ASSERT_EQ(out[i], filter.may_contain(digests[i]));
  }
}

RC_GTEST_PROP(quotient, counts_like_a_multiset_of_fingerprints, ()) {
  const auto remainder = *rc::gen::inRange(1u, 20u);
  const auto capacity = *rc::gen::inRange<std::uint64_t>(1, 300);
  quotient filter = make(capacity, remainder);
  random_source random(*rc::gen::arbitrary<std::uint64_t>());
  std::map<quotient::fingerprint, std::uint64_t> model;
  std::vector<digest> in;
  for (int i = 0; i < 600; ++i) {
    if (in.empty() || random.chance(0.6)) {
      const digest key = in.empty() || random.chance(0.7) ? draw(random) : in[random.below(in.size())];
      if (filter.insert(key) == insert_result::full) continue;
      in.push_back(key);
      ++model[filter.fingerprint_of(key)];
    } else {
      std::swap(in[random.below(in.size())], in.back());
      RC_ASSERT(filter.erase(in.back()) == erase_result::erased);
      if (--model[filter.fingerprint_of(in.back())] == 0) model.erase(filter.fingerprint_of(in.back()));
      in.pop_back();
    }
  }
  RC_ASSERT(filter.table().validate().ok());
  for (const digest key : in) RC_ASSERT(filter.count(key) == model.at(filter.fingerprint_of(key)));
  std::map<quotient::fingerprint, std::uint64_t> found;
  filter.for_each([&](quotient::fingerprint f) { ++found[f]; });
  RC_ASSERT(found == model);
}

}  // namespace
