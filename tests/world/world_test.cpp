// The short version of world_long.

#include <gtest/gtest.h>

#include "tests/world/rules.hpp"

namespace tamis::test {
namespace {

class small_world : public ::testing::TestWithParam<std::pair<std::string, world_rules>> {};
INSTANTIATE_TEST_SUITE_P(rules, small_world, ::testing::ValuesIn(all_rules()),
                         [](const auto& tested) { return tested.param.first; });

TEST_P(small_world, keeps_the_invariant) {
  std::map<std::string, std::uint64_t> tally;
  const world_rules& rules = GetParam().second;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    world w(seed, rules);
    for (int i = 0; i < 1500; ++i) {
      const auto wrong = w.step();
      ASSERT_FALSE(wrong) << "operation " << i << ": " << *wrong;
    }
    for (const auto& [what, times] : w.tally()) tally[what] += times;
    EXPECT_GT(w.most_segments(), 3u);
  }
  EXPECT_GT(tally["fixed"], 60u);
  if (rules.never || rules.sometimes) {
    EXPECT_GT(tally["aged"], 500u);
  }
  if (rules.fails) {
    EXPECT_GT(tally["failures"], 80u);
  }
  if (rules.merges) {
    EXPECT_GT(tally["merged"], 5u);
  }
}

// Where entries have run out of bits.
TEST(world_check, has_worlds_with_copies) {
  std::uint64_t with_copies = 0;
  for (const auto& [name, rules] : all_rules()) {
    if (rules.remainder == nullptr || rules.remainder != std::string("4")) continue;
    world w(7, rules);
    for (int i = 0; i < 1500; ++i) ASSERT_FALSE(w.step()) << name;
    if (w.tally().contains("with copies")) with_copies += w.tally().at("with copies");
  }
  EXPECT_GT(with_copies, 1000u);
}

// The check itself notices what it is there for.
TEST(world_check, notices_a_lost_key_and_a_stray_entry) {
  evergreen f = evergreen::create({.capacity = 40, .fpr = 0.5, .options = {{"segment", "64"}}}).value();
  multiset_remote truth;
  random_source random(7);
  for (int i = 0; i < 30; ++i) {
    const digest d{random(), random()};
    static_cast<void>(f.insert(d));
    truth.insert(d);
  }
  EXPECT_FALSE(broken_invariant(f, truth, surplus::none));
  const digest twice = *truth.begin();
  truth.insert(twice);
  EXPECT_TRUE(broken_invariant(f, truth, surplus::allowed));
  truth.erase_one(twice);
  truth.erase_one(twice);
  EXPECT_TRUE(broken_invariant(f, truth, surplus::none));
  EXPECT_FALSE(broken_invariant(f, truth, surplus::allowed));
}

}  // namespace
}  // namespace tamis::test
