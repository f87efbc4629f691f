// Writers, readers and snapshots at once. Every writer owns its keys and so knows what it has acknowledged; it checks them
// while the others put, erase, adapt and take snapshots. Run under the thread sanitizer (./check tsan) this is also the test of
// the locks.

#include <atomic>
#include <functional>
#include <thread>

#include "forwarding_store.hpp"
#include "support.hpp"
#include "tamis/guard/rocksdb_store.hpp"

#if defined(__SANITIZE_THREAD__)
// Debian's RocksDB is not instrumented, so its own synchronisation cannot be seen, also where it calls functions of strings
// that are. It never calls ours. _M_replace_aux is std::string::resize on its shared write batch: libstdc++ shows no caller.
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:librocksdb.so\nrace:librocksdb.so\nrace:_M_replace_aux\n";
}
#endif

namespace tamis::test {

using namespace detail;

namespace {

// Looks at the filter at the moment when an entry reaches the store: it must be covered already.
class watching_store final : public forwarding_store {
 public:
  using forwarding_store::forwarding_store;

  void watch(const guarded_store* guarded) { guarded_ = guarded; }
  std::uint64_t uncovered() const { return uncovered_; }

  status write(const write_set& changes, bool sync) override {
    look(changes);
    status written = forwarding_store::write(changes, sync);
    look(changes);
    return written;
  }

 private:
  void look(const write_set& changes) {
    const guarded_store* guarded = guarded_;
    if (guarded == nullptr) return;
    for (const auto& entry : changes.entries) {
      if (entry.value && !guarded->may_contain(entry.at.key)) ++uncovered_;
    }
  }

  std::atomic<const guarded_store*> guarded_ = nullptr;
  std::atomic<std::uint64_t> uncovered_ = 0;
};

constexpr std::uint64_t owned_keys = 200;
std::string owned_key(unsigned writer, std::uint64_t number) {
  return "writer " + std::to_string(writer) + " key " + std::to_string(number);
}

// One writer: changes its own keys, and compares.
std::uint64_t write_and_check(guarded_store& tested, unsigned writer, int changes) {
  std::map<std::string, std::string> truth;
  random_source random(writer);
  std::uint64_t lost = 0;
  for (int i = 0; i < changes; ++i) {
    const std::string key = owned_key(writer, random.below(owned_keys));
    if (random.chance(0.6)) {
      const std::string value = std::to_string(i);
      lost += !tested.put(key, value).ok();
      truth[key] = value;
    } else if (random.chance(0.2)) {
      write_batch batch;
      for (const auto& [known, value] : truth) batch.put(known, value);
      lost += !tested.write(batch).ok();
    } else {
      const auto erased = tested.erase(key);
      lost += !erased.ok() || *erased != (truth.erase(key) == 1);
    }
    if (i % 16 == 0) lost += lost_keys(tested, truth);
  }
  return lost + lost_keys(tested, truth);
}

void race(guarded_store& tested, int changes, std::atomic<std::uint64_t>& lost) {
  std::atomic<int> writing = 3;
  std::vector<std::thread> threads;
  for (unsigned w = 0; w < 3; ++w) {
    threads.emplace_back([&, w] {
      lost += write_and_check(tested, w, changes);
      --writing;
    });
  }
  for (unsigned r = 0; r < 2; ++r) {
    threads.emplace_back([&, r] {
      // The same strangers again and again, and keys that come and go: mistakes, and adaptations, where the filter can, about a
      // key that is on its way.
      random_source random(100 + r);
      while (writing != 0) {
        lost += !tested.get(stranger(random.below(3000))).ok();
        lost += !tested.get(owned_key(static_cast<unsigned>(random.below(3)), random.below(owned_keys))).ok();
      }
    });
  }
  threads.emplace_back([&] {
    std::vector<std::string> texts;
    for (std::uint64_t i = 0; i < 64; ++i) texts.push_back(stranger(i));
    const std::vector<byte_view> asked(texts.begin(), texts.end());
    while (writing != 0) {
      for (const auto& answer : tested.multi_get(asked)) lost += !answer.ok() || answer->has_value();
      static_cast<void>(tested.stats());
      static_cast<void>(tested.expected_fpr());
    }
  });
  threads.emplace_back([&] {
    while (writing != 0) lost += !tested.snapshot().ok();
  });
  for (std::thread& thread : threads) thread.join();
}

// Lets something happen in the middle of a scan, which is what an adaptation asks for.
class interrupted_store final : public forwarding_store {
 public:
  using forwarding_store::forwarding_store;
  void during_scans(std::function<void()> happens) { happens_ = std::move(happens); }

  status scan(digest_range range, scan_size size, const std::function<bool(digest)>& visit) const override {
    if (happens_) std::thread(happens_).join();  // waits for it: whoever holds a lock that it needs would wait for ever
    return forwarding_store::scan(range, size, visit);
  }

