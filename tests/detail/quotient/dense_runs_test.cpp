#include "tamis/detail/quotient/dense_runs.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "tamis/detail/base/random.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

using run_model = std::map<std::uint64_t, std::vector<std::uint64_t>>;

run_model runs_of(const spaced_table& table) {
  run_model runs;
  table.for_each_run([&](std::uint64_t quotient, const slot_run& run) {
    table.for_each_value(run, [&](std::uint64_t value) { runs[quotient].push_back(value); });
  });
  return runs;
}

// What append() makes of the runs one by one.
spaced_table appended(const run_model& runs, const spaced_table& like, spacing s, std::uint64_t spare) {
  auto made = spaced_table::make(like.quotients(), spare, s, like.width()).value();
  block_slot end;
  for (const auto& [quotient, values] : runs) {
    const auto run = made.append(quotient, values.size(), end);
    EXPECT_TRUE(run.has_value());
    if (!run) return made;
    block_slot at = run->first;
    for (const std::uint64_t value : values) made.set_value(at, value), at = made.next(at);
  }
  return made;
}

void expect_steps(std::uint64_t quotients, std::uint64_t spare, unsigned width, double load, bool hostile, std::uint64_t seed) {
  SCOPED_TRACE("quotients " + std::to_string(quotients) + ", width " + std::to_string(width) + ", seed " +
               std::to_string(seed));
  random_source random(seed);
  auto table = spaced_table::make(quotients, spare, spacing(32), width).value();
  while (static_cast<double>(table.used()) < load * static_cast<double>(quotients) / 2) {
    const std::uint64_t quotient = hostile && random.chance(0.7) ? quotients / 3 : random.below(quotients);
    if (!table.insert(quotient, random() & low_mask(width))) break;
  }
  const run_model runs = runs_of(table);
  for (unsigned slots = spacing::least; slots <= spacing::most; slots = spacing::after(slots)) {
    const auto stepped = respaced(table, spacing(slots), spare);
    ASSERT_TRUE(stepped.ok()) << stepped.message();
    ASSERT_EQ(*stepped, appended(runs, table, spacing(slots), spare)) << slots;
    ASSERT_TRUE(stepped->validate().ok()) << stepped->validate().message();
    // And back.
    const auto back = respaced(*stepped, spacing(32), spare);
    ASSERT_TRUE(back.ok()) << back.message();
    ASSERT_EQ(*back, table) << slots;
  }
}

TEST(DenseRuns, GiveATableAnotherNumberOfSlots) {
  std::uint64_t seed = 1;
  for (const unsigned width : {1u, 4u, 7u, 8u, 9u, 12u, 40u}) {
    for (const double load : {0.0, 0.1, 0.7, 0.95}) {
      for (const std::uint64_t quotients : {1u, 63u, 64u, 1000u, 4096u})
        expect_steps(quotients, 200, width, load, false, seed++);
      expect_steps(1500, 900, width, load, true, seed++);
    }
  }
}

TEST(DenseRuns, AreBuiltFromValuesInOrder) {
  random_source random(4);
  for (const unsigned width : {5u, 7u, 8u, 11u, 30u}) {
    dense_runs dense(3000, width);
    run_model runs;
    dense.reserve(3000 * 8);
    for (std::uint64_t quotient = 0; quotient < 3000; quotient += 1 + random.below(5)) {
      auto& values = runs[quotient];
      values.resize(1 + random.below(random.chance(0.01) ? 200 : 4));
      for (auto& value : values) value = random() & low_mask(width);
      dense.append(quotient, values);
    }
    dense.finish();
    const auto made = dense.laid_out(4000, spacing(48));
    ASSERT_TRUE(made.ok()) << made.message();
    EXPECT_TRUE(made->validate().ok());
    EXPECT_EQ(runs_of(*made), runs);
    run_model again;
    dense_runs::of(*made).for_each_run([&](std::uint64_t quotient, std::span<const std::uint64_t> values) {
      again[quotient].assign(values.begin(), values.end());
    });
    EXPECT_EQ(again, runs);
  }
}

TEST(DenseRuns, SayWhenTheyDoNotFit) {
  dense_runs dense(64, 8);
  dense.reserve(200);
  dense.append(60, std::vector<std::uint64_t>(20, 1));
  dense.finish();
  EXPECT_FALSE(dense.laid_out(0, spacing(48)).ok());
  EXPECT_TRUE(dense.laid_out(20, spacing(48)).ok());
}

}  // namespace
