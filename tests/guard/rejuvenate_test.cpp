// A store whose filter grows tells it of true positives.

#include "support.hpp"

namespace tamis::test {

using namespace detail;

namespace {

class rejuvenating_store : public ::testing::Test {
 protected:
  guarded_store open(bool rejuvenate) {
    guard_options options = options_of("evergreen", 600);
    options.params.options = {{"fingerprints", "fixed"}};
    options.rejuvenate = rejuvenate;
    return guarded_store::open(std::make_shared<memory_store>(), options).value();
  }
  static std::map<std::string, std::string> fill(guarded_store& tested, std::uint64_t keys) {
    std::map<std::string, std::string> truth;
    for (std::uint64_t i = 0; i < keys; ++i) {
      EXPECT_TRUE(tested.put(key_of(i), "v"));
      truth.emplace(key_of(i), "v");
    }
    return truth;
  }
};

TEST_F(rejuvenating_store, true_positives_lower_the_rate) {
  guarded_store tested = open(true);
  const auto truth = fill(tested, 15'000);
  const double before = tested.expected_fpr();
  for (const auto& [key, value] : truth) EXPECT_EQ(tested.get(key).value(), value);
  EXPECT_EQ(tested.stats().rejuvenations, truth.size());
  // 15,000 keys after room for 600: four or five doublings, so that the oldest entries lack as many bits.
  EXPECT_LT(tested.expected_fpr(), before / 1.5);
  EXPECT_EQ(lost_keys(tested, truth), 0u);
}

TEST_F(rejuvenating_store, can_be_told_not_to) {
  guarded_store tested = open(false);
  const auto truth = fill(tested, 15'000);
  const double before = tested.expected_fpr();
  for (const auto& [key, value] : truth) EXPECT_EQ(tested.get(key).value(), value);
  EXPECT_EQ(tested.stats().rejuvenations, 0u);
  EXPECT_EQ(tested.expected_fpr(), before);
}

TEST_F(rejuvenating_store, loses_nothing_among_erases) {
  guarded_store tested = open(true);
  std::map<std::string, std::string> truth;
  random_source random(11);
  for (int i = 0; i < 30'000; ++i) {
    const std::string key = key_of(random.below(6000));
    if (random.chance(0.4)) {
      ASSERT_TRUE(tested.put(key, "v"));
      truth[key] = "v";
    } else if (random.chance(0.4)) {
      EXPECT_EQ(tested.erase(key).value(), truth.erase(key) == 1);
    } else {
      EXPECT_EQ(tested.get(key).value().has_value(), truth.contains(key));
    }
  }
  EXPECT_GT(tested.stats().rejuvenations, 1000u);
  EXPECT_EQ(lost_keys(tested, truth), 0u);
}

}  // namespace
}  // namespace tamis::test
