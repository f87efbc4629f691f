// Both stores are the same thing to a guarded_store.

#include <gtest/gtest.h>

#include "support.hpp"
#include "tamis/guard/rocksdb_store.hpp"
#include "tests/support/keys.hpp"

namespace tamis::test {
namespace {

class stores : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "memory") {
      behind = std::make_unique<memory_store>();
    } else {
      behind = rocksdb_store::open(directory / "store").value();
    }
  }
  std::vector<digest> digests_in(digest_range range) const {
    std::vector<digest> seen;
    behind->scan(range, scan_size::few, [&](digest d) { return seen.push_back(d), true; }).value();
    return seen;
  }
  std::vector<std::uint64_t> record_numbers(std::uint32_t stripe, std::uint64_t first) const {
    std::vector<std::uint64_t> seen;
    behind->records(stripe, first, [&](const oplog_record& r) { return seen.push_back(r.number), true; }).value();
    return seen;
  }

  temporary_directory directory;
  std::unique_ptr<store> behind;
};

TEST_P(stores, entries_with_the_same_digest_are_different_entries) {
  const digest d{1, 2};
  write_set set;
  set.entries = {{{d, "a"}, "1"}, {{d, "b"}, "2"}, {{d, ""}, "3"}};
  ASSERT_TRUE(behind->write(set, true));
  EXPECT_EQ(behind->get({d, "a"}).value(), "1");
  EXPECT_EQ(behind->get({d, "b"}).value(), "2");
  EXPECT_EQ(behind->get({d, ""}).value(), "3");
  EXPECT_EQ(behind->get({d, "c"}).value(), std::nullopt);
  EXPECT_EQ(digests_in({d, d}).size(), 3u);
  EXPECT_FALSE(behind->contains({{1, 3}, "a"}).value());
}

TEST_P(stores, scans_are_in_order_and_bounded_on_both_sides) {
  write_set set;
  for (const digest d : extreme_digests) set.entries.push_back({{d, "k"}, "v"});
  ASSERT_TRUE(behind->write(set, false));
  EXPECT_EQ(digests_in(all_digests), std::vector(extreme_digests.begin(), extreme_digests.end()));
  EXPECT_EQ(digests_in({extreme_digests[1], extreme_digests[3]}),
            std::vector(extreme_digests.begin() + 1, extreme_digests.begin() + 4));
}

TEST_P(stores, records_stay_in_their_stripe_and_can_be_trimmed) {
  write_set set;
  for (std::uint64_t n = 1; n <= 300; ++n) set.records.push_back({n % 3 == 0 ? 2u : 1u, n, oplog_operation::insert, {n, n}});
  ASSERT_TRUE(behind->write(set, false));
  EXPECT_EQ(record_numbers(2, 290), (std::vector<std::uint64_t>{291, 294, 297, 300}));
  write_set trim;
  trim.trims = {{2, 0, 297}};
  ASSERT_TRUE(behind->write(trim, false));
  EXPECT_EQ(record_numbers(2, 0), (std::vector<std::uint64_t>{297, 300}));
  EXPECT_EQ(behind->last_record(1).value(), 299u);
  EXPECT_EQ(behind->last_record(2).value(), 300u);
  EXPECT_EQ(behind->last_record(0).value(), 0u);
  EXPECT_EQ(behind->last_record(3).value(), 0u);
}

TEST_P(stores, rows_come_by_prefix) {
  write_set set;
  set.rows = {{"b/2", "two"}, {"b/1", "one"}, {"c", "other"}};
  ASSERT_TRUE(behind->write(set, true));
  const auto found = behind->rows("b/").value();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].second, "one");
  write_set gone;
  gone.rows = {{"b/1", std::nullopt}};
  ASSERT_TRUE(behind->write(gone, true));
  EXPECT_EQ(behind->rows("b/").value().size(), 1u);
}

TEST_P(stores, get_many_is_many_gets) {
  write_set set;
  const auto some = keys(100);
  for (const digest d : some) set.entries.push_back({{d, "k"}, "v"});
  ASSERT_TRUE(behind->write(set, false));
  std::vector<located_key> wanted = {{some[3], "k"}, {{9, 9}, "k"}, {some[77], "k"}, {some[77], "x"}};
  std::vector<std::optional<std::string>> out(wanted.size());
  ASSERT_TRUE(behind->get_many(wanted, out));
  EXPECT_EQ(out, (std::vector<std::optional<std::string>>{"v", std::nullopt, "v", std::nullopt}));
}

INSTANTIATE_TEST_SUITE_P(both, stores, ::testing::Values("memory", "rocksdb"), test_name);

}  // namespace
}  // namespace tamis::test
