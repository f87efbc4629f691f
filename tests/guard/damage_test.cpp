// Stores that somebody damaged: parts of the database gone, records gone, files exchanged. A guard opens them without losing a
// key, by a scan if there is any doubt, or refuses them by name. What a crash can do is tested in tests/crash.

#include <rocksdb/db.h>
#include <sys/stat.h>

#include <fstream>

#include "src/guard/snapshot.hpp"
#include "support.hpp"
#include "tamis/guard/rocksdb_store.hpp"

namespace tamis::test {

using namespace detail;

namespace {

namespace files = std::filesystem;

constexpr std::uint32_t stripes = 4;
constexpr std::uint64_t forever = ~std::uint64_t{0};

using row_list = std::vector<std::pair<std::string, std::string>>;

// The fixture keeps a store that is opened and closed several times, in memory or by RocksDB.
class damaged_store : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    open_store();
    live();
  }
  bool on_disk() const { return GetParam() == "rocksdb"; }
  void open_store() {
    if (on_disk()) {
      behind.reset();
      behind = rocksdb_store::open(directory / "store").value();
    } else if (!behind) {
      behind = std::make_shared<memory_store>(directory / "filter");
    }
  }
  void change(guarded_store& tested, int changes) {
    for (int i = 0; i < changes; ++i) {
      const std::string key = key_of(random.below(3000));
      if (random.chance(0.8)) {
        ASSERT_TRUE(tested.put(key, std::to_string(i)));
        truth[key] = std::to_string(i);
      } else {
        ASSERT_TRUE(tested.erase(key));
        truth.erase(key);
      }
    }
  }
  // Two snapshots, with changes before, between and after.
  void live() {
    guarded_store tested = guarded_store::open(behind, options).value();
    change(tested, 300);
    ASSERT_TRUE(tested.snapshot());
    change(tested, 2000);
    ASSERT_TRUE(tested.snapshot());
    change(tested, 200);
  }
  // Opens the damaged store. Then it must be whole again: used, closed and opened, it comes back by its snapshot.
  void expect_way(recovery_way way) {
    open_store();
    {
      guarded_store again = guarded_store::open(behind, options).value();
      EXPECT_EQ(to_string(again.recovered().way), to_string(way)) << again.recovered().reason;
      EXPECT_EQ(way == recovery_way::snapshot, again.recovered().reason.empty()) << again.recovered().reason;
      EXPECT_EQ(lost_keys(again, truth), 0u);
      change(again, 1500);
    }
    {
      guarded_store unclean = guarded_store::open(behind, options).value();
      EXPECT_EQ(lost_keys(unclean, truth), 0u);
      for (const int changes : {1500, 500}) {
        change(unclean, changes);
        ASSERT_TRUE(unclean.snapshot());
      }
      change(unclean, 100);
    }
    guarded_store last = guarded_store::open(behind, options).value();
    EXPECT_EQ(to_string(last.recovered().way), "snapshot") << last.recovered().reason;
    EXPECT_EQ(lost_keys(last, truth), 0u);
  }

  row_list manifest() const { return behind->rows(snapshot_rows).value(); }
  manifest_row row(std::size_t index) const { return parse_row<manifest_row>(manifest()[index].second).value(); }
  void set_row(const std::string& name, std::optional<std::string> text) {
    write_set set;
    set.rows.push_back({name, std::move(text)});
    behind->write(set, true).value();
  }
  void forget_manifest() {
    for (const auto& [name, text] : manifest()) set_row(name, std::nullopt);
  }
  void forget_records(std::uint32_t stripe, std::uint64_t first, std::uint64_t end) {
    write_set set;
    set.trims.push_back({stripe, first, end});
    behind->write(set, true).value();
  }
  void forget_records() {
    for (std::uint32_t i = 0; i < stripes; ++i) forget_records(i, 0, forever);
  }
  // The snapshots' files, the older one first.
  std::vector<files::path> snapshots() const {
    return {snapshot_path(behind->snapshot_directory(), row(0).generation),
            snapshot_path(behind->snapshot_directory(), row(1).generation)};
  }

  temporary_directory directory;
  std::shared_ptr<store> behind;
  guard_options options = options_of("counting-bloom");
  std::map<std::string, std::string> truth;
  random_source random{23};
};

