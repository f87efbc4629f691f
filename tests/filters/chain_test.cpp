#include "tamis/filters/chain.hpp"

#include <gtest/gtest.h>

#include "tests/filters/growing_checks.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;
using tamis::test::draw;

template <class Chain>
Chain make(std::uint64_t capacity, unsigned fingerprint, option_list more = {}) {
  more.emplace_back("fingerprint", std::to_string(fingerprint));
  return Chain::create({.capacity = capacity, .fpr = 0.5, .options = std::move(more)}).value();
}

template <class Chain>
void fill(Chain& chain, std::uint64_t keys, random_source& random) {
  while (chain.keys() < keys) ASSERT_EQ(chain.insert(draw(random)), insert_result::inserted);
}

TEST(chain_linear, grows_with_deletes_and_loses_nothing) {
  for (const unsigned fingerprint : {3u, 8u, 13u}) {
    chain_linear chain = make<chain_linear>(100, fingerprint);
    test::grow_with_deletes(chain, 4096, std::ldexp(1.0 / 125, -static_cast<int>(fingerprint)), fingerprint);
  }
}

TEST(chain_geometric, grows_with_deletes_and_loses_nothing) {
  for (const char* rates : {"equal", "decreasing"}) {
    for (const unsigned fingerprint : {2u, 5u, 12u}) {
      chain_geometric chain = make<chain_geometric>(10, fingerprint, {{"rates", rates}});
      test::grow_with_deletes(chain, 1 << 15, std::ldexp(1.0 / 13, -static_cast<int>(fingerprint)), fingerprint);
    }
  }
}

TEST(chain_linear, filters_are_equal_and_as_many_as_needed) {
  random_source random(1);
  chain_linear chain = make<chain_linear>(800, 8);
  fill(chain, 8000, random);
  EXPECT_EQ(chain.links().size(), 10u);
  for (const quotient& link : chain.links()) EXPECT_EQ(link.keys(), 800u);
  EXPECT_EQ(chain.capacity(), 8000u);
}

