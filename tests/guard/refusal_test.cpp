// What is refused, and with which words.

#include <rocksdb/db.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <new>

#include "forwarding_store.hpp"
#include "support.hpp"
#include "tamis/guard/rocksdb_store.hpp"

namespace tamis::test {
namespace {

// A store that fails when told to.
class failing_store final : public forwarding_store {
 public:
  failing_store() : forwarding_store(std::make_shared<memory_store>()) {}

  std::string name() const override { return "failing"; }
  status scan(digest_range range, scan_size size, const std::function<bool(digest)>& visit) const override {
    if (scans_fail) return failure{"failing: cannot scan"};
    return forwarding_store::scan(range, size, visit);
  }
  status write(const write_set& changes, bool sync) override {
    if (writes_fail) return failure{"failing: cannot write"};
    const status written = forwarding_store::write(changes, sync);
    if (writes_throw) throw std::bad_alloc();  // and what it was to write is there
    return written;
  }

  status ingest(std::span<const write_set::entry> entries) override {
    const status taken = forwarding_store::ingest(entries);
    if (loads_throw) throw std::bad_alloc();
    return taken;
  }
  status sync() override {
    if (syncs_throw) throw std::bad_alloc();
    return forwarding_store::sync();
  }
  std::string snapshot_directory() const override { return place; }

