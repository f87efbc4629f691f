// Which hash a store uses: a new one draws a secret and keeps it, an existing one goes on with what it has.

#include "adversary.hpp"
#include "src/guard/snapshot.hpp"
#include "support.hpp"
#include "tamis/guard/rocksdb_store.hpp"

namespace tamis::test {
namespace {

namespace files = std::filesystem;

guard_options without_a_hash(const std::string& filter = "counting-bloom") {
  guard_options options = options_of(filter);
  options.hash.reset();
  return options;
}

store_config config_of(const store& behind) {
  return parse_row<store_config>(behind.rows(config_row).value().front().second).value();
}

TEST(a_new_store, draws_a_secret_and_keeps_it) {
  const auto behind = std::make_shared<memory_store>();
  const auto other = std::make_shared<memory_store>();
  guarded_store tested = guarded_store::open(behind, without_a_hash()).value();
  const guarded_store beside = guarded_store::open(other, without_a_hash()).value();
  EXPECT_EQ(tested.hash().family(), hash_family::keyed);
  EXPECT_NE(tested.hash().identity(), beside.hash().identity());
  EXPECT_NE(config_of(*behind).secret, config_of(*other).secret);
  ASSERT_TRUE(tested.put("a", "1"));
  const digest before = tested.hash()("a");
  let_go(tested);
  tested = guarded_store::open(behind, without_a_hash()).value();
  EXPECT_EQ(tested.hash()("a"), before);
  EXPECT_EQ(tested.get("a").value(), "1");
}

TEST(a_new_store, keeps_its_secret_on_disk_before_anything_that_depends_on_it) {
  const temporary_directory directory;
  guard_options options = without_a_hash();
  options.snapshots = true;
  std::map<std::string, std::string> truth;
  for (int life = 0; life < 3; ++life) {
    std::shared_ptr<store> behind = rocksdb_store::open(directory / "store").value();
    guarded_store tested = guarded_store::open(behind, options).value();
    EXPECT_EQ(lost_keys(tested, truth), 0u);
    EXPECT_EQ(to_string(tested.recovered().way), life == 0 ? "created" : "snapshot");
    for (std::uint64_t i = 0; i < 300; ++i) {
      const std::string key = key_of(i + 100 * static_cast<std::uint64_t>(life));
      ASSERT_TRUE(tested.put(key, "v"));
      truth[key] = "v";
    }
    if (life == 1) ASSERT_TRUE(tested.close());
    if (life == 0) ASSERT_TRUE(tested.snapshot());
  }
}

// 500 keys that have one digest under the fast hash: neither of those is refused, and all are told apart.
TEST(a_new_store, tells_keys_apart_that_collide_under_the_fast_hash) {
  const auto behind = std::make_shared<counting_store>(std::make_shared<memory_store>());
  guarded_store tested = guarded_store::open(behind, without_a_hash("cuckoo")).value();
  for (std::uint32_t i = 0; i < 500; ++i) ASSERT_TRUE(tested.put(colliding_key(i), "v"));
  std::uint64_t wrong = 0;
  for (std::uint32_t i = 1000; i < 3000; ++i) wrong += tested.may_contain(colliding_key(i));
  EXPECT_LE(wrong, 2000 * 0.01 * 1.5 + 60);
}

TEST(a_new_store, keeps_no_secret_if_it_is_given_a_hash) {
  for (const hasher& hash : {hasher(), hasher::fast(5), hasher::keyed({8, 9})}) {
    const auto behind = std::make_shared<memory_store>();
    guard_options options = without_a_hash();
    options.hash = hash;
    { EXPECT_EQ(guarded_store::open(behind, options).value().hash().identity(), hash.identity()); }
    EXPECT_EQ(config_of(*behind).secret, (std::array<std::uint64_t, 2>{}));
    EXPECT_EQ(config_of(*behind).version, 1u);  // as before there were secrets
    options.hash.reset();
    const auto again = guarded_store::open(behind, options);
    if (hash.family() == hash_family::keyed) {
      EXPECT_TRUE(refused(again, "secret"));
    } else {
      EXPECT_EQ(again.value().hash().identity(), hash.identity());
    }
  }
}

TEST(a_new_store, refuses_another_hash_later) {
  const auto behind = std::make_shared<memory_store>();
  guard_options options = without_a_hash();
  { static_cast<void>(guarded_store::open(behind, options).value()); }
  options.hash = hasher();
  EXPECT_TRUE(refused(guarded_store::open(behind, options), "keyed"));
  options.hash = hasher::keyed({1, 2});
  EXPECT_TRUE(refused(guarded_store::open(behind, options), "another seed"));
  options.hash = hasher::keyed(config_of(*behind).secret);
  EXPECT_TRUE(guarded_store::open(behind, options));
}

TEST(a_new_store, refuses_a_secret_that_is_not_its_own) {
  const auto behind = std::make_shared<memory_store>();
  { static_cast<void>(guarded_store::open(behind, without_a_hash()).value()); }
  store_config config = config_of(*behind);
  config.secret[1] ^= 1;
  write_set set;
  set.rows.push_back({std::string(config_row), row_text(config)});
  ASSERT_TRUE(behind->write(set, true));
  EXPECT_TRUE(refused(guarded_store::open(behind, without_a_hash()), "damaged"));
}

// Whoever mistypes a filter may try again with other settings.
TEST(a_new_store, is_not_made_by_an_opening_that_fails) {
  const auto behind = std::make_shared<memory_store>();
  guard_options options = without_a_hash("no such filter");
  EXPECT_TRUE(refused(guarded_store::open(behind, options), "no such filter"));
  EXPECT_TRUE(behind->rows("").value().empty());
  options = without_a_hash();
  options.stripes = 3;
  EXPECT_TRUE(refused(guarded_store::open(behind, options), "stripes"));
  EXPECT_TRUE(behind->rows("").value().empty());
}

// Made by the release before stores kept secrets: 120 keys, of which one was erased, two snapshots, and two changes since. The
// snapshots are of a format that is not read any more, so the filter is rebuilt, until there is a new one.
class old_store : public ::testing::TestWithParam<std::string> {
 protected:
  old_store() {
    files::copy(files::path(TAMIS_SOURCE_DIR) / "tests/golden/stores/v1" / GetParam(), directory / "store",
                files::copy_options::recursive);
    for (std::uint64_t i = 0; i < 120; ++i) truth[key_of(i)] = std::to_string(i);
    truth.erase(key_of(5));
    truth["last"] = "one";
    options.params.capacity = 400;
    options.snapshots = true;
    if (GetParam() == "keyed") options.hash = hasher::keyed({1, 2});
  }
  guarded_store open() {
    return guarded_store::open(std::shared_ptr<store>(rocksdb_store::open(directory / "store").value()), options).value();
  }