TEST(chain_geometric, filters_double) {
  random_source random(2);
  chain_geometric chain = make<chain_geometric>(800, 8);
  fill(chain, 800 * 31, random);
  ASSERT_EQ(chain.links().size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(chain.links()[i].keys(), 800u << i);
}

// N = 64 times the first capacity. The models take the sum of the rates for the chance of a union: too high by at most half of
// its square.
TEST(chain_linear, rate_is_the_models) {
  random_source random(3);
  chain_linear chain = make<chain_linear>(1000, 10);
  fill(chain, 64000, random);
  const double model = linear_chaining_rate(10, 0.8, 64);
  EXPECT_LE(chain.expected_fpr(), model * 1.001);
  EXPECT_GE(chain.expected_fpr(), model - model * model);
  constexpr std::uint64_t queries = 200000;
  EXPECT_TRUE(test::equal_by_chance(test::false_positives(chain, random, queries), queries, chain.expected_fpr()));
}

TEST(chain_geometric, rates_are_the_models) {
  random_source random(4);
  chain_geometric equal = make<chain_geometric>(1000, 10);
  chain_geometric decreasing = make<chain_geometric>(1000, 10, {{"rates", "decreasing"}});
  fill(equal, 127000, random);
  fill(decreasing, 127000, random);
  ASSERT_EQ(equal.links().size(), 7u);
  const double model = geometric_chaining_rate(10, 0.8, 64);
  EXPECT_NEAR(equal.expected_fpr(), model, model * model);
  EXPECT_LE(decreasing.expected_fpr(), decreasing_chaining_rate(10, 0.8, 7));
  EXPECT_GE(decreasing.expected_fpr(), decreasing_chaining_rate(10, 0.8, 7) / 2) << "bits are rounded up, to half of the rate";
  constexpr std::uint64_t queries = 200000;
  for (const chain_geometric* chain : {&equal, &decreasing}) {
    EXPECT_TRUE(test::equal_by_chance(test::false_positives(*chain, random, queries), queries, chain->expected_fpr()));
  }
}

// What was asked for is never exceeded, however much the chain grows.
TEST(chain_geometric, decreasing_rates_keep_the_target_for_ever) {
  random_source random(5);
  chain_geometric chain = chain_geometric::create({.capacity = 20, .fpr = 0.05, .options = {{"rates", "decreasing"}}}).value();
  for (std::uint64_t keys = 20; keys <= 160000; keys *= 2) {
    fill(chain, keys, random);
    EXPECT_LE(chain.expected_fpr(), 0.05);
  }
}

TEST(chain_geometric, an_asked_rate_makes_rates_decrease) {
  const auto rates_of = [](const filter_params& params) {
    return chain_geometric::create(params).value().settings()[2].second;
  };
  EXPECT_EQ(rates_of({.capacity = 100, .fpr = 0.01}), "decreasing");
  EXPECT_EQ(rates_of({.capacity = 100, .bits_per_key = 12}), "equal");
  EXPECT_EQ(rates_of({.capacity = 100, .fpr = 0.01, .options = {{"fingerprint", "7"}}}), "equal");
  EXPECT_EQ(rates_of({.capacity = 100, .fpr = 0.01, .options = {{"rates", "equal"}}}), "equal");
}

// Keys whose fingerprints agree in the older, shorter filter and differ in the younger one: erasing the short match of one of
// them would lose the other.
TEST(chain_geometric, erases_the_longest_match) {
  chain_geometric chain = make<chain_geometric>(8, 2);
  const std::uint64_t step = std::uint64_t{1} << 58;
  const digest old_key{5 * step, 0};
  ASSERT_EQ(chain.insert(old_key), insert_result::inserted);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(chain.expand().ok());
  const digest young_key{5 * step + 1, 1};
  ASSERT_EQ(chain.insert(young_key), insert_result::inserted);
  ASSERT_EQ(chain.count(young_key), 2u) << "it matches the old key's fingerprint too";
  ASSERT_EQ(chain.erase(young_key), erase_result::erased);
  EXPECT_TRUE(chain.may_contain(old_key));
  EXPECT_EQ(chain.links().front().keys(), 1u);
}

TEST(chain_geometric, memory_follows_deletes) {
  random_source random(6);
  chain_geometric chain = make<chain_geometric>(100, 8);
  std::vector<digest> in;
  for (int i = 0; i < 20000; ++i) {
    in.push_back(draw(random));
    ASSERT_EQ(chain.insert(in.back()), insert_result::inserted);
  }
  const std::uint64_t grown = chain.bits().fast;
  // A window over keys that come and go: the chain never needs more than it has.
  for (std::size_t i = 0; i < 100000; ++i) {
    ASSERT_EQ(chain.erase(in[i]), erase_result::erased);
    in.push_back(draw(random));
    ASSERT_EQ(chain.insert(in.back()), insert_result::inserted);
  }
  EXPECT_LE(chain.bits().fast, 2 * grown);
  for (std::size_t i = 100000; i < in.size(); ++i) ASSERT_TRUE(chain.may_contain(in[i]));
}

TEST(chain_geometric, bad_values_are_refused) {
  EXPECT_FALSE(chain_geometric::create({.capacity = 10, .fpr = 0.1, .options = {{"threshold", "49"}}}).ok());
  EXPECT_FALSE(chain_geometric::create({.capacity = 10, .fpr = 0.1, .options = {{"rates", "falling"}}}).ok());
  EXPECT_FALSE(chain_geometric::create({.capacity = 10, .fpr = 0.1, .options = {{"fingerprint", "57"}}}).ok());
  EXPECT_FALSE(chain_linear::create({.capacity = 10, .fpr = 0.1, .options = {{"rates", "equal"}}}).ok());
}

}  // namespace
