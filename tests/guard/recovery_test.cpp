// Snapshots and the ways back, in front of a store in memory that outlives the guarded_store as a disk does. What a crash does
// to real files is tested in tests/crash.

#include <fstream>

#include "support.hpp"

namespace tamis::test {

using namespace detail;

namespace {

namespace files = std::filesystem;

class recovery : public ::testing::TestWithParam<std::string> {
 protected:
  guarded_store open() {
    guarded_store opened = guarded_store::open(behind, options).value();
    opened.wait_until_ready();
    return opened;
  }
  void change(guarded_store& tested, int changes) {
    for (int i = 0; i < changes; ++i) {
      const std::string key = key_of(random.below(1500));
      if (random.chance(0.7)) {
        ASSERT_TRUE(tested.put(key, std::to_string(i)));
        truth[key] = std::to_string(i);
      } else {
        ASSERT_TRUE(tested.erase(key));
        truth.erase(key);
      }
    }
  }
  // Three generations of snapshots, of which two are kept, with changes before, between and after.
  void live() {
    guarded_store tested = open();
    for (int generation = 0; generation < 3; ++generation) {
      change(tested, 700);
      ASSERT_TRUE(tested.snapshot());
    }
    change(tested, 300);
  }
  void expect_way(recovery_way way) {
    guarded_store again = open();
    EXPECT_EQ(to_string(again.recovered().way), to_string(way)) << again.recovered().reason;
    EXPECT_EQ(lost_keys(again, truth), 0u);
    EXPECT_LE(wrong_answers(again, 10'000), 10'000 * 0.01 * 2.5 + 50);
    change(again, 200);
    EXPECT_EQ(lost_keys(again, truth), 0u);
  }
  std::vector<files::path> snapshots() const {
    std::vector<files::path> found;
    for (const auto& entry : files::directory_iterator(directory.path())) found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
  }

  temporary_directory directory;
  std::shared_ptr<memory_store> behind = std::make_shared<memory_store>(directory.path().string());
  guard_options options = options_of(GetParam());
  std::map<std::string, std::string> truth;
  random_source random{11};
};

void damage(const files::path& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(files::file_size(path) / 2));
  file.put('\x5a').put('\xa5');
}

TEST_P(recovery, uses_the_newest_snapshot_and_the_records_since) {
  live();
  ASSERT_EQ(snapshots().size(), 2u);
  expect_way(recovery_way::snapshot);
}

TEST_P(recovery, uses_the_older_snapshot_if_the_newest_is_damaged) {
  live();
  damage(snapshots().back());
  expect_way(recovery_way::older_snapshot);
}

TEST_P(recovery, rebuilds_if_both_are_damaged_or_gone) {
  live();
  damage(snapshots().front());
  files::remove(snapshots().back());
  expect_way(recovery_way::rebuilt);
}

TEST_P(recovery, does_not_believe_a_swapped_snapshot) {
  live();
  const auto both = snapshots();
  files::copy_file(both.front(), both.back(), files::copy_options::overwrite_existing);
  expect_way(recovery_way::older_snapshot);
}

TEST_P(recovery, rebuilds_if_another_filter_is_asked_for) {
  live();
  options.params.fpr = 0.005;
  expect_way(recovery_way::rebuilt);
}

TEST_P(recovery, works_without_any_snapshot) {
  {
    guarded_store tested = open();
    change(tested, 2000);
  }
  expect_way(recovery_way::rebuilt);
}

TEST_P(recovery, close_takes_a_last_snapshot) {
  options.snapshots = true;
  guarded_store tested = open();
  change(tested, 2000);
  ASSERT_TRUE(tested.close());
  guarded_store again = open();
  EXPECT_EQ(again.recovered().way, recovery_way::snapshot);
  EXPECT_EQ(again.recovered().replayed, 0u);
  EXPECT_EQ(lost_keys(again, truth), 0u);
}

TEST_P(recovery, snapshots_come_by_themselves) {
  options.snapshots = true;
  options.snapshot_least = 500;
  {
    guarded_store tested = open();
    change(tested, 4000);
    EXPECT_GE(tested.stats().snapshots, 4u);
    EXPECT_LT(tested.stats().records_since_snapshot, 510u);
  }
  expect_way(recovery_way::snapshot);
}

TEST_P(recovery, a_filter_that_grew_since_its_snapshot_comes_back) {
  options.params.capacity = 1200;
  guarded_store tested = open();
  change(tested, 100);
  ASSERT_TRUE(tested.snapshot());
  for (std::uint64_t i = 10'000; i < 20'000; ++i) {
    ASSERT_TRUE(tested.put(key_of(i), "v"));
    truth.emplace(key_of(i), "v");
  }
  let_go(tested);
  tested = open();
  EXPECT_EQ(lost_keys(tested, truth), 0u);
}

INSTANTIATE_TEST_SUITE_P(filters, recovery, ::testing::ValuesIn(all_filters()), test_name);

// ---- large filters stay in the file of their snapshot

bool is_mapped(const files::path& path) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with(path.string())) return true;
  }
  return false;
}
std::string bytes_of(const files::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class large_recovery : public recovery {
 protected:
  large_recovery() { options.params.capacity = 400'000; }
};

TEST_P(large_recovery, maps_the_snapshot_and_leaves_it_as_it_is) {
  live();
  const files::path newest = snapshots().back();
  const std::string before = bytes_of(newest);
  {
    guarded_store tested = open();
    EXPECT_EQ(tested.recovered().way, recovery_way::snapshot);
    EXPECT_TRUE(is_mapped(newest));
    change(tested, 1000);
    EXPECT_EQ(lost_keys(tested, truth), 0u);
    EXPECT_EQ(bytes_of(newest), before);
  }
  EXPECT_FALSE(is_mapped(newest));
  expect_way(recovery_way::snapshot);
}

TEST_P(large_recovery, goes_on_without_the_files) {
  live();
  guarded_store tested = open();
  for (const auto& path : snapshots()) files::remove(path);
  change(tested, 1000);
  EXPECT_EQ(lost_keys(tested, truth), 0u);
  ASSERT_TRUE(tested.snapshot());  // of filters that are mapped
  change(tested, 300);
  let_go(tested);
  expect_way(recovery_way::snapshot);
}

TEST_P(large_recovery, does_not_map_what_is_damaged) {
  live();
  damage(snapshots().back());
  {
    guarded_store tested = open();
    EXPECT_EQ(tested.recovered().way, recovery_way::older_snapshot);
    EXPECT_FALSE(is_mapped(snapshots().back()));
    EXPECT_TRUE(is_mapped(snapshots().front()));
  }
  expect_way(recovery_way::older_snapshot);
}

INSTANTIATE_TEST_SUITE_P(filters, large_recovery, ::testing::Values("bloom1", "cuckoo", "rsqf", "taf"), test_name);

class learning : public recovery {};

TEST_P(learning, keeps_what_the_filter_has_learnt) {
  guarded_store tested = open();
  change(tested, 2000);
  for (std::uint64_t i = 0; i < 20'000; ++i) ASSERT_TRUE(tested.contains(stranger(i)));
  const std::uint64_t before = wrong_answers(tested, 20'000);
  ASSERT_TRUE(tested.snapshot());
  let_go(tested);
  tested = open();
  EXPECT_EQ(wrong_answers(tested, 20'000), before);
}

std::vector<std::string> adaptive_filters() {
  std::vector<std::string> ids = all_filters();
  std::erase_if(ids, [](const std::string& id) { return !can(id).adapt; });
  return ids;
}
INSTANTIATE_TEST_SUITE_P(filters, learning, ::testing::ValuesIn(adaptive_filters()), test_name);

TEST(rebuilding, answers_maybe_until_the_filter_is_there) {
  auto behind = std::make_shared<memory_store>();
  guard_options options = options_of("bloom1", 200'000);
  {
    guarded_store tested = guarded_store::open(behind, options).value();
    write_batch batch;
    for (std::uint64_t i = 0; i < 100'000; ++i) batch.put(key_of(i), "v");
    ASSERT_TRUE(tested.write(batch));
  }
  options.background_rebuild = true;
  guarded_store tested = guarded_store::open(behind, options).value();
  for (std::uint64_t i = 0; i < 100'000; i += 97) EXPECT_TRUE(tested.may_contain(key_of(i)));
  ASSERT_TRUE(tested.put("new", "v"));
  EXPECT_TRUE(tested.erase(key_of(3)).value());
  tested.wait_until_ready();
  EXPECT_TRUE(tested.contains("new").value());
  EXPECT_FALSE(tested.contains(key_of(3)).value());
  EXPECT_EQ(tested.stats().rebuilds, 4u);
  EXPECT_LE(wrong_answers(tested, 10'000), 200u);
}

}  // namespace
}  // namespace tamis::test
