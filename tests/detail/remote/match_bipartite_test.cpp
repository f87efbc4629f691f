#include "tamis/detail/remote/match_bipartite.hpp"

#include <gtest/gtest.h>

#include "tamis/detail/base/random.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

// Tries all assignments.
bool exists(const std::vector<std::vector<bool>>& fits, std::vector<bool>& taken, std::size_t i) {
  if (i == fits.size()) return true;
  for (std::size_t j = 0; j < taken.size(); ++j) {
    if (taken[j] || !fits[i][j]) continue;
    taken[j] = true;
    if (exists(fits, taken, i + 1)) return true;
    taken[j] = false;
  }
  return false;
}

TEST(pairing, finds_a_pairing_exactly_if_there_is_one) {
  random_source random(1);
  int found = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::size_t left = random.below(7);
    const std::size_t right = random.below(8);
    const double density = random.unit();
    std::vector<std::vector<bool>> fits(left, std::vector<bool>(right));
    for (auto& row : fits) {
      for (std::size_t j = 0; j < right; ++j) row[j] = random.chance(density);
    }
    std::vector<bool> taken(right);
    const auto pairs = match_bipartite(left, right, [&](std::size_t i, std::size_t j) { return bool{fits[i][j]}; });
    ASSERT_EQ(pairs.has_value(), exists(fits, taken, 0));
    if (!pairs) continue;
    ++found;
    std::vector<bool> used(right);
    for (std::size_t i = 0; i < left; ++i) {
      ASSERT_TRUE(fits[i][(*pairs)[i]]);
      ASSERT_FALSE(used[(*pairs)[i]]);
      used[(*pairs)[i]] = true;
    }
  }
  EXPECT_GT(found, 5000);
}

TEST(pairing, long_runs_of_equals_are_paired_quickly) {
  std::uint64_t asked = 0;
  const auto pairs = match_bipartite(5000, 5000, [&](std::size_t, std::size_t) { return ++asked, true; });
  ASSERT_TRUE(pairs.has_value());
  EXPECT_LT(asked, 10000u);
}

// Everybody fits the first ones only: each has to look through all that came before, in vain at last.
TEST(pairing, gives_up_after_as_many_steps_as_it_may_take) {
  const auto fits = [](std::size_t, std::size_t j) { return j < 299; };
  std::uint64_t steps = 0;
  EXPECT_FALSE(match_bipartite(300, 300, fits, 1000, steps));
  EXPECT_EQ(steps, 1001u);
  steps = 0;
  EXPECT_TRUE(match_bipartite(299, 300, fits, 100000, steps));
  EXPECT_LE(steps, 100000u);
}

}  // namespace