TEST_P(damaged_store, undamaged) { expect_way(recovery_way::snapshot); }

TEST_P(damaged_store, records_gone) {
  forget_records();
  expect_way(recovery_way::rebuilt);
}

TEST_P(damaged_store, records_and_snapshots_gone) {
  forget_records();
  for (const auto& path : snapshots()) files::remove(path);
  expect_way(recovery_way::rebuilt);
}

TEST_P(damaged_store, records_and_manifest_gone) {
  forget_records();
  forget_manifest();
  expect_way(recovery_way::rebuilt);
}

TEST_P(damaged_store, manifest_gone) {
  forget_manifest();
  expect_way(recovery_way::rebuilt);
}

TEST_P(damaged_store, records_of_one_stripe_gone) {
  forget_records(2, 0, forever);
  expect_way(recovery_way::rebuilt);
}

TEST_P(damaged_store, records_end_before_the_newest_snapshot) {
  for (std::uint32_t i = 0; i < stripes; ++i) forget_records(i, row(1).numbers[i], forever);
  expect_way(recovery_way::rebuilt);
}

// The older snapshot finds its records without a gap, but not all that the newer one contains.
TEST_P(damaged_store, records_end_before_the_newest_snapshot_which_is_gone_too) {
  for (std::uint32_t i = 0; i < stripes; ++i) forget_records(i, row(0).numbers[i] + 1, forever);
  files::remove(snapshots()[1]);
  expect_way(recovery_way::rebuilt);
}

TEST_P(damaged_store, one_record_short_of_the_newest_snapshot_which_is_gone_too) {
  forget_records(1, row(1).numbers[1], forever);
  files::remove(snapshots()[1]);
  expect_way(recovery_way::rebuilt);
}

TEST_P(damaged_store, records_with_a_gap_after_the_newest_snapshot) {
  forget_records(3, row(1).numbers[3] + 3, row(1).numbers[3] + 4);
  expect_way(recovery_way::rebuilt);
}

TEST_P(damaged_store, records_with_a_gap_between_the_snapshots) {
  forget_records(3, row(0).numbers[3] + 3, row(0).numbers[3] + 4);
  expect_way(recovery_way::snapshot);
}

TEST_P(damaged_store, records_with_a_gap_between_the_snapshots_and_the_newest_is_gone) {
  forget_records(3, row(0).numbers[3] + 3, row(0).numbers[3] + 4);
  files::remove(snapshots()[1]);
  expect_way(recovery_way::rebuilt);
}

TEST_P(damaged_store, records_trimmed_too_far) {
  for (std::uint32_t i = 0; i < stripes; ++i) forget_records(i, 0, row(1).numbers[i] + 1);
  expect_way(recovery_way::rebuilt);
}

TEST_P(damaged_store, a_record_that_belongs_to_another_stripe) {
  write_set set;
  set.records.push_back({1, row(1).numbers[1] + 1, oplog_operation::insert, {forever, forever}});
  ASSERT_TRUE(behind->write(set, true));
  expect_way(recovery_way::rebuilt);
}

TEST_P(damaged_store, a_row_of_the_manifest_that_cannot_be_read) {
  for (const std::size_t which : {0, 1}) {
    const auto all = manifest();
    set_row(all[which].first, all[which].second.substr(1));
    expect_way(recovery_way::rebuilt);
  }
}

TEST_P(damaged_store, a_row_of_the_manifest_under_another_name) {
  const auto all = manifest();
  set_row(row_name(row(1).generation + 5), all[0].second);
  expect_way(recovery_way::rebuilt);
}

TEST_P(damaged_store, rows_of_the_manifest_swapped) {
  const auto all = manifest();
  set_row(all[0].first, all[1].second);
  set_row(all[1].first, all[0].second);
  expect_way(recovery_way::rebuilt);
}

TEST_P(damaged_store, the_newest_snapshot_missing) {
  files::remove(snapshots()[1]);
  expect_way(recovery_way::older_snapshot);
}

TEST_P(damaged_store, both_snapshots_missing) {
  for (const auto& path : snapshots()) files::remove(path);
  expect_way(recovery_way::rebuilt);
}

TEST_P(damaged_store, the_folder_of_the_snapshots_missing) {
  files::remove_all(snapshots()[0].parent_path());
  expect_way(recovery_way::rebuilt);
}

