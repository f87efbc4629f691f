#pragma once

// What the tests of fingerprint filters share: each check takes the filter as a type.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tamis/concepts.hpp"
#include "tamis/detail/base/random.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tamis/detail/math/binomial.hpp"

namespace tamis::test {

inline constexpr std::uint64_t fingerprint_seed = 20240703;

inline std::vector<digest> random_digests(std::size_t count, std::uint64_t seed) {
  detail::random_source random(seed);
  std::vector<digest> made(count);
  for (digest& d : made) d = {random(), random()};
  return made;
}

// With a given width: the rate is what it is.
template <class F>
F make_of_width(std::uint64_t capacity, unsigned width) {
  return F::create({.capacity = capacity, .fpr = 0.999, .options = {{"fingerprint", std::to_string(width)}}}).value();
}

template <class F>
::testing::AssertionResult is_valid(const F& f) {
  const status valid = f.validate();
  if (valid) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << valid.message();
}

// Random inserts and erases of a few digests, many of them repeated, beside a plain map. Everything erased, nothing is left.
template <class F>
void check_against_multiset(std::uint64_t capacity, unsigned width, int steps) {
  F f = make_of_width<F>(capacity, width);
  const F fresh = f;
  std::map<digest, std::uint64_t> model;
  std::uint64_t size = 0;
  detail::random_source random(fingerprint_seed + capacity * 100 + width);
  const std::vector<digest> universe = random_digests(capacity, random());
  for (int step = 0; step < steps; ++step) {
    const digest d = universe[random.below(universe.size())];
    if (random.chance(0.6)) {
      if (f.insert(d) == insert_result::full) continue;
      ++model[d];
      ++size;
    } else if (model[d] != 0) {
      ASSERT_EQ(f.erase(d), erase_result::erased);
      --model[d];
      --size;
    }
    ASSERT_EQ(f.keys(), size);
    ASSERT_EQ(f.may_contain(d), f.count(d) != 0);
    ASSERT_GE(f.count(d), model[d]);
  }
  for (const auto& [d, copies] : model) ASSERT_GE(f.count(d), copies);
  ASSERT_TRUE(is_valid(f));
  for (auto& [d, copies] : model) {
    for (; copies != 0; --copies) ASSERT_EQ(f.erase(d), erase_result::erased);
  }
  EXPECT_EQ(f.keys(), 0u);
  EXPECT_EQ(f, fresh);
}

// Goes on until `refusals` keys were refused: each of them must have left every bit as it was, and nothing is lost.
template <class F>
void check_refusals_change_nothing(std::uint64_t capacity, unsigned width, int refusals) {
  F f = make_of_width<F>(capacity, width);
  std::vector<digest> in;
  detail::random_source random(fingerprint_seed + capacity + width);
  while (refusals != 0) {
    const F before = f;
    const digest d{random(), random()};
    if (f.insert(d) == insert_result::inserted) {
      in.push_back(d);
      continue;
    }
    --refusals;
    ASSERT_EQ(f, before) << "after " << in.size() << " keys";
  }
  EXPECT_GE(in.size(), capacity);
  EXPECT_EQ(f.keys(), in.size());
  for (const digest d : in) ASSERT_TRUE(f.may_contain(d));
  EXPECT_TRUE(is_valid(f));
}

template <class F>
void check_holds_capacity(std::uint64_t capacity, unsigned width, std::uint64_t seeds) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    F f = make_of_width<F>(capacity, width);
    const std::vector<digest> all = random_digests(capacity, fingerprint_seed + seed);
    for (const digest d : all)
      ASSERT_EQ(f.insert(d), insert_result::inserted) << f.keys() << " of " << capacity << ", seed " << seed;
    for (const digest d : all) ASSERT_TRUE(f.may_contain(d));
  }
}

// The measured rate is the stated one. Bounds of a binomial at 1e-12 on both sides; what the filter holds spreads the rate by a
// relative 1/sqrt(keys) more, for which 3 % are six standard deviations at 40,000 keys.
template <class F>
void check_rate(unsigned width) {
  constexpr std::uint64_t keys = 40000;
  constexpr std::uint64_t asked = 400000;
  F f = make_of_width<F>(keys, width);
  for (const digest d : random_digests(keys, fingerprint_seed)) ASSERT_EQ(f.insert(d), insert_result::inserted);
  std::uint64_t positives = 0;
  for (const digest d : random_digests(asked, fingerprint_seed + 1)) positives += f.may_contain(d);
  EXPECT_LE(positives, detail::binomial_upper_bound(asked, f.expected_fpr() * 1.03, 1e-12));
  EXPECT_GE(positives, detail::binomial_lower_bound(asked, f.expected_fpr() * 0.97, 1e-12));
}

template <class F>
std::vector<std::byte> saved(const F& f) {
  memory_sink sink;
  detail::writer out(sink);
  out(f);
  out.finish().value();
  return std::move(sink).take();
}

template <class F>
status loaded(const std::vector<std::byte>& bytes, F* into = nullptr) {
  memory_source source(bytes);
  detail::reader in(source);
  F f = detail::stored_access::blank<F>();
  in(f);
  if (in.ok() && into != nullptr) *into = std::move(f);
  return in.state();
}

template <class F>
void check_round_trip(const F& f) {
  F back = make_of_width<F>(1, 8);
  const status read = loaded<F>(saved(f), &back);
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_EQ(back, f);
}

// The same bytes with another number at `offset` must be refused.
template <class F, class Number>
void check_refused(const F& f, std::size_t offset, Number number) {
  std::vector<std::byte> bytes = saved(f);
  ASSERT_LE(offset + sizeof number, bytes.size());
  std::memcpy(bytes.data() + offset, &number, sizeof number);
  EXPECT_FALSE(loaded<F>(bytes).ok()) << "offset " << offset << ", value " << +number;
}

}  // namespace tamis::test
