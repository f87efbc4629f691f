#include "tamis/filters/evergreen_fixed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include "tamis/batch.hpp"
#include "tamis/detail/base/random.hpp"
#include "tamis/detail/math/binomial.hpp"
#include "tamis/memory_remote.hpp"
#include "tests/support/remote.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;
using test::multiset_remote;

digest draw(random_source& random) { return {random(), random()}; }

evergreen_fixed of_bits(std::uint64_t capacity, double bits, option_list options = {}) {
  return evergreen_fixed::create({.capacity = capacity, .bits_per_key = bits, .options = std::move(options)}).value();
}

TEST(evergreen_fixed, spends_its_budget_and_never_more) {
  for (const std::uint64_t capacity : {1000u, 3000u, 16000u, 100000u, 1000000u}) {
    for (double bits = 8.5; bits < 24; bits += 0.37) {
      const double spent = static_cast<double>(of_bits(capacity, bits).bits().fast) / (bits * static_cast<double>(capacity));
      EXPECT_LE(spent, 1.0) << capacity << " keys, " << bits << " bits";
      EXPECT_GE(spent, capacity < 16000 ? 0.95 : 0.99) << capacity << " keys, " << bits << " bits";
    }
  }
}

TEST(evergreen_fixed, keeps_the_rate_that_was_asked_for) {
  random_source random(2);
  for (const double fpr : {0.03, 0.01, 0.004, 0.001}) {
    auto filter = evergreen_fixed::create({.capacity = 40000, .fpr = fpr}).value();
    for (int i = 0; i < 40000; ++i) ASSERT_EQ(filter.insert(draw(random)), insert_result::inserted);
    constexpr std::uint64_t trials = 1000000;
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < trials; ++i) wrong += filter.may_contain(draw(random));
    EXPECT_LE(filter.expected_fpr(), fpr);
    EXPECT_LE(wrong, binomial_upper_bound(trials, filter.expected_fpr(), 1e-9));
    EXPECT_GE(wrong, binomial_lower_bound(trials, filter.expected_fpr(), 1e-9));
  }
}

// Keys and fixes until nothing can be fixed any more, at every width that has code of its own, and others.
TEST(evergreen_fixed, keeps_all_keys_and_all_fixes_until_it_is_full) {
  for (const char* remainder : {"4", "6", "7", "8", "9", "10", "13"}) {
    random_source random(7);
    auto filter =
        evergreen_fixed::create({.capacity = 5000, .fpr = 0.5, .options = {{"remainder", remainder}, {"budget", "hard"}}})
            .value();
    memory_remote stored;
    std::vector<digest> keys;
    for (int i = 0; i < 5000; ++i) {
      keys.push_back(draw(random));
      stored.insert(keys.back());
      ASSERT_EQ(filter.insert(keys.back()), insert_result::inserted);
    }
    std::vector<digest> fixed;
    std::uint64_t refused = 0;
    for (int i = 0; i < 300000 && refused < 50; ++i) {
      const digest d = draw(random);
      if (!filter.may_contain(d)) continue;
      const std::optional<evergreen_fixed> before = refused < 3 ? std::optional(filter) : std::nullopt;
      const adapt_result answer = filter.adapt(d, stored);
      if (answer == adapt_result::fixed) {
        ASSERT_FALSE(filter.may_contain(d));
        fixed.push_back(d);
      } else {
        ASSERT_EQ(answer, adapt_result::unfixable);
        ASSERT_TRUE(!before || *before == filter);
        ++refused;
      }
    }
    for (const digest d : keys) ASSERT_TRUE(filter.may_contain(d)) << remainder;
    // What has given up bits for slots may have given up some fixes with them.
    for (const digest d : fixed) ASSERT_FALSE(filter.table().first_wide() == 0 && filter.may_contain(d)) << remainder;
    EXPECT_GE(filter.fixes(), std::min<std::uint64_t>(fixed.size() / 2, 70)) << remainder;
    EXPECT_EQ(filter.keys(), 5000u);
    EXPECT_EQ(filter.missing(), 0u);
    std::unique_ptr<bool[]> answers(new bool[fixed.size() + keys.size()]);
    std::vector<digest> both = fixed;
    both.insert(both.end(), keys.begin(), keys.end());
    may_contain_many(filter, both, {answers.get(), both.size()});
    for (std::size_t i = 0; i < both.size(); ++i) ASSERT_EQ(answers[i], filter.may_contain(both[i]));
  }
}

