#include "lab/advise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_set>

#include "lab/advise/trial.hpp"
#include "lab/workload.hpp"
#include "tamis/hasher.hpp"

namespace {

using namespace tamis;
using namespace tamis::lab;

constexpr std::uint64_t seed = 20240613;

std::vector<digest> digests_of(const std::string& name, std::size_t count) {
  const auto stream = make_workload(name, {}, seed).value();
  std::vector<std::uint64_t> ids(count);
  ids.resize(stream->next(ids));
  const hasher hash;
  std::vector<digest> all;
  for (const std::uint64_t id : ids) all.push_back(hash(id));
  return all;
}

const estimate* find(const std::vector<estimate>& list, std::string_view name) {
  const auto at = std::find_if(list.begin(), list.end(), [&](const estimate& e) { return e.name() == name; });
  return at == list.end() ? nullptr : &*at;
}

TEST(query_sample, counts_a_short_log_exactly) {
  query_sample log(1000);
  const auto queries = digests_of("zipf", 50'000);
  for (const digest d : queries) log.add_absent_query(d);
  log.add_member_query();
  std::vector<digest> sorted = queries;
  std::sort(sorted.begin(), sorted.end());
  const auto distinct = std::unique(sorted.begin(), sorted.end()) - sorted.begin();
  EXPECT_EQ(log.queries(), 50'001u);
  EXPECT_EQ(log.negatives(), 50'000u);
  EXPECT_EQ(log.distinct_negatives(), static_cast<double>(distinct));
  EXPECT_TRUE(std::ranges::equal(log.sampled(), queries));
  EXPECT_GT(log.top_share(), 0.3);  // Zipf: far from the hundredth that equal keys would have
}

// Distinct keys of a sample at rate p = 2^-shift are Binomial(D, p): the estimate strays by more than 6.2 standard deviations
// sqrt(D (1 - p) / p) with a chance below 1e-9.
TEST(query_sample, estimates_a_long_log_in_bounded_memory) {
  query_sample log(1'000'000);
  const auto queries = digests_of("uniform-repeats", 1'500'000);
  std::unordered_set<std::uint64_t> keys;
  for (const digest d : queries) {
    log.add_absent_query(d);
    keys.insert(d.low);
  }
  EXPECT_LE(log.sampled().size(), query_sample::longest);
  EXPECT_GT(log.shift(), 0u);
  const double rate = std::ldexp(1.0, -static_cast<int>(log.shift()));
  const auto distinct = static_cast<double>(keys.size());
  EXPECT_NEAR(log.distinct_negatives(), distinct, 6.2 * std::sqrt(distinct * (1 - rate) / rate)) << "seed " << seed;
  EXPECT_EQ(log.negatives(), 1'500'000u);
}

TEST(query_sample, a_tiny_filter_keeps_the_beginning_of_a_long_log) {
  query_sample log(1500);
  const auto queries = digests_of("uniform", 2 * query_sample::longest);
  for (const digest d : queries) log.add_absent_query(d);
  EXPECT_EQ(log.shift(), 0u);
  EXPECT_EQ(log.sampled().size(), query_sample::longest);
  EXPECT_EQ(log.distinct_negatives(), static_cast<double>(queries.size()));
}

// A short log before many members: each trial has an eighth of the keys, and eight of them have all, each once.
TEST(query_sample, parts_make_up_the_whole_log) {
  query_sample log(1'000'000);
  const auto queries = digests_of("zipf", 50'000);
  for (const digest d : queries) log.add_absent_query(d);
  EXPECT_EQ(log.shift(), 0u);
  EXPECT_EQ(log.thinning(), 3u);
  ASSERT_EQ(log.parts(), 8u);
  const auto members = digests_of("uniform", 1'000'000);
  const trial_setting setting(1'000'000, 1'000'000, members, &log);
  EXPECT_EQ(setting.shift(), 3u);
  std::vector<digest> asked;
  for (std::uint64_t round = 0; round < 8; ++round) {
    const trial_setting::part& part = setting.part_of_round(round);
    EXPECT_EQ(part.members.size(), 125'000u);
    asked.insert(asked.end(), part.queries.begin(), part.queries.end());
    // Binomial with a standard deviation of 331; what is lacking is made up.
    EXPECT_GT(std::ranges::count_if(part.members, [&](digest d) { return log.part_contains(round, d); }), 125'000 - 6.2 * 331);
    EXPECT_EQ(&part, &setting.part_of_round(round + 8));
    for (const digest d : part.queries) ASSERT_EQ(log.part_contains(round, d), true);
  }
  std::vector<digest> all = queries;
  std::sort(all.begin(), all.end());
  std::sort(asked.begin(), asked.end());
  EXPECT_EQ(asked, all);
}

TEST(advise, sizes_are_those_of_the_filters_that_it_names) {
  for (const std::uint64_t capacity : {1000u, 100'000u}) {
    const advice found = advise({.capacity = capacity, .fpr = 0.01}, {}, nullptr);
    EXPECT_TRUE(found.by_memory);
    EXPECT_EQ(found.ranked.size() + found.others.size(), registry::builtin().entries().size());
    EXPECT_GT(found.ranked.size(), 10u);
    for (const estimate& e : found.ranked) {
      SCOPED_TRACE(e.entry->info->id);
      EXPECT_EQ(e.params.capacity, capacity);
      const auto made = e.entry->create(e.params).value();
      EXPECT_EQ(e.at_start.fast, made->bits().fast);
      EXPECT_EQ(e.at_start.slow, made->bits().slow);
      EXPECT_LE(e.rate, 0.01 * 1.02);
    }
  }
}

TEST(advise, a_billion_keys_need_no_memory_for_a_billion_keys) {
  const advice found = advise({.capacity = 1'000'000'000, .fpr = 0.001}, {}, nullptr);
  const estimate* bloom = find(found.ranked, "bloom");
  ASSERT_NE(bloom, nullptr);
  EXPECT_NEAR(static_cast<double>(bloom->at_end.fast) / 1e9, 14.378, 0.01);  // log2(1000) / ln 2
  // 10^9 keys in a power of two of buckets of four slots: 2^28 buckets at most at load 0.95, or 2^29.
  const estimate* cuckoo = find(found.ranked, "cuckoo");
  ASSERT_NE(cuckoo, nullptr);
  const double per_bucket = static_cast<double>(cuckoo->at_end.fast) / 0x1p28;
  EXPECT_NEAR(per_bucket, std::round(per_bucket), 0.001);
}

TEST(advise, deletes_and_memory_rule_filters_out_and_say_why) {
  const advice found = advise({.capacity = 10'000, .fpr = 0.01, .memory_bytes = 15'000, .deletes = true}, {}, nullptr);
  for (const estimate& e : found.ranked) {
    EXPECT_TRUE(e.entry->can.erase) << e.entry->info->id;
    EXPECT_LE(e.at_end.fast, 8 * 15'000u * 1.005) << e.entry->info->id;
  }
  ASSERT_NE(find(found.others, "bloom"), nullptr);
  EXPECT_EQ(find(found.others, "bloom")->refusal, "cannot delete");
  ASSERT_NE(find(found.others, "counting-bloom"), nullptr);
  EXPECT_TRUE(find(found.others, "counting-bloom")->refusal.starts_with("needs "))
      << find(found.others, "counting-bloom")->refusal;
  const advice none = advise({.capacity = 10'000, .memory_bytes = 10}, {}, nullptr);
  EXPECT_TRUE(none.ranked.empty());
  for (const estimate& e : none.others) EXPECT_NE(e.refusal, "") << e.entry->info->id;
}

TEST(advise, growth_makes_what_cannot_grow_for_the_end) {
  const advice found = advise({.capacity = 2000, .growth = 8, .fpr = 0.01}, {}, nullptr);
  EXPECT_EQ(found.final_keys, 16'000u);
  for (const estimate& e : found.ranked) {
    SCOPED_TRACE(e.entry->info->id);
    EXPECT_EQ(e.params.capacity, e.entry->can.expand ? 2000u : 16'000u);
    EXPECT_LE(e.rate, 0.01 * 1.02);
    if (e.entry->can.expand) {
      EXPECT_LT(e.at_start.fast, e.at_end.fast);
      EXPECT_LT(e.mean_fast_bits, static_cast<double>(e.at_end.fast));
    } else {
      EXPECT_NEAR(e.mean_fast_bits, static_cast<double>(e.at_end.fast), 1);  // both are scaled, one is rounded
    }
  }
  EXPECT_TRUE(std::any_of(found.ranked.begin(), found.ranked.end(), [](const estimate& e) { return e.entry->can.expand; }));
}

TEST(advise, a_trusted_log_that_repeats_makes_adaptive_filters_smaller) {
  query_sample log(10'000);
  for (const digest d : digests_of("firehose-powerlaw", 300'000)) log.add_absent_query(d);
  const advice with = advise({.capacity = 10'000, .fpr = 0.001, .trust_log = true}, {}, &log);
  const advice without = advise({.capacity = 10'000, .fpr = 0.001}, {}, nullptr);
  ASSERT_FALSE(with.ranked.empty());
  EXPECT_TRUE(with.ranked.front().adapts());
  for (const estimate& e : with.ranked) {
    SCOPED_TRACE(e.name());
    const estimate* before = find(without.ranked, e.entry->info->id);
    ASSERT_NE(before, nullptr);
    EXPECT_TRUE(e.adapts() || e.at_end.fast == before->at_end.fast);
    EXPECT_NEAR(e.rate * 300'000, e.first_time + e.repeated, 1e-6 * (1 + e.first_time + e.repeated));
  }
  EXPECT_LT(with.ranked.front().at_end.fast, without.ranked.front().at_end.fast);
}

// A few keys are most of the log: a short list of them is the best use of memory for a filter that cannot adapt by itself.
TEST(advise, lists_of_known_mistakes_are_tried_where_a_log_repeats) {
  query_sample log(10'000);
  for (const digest d : digests_of("firehose-powerlaw", 200'000)) log.add_absent_query(d);
  const advice found = advise({.capacity = 10'000, .memory_bytes = 12'500, .read_ns = 1e7}, {}, &log);
  const auto listed = std::find_if(found.ranked.begin(), found.ranked.end(), [](const estimate& e) { return e.has_list(); });
  ASSERT_NE(listed, found.ranked.end());
  const estimate* plain = find(found.ranked, listed->entry->info->id);
  ASSERT_NE(plain, nullptr);
  EXPECT_LT(listed->cost_ns, plain->cost_ns);
  EXPECT_EQ(listed->scans_per_query, 0);
  EXPECT_LE(listed->at_end.fast, 8 * 12'500u * 1.005);
  const auto made = any_filter::create(listed->entry->info->id, listed->params).value();
  EXPECT_EQ(made.kind(), listed->name());
  EXPECT_EQ(made.bits().fast, listed->at_start.fast);

  // Of no use where nothing repeats, and where new keys bound the rate.
  for (const advice& other : {advise({.capacity = 10'000, .memory_bytes = 12'500}, {}, nullptr),
                              advise({.capacity = 10'000, .fpr = 0.01}, {}, &log)}) {
    EXPECT_TRUE(std::none_of(other.ranked.begin(), other.ranked.end(), [](const estimate& e) { return e.has_list(); }));
  }
}

TEST(advise, the_price_of_a_read_decides_between_time_and_mistakes) {
  query_sample log(10'000);
  for (const digest d : digests_of("firehose-powerlaw", 200'000)) log.add_absent_query(d);
  const advice dear = advise({.capacity = 10'000, .memory_bytes = 12'500, .read_ns = 1e7}, {}, &log);
  EXPECT_FALSE(dear.by_memory);
  ASSERT_FALSE(dear.ranked.empty());
  for (const estimate& e : dear.ranked) {
    EXPECT_NEAR(e.cost_ns, e.lookup_ns + 1e7 * (e.reads_per_query + e.scans_per_query), 1e-6 * e.cost_ns);
    EXPECT_GE(e.cost_ns, dear.ranked.front().cost_ns / 1.02);
  }
  const advice cheap = advise({.capacity = 10'000, .memory_bytes = 12'500, .read_ns = 1e-3}, {}, &log);
  for (const estimate& e : cheap.ranked) EXPECT_NEAR(e.cost_ns, e.lookup_ns, 0.01);
}

}  // namespace
