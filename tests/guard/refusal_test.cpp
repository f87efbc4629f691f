// What is refused, and with which words.

#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

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
    return forwarding_store::write(changes, sync);
  }

  bool writes_fail = false;
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
  EXPECT_TRUE(refused(guarded_store::open(behind(), options), "stripes"));
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
