#include "tamis/filters/cqf.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "tamis/detail/base/random.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

digest draw(random_source& random) { return {random(), random()}; }

cqf make(std::uint64_t capacity, unsigned remainder) {
  return cqf::create({.capacity = capacity, .fpr = 0.5, .options = {{"remainder", std::to_string(remainder)}}}).value();
}

TEST(run_counters, every_count_of_every_remainder_comes_back_beside_others) {
  for (const unsigned width : {2u, 3u, 4u, 8u, 13u}) {
    const run_counters counters(width);
    const std::uint64_t values = std::uint64_t{1} << width;
    random_source random(width);
    std::size_t before = 0;
    for (int round = 0; round < 20000; ++round) {
      std::vector<counted_remainder> expected;
      std::vector<std::uint64_t> slots;
      for (std::uint64_t x = 0; x < values; ++x) {
        if (!random.chance(values <= 16 ? 0.4 : 4.0 / static_cast<double>(values))) continue;
        expected.push_back({x, 1 + (random() >> (40 + random.below(24)))});
        counters.append(expected.back(), slots);
      }
      std::vector<counted_remainder> found;
      for (std::uint64_t i = 0; i < slots.size();) {
        const auto here = counters.parse([&](std::uint64_t j) { return slots[j]; }, i, slots.size());
        found.push_back(here.counted);
        i += here.slots;
      }
      ASSERT_EQ(found, expected) << "width " << width << " round " << round;
    }
    for (const std::uint64_t x : {std::uint64_t{0}, std::uint64_t{1}, values / 2, values - 1}) {
      for (std::uint64_t count = 1; count < 5000; ++count) {
        std::vector<std::uint64_t> slots;
        counters.append({x, count}, slots);
        if (count > 1) {
          ASSERT_LE(slots.size(), before + 1) << "a count takes more than one slot more";
        }
        before = slots.size();
      }
    }
  }
}

TEST(cqf, counts_take_few_slots) {
  random_source random(1);
  cqf filter = make(100, 8);
  const digest x = draw(random);
  for (std::uint64_t i = 1; i <= 100000; ++i) {
    ASSERT_EQ(filter.insert(x), insert_result::inserted);
    if (i % 977 == 0) {
      ASSERT_EQ(filter.count(x), i);
    }
  }
  EXPECT_EQ(filter.keys(), 100000u);
  EXPECT_TRUE(filter.validate().ok());
  for (std::uint64_t i = 0; i < 100000; ++i) ASSERT_EQ(filter.erase(x), erase_result::erased);
  EXPECT_EQ(filter, make(100, 8));
}

TEST(cqf, merges_counts) {
  random_source random(2);
  cqf a = make(2000, 9);
  cqf b = make(2000, 9);
  cqf both = make(2000, 9);
  for (int i = 0; i < 900; ++i) {
    const digest x = draw(random);
    for (std::uint64_t copies = random.below(5); copies != 0; --copies) {
      (random.chance(0.5) ? a : b).insert(x);
      both.insert(x);
    }
  }
  ASSERT_TRUE(a.merge(b).ok());
  EXPECT_EQ(a, both);
  EXPECT_FALSE(a.merge(make(2000, 8)).ok());
}

TEST(cqf, a_full_filter_refuses_and_loses_nothing) {
  random_source random(3);
  cqf filter = make(100, 4);
  std::vector<digest> in;
  for (int i = 0; i < 5000; ++i) {
    const digest x = in.empty() || random.chance(0.8) ? draw(random) : in[random.below(in.size())];
    const cqf before = filter;
    if (filter.insert(x) == insert_result::inserted) {
      in.push_back(x);
    } else {
      ASSERT_EQ(filter, before);
    }
  }
  EXPECT_TRUE(filter.validate().ok());
  for (const digest x : in) ASSERT_TRUE(filter.may_contain(x));
}

RC_GTEST_PROP(cqf, counts_like_a_multiset_of_fingerprints, ()) {
  const auto remainder = *rc::gen::inRange(2u, 12u);
  const auto capacity = *rc::gen::inRange<std::uint64_t>(1, 200);
  cqf filter = make(capacity, remainder);
  random_source random(*rc::gen::arbitrary<std::uint64_t>());
  std::vector<digest> world;
  for (std::uint64_t i = 0; i < capacity; ++i) world.push_back(draw(random));
  std::map<cqf::fingerprint, std::uint64_t> model;
  std::uint64_t keys = 0;
  for (int i = 0; i < 1500; ++i) {
    const digest x = world[std::min(random.below(world.size()), random.below(world.size()))];
    const auto f = filter.fingerprint_of(x);
    if (random.chance(0.7)) {
      if (filter.insert(x) == insert_result::inserted) ++model[f], ++keys;
    } else {
      const bool in = model.contains(f);
      RC_ASSERT((filter.erase(x) == erase_result::erased) == in);
      if (in && --model[f] == 0) model.erase(f);
      keys -= in;
    }
    RC_ASSERT(filter.may_contain(x) == model.contains(f));
  }
  RC_ASSERT(filter.keys() == keys);
  RC_ASSERT(filter.validate().ok());
  std::map<cqf::fingerprint, std::uint64_t> found;
  filter.for_each([&](cqf::fingerprint f, std::uint64_t count) { found[f] = count; });
  RC_ASSERT(found == model);
  for (const digest x : world)
    RC_ASSERT(filter.count(x) == (model.contains(filter.fingerprint_of(x)) ? model[filter.fingerprint_of(x)] : 0));
}

}  // namespace
