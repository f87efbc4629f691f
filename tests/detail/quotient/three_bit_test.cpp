#include "tamis/detail/quotient/three_bit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "tamis/detail/base/random.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

// A table beside what it must hold: the values of every quotient's run, in any order.
struct pair_of_tables {
  three_bit real;
  std::map<std::uint64_t, std::multiset<std::uint64_t>> model;
  std::uint64_t size = 0;

  pair_of_tables(std::uint64_t quotients, std::uint64_t spare, unsigned width)
      : real(three_bit::make(quotients, spare, width).value()) {}

  // Where the last run ends if one more value of this quotient comes in: decides whether there is room.
  std::uint64_t end_with(std::uint64_t quotient) const {
    std::uint64_t end = 0;
    auto sizes = std::map<std::uint64_t, std::uint64_t>();
    for (const auto& [q, values] : model) sizes[q] = values.size();
    ++sizes[quotient];
    for (const auto& [q, run] : sizes) end = std::max(end, q) + run;
    return end;
  }
  void insert(std::uint64_t quotient, std::uint64_t value) {
    const auto gap = real.find_gap(quotient);
    ASSERT_EQ(gap.has_value(), end_with(quotient) <= real.slots()) << "quotient " << quotient;
    if (!gap) return;
    real.open(quotient, *gap);
    real.set_value(gap->at, value);
    model[quotient].insert(value);
    ++size;
  }
  void erase(std::uint64_t quotient) {
    auto& values = model.at(quotient);
    const slot_range run = real.find(quotient);
    ASSERT_EQ(run.size(), values.size());
    const std::uint64_t slot = real.find_value(run, *values.begin());
    ASSERT_LT(slot, run.last);
    real.close(quotient, run, slot);
    values.erase(values.begin());
    if (values.empty()) model.erase(quotient);
    --size;
  }
  void check(random_source& random) const {
    ASSERT_TRUE(real.validate().ok()) << real.validate().message();
    ASSERT_EQ(real.used(), size);
    std::map<std::uint64_t, std::multiset<std::uint64_t>> found;
    std::uint64_t before = 0;
    real.for_each_run([&](std::uint64_t quotient, slot_range run) {
      EXPECT_TRUE(found.empty() || quotient > before);
      before = quotient;
      for (; !run.empty(); ++run.first) found[quotient].insert(real.value(run.first));
    });
    ASSERT_EQ(found, model);
    for (std::uint64_t quotient = 0; quotient < real.quotients(); ++quotient) {
      const std::uint64_t value = real.width() == 0 ? 0 : random() >> (64 - real.width());
      const auto run = model.find(quotient);
      ASSERT_EQ(real.contains(quotient, value), run != model.end() && run->second.contains(value));
      if (run != model.end()) {
        for (const std::uint64_t stored : run->second) ASSERT_TRUE(real.contains(quotient, stored));
      }
    }
  }
};

TEST(three_bit, is_a_multiset_of_values_at_any_size_and_width) {
  random_source random(1);
  for (const std::uint64_t quotients : {1, 2, 63, 64, 65, 200, 1000}) {
    for (const unsigned width : {0u, 1u, 5u, 8u, 13u, 57u}) {
      pair_of_tables tables(quotients, 10, width);
      for (int step = 0; step < 1500; ++step) {
        if (tables.model.empty() || random.chance(step % 500 < 300 ? 0.8 : 0.3)) {
          tables.insert(random.below(quotients), width == 0 ? 0 : random() >> (64 - width));
        } else {
          auto run = tables.model.lower_bound(random.below(quotients));
          if (run == tables.model.end()) run = tables.model.begin();
          tables.erase(run->first);
        }
        if (HasFatalFailure()) return;
        if (step % 100 == 99) tables.check(random);
      }
      while (!tables.model.empty()) tables.erase(tables.model.begin()->first);
      EXPECT_EQ(tables.real, three_bit::make(quotients, 10, width).value()) << "something was left behind";
    }
  }
}

TEST(three_bit, one_quotient_may_take_the_whole_table) {
  for (const std::uint64_t quotient : {0, 1, 70, 199}) {
    pair_of_tables tables(200, 20, 8);
    for (int i = 0; i < 400; ++i) tables.insert(quotient, static_cast<std::uint8_t>(i));
    EXPECT_EQ(tables.size, tables.real.slots() - quotient);
    tables.insert(0, 7);
    random_source random(2);
    tables.check(random);
    while (!tables.model.empty()) tables.erase(tables.model.rbegin()->first);
    EXPECT_EQ(tables.real, three_bit::make(200, 20, 8).value());
  }
}

TEST(three_bit, appended_runs_make_the_table_that_inserts_make) {
  random_source random(3);
  std::map<std::uint64_t, std::uint64_t> sizes;
  for (int i = 0; i < 800; ++i) ++sizes[random.below(1000)];
  three_bit inserted = three_bit::make(1000, 50, 9).value();
  three_bit appended = three_bit::make(1000, 50, 9).value();
  std::uint64_t end = 0;
  for (const auto& [quotient, size] : sizes) {
    const auto run = appended.append(quotient, size, end);
    ASSERT_TRUE(run.has_value());
    for (std::uint64_t i = 0; i < size; ++i) {
      appended.set_value(run->first + i, i);
      const auto gap = inserted.find_gap(quotient);
      inserted.open(quotient, *gap);
      inserted.set_value(gap->at, i);
    }
  }
  EXPECT_EQ(inserted, appended);
  EXPECT_FALSE(appended.append(999, 1000, end).has_value());
}

TEST(three_bit, too_many_slots_are_refused) {
  EXPECT_FALSE(three_bit::make(~std::uint64_t{0}, 2, 8).ok());
  EXPECT_FALSE(three_bit::make(std::uint64_t{1} << 60, 2, 8).ok());
}

}  // namespace
