// Copies of a store while it is used, and stores that are only read.

#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "tamis/guard/rocksdb_store.hpp"
#include "tests/guard/support.hpp"

namespace tamis::test {
namespace {

namespace files = std::filesystem;

class checkpoints : public ::testing::Test {
 protected:
  result<guarded_store> open(const std::string& directory, rocksdb_options how = {}) const {
    auto behind = rocksdb_store::open(directory, how);
    if (!behind) return std::move(behind).take_failure();
    return guarded_store::open(std::shared_ptr<store>(*std::move(behind)), options);
  }
  static void fill(guarded_store& guarded, std::map<std::string, std::string>& truth, std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i) {
      ASSERT_TRUE(guarded.put(key_of(i), std::to_string(i)));
      truth[key_of(i)] = std::to_string(i);
    }
  }
  // Every file in a folder, with its size and time of change.
  static std::map<std::string, std::pair<std::uintmax_t, files::file_time_type>> listing(const std::string& folder) {
    std::map<std::string, std::pair<std::uintmax_t, files::file_time_type>> all;
    for (const auto& entry : files::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file()) all[entry.path()] = {entry.file_size(), entry.last_write_time()};
    }
    return all;
  }

  temporary_directory directory;
  guard_options options = options_of("counting-bloom");
  std::map<std::string, std::string> truth;
};

TEST_F(checkpoints, are_stores_of_their_own) {
  options.snapshots = true;
  guarded_store first = open(directory / "first").value();
  fill(first, truth, 0, 600);
  ASSERT_TRUE(first.erase(key_of(7)).value());
  truth.erase(key_of(7));
  ASSERT_TRUE(first.checkpoint(directory / "copy").ok());
  const auto then = truth;
  fill(first, truth, 600, 900);
  ASSERT_TRUE(first.erase(key_of(8)).value());

  guarded_store copy = open(directory / "copy").value();
  EXPECT_EQ(copy.recovered().way, recovery_way::snapshot) << copy.recovered().reason;
  EXPECT_EQ(copy.recovered().replayed, 0u);
  EXPECT_EQ(lost_keys(copy, then), 0u);
  EXPECT_FALSE(copy.contains(key_of(7)).value());
  EXPECT_FALSE(copy.contains(key_of(700)).value());
  // Each goes its own way.
  std::map<std::string, std::string> mine = then;
  fill(copy, mine, 5000, 5100);
  EXPECT_FALSE(first.contains(key_of(5000)).value());
  ASSERT_TRUE(copy.close().ok());
  copy = open(directory / "copy").value();
  EXPECT_EQ(lost_keys(copy, mine), 0u);
  truth.erase(key_of(8));
  EXPECT_EQ(lost_keys(first, truth), 0u);
}

TEST_F(checkpoints, are_whole_while_others_write) {
  guarded_store guarded = open(directory / "first").value();
  fill(guarded, truth, 0, 200);
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> written = 1000;
  std::thread writer([&] {
    for (std::uint64_t i = 1000; !stop; ++i, written = i) ASSERT_TRUE(guarded.put(key_of(i), std::to_string(i)));
  });
  std::vector<std::uint64_t> least;
  for (int i = 0; i < 4; ++i) {
    least.push_back(written);
    EXPECT_TRUE(guarded.checkpoint(directory / ("copy" + std::to_string(i))).ok());
  }
  stop = true;
  writer.join();
  for (int i = 0; i < 4; ++i) {
    auto behind = std::shared_ptr<store>(rocksdb_store::open(directory / ("copy" + std::to_string(i))).value());
    std::uint64_t entries = 0;
    ASSERT_TRUE(behind->scan({{0, 0}, {~std::uint64_t{0}, ~std::uint64_t{0}}}, scan_size::many,
                             [&](digest) { return ++entries != 0; }));
    guarded_store copy = guarded_store::open(behind, options).value();
    EXPECT_NE(copy.recovered().way, recovery_way::rebuilt) << copy.recovered().reason;
    std::map<std::string, std::string> there = truth;
    for (std::uint64_t k = 1000; k < least[static_cast<std::size_t>(i)]; ++k) there[key_of(k)] = std::to_string(k);
    EXPECT_EQ(lost_keys(copy, there), 0u);
    // And every entry that came with it has its "maybe".
    for (std::uint64_t k = 1000; k < written; ++k) {
      if (copy.contains(key_of(k)).value()) there[key_of(k)] = std::to_string(k);
    }
    EXPECT_EQ(there.size(), entries);
  }
}