  temporary_directory directory;
  guard_options options = without_a_hash();
  std::map<std::string, std::string> truth;
};

TEST_P(old_store, opens_and_goes_on_with_its_hash) {
  for (int life = 0; life < 3; ++life) {
    guarded_store tested = open();
    EXPECT_EQ(to_string(tested.recovered().way), life == 0 ? "rebuilt" : "snapshot") << tested.recovered().reason;
    EXPECT_EQ(lost_keys(tested, truth), 0u);
    EXPECT_FALSE(tested.contains(key_of(5)).value());
    EXPECT_EQ(tested.hash().family(), GetParam() == "keyed" ? hash_family::keyed : hash_family::fast);
    ASSERT_TRUE(tested.put("life " + std::to_string(life), "v"));
    truth["life " + std::to_string(life)] = "v";
    if (life == 1) ASSERT_TRUE(tested.close());
  }
}

TEST_P(old_store, opens_with_the_hash_that_it_was_given) {
  if (GetParam() != "keyed") options.hash = hasher::fast(GetParam() == "seeded" ? 77 : 0);
  guarded_store tested = open();
  EXPECT_EQ(lost_keys(tested, truth), 0u);
}

INSTANTIATE_TEST_SUITE_P(hashes, old_store, ::testing::Values("fast", "seeded", "keyed"), test_name);

TEST(old_stores, of_the_keyed_hash_need_their_secret) {
  const temporary_directory directory;
  files::copy(files::path(TAMIS_SOURCE_DIR) / "tests/golden/stores/v1/keyed", directory / "store",
              files::copy_options::recursive);
  const std::shared_ptr<store> behind = rocksdb_store::open(directory / "store").value();
  EXPECT_TRUE(refused(guarded_store::open(behind, without_a_hash()), "secret"));
}

}  // namespace
}  // namespace tamis::test