TEST(evergreen_fixed, a_fix_costs_about_one_slot) {
  random_source random(8);
  evergreen_fixed filter = of_bits(100000, 10);
  memory_remote stored;
  for (int i = 0; i < 100000; ++i) {
    const digest d = draw(random);
    stored.insert(d);
    static_cast<void>(filter.insert(d));
  }
  const std::uint64_t before = filter.table().used();
  std::uint64_t fixed = 0;
  for (int i = 0; i < 100000; ++i) {
    const digest d = draw(random);
    fixed += filter.may_contain(d) && filter.adapt(d, stored) == adapt_result::fixed;
  }
  EXPECT_GT(fixed, 400u);
  EXPECT_LE(static_cast<double>(filter.table().used() - before), 1.1 * static_cast<double>(fixed));
}

TEST(evergreen_fixed, fixes_that_come_early_leave_room_for_keys) {
  random_source random(9);
  evergreen_fixed filter = of_bits(3000, 8.5);
  memory_remote stored;
  std::vector<digest> keys;
  for (int i = 0; i < 3000; ++i) {
    keys.push_back(draw(random));
    stored.insert(keys.back());
    ASSERT_EQ(filter.insert(keys.back()), insert_result::inserted) << i;
    for (int n = 0; n < 100; ++n) {
      const digest d = draw(random);
      if (filter.may_contain(d)) filter.adapt(d, stored);
    }
  }
  for (const digest d : keys) ASSERT_TRUE(filter.may_contain(d));
}

TEST(evergreen_fixed, a_soft_budget_gives_more_slots_to_fixes) {
  for (double bits = 9; bits < 12.5; bits += 0.25) {  // many spacings
    random_source random(10);
    evergreen_fixed hard = of_bits(3000, bits, {{"budget", "hard"}});
    evergreen_fixed soft = of_bits(3000, bits, {{"budget", "soft"}});
    const std::uint64_t asked = soft.bits().fast;
    memory_remote stored;
    std::vector<digest> keys;
    for (int i = 0; i < 3000; ++i) {
      keys.push_back(draw(random));
      stored.insert(keys.back());
      static_cast<void>(hard.insert(keys.back()));
      static_cast<void>(soft.insert(keys.back()));
    }
    std::vector<digest> fixed;
    for (int i = 0; i < 100000; ++i) {
      const digest d = draw(random);
      if (hard.may_contain(d)) hard.adapt(d, stored);
      if (soft.may_contain(d) && soft.adapt(d, stored) == adapt_result::fixed) fixed.push_back(d);
    }
    EXPECT_LE(hard.bits().fast, static_cast<std::uint64_t>(3000 * bits));
    EXPECT_GT(soft.bits().fast, asked);
    for (const digest d : keys) ASSERT_TRUE(soft.may_contain(d) && hard.may_contain(d));
    for (const digest d : fixed) ASSERT_FALSE(soft.may_contain(d));
  }
}

