#include "lab/measure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "lab/measure/keys.hpp"
#include "lab/measure/limits.hpp"
#include "lab/measure/loops.hpp"
#include "tamis/detail/any/model.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;
using namespace tamis::lab;

TEST(Summarize, TakesTheMiddleOfAnOddNumber) {
  const timing t = summarize({9.0, 1.0, 2.0});
  EXPECT_EQ(t.median, 2.0);
  EXPECT_EQ(t.low, 1.0);
  EXPECT_EQ(t.high, 9.0);
}

TEST(Summarize, TakesTheMeanOfTheMiddleTwo) { EXPECT_EQ(summarize({4.0, 1.0, 2.0, 100.0}).median, 3.0); }

TEST(Keys, MembersDifferAndNegativesAreNoMembers) {
  const key_sets keys = make_keys(5000, 7000, 3);
  std::set<std::uint64_t> all(keys.members.begin(), keys.members.end());
  ASSERT_EQ(all.size(), 5000u);
  for (const std::uint64_t key : keys.positives) ASSERT_TRUE(all.contains(key));
  all.insert(keys.negatives.begin(), keys.negatives.end());
  EXPECT_EQ(all.size(), 12000u);
}

TEST(Keys, StrangersAreNeitherMembersNorNegatives) {
  const key_sets keys = make_keys(5000, 7000, 3);
  std::set<std::uint64_t> all(keys.members.begin(), keys.members.end());
  all.insert(keys.negatives.begin(), keys.negatives.end());
  for (std::uint64_t i = 0; i < 9000; ++i) all.insert(keys.stranger(i));
  EXPECT_EQ(all.size(), 21000u);
}

TEST(Keys, FollowTheSeed) {
  EXPECT_EQ(make_keys(10, 10, 1).members, make_keys(10, 20, 1).members);
  EXPECT_NE(make_keys(10, 10, 1).members, make_keys(10, 10, 2).members);
}

TEST(Loops, SingleAndBatchedSeeEveryKeyOnce) {
  const hasher hash;
  const auto odd = [](digest d) { return d.low % 2 == 1; };
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, batch_chunk - 1, batch_chunk, 3 * batch_chunk + 7}) {
    std::vector<std::uint64_t> keys(size);
    for (std::size_t i = 0; i < size; ++i) keys[i] = i;
    const std::size_t batched = count_chunks(keys, [&](key_span chunk, std::span<bool> out) {
      std::transform(chunk.begin(), chunk.end(), out.begin(), [&](std::uint64_t key) { return odd(hash(key)); });
    });
    EXPECT_EQ(batched, count_singles(keys, hash, odd)) << size;
    EXPECT_EQ(sum_chunks(keys, [](key_span chunk) { return chunk.size(); }), size);
  }
}

TEST(Limits, AreTimesEvenForTheSmallestTable) {
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1} << 20}) {
    const line_reads lines = line_reads::make(bytes).value();
    EXPECT_GT(lines.prefetched_ns(10000), 0.0);
    EXPECT_GT(lines.dependent_ns(10000), 0.0);
  }
}

TEST(CheckAnswers, AcceptsWhatChanceExplains) { EXPECT_TRUE(check_answers(0, 10'300, 1'000'000, 0.01)); }

TEST(CheckAnswers, RefusesALostMember) {
  const status checked = check_answers(1, 0, 1'000'000, 0.01);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.message(), "1 members are not found");
}

TEST(CheckAnswers, RefusesTooManyFalsePositives) {
  const status checked = check_answers(0, 11'000, 1'000'000, 0.01);
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.message().find("11000 of 1000000"), std::string::npos) << checked.message();
}

// A filter that does wrong what its kind says.
enum class fault { forgets, lies, fills };
template <fault Fault>
class faulty {
 public:
  static constexpr filter_info info{.id = "faulty", .summary = "", .paper = ""};
  static result<faulty> create(const filter_params& params) {
    faulty made;
    made.capacity_ = params.capacity;
    return made;
  }
  insert_result insert(digest) {
    if (Fault == fault::fills && keys_ + 1 == capacity_) return insert_result::full;
    ++keys_;
    return insert_result::inserted;
  }
  bool may_contain(digest d) const { return Fault == fault::forgets ? d.low % 64 != 0 : true; }
  std::uint64_t keys() const { return keys_; }
  std::uint64_t capacity() const { return capacity_; }
  double expected_fpr() const { return Fault == fault::forgets ? 1.0 : 0.01; }
  memory_bits bits() const { return {64}; }
  option_list settings() const { return {}; }
  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.capacity_, self.keys_);
  }
  status validate() const { return {}; }

 private:
  friend stored_access;
  faulty() = default;
  std::uint64_t capacity_ = 0;
  std::uint64_t keys_ = 0;
};

