#include "tamis/detail/growing/variable_length_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "tamis/detail/base/random.hpp"

namespace tamis::test {

using namespace detail;

namespace {

constexpr std::uint64_t seed = 20230619;

using entry_set = std::multiset<std::tuple<std::uint64_t, std::uint64_t, unsigned>>;

entry_set entries_of(const variable_length_table& t) {
  entry_set all;
  t.for_each([&](std::uint64_t quotient, const prefix_entry& e) { all.emplace(quotient, e.bits, e.length); });
  return all;
}

// Random prefixes, every length as often as any other.
variable_length_table filled(std::uint64_t quotients, unsigned longest, std::uint64_t count, random_source& random) {
  variable_length_table t = variable_length_table::make(quotients, 64, longest).value();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t quotient = random.below(quotients);
    const auto length = static_cast<unsigned>(random.below(longest + 1));
    while (!t.insert_prefix(quotient, random(), length)) t.widen().value();
  }
  return t;
}

TEST(variable_length_table, takes_out_the_longest_match) {
  variable_length_table t = variable_length_table::make(10, 64, 7).value();
  constexpr std::uint64_t key = 0xabcdef0123456789u;
  for (const unsigned length : {3u, 0u, 5u, 5u, 1u}) ASSERT_TRUE(t.insert_prefix(4, key, length));
  ASSERT_TRUE(t.insert(4, ~key));
  EXPECT_EQ(t.voids(), 1u);
  EXPECT_EQ(t.count(4, key), 5u);
  EXPECT_EQ(t.count(3, key), 0u);
  for (const unsigned length : {5u, 5u, 3u, 1u, 0u}) {
    const entry_set before = entries_of(t);
    ASSERT_TRUE(t.erase(4, key));
    entry_set after = entries_of(t);
    after.emplace(4, prefix_entry::of(key, length).bits, length);
    EXPECT_EQ(after, before);
  }
  EXPECT_FALSE(t.erase(4, key));
  EXPECT_FALSE(t.renew(4, key));
  EXPECT_EQ(t.voids(), 0u);
  EXPECT_EQ(t.used(), 1u);
  EXPECT_TRUE(t.validate().ok());
}

TEST(variable_length_table, doubling_moves_a_bit_and_halving_moves_it_back) {
  random_source random(seed);
  for (const unsigned longest : {1u, 5u, 6u, 7u, 8u, 12u, 40u, 56u}) {
    for (const std::uint64_t quotients : {1u, 50u, 3000u}) {
      SCOPED_TRACE(std::to_string(longest) + " bits, " + std::to_string(quotients) + " quotients");
      const variable_length_table t = filled(quotients, longest, quotients, random);
      for (const unsigned wider : {0u, 2u}) {
        if (longest + wider > variable_length_table::longest_payload) continue;
        entry_set expected;
        std::vector<std::uint64_t> voids;
        t.for_each([&](std::uint64_t quotient, const prefix_entry& e) {
          if (e.length != 0) expected.emplace(2 * quotient + (e.bits >> 63), e.bits << 1, e.length - 1);
        });
        const variable_length_table twice = t.doubled(16, longest + wider, [&](std::uint64_t quotient) {
                                               voids.push_back(quotient);
                                               return status();
                                             }).value();
        EXPECT_EQ(entries_of(twice), expected);
        EXPECT_EQ(voids.size(), t.voids());
        EXPECT_TRUE(std::is_sorted(voids.begin(), voids.end()));
        EXPECT_TRUE(twice.validate().ok());
        variable_length_table back = twice.halved(0, longest).value();
        for (const std::uint64_t quotient : voids) {
          while (!back.insert_void(quotient)) back.widen().value();
        }
        EXPECT_EQ(entries_of(back), entries_of(t));
        EXPECT_TRUE(back.validate().ok());
      }
    }
  }
}

// Runs of more than a block, runs that go from one block into the next, and a table that has to be made anew for its last runs,
// all with voids among them.
TEST(variable_length_table, doubling_takes_runs_of_any_size) {
  random_source random(seed);
  for (const unsigned longest : {2u, 7u, 12u, 20u}) {
    for (const std::uint64_t quotients : {2u, 64u, 700u}) {
      SCOPED_TRACE(std::to_string(longest) + " bits, " + std::to_string(quotients) + " quotients");
      variable_length_table t = variable_length_table::make(quotients, 64, longest).value();
      for (int i = 0; i < 60; ++i) {
        const std::uint64_t quotient = i % 4 == 0 ? quotients - 1 : random.below(quotients);
        const std::uint64_t size = i % 8 == 0 ? random.below(200) : random.below(8);
        for (std::uint64_t k = 0; k < size; ++k) {
          const unsigned length = k % 5 == 0 ? 0 : longest - static_cast<unsigned>(random.below(2));
          while (!t.insert_prefix(quotient, random(), length)) t.widen().value();
        }
      }
      // In the order of the old slots, zeros before ones.
      std::vector<std::tuple<std::uint64_t, std::uint64_t, unsigned>> expected;
      std::vector<std::uint64_t> expected_voids;
      for (const std::uint64_t bit : {0u, 1u}) {
        t.for_each([&](std::uint64_t quotient, const prefix_entry& e) {
          if (e.length == 0 && bit == 0) expected_voids.push_back(quotient);
          if (e.length != 0 && e.bits >> 63 == bit) expected.emplace_back(2 * quotient + bit, e.bits << 1, e.length - 1);
        });
      }
      std::stable_sort(expected.begin(), expected.end(), [](auto& a, auto& b) { return std::get<0>(a) < std::get<0>(b); });
      std::vector<std::uint64_t> voids;
      const variable_length_table twice = t.doubled(0, longest, [&](std::uint64_t quotient) {
                                             voids.push_back(quotient);
                                             return status();
                                           }).value();
      std::vector<std::tuple<std::uint64_t, std::uint64_t, unsigned>> found;
      twice.for_each([&](std::uint64_t quotient, const prefix_entry& e) { found.emplace_back(quotient, e.bits, e.length); });
      EXPECT_EQ(found, expected);
      EXPECT_EQ(voids, expected_voids);
      const status valid = twice.validate();
      EXPECT_TRUE(valid.ok()) << valid.message();
    }
  }
}

TEST(variable_length_table, halving_cuts_what_is_too_long) {
  random_source random(seed);
  for (const unsigned shorter : {0u, 1u, 3u}) {
    const variable_length_table t = filled(400, 9, 400, random);
    const unsigned longest = 9 - shorter;
    entry_set expected;
    t.for_each([&](std::uint64_t quotient, const prefix_entry& e) {
      const prefix_entry cut = prefix_entry::of(quotient << 63 | e.bits >> 1, std::min(e.length + 1, longest));
      expected.emplace(quotient / 2, cut.bits, cut.length);
    });
    EXPECT_EQ(entries_of(t.halved(64, longest).value()), expected);
  }
}

// Against a plain list of prefixes.
TEST(variable_length_table, accepts_what_some_entry_begins_like) {
  random_source random(seed);
  for (const unsigned longest : {3u, 7u, 8u, 13u}) {
    const variable_length_table t = filled(100, longest, 150, random);
    std::vector<std::pair<std::uint64_t, prefix_entry>> all;
    t.for_each([&](std::uint64_t quotient, const prefix_entry& e) { all.emplace_back(quotient, e); });
    for (int i = 0; i < 20000; ++i) {
      const std::uint64_t quotient = random.below(100);
      std::uint64_t suffix = random();
      if (const auto& some = all[random.below(all.size())]; i % 2 == 0) {  // near an entry
        suffix = some.second.bits | suffix >> (some.second.length / 2);
      }
      std::uint64_t matches = 0;
      for (const auto& [at, e] : all) matches += static_cast<std::uint64_t>(at == quotient && e.matches(suffix));
      ASSERT_EQ(t.contains(quotient, suffix), matches != 0);
      ASSERT_EQ(t.count(quotient, suffix), matches);
    }
    // The share of quotients and the first bits behind them, counted.
    if (longest > 8) continue;
    std::uint64_t accepted = 0;
    for (std::uint64_t quotient = 0; quotient < 100; ++quotient) {
      for (std::uint64_t bits = 0; bits < std::uint64_t{1} << longest; ++bits) {
        accepted += static_cast<std::uint64_t>(t.contains(quotient, bits << (64 - longest)));
      }
    }
    EXPECT_NEAR(t.accepted(), static_cast<double>(accepted) / static_cast<double>(100u << longest), 1e-12);
  }
}

}  // namespace
}  // namespace tamis::test