  std::string place;  // for snapshots
  bool writes_fail = false;
  bool writes_throw = false;
  bool loads_throw = false;
  bool syncs_throw = false;
  bool scans_fail = false;
};

TEST(refusals, after_a_failed_write_only_queries_are_answered) {
  auto behind = std::make_shared<failing_store>();
  guarded_store tested = guarded_store::open(behind, options_of("counting-bloom")).value();
  ASSERT_TRUE(tested.put("a", "1"));
  behind->writes_fail = true;
  EXPECT_TRUE(refused(tested.put("b", "2"), "cannot write"));
  behind->writes_fail = false;
  EXPECT_TRUE(refused(tested.put("c", "3"), "open it again"));
  EXPECT_EQ(tested.put("c", "3").code(), error_code::in_use);
  EXPECT_TRUE(refused(tested.erase("a"), "open it again"));
  EXPECT_EQ(tested.get("a").value(), "1");
  let_go(tested);
  tested = guarded_store::open(behind, options_of("counting-bloom")).value();
  ASSERT_TRUE(tested.put("b", "2"));
  EXPECT_EQ(tested.get("b").value(), "2");
}

// The number of its record was given: another record of that number would take the place of the first, and its key be lost.
TEST(refusals, after_a_store_that_threw_only_queries_are_answered) {
  const temporary_directory directory;
  for (bool failing_store::*what : {&failing_store::writes_throw, &failing_store::loads_throw, &failing_store::syncs_throw}) {
    auto behind = std::make_shared<failing_store>();
    behind->place = directory.path().string();
    guard_options options = options_of("counting-bloom");
    options.snapshots = true;
    guarded_store tested = guarded_store::open(behind, options).value();
    ASSERT_TRUE(tested.put("a", "1"));
    (*behind).*what = true;
    write_batch batch;
    batch.put("b", "2");
    if (what == &failing_store::writes_throw) {
      EXPECT_THROW(static_cast<void>(tested.write(batch)), std::bad_alloc);
    } else if (what == &failing_store::loads_throw) {
      EXPECT_THROW(static_cast<void>(tested.load(batch)), std::bad_alloc);
    } else {
      EXPECT_FALSE(tested.snapshot());
    }
    (*behind).*what = false;
    EXPECT_TRUE(refused(tested.put("c", "3"), "open it again"));
    EXPECT_EQ(tested.get("a").value(), "1");
    let_go(tested);
    tested = guarded_store::open(behind, options).value();
    tested.wait_until_ready();
    if (what != &failing_store::syncs_throw) {
      EXPECT_EQ(tested.get("b").value(), "2");
    }
    ASSERT_TRUE(tested.put("c", "3"));
  }
}

TEST(refusals, a_failed_erase_keeps_the_key_covered) {
  auto behind = std::make_shared<failing_store>();
  guarded_store tested = guarded_store::open(behind, options_of("counting-bloom")).value();
  ASSERT_TRUE(tested.put("a", "1"));
  behind->writes_fail = true;
  EXPECT_TRUE(refused(tested.erase("a"), "cannot write"));
  EXPECT_EQ(tested.get("a").value(), "1");
}

TEST(refusals, a_filter_that_adapted_on_half_an_answer_is_made_new) {
  auto behind = std::make_shared<failing_store>();
  guarded_store tested = guarded_store::open(behind, options_of("toy-everything")).value();
  for (std::uint64_t i = 0; i < 4000; ++i) ASSERT_TRUE(tested.put(key_of(i), "v"));
  behind->scans_fail = true;
  for (std::uint64_t i = 0; i < 5000; ++i) ASSERT_TRUE(tested.contains(stranger(i)));
  EXPECT_EQ(tested.stats().adaptations, 0u);
  for (std::uint64_t i = 0; i < 4000; ++i) EXPECT_TRUE(tested.may_contain(key_of(i)));
}

// A taf with two bits of remainder runs out of room for what it has learnt long before it is full: a new one takes the key.
TEST(refusals, what_a_filter_has_learnt_is_no_crowd) {
  guard_options options = options_of("taf", 700);
  options.params.fpr = 0.3;
  options.stripes = 1;
  std::uint64_t rebuilds = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    guarded_store tested = guarded_store::open(std::make_shared<memory_store>(), options).value();
    detail::random_source random(seed);
    for (int i = 0; i < 6000; ++i) {
      const std::string key = key_of(random.below(600));
      const std::uint64_t chosen = random.below(10);
      if (chosen < 3) {
        ASSERT_TRUE(tested.put(key, "v")) << seed;
      } else if (chosen < 5) {
        ASSERT_TRUE(tested.erase(key)) << seed;
      } else {
        ASSERT_TRUE(tested.get(stranger(random.below(3000)))) << seed;
      }
    }
    rebuilds += tested.stats().rebuilds;
  }
  EXPECT_GT(rebuilds, 0u);
}

TEST(refusals, another_hash) {
  auto behind = std::make_shared<memory_store>();
  guard_options options = options_of("bloom1");
  options.hash = hasher::keyed({1, 2});
  static_cast<void>(guarded_store::open(behind, options).value());
  options.hash = hasher::keyed({1, 3});
  EXPECT_TRUE(refused(guarded_store::open(behind, options), "another seed"));
  options.hash = hasher();
  EXPECT_TRUE(refused(guarded_store::open(behind, options), "keyed"));
}

TEST(refusals, parameters) {
  const auto behind = [] { return std::make_shared<memory_store>(); };
  guard_options options = options_of("no such filter");
  EXPECT_TRUE(refused(guarded_store::open(behind(), options), "no such filter"));
  options = options_of("bloom1");
  options.params.fpr = 7;
  EXPECT_TRUE(refused(guarded_store::open(behind(), options), "fpr"));
  options = options_of("bloom1");
  options.stripes = 3;
  EXPECT_TRUE(refused(guarded_store::open(behind(), options), "stripes is 3, not a power of two up to 256"));
}

TEST(refusals, snapshots_need_a_place) {
  guarded_store tested = guarded_store::open(std::make_shared<memory_store>(), options_of("bloom1")).value();
  EXPECT_TRUE(refused(tested.snapshot(), "no place for snapshots"));
}

TEST(refusals, a_directory_that_is_not_ours) {
  const temporary_directory directory;
  std::ofstream(directory / "symbol.txt") << "dear diary";
  EXPECT_TRUE(refused(rocksdb_store::open(directory.path().string()), "symbol.txt"));
  EXPECT_TRUE(refused(rocksdb_store::open(directory / "symbol.txt"), "not a directory"));
}

// What a folder of somebody's may look like that has the names of ours in it.
TEST(refusals, folders_that_are_not_ours) {
  for (const char* mine : {"db/schema.sql", "db/000007.log", "db/000009.sst", "filter/1.snapshot", "load/data"}) {
    const temporary_directory directory;
    const std::filesystem::path file = std::filesystem::path(directory / "app") / mine;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << "dear diary";
    EXPECT_TRUE(refused(rocksdb_store::open(directory / "app"), file.filename().c_str())) << mine;
    EXPECT_EQ(std::filesystem::file_size(file), 10u) << mine;
    const auto all = std::filesystem::recursive_directory_iterator(directory / "app");
    EXPECT_EQ(std::distance(begin(all), end(all)), 2) << mine;  // the folder and the file
  }
}

TEST(refusals, a_database_that_is_not_ours) {
  const temporary_directory directory;
  std::filesystem::create_directories(directory / "app");
  rocksdb::Options options;
  options.create_if_missing = true;
  const auto open = [&] {
    rocksdb::DB* db = nullptr;
    EXPECT_EQ(rocksdb::DB::Open(options, directory / "app/db", &db).ToString(), "OK");
    return std::unique_ptr<rocksdb::DB>(db);
  };
  ASSERT_TRUE(open()->Put({}, "mine", "1").ok());
  EXPECT_TRUE(refused(rocksdb_store::open(directory / "app"), "not one of tamis"));
  std::string value;
  ASSERT_TRUE(open()->Get({}, "mine", &value).ok());  // its owner still can
  EXPECT_EQ(value, "1");
}

// RocksDB would begin a new database, and every stored key would be answered "no".
TEST(refusals, a_store_that_lost_its_database) {
  const temporary_directory directory;
  const guard_options options = options_of("bloom1");
  {
    guarded_store tested = guarded_store::open(rocksdb_store::open(directory / "store").value(), options).value();
    ASSERT_TRUE(tested.put("a", "1"));
    ASSERT_TRUE(tested.close());
  }
  std::filesystem::rename(directory / "store/db/CURRENT", directory / "kept");
  EXPECT_TRUE(refused(rocksdb_store::open(directory / "store"), "there is no database"));
  std::filesystem::rename(directory / "kept", directory / "store/db/CURRENT");
  guarded_store tested = guarded_store::open(rocksdb_store::open(directory / "store").value(), options).value();
  EXPECT_EQ(tested.get("a").value(), "1");
}

TEST(rocksdb, a_load_leaves_files_alone_that_are_not_its_own) {
  const temporary_directory directory;
  { static_cast<void>(rocksdb_store::open(directory / "store").value()); }
  std::filesystem::create_directories(directory / "store/load");
  std::ofstream(directory / "store/load/diary") << "dear diary";
  guarded_store tested = guarded_store::open(rocksdb_store::open(directory / "store").value(), options_of("bloom1")).value();
  write_batch batch;
  batch.put("a", "1");
  ASSERT_TRUE(tested.load(batch));
  EXPECT_EQ(tested.get("a").value(), "1");
  EXPECT_TRUE(std::filesystem::exists(directory / "store/load/diary"));
  EXPECT_FALSE(std::filesystem::exists(directory / "store/load/data"));
}

TEST(refusals, a_store_without_a_directory) {
  const bool was_there = std::filesystem::exists("/filter");
  EXPECT_TRUE(refused(rocksdb_store::open(""), "name is empty"));
  EXPECT_EQ(std::filesystem::exists("/filter"), was_there);  // not in the root of the file system
  const temporary_directory directory;
  EXPECT_TRUE(refused(rocksdb_store::open(directory / std::string("a\0b", 3)), "zero byte"));
  EXPECT_EQ(directory.entries(), 0u);
}

TEST(refusals, a_directory_that_cannot_be_made) {
  EXPECT_TRUE(refused(rocksdb_store::open("/proc/tamis-store"), "cannot create"));
}

TEST(refusals, a_store_in_use) {
  const temporary_directory directory;
  const auto first = rocksdb_store::open(directory / "store").value();
  EXPECT_TRUE(refused(rocksdb_store::open(directory / "store"), "in use"));
  EXPECT_EQ(rocksdb_store::open(directory / "store").code(), error_code::in_use);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto second = rocksdb_store::open(directory / "store");
    ::_exit(!second.ok() && second.message().find("in use") != std::string::npos ? 0 : 1);
  }
  int how = 0;
  ::waitpid(child, &how, 0);
  EXPECT_EQ(how, 0);
}

