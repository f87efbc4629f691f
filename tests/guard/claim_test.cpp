// One store, one guard: two that number their records alike would write over each other's.

#include <atomic>
#include <thread>

#include "forwarding_store.hpp"
#include "support.hpp"
#include "tamis/guard/rocksdb_store.hpp"

namespace tamis::test {
namespace {

class claim : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "memory") {
      behind = std::make_shared<memory_store>();
    } else {
      behind = rocksdb_store::open(directory / "store").value();
    }
  }
  result<guarded_store> open() { return guarded_store::open(behind, options); }

  temporary_directory directory;
  std::shared_ptr<store> behind;
  guard_options options = options_of("bloom1");
};

TEST_P(claim, a_second_guard_is_refused_and_the_first_goes_on) {
  guarded_store first = open().value();
  ASSERT_TRUE(first.put("a", "1"));
  EXPECT_TRUE(refused(open(), behind->name() + ": another guarded_store is open"));
  ASSERT_TRUE(first.put("b", "2"));
  EXPECT_EQ(first.get("a").value(), "1");
  EXPECT_EQ(first.get("b").value(), "2");
}

TEST_P(claim, every_acknowledged_put_is_found_again) {
  std::map<std::string, std::string> truth;
  {
    std::vector<guarded_store> guards;
    for (int i = 0; i < 2; ++i) {
      if (auto opened = open()) guards.push_back(*std::move(opened));
    }
    for (std::uint64_t i = 0; i < 400; ++i) {
      ASSERT_TRUE(guards[i % guards.size()].put(key_of(i), "v"));
      truth.emplace(key_of(i), "v");
    }
  }
  guarded_store again = open().value();
  EXPECT_EQ(lost_keys(again, truth), 0u);
}

TEST_P(claim, ends_with_the_guard) {
  { const guarded_store first = open().value(); }
  EXPECT_TRUE(open());
}

TEST_P(claim, ends_when_the_guard_is_closed) {
  guarded_store first = open().value();
  ASSERT_TRUE(first.close());
  guarded_store second = open().value();
  EXPECT_TRUE(refused(open(), "another guarded_store is open"));
}

TEST_P(claim, is_not_left_by_a_guard_that_could_not_be_opened) {
  guard_options impossible = options;
  impossible.filter = "no such filter";
  EXPECT_TRUE(refused(guarded_store::open(behind, impossible), "no such filter"));
  EXPECT_TRUE(open());
  impossible.filter = "bloom1";
  impossible.hash = hasher::keyed({1, 2});
  EXPECT_TRUE(refused(guarded_store::open(behind, impossible), "hash"));
  EXPECT_TRUE(open());
}

TEST_P(claim, moves_with_the_guard) {
  guarded_store first = open().value();
  guarded_store second = std::move(first);
  EXPECT_TRUE(refused(open(), "another guarded_store is open"));
  ASSERT_TRUE(second.close());
  guarded_store third = open().value();
  second = std::move(third);
  EXPECT_TRUE(refused(open(), "another guarded_store is open"));
}

TEST_P(claim, ends_when_another_guard_is_moved_over_its_own) {
  guarded_store first = open().value();
  first = guarded_store::open(std::make_shared<memory_store>(), options).value();
  EXPECT_TRUE(open());
}

TEST_P(claim, ends_only_after_the_rebuild_in_the_background) {
  {
    guarded_store first = open().value();
    write_batch batch;
    for (std::uint64_t i = 0; i < 20'000; ++i) batch.put(key_of(i), "v");
    ASSERT_TRUE(first.write(batch));
  }
  options.background_rebuild = true;
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(open());
}

TEST_P(claim, is_given_to_one_of_many_threads) {
  std::atomic<int> opened = 0;
  std::vector<std::optional<result<guarded_store>>> guards(8);
  std::vector<std::thread> threads;
  for (auto& guard : guards) {
    threads.emplace_back([&] {
      guard.emplace(open());
      opened += guard->ok();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(opened, 1);
}

INSTANTIATE_TEST_SUITE_P(both, claim, ::testing::Values("memory", "rocksdb"), test_name);

TEST(claims, of_different_stores_are_different) {
  const guarded_store first = guarded_store::open(std::make_shared<memory_store>(), options_of("bloom1")).value();
  EXPECT_TRUE(guarded_store::open(std::make_shared<memory_store>(), options_of("bloom1")));
}

TEST(claims, are_not_copied_with_a_store) {
  const auto original = std::make_shared<forwarding_store>(std::make_shared<memory_store>());
  const guarded_store first = guarded_store::open(original, options_of("bloom1")).value();
  const auto copy = std::make_shared<forwarding_store>(*original);
  EXPECT_TRUE(guarded_store::open(copy, options_of("bloom1")));
  *copy = *original;
  EXPECT_TRUE(guarded_store::open(copy, options_of("bloom1")));
}

}  // namespace
}  // namespace tamis::test