// A hard budget that is full of fixes: quotients give up their last bit for more slots, and the bits never exceed the budget.
TEST(evergreen_fixed, a_hard_budget_gives_up_remainder_bits_for_fixes) {
  for (const double bits : {8.0, 10.0, 11.0, 12.0}) {
    random_source random(15);
    constexpr std::uint64_t size = 20000;
    evergreen_fixed filter = of_bits(size, bits);
    const std::uint64_t homes = filter.table().wide().table().homes();
    memory_remote stored;
    std::vector<digest> keys;
    for (std::uint64_t i = 0; i < size; ++i) {
      keys.push_back(draw(random));
      stored.insert(keys.back());
      ASSERT_EQ(filter.insert(keys.back()), insert_result::inserted);
    }
    std::vector<digest> fixed;
    std::uint64_t refused = 0;
    unsigned steps = 0;
    while (refused < 20 && fixed.size() < size / 5) {
      const digest d = draw(random);
      if (!filter.may_contain(d)) continue;
      const std::uint64_t first_wide = filter.table().first_wide();
      const std::optional<evergreen_fixed> before = random.chance(0.01) ? std::optional(filter) : std::nullopt;
      if (filter.adapt(d, stored) == adapt_result::fixed) {
        ASSERT_FALSE(filter.may_contain(d));
        fixed.push_back(d);
      } else {
        ASSERT_TRUE(!before || *before == filter);
        ++refused;
      }
      ASSERT_LE(filter.bits().fast, static_cast<std::uint64_t>(bits * size));
      if (filter.table().first_wide() == first_wide) continue;
      ASSERT_GT(filter.table().first_wide(), first_wide);
      ++steps;
      for (const digest key : keys) ASSERT_TRUE(filter.may_contain(key));
    }
    EXPECT_GE(steps, 1u) << bits;
    EXPECT_GT(filter.table().used(), homes) << bits;  // more than there were slots for at first
    EXPECT_EQ(filter.keys(), size);
    EXPECT_EQ(filter.missing(), 0u);
    std::uint64_t came_back = 0;
    for (const digest d : fixed) came_back += filter.may_contain(d);
    std::printf("%.1f bits: %u steps, %zu fixes, %.1f %% of quotients narrow, %zu fixes came back, refused %zu\n", bits, steps,
                fixed.size(),
                100.0 * static_cast<double>(filter.table().first_wide()) / static_cast<double>(filter.table().quotients()),
                static_cast<std::size_t>(came_back), static_cast<std::size_t>(refused));
    EXPECT_LE(came_back, fixed.size() / 4);
    constexpr std::uint64_t trials = 400000;
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < trials; ++i) wrong += filter.may_contain(draw(random));
    EXPECT_LE(wrong, binomial_upper_bound(trials, filter.expected_fpr(), 1e-9));
    evergreen_fixed other = of_bits(size, bits);  // takes over which quotients are narrow
    ASSERT_TRUE(other.merge(filter).ok());
    for (const digest d : keys) ASSERT_TRUE(other.may_contain(d));
    EXPECT_LE(other.bits().fast, static_cast<std::uint64_t>(bits * size));
    EXPECT_EQ(other.keys(), size);
    for (const digest d : keys) ASSERT_EQ(filter.erase(d), erase_result::erased);
    EXPECT_EQ(filter.keys(), 0u);
    EXPECT_EQ(filter.fixes(), 0u);
  }
}

// A store that fell behind, and one that is ahead.
TEST(evergreen_fixed, heals_what_the_store_does_not_have_and_says_what_it_misses) {
  random_source random(11);
  evergreen_fixed filter = of_bits(1000, 12);
  multiset_remote stored;
  std::vector<digest> keys;
  for (int i = 0; i < 1000; ++i) {
    keys.push_back(draw(random));
    static_cast<void>(filter.insert(keys.back()));
    if (i % 2 == 0) stored.insert(keys.back());
  }
  // Keys that the store does not have are false positives, and their entries nobody's.
  std::uint64_t dropped = 0;
  for (int i = 1; i < 1000; i += 2) dropped += filter.adapt(keys[static_cast<std::size_t>(i)], stored) == adapt_result::fixed;
  EXPECT_GE(dropped, 490u);
  EXPECT_LE(filter.keys(), 510u);
  for (int i = 0; i < 1000; i += 2) {
    ASSERT_TRUE(filter.may_contain(keys[static_cast<std::size_t>(i)]));
    ASSERT_EQ(filter.adapt(keys[static_cast<std::size_t>(i)], stored), adapt_result::is_member);
  }
  // A key in the store that never went in, beside one that did.
  const digest in = keys[0];
  const digest beside{in.high, ~in.low};
  stored.insert(beside);
  EXPECT_EQ(filter.adapt({in.high, in.low ^ 1}, stored), adapt_result::unfixable);
  EXPECT_EQ(filter.missing(), 1u);
}

