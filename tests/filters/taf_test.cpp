#include "tamis/filters/taf.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tamis/detail/math/binomial.hpp"
#include "tamis/filters/utaf.hpp"
#include "tamis/memory_remote.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

constexpr std::uint64_t quotients = 1 << 14;
constexpr std::uint64_t capacity = quotients * 95 / 100;
constexpr double eps = 1.0 / 256;

digest draw(random_source& random) { return {random(), random()}; }

template <class Filter>
struct filled {
  Filter filter;
  memory_remote remote{};
  random_source random;

  explicit filled(std::uint64_t seed, const char* code = nullptr)
      : filter(Filter::create(
                   {.capacity = capacity, .fpr = eps, .options = code == nullptr ? option_list{} : option_list{{"code", code}}})
                   .value()),
        random(seed) {
    for (std::uint64_t i = 0; i < capacity; ++i) {
      const digest d = draw(random);
      remote.insert(d);
      EXPECT_EQ(filter.insert(d, remote), insert_result::inserted);
    }
  }

  // Asks, and reports a wrong answer.
  bool ask(digest d) {
    if (!filter.may_contain(d)) return false;
    EXPECT_EQ(filter.adapt(d, remote), adapt_result::fixed);
    return true;
  }
};

// Theorem 1: whatever an adversary remembers, a query is wrong with probability at most eps. This one asks a new query, and
// then everything that was ever wrong once more, until the first block is reset.
template <class Filter>
void expect_sustained_rate_under_replay(filled<Filter> world, std::uint64_t least_replays) {
  std::vector<digest> wrong;
  std::uint64_t replays = 0;
  std::uint64_t wrong_again = 0;
  while (world.filter.resets() == 0 && replays < 3000000) {
    const digest fresh = draw(world.random);
    if (!world.ask(fresh)) continue;
    wrong.push_back(fresh);
    for (const digest d : wrong) {
      ++replays;
      wrong_again += world.ask(d);
    }
  }
  std::printf("replayed %zu wrong queries %llu times: %llu wrong again, %llu are chance\n", wrong.size(),
              static_cast<unsigned long long>(replays), static_cast<unsigned long long>(wrong_again),
              static_cast<unsigned long long>(static_cast<double>(replays) * eps));
  EXPECT_GT(replays, least_replays);
  EXPECT_LE(wrong_again, binomial_upper_bound(replays, eps, 1e-9));
}

TEST(taf, rate_is_sustained_under_replay) {
  expect_sustained_rate_under_replay(filled<taf>(1), 3000);
  expect_sustained_rate_under_replay(filled<taf>(2, "quarters"), 1000);
}
TEST(utaf, rate_is_sustained_under_replay) { expect_sustained_rate_under_replay(filled<utaf>(3), 1000000); }

// Section 6.1: a round is ten times all of Q; what was never wrong in it is dropped.
TEST(taf, rate_is_sustained_against_the_adversary_of_the_paper) {
  for (const double ratio : {1.0, 4.0}) {  // |Q| / |S|; Theorem 4 speaks of 4
    filled<taf> world(static_cast<std::uint64_t>(ratio * 10));
    std::vector<digest> asked;
    for (double i = 0; i < ratio * static_cast<double>(capacity); ++i) asked.push_back(draw(world.random));
    std::uint64_t queries = 0;
    std::uint64_t wrong = 0;
    while (static_cast<double>(asked.size()) > 0.01 * static_cast<double>(capacity)) {
      std::vector<bool> was_wrong(asked.size());
      for (int round = 0; round < 10; ++round) {
        for (std::size_t i = 0; i < asked.size(); ++i) {
          const bool now = world.ask(asked[i]);
          was_wrong[i] = was_wrong[i] || now;
          ++queries;
          wrong += now;
        }
      }
      std::vector<digest> left;
      for (std::size_t i = 0; i < asked.size(); ++i) {
        if (was_wrong[i]) left.push_back(asked[i]);
      }
      asked = std::move(left);
    }
    std::printf("|Q|/|S| %g: %llu wrong of %llu, %llu resets\n", ratio, static_cast<unsigned long long>(wrong),
                static_cast<unsigned long long>(queries), static_cast<unsigned long long>(world.filter.resets()));
    EXPECT_LE(wrong, binomial_upper_bound(queries, eps, 1e-9));
    EXPECT_EQ(world.filter.resets(), 0u);
  }
}

TEST(taf, selectors_are_distributed_as_corollary_3_says) {
  for (const double c : {4.0, 16.0, 60.0}) {  // unique queries per quotient
    filled<utaf> world(static_cast<std::uint64_t>(c));
    const auto queries = static_cast<std::uint64_t>(c * static_cast<double>(quotients));
    for (std::uint64_t i = 0; i < queries; ++i) world.ask(draw(world.random));
    std::vector<std::uint64_t> having(256);
    world.filter.for_each_symbol([&](std::uint8_t selector) { ++having[selector]; });
    for (unsigned k = 0; k < 4; ++k) {
      const double bound = selector_probability(c, eps, k);
      std::printf("c %4.0f, selector %u: measured %.6f, Corollary 3 %.6f\n", c, k,
                  static_cast<double>(having[k]) / static_cast<double>(capacity), bound);
      EXPECT_LE(having[k], binomial_upper_bound(capacity, bound, 1e-9));
    }
    EXPECT_GE(having[0], binomial_lower_bound(capacity, selector_probability(c, eps, 0) * 0.999, 1e-9));
  }
}

TEST(taf, space_is_what_the_paper_says) {
  const auto per_slot = [](std::uint64_t bits) { return static_cast<double>(bits) / 1048576.0; };
  const taf filter = taf::create({.capacity = 996147, .fpr = eps}).value();
  EXPECT_NEAR(per_slot(filter.bits().fast), 8 + 3, 0.01);
}

}  // namespace
