// Bulk loads, which go past the records, and keys in their own order.

#include "forwarding_store.hpp"
#include "support.hpp"
#include "tamis/guard/rocksdb_store.hpp"

namespace tamis::test {
namespace {

namespace files = std::filesystem;

using content = std::map<std::string, std::string>;

write_batch batch_of(const content& entries) {
  write_batch batch;
  for (const auto& [key, value] : entries) batch.put(key, value);
  return batch;
}

content entries(std::uint64_t first, std::uint64_t last, const std::string& value) {
  content made;
  for (std::uint64_t i = first; i < last; ++i) made.emplace(key_of(i), value);
  return made;
}

// Takes over half of the entries and then fails, as a crash would have it.
class interrupted_store final : public forwarding_store {
 public:
  explicit interrupted_store(std::string directory) : forwarding_store(std::make_shared<memory_store>(std::move(directory))) {}

  std::string name() const override { return "interrupted"; }
  status ingest(std::span<const write_set::entry> given) override {
    TAMIS_CHECK(forwarding_store::ingest(given.first(given.size() / 2)));
    return failure{"interrupted: cannot go on"};
  }
};

class load : public ::testing::TestWithParam<std::string> {
 protected:
  load() { options.snapshots = true; }

  // Keys 0 to 1999 by puts, with a snapshot; then a load of 1000 to 5999 into `behind`.
  guarded_store half_by_puts(const std::shared_ptr<store>& behind) {
    guarded_store made = guarded_store::open(behind, options).value();
    truth = entries(0, 2000, "put");
    made.write(batch_of(truth)).value();
    made.snapshot().value();
    return made;
  }
  // Keys that the store has and the filter denies.
  std::uint64_t uncovered(const store& behind, const guarded_store& guarded) const {
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < 6000; ++i) {
      count += behind.contains({guarded.hash()(key_of(i)), key_of(i)}).value() && !guarded.may_contain(key_of(i));
    }
    return count;
  }
  files::path newest_snapshot() const {
    std::vector<files::path> found;
    for (const auto& entry : files::directory_iterator(directory.path())) found.push_back(entry.path());
    return *std::max_element(found.begin(), found.end());
  }
  // The way of recovery after a load whose snapshot got lost, and what the filter then denies.
  std::pair<recovery_way, std::uint64_t> after_a_lost_snapshot() {
    const auto behind = std::make_shared<memory_store>(directory.path().string());
    {
      guarded_store tested = half_by_puts(behind);
      tested.load(batch_of(entries(1000, 6000, "loaded"))).value();
    }
    files::remove(newest_snapshot());
    const guarded_store again = guarded_store::open(behind, options).value();
    return {again.recovered().way, uncovered(*behind, again)};
  }
  std::pair<recovery_way, std::uint64_t> after_an_interruption() {
    const auto behind = std::make_shared<interrupted_store>(directory.path().string());
    {
      guarded_store tested = half_by_puts(behind);
      EXPECT_TRUE(refused(tested.load(batch_of(entries(1000, 6000, "loaded"))), "cannot go on"));
      EXPECT_TRUE(refused(tested.put("a", "b"), "open it again"));
      EXPECT_EQ(uncovered(*behind, tested), 0u);
    }
    const guarded_store again = guarded_store::open(behind, options).value();
    return {again.recovered().way, uncovered(*behind, again)};
  }