TEST_P(damaged_store, snapshots_swapped) {
  const auto both = snapshots();
  files::rename(both[0], directory / "between");
  files::rename(both[1], both[0]);
  files::rename(directory / "between", both[1]);
  expect_way(recovery_way::rebuilt);
}

TEST_P(damaged_store, the_newest_snapshot_truncated) {
  const auto newest = snapshots()[1];
  files::resize_file(newest, files::file_size(newest) - 1);
  expect_way(recovery_way::older_snapshot);
}

TEST_P(damaged_store, both_snapshots_empty) {
  for (const auto& path : snapshots()) files::resize_file(path, 0);
  expect_way(recovery_way::rebuilt);
}

TEST_P(damaged_store, snapshots_with_more_behind_their_end) {
  for (const auto& path : snapshots()) std::ofstream(path, std::ios::app) << "more";
  expect_way(recovery_way::rebuilt);
}

TEST_P(damaged_store, a_folder_in_place_of_a_snapshot) {
  const auto newest = snapshots()[1];
  files::remove(newest);
  files::create_directory(newest);
  expect_way(recovery_way::older_snapshot);
}

TEST_P(damaged_store, a_pipe_in_place_of_a_snapshot) {
  for (const auto& path : snapshots()) {
    files::remove(path);
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  }
  expect_way(recovery_way::rebuilt);
}

TEST_P(damaged_store, settings_gone) {
  set_row(std::string(config_row), std::nullopt);
  EXPECT_TRUE(refused(guarded_store::open(behind, options), "holds entries"));
}

TEST_P(damaged_store, settings_that_cannot_be_read) {
  const std::string text = behind->rows(config_row).value().front().second;
  for (const std::string& other : {std::string(), text.substr(1), text + "x", std::string("\xff") + text.substr(1)}) {
    set_row(std::string(config_row), other);
    EXPECT_TRUE(refused(guarded_store::open(behind, options), behind->name()));
  }
}

INSTANTIATE_TEST_SUITE_P(both, damaged_store, ::testing::Values("memory", "rocksdb"), test_name);

// Whole column families dropped behind our back.
class dropped_family : public damaged_store {
 protected:
  void drop(const std::string& family) {
    behind.reset();
    const std::string path = directory / "store/db";
    std::vector<std::string> names;
    ASSERT_TRUE(rocksdb::DB::ListColumnFamilies({}, path, &names).ok());
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const std::string& name : names) families.emplace_back(name, rocksdb::ColumnFamilyOptions());
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* opened = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open({}, path, families, &handles, &opened).ok());
    const std::unique_ptr<rocksdb::DB> db(opened);
    for (rocksdb::ColumnFamilyHandle* handle : handles) {
      if (handle->GetName() == family) {
        ASSERT_TRUE(db->DropColumnFamily(handle).ok());
      }
      db->DestroyColumnFamilyHandle(handle);
    }
  }
};

TEST_P(dropped_family, of_the_records) {
  drop("oplog");
  expect_way(recovery_way::rebuilt);
}

TEST_P(dropped_family, of_the_records_and_the_snapshots_too) {
  for (const auto& path : snapshots()) files::remove(path);
  drop("oplog");
  expect_way(recovery_way::rebuilt);
}

TEST_P(dropped_family, of_the_manifest) {
  drop("meta");
  open_store();
  EXPECT_TRUE(refused(guarded_store::open(behind, options), "holds entries"));
}

TEST_P(dropped_family, of_the_entries) {
  drop("data");
  truth.clear();  // what is lost is lost; the filter only says "maybe" too often
  expect_way(recovery_way::snapshot);
}

INSTANTIATE_TEST_SUITE_P(disk, dropped_family, ::testing::Values("rocksdb"), test_name);

TEST(a_store_with_nothing_in_it, is_made_new_or_comes_back) {
  const temporary_directory directory;
  const auto behind = std::make_shared<memory_store>(directory.path().string());
  guard_options options = options_of("bloom1");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(to_string(guarded_store::open(behind, options).value().recovered().way), "created");
  }
  options.snapshots = true;
  ASSERT_TRUE(guarded_store::open(behind, options).value().close());
  EXPECT_EQ(to_string(guarded_store::open(behind, options).value().recovered().way), "snapshot");
}

}  // namespace
}  // namespace tamis::test
