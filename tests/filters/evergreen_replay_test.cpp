// Sustained rate: an adversary asks every false positive it has ever seen, over and over, while keys come in. A question that
// was fixed is wrong again only if a new key brings it back, so that replaying gets no higher rate than asking anew.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tamis/filters/evergreen.hpp"
#include "tamis/memory_remote.hpp"
#include "tests/support/bounds.hpp"

namespace tamis::test {

using namespace detail;

namespace {

TEST(evergreen_replay, replaying_gets_no_more_than_asking_anew) {
  constexpr std::uint64_t seed = 20260;
  RecordProperty("seed", static_cast<int>(seed));
  constexpr unsigned fingerprint = 6;
  evergreen f = evergreen::create(
                    {.capacity = 500, .fpr = 0.1, .options = {{"remainder", std::to_string(fingerprint)}, {"segment", "256"}}})
                    .value();
  random_source random(seed);
  memory_remote stored;
  std::vector<digest> wrong;
  std::uint64_t replays = 0;
  std::uint64_t wrong_again = 0;
  std::size_t at = 0;
  const auto ask = [&](digest d) {
    const bool is_wrong = f.may_contain(d);
    if (is_wrong) {
      EXPECT_EQ(f.adapt(d, stored), adapt_result::fixed);
    }
    EXPECT_FALSE(f.may_contain(d));
    return is_wrong;
  };
  for (std::uint64_t i = 0; i < 8000; ++i) {  // grows by four or five doublings
    const digest key{random(), random()};
    stored.insert(key);
    ASSERT_EQ(f.insert(key, stored), insert_result::inserted);
    for (int fresh = 0; fresh < 5; ++fresh) {
      const digest d{random(), random()};
      if (ask(d)) wrong.push_back(d);
    }
    for (int again = 0; again < 10 && !wrong.empty(); ++again, ++replays) {
      at = at + 1 < wrong.size() ? at + 1 : 0;
      wrong_again += ask(wrong[at]);
    }
  }
  ASSERT_GT(wrong.size(), 200u);
  // Even a filter at its highest load whose entries all have F bits only: 2^-F each.
  EXPECT_TRUE(at_most_by_chance(wrong_again, replays, std::ldexp(1.0, -static_cast<int>(fingerprint))));
  // In truth far below: a key of 2^-(q + F) chances has to hit the one question of many.
  EXPECT_LT(wrong_again, replays / 1000);
}

}  // namespace
}  // namespace tamis::test
