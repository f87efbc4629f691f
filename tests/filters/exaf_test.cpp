#include "tamis/filters/exaf.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tamis/detail/math/binomial.hpp"
#include "tamis/memory_remote.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

digest draw(random_source& random) { return {random(), random()}; }

// Extensions only shrink what a slot accepts: nothing that was fixed comes back before its block is reset.
TEST(exaf, what_was_fixed_stays_fixed) {
  random_source random(1);
  exaf filter = exaf::create({.capacity = 15000, .fpr = 1.0 / 256}).value();
  memory_remote remote;
  for (int i = 0; i < 15000; ++i) {
    const digest d = draw(random);
    remote.insert(d);
    filter.insert(d);
  }
  std::vector<digest> wrong;
  while (filter.resets() == 0) {
    const digest d = draw(random);
    if (!filter.may_contain(d)) continue;
    ASSERT_EQ(filter.adapt(d, remote), adapt_result::fixed);
    if (filter.resets() != 0) break;
    wrong.push_back(d);
    for (const digest old : wrong) ASSERT_FALSE(filter.may_contain(old));
  }
  EXPECT_GT(wrong.size(), 100u);
  EXPECT_LT(filter.expected_fpr(), quotient_rate(15790, 15000, 8));
}

TEST(exaf, the_stated_rate_falls_with_the_extensions) {
  random_source random(2);
  exaf filter = exaf::create({.capacity = 20000, .fpr = 0.06}).value();
  memory_remote remote;
  for (int i = 0; i < 20000; ++i) {
    const digest d = draw(random);
    remote.insert(d);
    filter.insert(d);
  }
  const double before = filter.expected_fpr();
  for (int i = 0; i < 60000; ++i) {
    const digest d = draw(random);
    if (filter.may_contain(d)) filter.adapt(d, remote);
  }
  EXPECT_LT(filter.expected_fpr(), before);
  constexpr std::uint64_t trials = 1000000;
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < trials; ++i) wrong += filter.may_contain(draw(random));
  EXPECT_LE(wrong, binomial_upper_bound(trials, filter.expected_fpr(), 1e-9));
  EXPECT_GE(wrong, binomial_lower_bound(trials, filter.expected_fpr() * 0.97, 1e-9));
}

// The longest match goes, without asking anybody; who stood behind it takes the shorter one.
TEST(exaf, erases_exactly_without_a_remote) {
  random_source random(3);
  for (int round = 0; round < 200; ++round) {
    exaf filter = exaf::create({.capacity = 60, .fpr = 0.5, .options = {{"remainder", "2"}}}).value();
    memory_remote remote;
    std::vector<digest> members;
    for (int i = 0; i < 50; ++i) {
      members.push_back(draw(random));
      remote.insert(members.back());
      ASSERT_EQ(filter.insert(members.back()), insert_result::inserted);
    }
    for (int i = 0; i < 30; ++i) {
      const digest d = draw(random);
      if (filter.may_contain(d)) filter.adapt(d, remote);
    }
    while (!members.empty()) {
      std::swap(members[random.below(members.size())], members.back());
      ASSERT_EQ(filter.erase(members.back()), erase_result::erased);
      remote.erase(members.back());
      members.pop_back();
      for (const digest d : members) ASSERT_TRUE(filter.may_contain(d));
    }
    EXPECT_EQ(filter.keys(), 0u);
  }
}

}  // namespace