TEST(refusals, a_store_in_use_by_another_name) {
  const temporary_directory directory;
  const std::string store = directory / "store";
  auto first = rocksdb_store::open(store).value();
  std::filesystem::create_directory_symlink(store, directory / "link");
  const std::filesystem::path was = std::filesystem::current_path();
  std::filesystem::current_path(directory.path());
  for (const std::string& name : {store + "/", store + "/.", store + "/../store", directory / "link", directory / "link/.",
                                  std::string("store"), std::string("/proc/self/cwd/store")}) {
    EXPECT_TRUE(refused(rocksdb_store::open(name), "in use")) << name;
    EXPECT_EQ(rocksdb_store::open(name).code(), error_code::in_use) << name;
  }
  first.reset();
  EXPECT_TRUE(rocksdb_store::open(directory / "link"));
  std::filesystem::current_path(was);
}

// The name of a store may be relative to a directory that the program leaves.
TEST(rocksdb, stays_where_it_is_when_the_program_moves) {
  const temporary_directory directory;
  const std::filesystem::path was = std::filesystem::current_path();
  std::filesystem::create_directory(directory / "elsewhere");
  guard_options options = options_of("counting-bloom");
  options.snapshots = true;
  {
    std::filesystem::current_path(directory.path());
    rocksdb_options small;
    small.buffer_bytes = 1 << 16;  // so that files are made all the time
    guarded_store tested = guarded_store::open(rocksdb_store::open("store", small).value(), options).value();
    std::filesystem::current_path(directory / "elsewhere");
    for (std::uint64_t i = 0; i < 3000; ++i) ASSERT_TRUE(tested.put(key_of(i), std::string(100, 'v')));
    write_batch batch;
    for (std::uint64_t i = 3000; i < 3500; ++i) batch.put(key_of(i), "v");
    ASSERT_TRUE(tested.load(batch));
    ASSERT_TRUE(tested.close());
  }
  std::filesystem::current_path(was);
  EXPECT_TRUE(std::filesystem::is_empty(directory / "elsewhere"));
  guarded_store tested = guarded_store::open(rocksdb_store::open(directory / "store").value(), options).value();
  EXPECT_EQ(tested.recovered().way, recovery_way::snapshot);
  for (std::uint64_t i = 0; i < 3500; ++i) ASSERT_TRUE(tested.contains(key_of(i)).value());
}

TEST(rocksdb, keeps_everything_across_reopening) {
  const temporary_directory directory;
  guard_options options = options_of("counting-bloom");
  options.snapshots = true;
  const std::string long_key(1 << 20, 'k');
  {
    std::shared_ptr<store> behind = rocksdb_store::open(directory / "store").value();
    guarded_store tested = guarded_store::open(std::move(behind), options).value();
    for (std::uint64_t i = 0; i < 3000; ++i) ASSERT_TRUE(tested.put(key_of(i), std::to_string(i)));
    ASSERT_TRUE(tested.put(long_key, "long"));
    ASSERT_TRUE(tested.close());
  }
  std::shared_ptr<store> behind = rocksdb_store::open(directory / "store").value();
  guarded_store tested = guarded_store::open(std::move(behind), options).value();
  EXPECT_EQ(tested.recovered().way, recovery_way::snapshot);
  for (std::uint64_t i = 0; i < 3000; ++i) EXPECT_EQ(tested.get(key_of(i)).value(), std::to_string(i));
  EXPECT_EQ(tested.get(long_key).value(), "long");
}

}  // namespace
}  // namespace tamis::test
