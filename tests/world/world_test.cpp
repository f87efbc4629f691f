// The short version of world_long.

#include <gtest/gtest.h>

#include "tests/world/rules.hpp"

namespace tamis::test {

using namespace detail;

namespace {

class small_world : public ::testing::TestWithParam<std::pair<std::string, world_rules>> {};
INSTANTIATE_TEST_SUITE_P(rules, small_world, ::testing::ValuesIn(all_rules()),
                         [](const auto& tested) { return tested.param.first; });

TEST_P(small_world, keeps_the_invariant) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    world w(seed, GetParam().second);
    for (int i = 0; i < 4000; ++i) {
      const auto wrong = w.step();
      ASSERT_FALSE(wrong) << "operation " << i << ": " << *wrong;
    }
    EXPECT_GT(w.tally().at("fixed"), 20u);
    if (GetParam().second.deep) {
      EXPECT_GT(w.tally().at("with copies"), 200u);
    }
  }
}

// The check itself notices what it is there for.
TEST(world_check, notices_a_lost_key_and_a_stray_entry) {
  evergreen f = evergreen::create({.capacity = 40, .fpr = 0.5, .options = {{"segment", "64"}}}).value();
  multiset_remote truth;
  random_source random(7);
  for (int i = 0; i < 30; ++i) {
    const digest d{random(), random()};
    f.insert(d);
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