template <fault Fault>
std::string bench_of_faulty() {
  registry known;
  known.add(entry_of<faulty<Fault>>());
  const auto report =
      bench({{"faulty", {.capacity = 1000, .fpr = 0.01}}}, {.keys = 1000, .queries = 10000, .repeats = 1, .known = &known});
  return report ? "no error" : report.message();
}

TEST(Bench, FailsForALostMember) {
  const std::string message = bench_of_faulty<fault::forgets>();
  EXPECT_TRUE(message.starts_with("faulty: ") && message.ends_with("members are not found")) << message;
}

TEST(Bench, FailsForTooManyFalsePositives) {
  EXPECT_TRUE(bench_of_faulty<fault::lies>().starts_with("faulty: 10000 of 10000 negative lookups"))
      << bench_of_faulty<fault::lies>();
}

TEST(Bench, FailsForAFilterThatIsFullTooSoon) {
  EXPECT_EQ(bench_of_faulty<fault::fills>(), "faulty: it is full before its capacity is reached");
}

TEST(Bench, MeasuresEveryOperationOfEveryContender) {
  const filter_params params{.capacity = 5000, .fpr = 0.01};
  double done = 0.0;
  const auto report = bench({{"bloom1", params}, {"counting-bloom", params}},
                            {.keys = 5000, .queries = 20000, .repeats = 3, .progress = [&](double share) { done = share; }});
  ASSERT_TRUE(report) << report.message();
  EXPECT_EQ(done, 1.0);
  EXPECT_GT(report.value().hash.median, 0.0);
  ASSERT_EQ(report.value().rows.size(), 2u);
  for (const bench_row& row : report.value().rows) {
    for (const timing& t : {row.insert, row.insert_many, row.negative, row.negative_many, row.positive, row.positive_many,
                            row.line_prefetched, row.line_dependent}) {
      EXPECT_GT(t.low, 0.0);
      EXPECT_LE(t.low, t.median);
      EXPECT_LE(t.median, t.high);
    }
    EXPECT_EQ(row.erase.has_value(), row.id == "counting-bloom");
    EXPECT_NEAR(row.fpr, 0.01, 0.005);
    EXPECT_NEAR(row.fpr_expected, 0.01, 0.002);
    EXPECT_GT(row.bits_per_key, 9.0);
    EXPECT_FALSE(row.settings.empty());
  }
}

// 5,000 keys with a list of 78 entries, at 1 %: 20,000 strangers would make 200 mistakes.
TEST(Bench, ListsAreFullOfStrangersWhileLookupsAreTimed) {
  const filter_params params{.capacity = 5000, .fpr = 0.01};
  const auto report = bench({{"bloom1", params}, {"bloom1+mistakes", params}}, {.keys = 5000, .queries = 20000, .repeats = 1});
  ASSERT_TRUE(report) << report.message();
  const bench_row& bare = report.value().rows[0];
  const bench_row& listing = report.value().rows[1];
  EXPECT_FALSE(bare.list);
  ASSERT_TRUE(listing.list);
  EXPECT_EQ(listing.id, "bloom1+mistakes");
  EXPECT_EQ(listing.list->entries, 5000u / 64);
  EXPECT_EQ(listing.list->in_use, listing.list->entries);
  EXPECT_EQ(listing.fpr, bare.fpr);  // of strangers who are not listed
  EXPECT_NEAR(listing.bits_per_key - bare.bits_per_key, static_cast<double>(listing.list->bits) / 5000, 1e-9);
}

TEST(Bench, AListStaysEmptierWhereMistakesAreRare) {
  const filter_params params{.capacity = 5000, .fpr = 1e-6};
  const auto report = bench({{"bloom+mistakes", params}}, {.keys = 5000, .queries = 1000, .repeats = 1});
  ASSERT_TRUE(report) << report.message();
  ASSERT_TRUE(report.value().rows[0].list);
  EXPECT_LT(report.value().rows[0].list->in_use, 10u);  // of 16,000 strangers
}

TEST(Bench, PassesOnWhatCreateRefuses) {
  const auto report = bench({{"bloom1", {.capacity = 10, .fpr = 2.0}}}, {.keys = 10, .queries = 10, .repeats = 1});
  EXPECT_FALSE(report);
}

}  // namespace