TEST(evergreen_fixed, works_with_keys_that_all_share_one_quotient) {
  evergreen_fixed filter = of_bits(1000, 12);
  multiset_remote stored;
  random_source random(12);
  std::vector<digest> in;
  for (int i = 0; i < 500; ++i) {
    const digest d{random() >> 40, random()};  // all in the first quotient, with one remainder
    if (filter.insert(d) != insert_result::inserted) break;
    in.push_back(d);
    stored.insert(d);
  }
  ASSERT_EQ(in.size(), 500u);
  // Both words agree but for the last bits: nothing can tell them apart in one slot.
  std::uint64_t fixed = 0;
  for (int i = 0; i < 200; ++i) {
    const digest d{random() >> 40, random()};
    if (filter.may_contain(d)) fixed += filter.adapt(d, stored) == adapt_result::fixed;
  }
  for (const digest d : in) ASSERT_TRUE(filter.may_contain(d));
  for (const digest d : in) ASSERT_EQ(filter.erase(d), erase_result::erased);
  EXPECT_EQ(filter.keys(), 0u);
  EXPECT_EQ(filter.fixes(), 0u);
}

// The last quotient takes as many keys as any other: slots are added behind it, up to as many as there are homes.
TEST(evergreen_fixed, holds_all_its_keys_in_the_last_quotient) {
  for (const double bits : {9.0, 10.0, 11.0, 13.0}) {
    for (const std::uint64_t others : {0u, 600u}) {
      random_source random(14);
      evergreen_fixed filter = of_bits(1500, bits);
      const std::uint64_t asked = filter.bits().fast;
      std::vector<digest> keys;
      for (std::uint64_t i = 0; i < others; ++i) keys.push_back(draw(random));
      while (keys.size() < 1500) keys.push_back({~(random() >> 40), random()});
      for (const digest d : keys) ASSERT_EQ(filter.insert(d), insert_result::inserted);
      for (const digest d : keys) ASSERT_TRUE(filter.may_contain(d));
      EXPECT_LE(filter.bits().fast, asked * 5 / 2);
      evergreen_fixed both = of_bits(1500, bits);
      for (int i = 0; i < 20; ++i) static_cast<void>(both.insert(keys[static_cast<std::size_t>(i)]));
      evergreen_fixed rest = of_bits(1500, bits);
      for (std::size_t i = 20; i < keys.size(); ++i) static_cast<void>(rest.insert(keys[i]));
      ASSERT_TRUE(both.merge(rest).ok());
      for (const digest d : keys) ASSERT_TRUE(both.may_contain(d));
      for (const digest d : keys) ASSERT_EQ(filter.erase(d), erase_result::erased);
      EXPECT_EQ(filter.keys(), 0u);
    }
  }
}

TEST(evergreen_fixed, merges_and_iterates_in_the_order_of_digests) {
  random_source random(13);
  evergreen_fixed a = of_bits(4000, 11);
  evergreen_fixed b = of_bits(4000, 11);
  memory_remote stored;
  std::vector<digest> keys;
  for (int i = 0; i < 3600; ++i) {
    keys.push_back(draw(random));
    stored.insert(keys.back());
    static_cast<void>((i % 2 == 0 ? a : b).insert(keys.back()));
  }
  ASSERT_TRUE(a.merge(b).ok());
  for (const digest d : keys) ASSERT_TRUE(a.may_contain(d));
  EXPECT_EQ(a.keys(), 3600u);
  std::vector<std::pair<std::uint64_t, uint128>> all;
  a.for_each([&](std::uint64_t quotient, const run_entry& e) { all.emplace_back(quotient, e.bits); });
  EXPECT_EQ(all.size(), 3600u);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  EXPECT_FALSE(a.merge(of_bits(5000, 11)).ok());
  const evergreen_fixed before = a;
  EXPECT_FALSE(a.merge(a).ok());
  EXPECT_EQ(a, before);
}

}  // namespace
