#include "lab/thread_measure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tamis/detail/base/random.hpp"

namespace tamis::lab {
namespace {

// An eighth of a power of two is the most that a quantile may say too much.
TEST(nanosecond_histogram, says_quantiles_of_what_it_was_given) {
  detail::random_source random(1);
  std::vector<std::uint64_t> all;
  nanosecond_histogram counts;
  for (int i = 0; i < 20'000; ++i) {
    all.push_back(random() >> random.below(60));
    counts.add(all.back());
  }
  std::sort(all.begin(), all.end());
  for (const double share : {0.001, 0.25, 0.5, 0.9, 0.999, 0.9999, 1.0}) {
    const auto exact = static_cast<double>(all[static_cast<std::size_t>(std::ceil(share * 20'000)) - 1]);
    EXPECT_GE(counts.quantile(share), exact);
    EXPECT_LE(counts.quantile(share), exact * 1.125 + 1);
  }
  EXPECT_EQ(counts.count(), 20'000u);
  EXPECT_EQ(counts.summary().longest, static_cast<double>(all.back()));
}

TEST(nanosecond_histogram, is_exact_below_sixteen) {
  nanosecond_histogram counts;
  for (const std::uint64_t ns : {0, 3, 15, 15}) counts.add(ns);
  EXPECT_EQ(counts.quantile(0.25), 0);
  EXPECT_EQ(counts.quantile(0.5), 3);
  EXPECT_EQ(counts.quantile(0.75), 15);
}

TEST(bench_threads, measures_every_way_and_every_number_of_threads) {
  double done = 0;
  const thread_options options{
      .keys = 3000, .queries = 3000, .threads = 3, .repeats = 2, .progress = [&](double share) { done = share; }};
  const filter_params params{.capacity = options.keys, .fpr = 0.01};
  const auto report = bench_threads({{"bloom1", params}, {"evergreen", params}}, options).value();
  ASSERT_EQ(report.rows.size(), 2u * 3 * 3);
  for (const thread_row& row : report.rows) {
    EXPECT_GT(row.lookups.per_second, 0);
    EXPECT_GT(row.lookups_many.per_second, 0);
    EXPECT_GT(row.lookups.cores, 0);
    EXPECT_EQ(row.inserts.has_value(), row.how != sharing::nothing || row.threads == 1);
    EXPECT_EQ(row.beside_insert.has_value(), row.how != sharing::nothing && row.threads != 1);
  }
  EXPECT_EQ(report.rows[2].threads, 3u);
  ASSERT_EQ(report.tails.size(), 2u);  // evergreen grows
  EXPECT_EQ(report.tails[0].id, "evergreen");
  EXPECT_EQ(done, 1.0);
}

TEST(bench_threads, says_which_filter_cannot_be_made) {
  const auto report = bench_threads({{"bloom1", {.capacity = 10, .fpr = 2.0}}}, {.keys = 10, .queries = 10});
  ASSERT_FALSE(report);
  EXPECT_TRUE(report.message().starts_with("bloom1: "));
}

}  // namespace
}  // namespace tamis::lab