 private:
  std::function<void()> happens_;
};

// A store with one stripe in which every other stranger is a mistake that only a scan can fix.
guard_options mistaken_options() {
  guard_options options = options_of("taf", 700);
  options.stripes = 1;
  options.params.fpr = 0.5;
  return options;
}

class races : public ::testing::TestWithParam<std::string> {
 protected:
  void expect_no_lost_key(std::shared_ptr<store> inner, int changes, double fpr = 0.01) {
    const auto behind = std::make_shared<watching_store>(std::move(inner));
    guard_options options = options_of(GetParam(), 700);  // some stripes will have to grow
    options.params.fpr = fpr;
    options.snapshots = true;
    options.snapshot_least = 300;
    guarded_store tested = guarded_store::open(behind, options).value();
    behind->watch(&tested);
    std::atomic<std::uint64_t> lost = 0;
    race(tested, changes, lost);
    EXPECT_EQ(lost, 0u);
    EXPECT_EQ(behind->uncovered(), 0u);
    behind->watch(nullptr);
    let_go(tested);
    tested = guarded_store::open(behind, options).value();
    EXPECT_EQ(tested.recovered().way, recovery_way::snapshot) << tested.recovered().reason;
  }

  temporary_directory directory;
};

TEST_P(races, no_acknowledged_key_is_lost_in_memory) {
  expect_no_lost_key(std::make_shared<memory_store>(directory.path().string()), 1500);
}

// Every third stranger is a mistake, and lists of known ones overflow all the time.
TEST_P(races, no_acknowledged_key_is_lost_among_mistakes) {
  expect_no_lost_key(std::make_shared<memory_store>(directory.path().string()), 1500, 0.3);
}

TEST_P(races, no_acknowledged_key_is_lost_in_rocksdb) {
  expect_no_lost_key(rocksdb_store::open(directory / "store").value(), 500);
}

INSTANTIATE_TEST_SUITE_P(filters, races, ::testing::ValuesIn(all_filters()), test_name);

TEST(adapting, keeps_neither_readers_nor_writers_waiting) {
  const auto behind = std::make_shared<interrupted_store>(std::make_shared<memory_store>());
  guarded_store tested = guarded_store::open(behind, mistaken_options()).value();
  std::uint64_t keys = 0;
  for (; keys < 300; ++keys) ASSERT_TRUE(tested.put(key_of(keys), "v"));
  std::uint64_t lost = 0;
  behind->during_scans([&] {
    lost += !tested.may_contain(key_of(1));
    lost += !tested.put(key_of(keys++), "v").ok();
  });
  for (std::uint64_t i = 0; i < 200; ++i) ASSERT_TRUE(tested.get(stranger(i)));
  behind->during_scans({});
  EXPECT_GT(keys, 320u);
  EXPECT_EQ(lost, 0u);
  // A key came during each scan, so no answer could be used.
  EXPECT_EQ(tested.stats().adaptations, 0u);
  EXPECT_EQ(tested.stats().adaptations_left, keys - 300);
  for (std::uint64_t i = 0; i < keys; ++i) EXPECT_TRUE(tested.may_contain(key_of(i)));
}

// The stranger itself, or one that shares its entry, comes or goes during the scan.
TEST(adapting, uses_nothing_that_has_changed_meanwhile) {
  const auto behind = std::make_shared<interrupted_store>(std::make_shared<memory_store>());
  guarded_store tested = guarded_store::open(behind, mistaken_options()).value();
  for (std::uint64_t i = 0; i < 300; ++i) ASSERT_TRUE(tested.put(key_of(i), "v"));
  for (std::uint64_t i = 0; i < 200; ++i) {
    behind->during_scans([&, i] { ASSERT_TRUE(tested.put(stranger(i), "v")); });
    ASSERT_TRUE(tested.get(stranger(i)));
    behind->during_scans({});
    const bool came = tested.get(stranger(i)).value().has_value();
    ASSERT_TRUE(!came || tested.may_contain(stranger(i))) << i;
  }
  for (std::uint64_t i = 0; i < 300; ++i) ASSERT_TRUE(tested.may_contain(key_of(i)));
}

TEST(adapting, is_done_where_nothing_has_changed) {
  guarded_store tested = guarded_store::open(std::make_shared<memory_store>(), mistaken_options()).value();
  for (std::uint64_t i = 0; i < 300; ++i) ASSERT_TRUE(tested.put(key_of(i), "v"));
  for (std::uint64_t i = 0; i < 200; ++i) ASSERT_TRUE(tested.get(stranger(i)));
  EXPECT_GT(tested.stats().adaptations, 20u);
  EXPECT_EQ(tested.stats().adaptations_left, 0u);
}

TEST(order, the_watcher_notices_a_filter_that_comes_after_the_store) {
  const auto behind = std::make_shared<watching_store>(std::make_shared<memory_store>());
  guard_options options = options_of("bloom1");
  options.skipped_steps = static_cast<std::uint32_t>(protocol_step::early_filter_insert);
  guarded_store tested = guarded_store::open(behind, options).value();
  behind->watch(&tested);
  for (std::uint64_t i = 0; i < 50; ++i) ASSERT_TRUE(tested.put(key_of(i), "v"));
  EXPECT_GT(behind->uncovered(), 0u);
  behind->watch(nullptr);
}

}  // namespace
}  // namespace tamis::test
