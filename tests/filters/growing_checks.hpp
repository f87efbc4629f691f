#pragma once

// What tests of filters that grow share.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tamis/concepts.hpp"
#include "tamis/detail/base/random.hpp"
#include "tests/support/bounds.hpp"

namespace tamis::test {

inline digest draw(detail::random_source& random) { return {random(), random()}; }

inline std::vector<digest> draw(detail::random_source& random, std::size_t count) {
  std::vector<digest> drawn(count);
  for (digest& d : drawn) d = draw(random);
  return drawn;
}

template <class F>
std::uint64_t false_positives(const F& f, detail::random_source& random, std::uint64_t queries) {
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < queries; ++i) wrong += f.may_contain(draw(random));
  return wrong;
}

// Random inserts, of new keys and of keys that are in, and erases beside the keys that are really in, while their number goes
// up to `most` in waves. After each wave all keys are there and counted, and the rate is not above the stated one.
//
// The rate of given keys is a random number too. One key changes it by at most `share`, 2^-F / (quotients of the first table),
// and the keys' parts add up to -log(1 - rate); so by McDiarmid's inequality it is more than sqrt(15 · share · sum) above its
// mean with probability e^-30 at most. Copies only make it lower.
template <class F>
void grow_with_deletes(F& f, std::uint64_t most, double share, std::uint64_t seed) {
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  detail::random_source random(seed);
  std::vector<digest> in;
  const auto insert = [&](digest d) {
    ASSERT_EQ(f.insert(d), insert_result::inserted) << in.size() << " keys are in";
    in.push_back(d);
  };
  const auto erase_one = [&] {
    std::swap(in[random.below(in.size())], in.back());
    ASSERT_EQ(f.erase(in.back()), erase_result::erased) << in.size() << " keys are in";
    in.pop_back();
  };
  for (std::uint64_t wave = 64; wave <= most; wave *= 2) {
    while (in.size() < wave) {
      if (in.empty() || random.chance(0.7)) {
        insert(!in.empty() && random.chance(0.05) ? in[random.below(in.size())] : draw(random));
      } else {
        erase_one();
      }
      if (::testing::Test::HasFatalFailure()) return;
    }
    for (std::uint64_t i = 0; i < wave / 3; ++i) erase_one();
    ASSERT_EQ(f.keys(), in.size());
    ASSERT_TRUE(f.validate().ok()) << f.validate().message();
    for (const digest d : in) ASSERT_TRUE(f.may_contain(d)) << in.size() << " keys are in";
    constexpr std::uint64_t queries = 20000;
    const double stated = f.expected_fpr();
    const double luck = std::sqrt(15.0 * share * -std::log1p(-stated));
    EXPECT_TRUE(at_most_by_chance(false_positives(f, random, queries), queries, std::min(1.0, stated + luck)));
  }
  for (const digest d : in) ASSERT_GE(f.count(d), 1u);
  while (!in.empty()) erase_one();
  EXPECT_EQ(f.keys(), 0u);
  EXPECT_EQ(false_positives(f, random, 1000), 0u);
}

}  // namespace tamis::test