  temporary_directory directory;
  guard_options options = options_of(GetParam());
  content truth;
};

TEST_P(load, adds_and_replaces_as_puts_do) {
  for (const bool on_disk : {false, true}) {
    std::shared_ptr<store> behind = std::make_shared<memory_store>();
    if (on_disk) behind = rocksdb_store::open(directory / "store").value();
    guarded_store tested = guarded_store::open(behind, options).value();
    truth = entries(0, 2000, "put");
    ASSERT_TRUE(tested.write(batch_of(truth)));
    const content more = entries(1000, 20'000, "loaded");  // more than the filter was made for
    ASSERT_TRUE(tested.load(batch_of(more)));
    for (const auto& [key, value] : more) truth[key] = value;
    EXPECT_EQ(lost_keys(tested, truth), 0u);
    ASSERT_TRUE(tested.erase(key_of(1500)).value());
    truth.erase(key_of(1500));
    ASSERT_TRUE(tested.load({}));
    EXPECT_EQ(lost_keys(tested, truth), 0u);
    EXPECT_FALSE(tested.contains(key_of(1500)).value());
    EXPECT_LE(wrong_answers(tested, 20'000), 20'000 * std::max(0.01, tested.expected_fpr()) * 1.5 + 60);
  }
}

TEST_P(load, is_followed_by_a_snapshot) {
  const auto behind = std::make_shared<memory_store>(directory.path().string());
  {
    guarded_store tested = half_by_puts(behind);
    ASSERT_TRUE(tested.load(batch_of(entries(1000, 6000, "loaded"))));
    ASSERT_TRUE(tested.put("after", "1"));
  }
  for (const auto& [key, value] : entries(1000, 6000, "loaded")) truth[key] = value;
  truth["after"] = "1";
  guarded_store again = guarded_store::open(behind, options).value();
  EXPECT_EQ(to_string(again.recovered().way), "snapshot") << again.recovered().reason;
  EXPECT_EQ(again.recovered().replayed, 1u);
  EXPECT_EQ(lost_keys(again, truth), 0u);
}

TEST_P(load, makes_older_snapshots_useless) {
  const auto [way, denied] = after_a_lost_snapshot();
  EXPECT_EQ(to_string(way), "rebuilt");
  EXPECT_EQ(denied, 0u);
}

TEST_P(load, is_covered_after_an_interruption) {
  const auto [way, denied] = after_an_interruption();
  EXPECT_EQ(to_string(way), "rebuilt");
  EXPECT_EQ(denied, 0u);
}

TEST_P(load, without_the_gap_keys_are_lost) {
  options.skipped_steps = static_cast<std::uint32_t>(protocol_step::load_gap);
  const auto [way, denied] = after_a_lost_snapshot();
  EXPECT_GT(denied, 0u) << to_string(way);
}

TEST_P(load, without_the_marker_keys_are_lost) {
  options.skipped_steps = static_cast<std::uint32_t>(protocol_step::load_marker);
  const auto [way, denied] = after_an_interruption();
  EXPECT_GT(denied, 0u) << to_string(way);
}

INSTANTIATE_TEST_SUITE_P(filters, load, ::testing::Values("bloom1", "counting-bloom", "cuckoo", "taf", "abf", "evergreen"),
                         test_name);

TEST(load_refusals, erases) {
  guarded_store tested = guarded_store::open(std::make_shared<memory_store>(), options_of("bloom1")).value();
  write_batch batch;
  batch.erase("a");
  EXPECT_TRUE(refused(tested.load(batch), "only puts"));
}

class order_of_keys : public ::testing::Test {
 protected:
  guarded_store open(bool ordered = true) {
    std::shared_ptr<store> behind = rocksdb_store::open(directory / "store", {.ordered = ordered}).value();
    return guarded_store::open(std::move(behind), options_of("counting-bloom")).value();
  }
  static content scanned(const guarded_store& tested, const std::string& first, std::size_t most) {
    content seen;
    std::string last;
    tested
        .scan_keys(first,
                   [&](std::string_view key, std::string_view value) {
                     EXPECT_TRUE(seen.empty() || last < key) << key;
                     seen.emplace(last = key, value);
                     return seen.size() < most;
                   })
        .value();
    return seen;
  }

  temporary_directory directory;
};

TEST_F(order_of_keys, follows_every_change) {
  content truth = entries(0, 3000, "put");
  {
    guarded_store tested = open();
    ASSERT_TRUE(tested.write(batch_of(truth)));
    for (std::uint64_t i = 0; i < 3000; i += 3) {
      ASSERT_TRUE(tested.erase(key_of(i)).value());
      truth.erase(key_of(i));
    }
    ASSERT_TRUE(tested.load(batch_of(entries(2500, 4000, "loaded"))));
    for (const auto& [key, value] : entries(2500, 4000, "loaded")) truth[key] = value;
    EXPECT_EQ(scanned(tested, "", 10'000), truth);
  }
  const guarded_store again = open(false);  // what a store was made as, it stays
  EXPECT_EQ(scanned(again, "", 10'000), truth);
  EXPECT_EQ(scanned(again, key_of(25), 10),
            content(truth.lower_bound(key_of(25)), std::next(truth.lower_bound(key_of(25)), 10)));
}

TEST_F(order_of_keys, cannot_be_had_later) {
  static_cast<void>(open(false));
  EXPECT_TRUE(refused(rocksdb_store::open(directory / "store", {.ordered = true}), "without the order of keys"));
  EXPECT_TRUE(refused(open(false).scan_keys("", [](auto, auto) { return true; }), "not ordered"));
}

}  // namespace
}  // namespace tamis::test