TEST_F(checkpoints, replace_nothing) {
  guarded_store guarded = open(directory / "first").value();
  fill(guarded, truth, 0, 50);
  files::create_directory(directory / "mine");
  std::ofstream(directory / "mine/file") << "mine";
  EXPECT_TRUE(refused(guarded.checkpoint(directory / "mine"), "holds 'file'"));
  files::create_directory(directory / "empty");
  EXPECT_TRUE(refused(guarded.checkpoint(directory / "empty"), "exists already"));
  EXPECT_TRUE(refused(guarded.checkpoint(directory / "first"), "exists already"));
  EXPECT_TRUE(refused(guarded.checkpoint(""), "its name is empty"));
  EXPECT_TRUE(refused(guarded.checkpoint(directory / "no/folder"), "cannot create a folder beside it"));
  std::set<std::string> left;
  for (const auto& entry : files::directory_iterator(directory / ".")) left.insert(entry.path().filename());
  EXPECT_EQ(left, (std::set<std::string>{"empty", "first", "mine"}));
  ASSERT_TRUE(guarded.checkpoint(directory / "copy/").ok());  // a slash at the end is no other folder
  EXPECT_EQ(lost_keys(guarded, truth), 0u);
  EXPECT_EQ(open(directory / "copy").value().recovered().way, recovery_way::snapshot);
}

TEST_F(checkpoints, need_a_store_that_can) {
  guarded_store guarded = guarded_store::open(std::make_shared<memory_store>(), options).value();
  const status answer = guarded.checkpoint(directory / "copy");
  EXPECT_TRUE(refused(answer, "cannot be copied while it is open"));
  EXPECT_FALSE(files::exists(directory / "copy"));
  ASSERT_TRUE(guarded.close().ok());
  EXPECT_TRUE(refused(guarded.checkpoint(directory / "copy"), "closed"));
}

class read_only : public checkpoints {
 protected:
  static constexpr rocksdb_options reading{.read_only = true};
};

TEST_F(read_only, answers_and_changes_nothing) {
  options.snapshots = true;
  guarded_store writer = open(directory / "store").value();
  fill(writer, truth, 0, 300);
  ASSERT_TRUE(writer.snapshot().ok());
  fill(writer, truth, 300, 400);  // only in the log
  let_go(writer);
  const auto before = listing(directory / "store");
  {
    guarded_store reader = open(directory / "store", reading).value();
    EXPECT_EQ(reader.recovered().way, recovery_way::snapshot) << reader.recovered().reason;
    EXPECT_EQ(reader.recovered().replayed, 100u);
    EXPECT_EQ(lost_keys(reader, truth), 0u);
    EXPECT_FALSE(reader.contains(stranger(1)).value());
    EXPECT_TRUE(refused(reader.put("a", "b"), "is open for reading only"));
    EXPECT_TRUE(refused(reader.erase(key_of(1)), "is open for reading only"));
    EXPECT_TRUE(refused(reader.snapshot(), "is open for reading only"));
    EXPECT_TRUE(refused(reader.checkpoint(directory / "copy"), "is open for reading only"));
    write_batch batch;
    batch.put("a", "b");
    EXPECT_TRUE(refused(reader.write(batch), "is open for reading only"));
    EXPECT_TRUE(refused(reader.load(batch), "is open for reading only"));
    EXPECT_TRUE(reader.close().ok());
  }
  EXPECT_EQ(listing(directory / "store"), before);
  EXPECT_EQ(lost_keys(*std::make_unique<guarded_store>(open(directory / "store").value()), truth), 0u);
}

TEST_F(read_only, works_beside_a_writer) {
  guarded_store writer = open(directory / "store").value();
  fill(writer, truth, 0, 300);
  guarded_store reader = open(directory / "store", reading).value();
  EXPECT_EQ(lost_keys(reader, truth), 0u);
  ASSERT_TRUE(writer.put("later", "v"));
  EXPECT_FALSE(reader.contains("later").value());
  EXPECT_TRUE(refused(open(directory / "store"), "in use"));
}

// Without a snapshot it scans, as any opening does, and writes nothing about it.
TEST_F(read_only, scans_where_it_must) {
  guarded_store writer = open(directory / "store").value();
  fill(writer, truth, 0, 300);
  let_go(writer);
  files::remove_all(directory / "store/filter");
  const auto before = listing(directory / "store");
  guarded_store reader = open(directory / "store", reading).value();
  EXPECT_EQ(reader.recovered().way, recovery_way::rebuilt);
  EXPECT_EQ(lost_keys(reader, truth), 0u);
  EXPECT_EQ(listing(directory / "store"), before);
}

TEST_F(read_only, needs_a_store_that_is_there) {
  EXPECT_TRUE(refused(open(directory / "none", reading), "there is no store to read"));
  EXPECT_FALSE(files::exists(directory / "none"));
  EXPECT_TRUE(rocksdb_store::open(directory / "unused").ok());  // made, but never guarded
  EXPECT_TRUE(refused(open(directory / "unused", reading), "there is no store to read"));
}

}  // namespace
}  // namespace tamis::test
