#include "tamis/filters/rsqf.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "tamis/batch.hpp"
#include "tamis/detail/base/random.hpp"
#include "tamis/detail/math/binomial.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

digest draw(random_source& random) { return {random(), random()}; }

rsqf make(std::uint64_t capacity, unsigned remainder) {
  return rsqf::create({.capacity = capacity, .fpr = 0.5, .options = {{"remainder", std::to_string(remainder)}}}).value();
}

TEST(rsqf, keeps_all_keys_up_to_its_capacity_for_every_remainder) {
  random_source random(1);
  for (const unsigned remainder : {1u, 3u, 8u, 9u, 12u, 16u, 24u, 56u}) {
    for (const std::uint64_t capacity : {1, 2, 60, 1000, 20000}) {
      rsqf filter = make(capacity, remainder);
      std::vector<digest> keys;
      for (std::uint64_t i = 0; i < capacity; ++i) keys.push_back(draw(random));
      for (const digest key : keys) ASSERT_EQ(filter.insert(key), insert_result::inserted) << capacity;
      for (const digest key : keys) ASSERT_TRUE(filter.may_contain(key));
      EXPECT_EQ(filter.keys(), capacity);
      EXPECT_TRUE(filter.validate().ok());
    }
  }
}

TEST(rsqf, rate_is_the_expected_one) {
  random_source random(2);
  for (const unsigned remainder : {4u, 8u, 12u}) {
    rsqf filter = make(50000, remainder);
    for (int i = 0; i < 50000; ++i) filter.insert(draw(random));
    constexpr std::uint64_t trials = 2000000;
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < trials; ++i) wrong += filter.may_contain(draw(random));
    EXPECT_LE(wrong, binomial_upper_bound(trials, filter.expected_fpr(), 1e-9));
    EXPECT_GE(wrong, binomial_lower_bound(trials, filter.expected_fpr(), 1e-9));
  }
}

TEST(rsqf, a_full_filter_refuses_and_loses_nothing) {
  random_source random(3);
  rsqf filter = make(500, 8);
  std::vector<digest> in;
  for (int i = 0; i < 5000; ++i) {
    const digest key = draw(random);
    const rsqf before = filter;
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

TEST(rsqf, the_last_quotients_refuse_when_the_tail_is_full) {
  rsqf filter = make(1000, 8);
  const digest last{~std::uint64_t{0}, ~std::uint64_t{0}};
  std::uint64_t copies = 0;
  while (filter.insert(last) == insert_result::inserted) ++copies;
  EXPECT_GE(copies, quotient_spare(1052));
  EXPECT_EQ(filter.count(last), copies);
  EXPECT_EQ(filter.insert({0, 0}), insert_result::inserted);
}

TEST(rsqf, iterates_in_the_order_of_digests_and_merges) {
  random_source random(4);
  rsqf a = make(4000, 12);
  rsqf b = make(4000, 12);
  std::vector<rsqf::fingerprint> expected;
  for (int i = 0; i < 4000; ++i) {
    const digest key = draw(random);
    (random.chance(0.3) ? a : b).insert(key);
    expected.push_back(a.fingerprint_of(key));
  }
  ASSERT_TRUE(a.merge(b).ok());
  std::sort(expected.begin(), expected.end());
  std::vector<rsqf::fingerprint> found;
  a.for_each([&](rsqf::fingerprint f) { found.push_back(f); });
  EXPECT_EQ(found, expected);
  EXPECT_TRUE(a.validate().ok());

  const rsqf before = a;
  rsqf full = make(4000, 12);
  for (int i = 0; i < 3900; ++i) full.insert(draw(random));
  EXPECT_FALSE(a.merge(full).ok()) << "both together do not fit";
  EXPECT_EQ(a, before);
  EXPECT_FALSE(a.merge(make(4000, 8)).ok());
  EXPECT_FALSE(a.merge(make(4001, 12)).ok());
}

TEST(rsqf, sizes_follow_the_parameters) {
  for (const double bits : {8.0, 11.0, 14.0, 30.0}) {
    const rsqf filter = rsqf::create({.capacity = 1000000, .bits_per_key = bits}).value();
    EXPECT_LE(static_cast<double>(filter.bits().fast), bits * 1e6 * 1.001);
    EXPECT_GE(static_cast<double>(filter.bits().fast), bits * 1e6 * 0.97);
  }
  for (const double fpr : {0.1, 0.01, 1e-3, 1e-6, 1e-12}) {
    const rsqf filter = rsqf::create({.capacity = 100000, .fpr = fpr}).value();
    EXPECT_LE(quotient_rate(105264, 100000, static_cast<unsigned>(std::stoul(filter.settings()[0].second))), fpr);
  }
  EXPECT_FALSE(rsqf::create({.capacity = 1000, .bits_per_key = 2.0}).ok());
  EXPECT_FALSE(rsqf::create({.capacity = 1000, .fpr = 1e-30}).ok());
  EXPECT_FALSE(rsqf::create({.capacity = 1000, .fpr = 0.01, .options = {{"remainder", "57"}}}).ok());
}

TEST(rsqf, batches_agree_with_single_calls) {
  random_source random(6);
  for (const unsigned remainder : {5u, 8u, 13u}) {
    rsqf filter = make(3000, remainder);
    std::vector<digest> digests;
    for (int i = 0; i < 6000; ++i) digests.push_back(draw(random));
    EXPECT_EQ(insert_many(filter, std::span(digests).first(3000)), 3000u);
    const auto out = std::make_unique<bool[]>(digests.size());
    may_contain_many(filter, digests, std::span(out.get(), digests.size()));
    for (std::size_t i = 0; i < digests.size(); ++i) ASSERT_EQ(out[i], filter.may_contain(digests[i]));
  }
}

RC_GTEST_PROP(rsqf, counts_like_a_multiset_of_fingerprints, ()) {
  const auto remainder = *rc::gen::inRange(1u, 20u);
  const auto capacity = *rc::gen::inRange<std::uint64_t>(1, 300);
  rsqf filter = make(capacity, remainder);
  random_source random(*rc::gen::arbitrary<std::uint64_t>());
  std::map<rsqf::fingerprint, std::uint64_t> model;
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
  RC_ASSERT(filter.validate().ok());
  for (const digest key : in) RC_ASSERT(filter.count(key) == model.at(filter.fingerprint_of(key)));
  std::map<rsqf::fingerprint, std::uint64_t> found;
  filter.for_each([&](rsqf::fingerprint f) { ++found[f]; });
  RC_ASSERT(found == model);
}

}  // namespace
