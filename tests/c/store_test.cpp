// A guarded store through tamis_guard.h.

#include <filesystem>
#include <map>

#include "tamis/tamis_guard.h"
#include "tests/c/support.hpp"
#include "tests/support/temporary_directory.hpp"

namespace tamis::test {
namespace {

tamis_store* opened(const char* directory, const char* spec) {
  tamis_store* store = nullptr;
  tamis_error error{};
  EXPECT_EQ(tamis_store_open(directory, spec, nullptr, &store, &error), TAMIS_OK) << error.message;
  return store;
}

std::string value_of(tamis_store* store, const std::string& key) {
  std::string value;
  const int found = tamis_store_get(store, key.data(), key.size(), append, &value, nullptr);
  return found == 1 ? value : "nothing";
}

class c_store : public testing::TestWithParam<bool> {
 protected:
  const temporary_directory folder;
  const std::string path = folder / "store";
  const char* place() const { return GetParam() ? path.c_str() : nullptr; }
};

int take_value(void* context, std::uint64_t index, const void* value, size_t size) {
  auto& taken = *static_cast<std::map<std::uint64_t, std::string>*>(context);
  taken[index] = value == nullptr ? "nothing" : std::string(static_cast<const char*>(value), size);
  return 0;
}
int refuse_value(void* /*context*/, std::uint64_t /*index*/, const void* /*value*/, size_t /*size*/) { return -1; }

TEST_P(c_store, puts_gets_and_erases) {
  tamis_store* store = opened(place(), "evergreen capacity=10k");
  tamis_error error{};
  for (int i = 0; i < 2000; ++i) {
    const std::string key = "key " + std::to_string(i);
    ASSERT_EQ(tamis_store_put(store, key.data(), key.size(), &i, sizeof i, &error), TAMIS_OK) << error.message;
  }
  EXPECT_EQ(tamis_store_contains(store, "key 7", 5, &error), 1);
  EXPECT_EQ(tamis_store_may_contain(store, "key 7", 5), 1);
  EXPECT_EQ(tamis_store_erase(store, "key 7", 5, &error), 1);
  EXPECT_EQ(tamis_store_erase(store, "key 7", 5, &error), 0);
  EXPECT_EQ(tamis_store_contains(store, "key 7", 5, &error), 0);
  const tamis_slice wanted[] = {{"key 6", 5}, {"key 7", 5}, {"key 8", 5}, {"x", 1}};
  tamis_keys keys{};
  keys.struct_size = sizeof keys;
  keys.form = TAMIS_SLICES;
  keys.count = 4;
  keys.data = wanted;
  const std::uint8_t validity = 7;
  keys.validity = &validity;
  std::map<std::uint64_t, std::string> taken;
  ASSERT_EQ(tamis_store_get_many(store, &keys, take_value, &taken, &error), TAMIS_OK) << error.message;
  const auto bytes_of = [](int i) { return std::string(reinterpret_cast<const char*>(&i), sizeof i); };
  const std::map<std::uint64_t, std::string> expected = {{0, bytes_of(6)}, {1, "nothing"}, {2, bytes_of(8)}, {3, "nothing"}};
  EXPECT_EQ(taken, expected);
  EXPECT_EQ(tamis_store_get_many(store, &keys, refuse_value, nullptr, &error), TAMIS_CALLBACK);
  std::vector<std::uint8_t> there(4, 7);
  ASSERT_EQ(tamis_store_contains_many(store, &keys, there.data(), &error), TAMIS_OK) << error.message;
  EXPECT_EQ(there, (std::vector<std::uint8_t>{1, 0, 1, 0}));
  EXPECT_EQ(tamis_store_contains_many(store, &keys, nullptr, &error), TAMIS_INVALID);
  std::string stats;
  EXPECT_EQ(tamis_store_stats(store, append, &stats, &error), TAMIS_OK);
  EXPECT_NE(stats.find("\"recovered\":\"created\""), std::string::npos) << stats;
  EXPECT_EQ(tamis_store_close(store, &error), TAMIS_OK) << error.message;
}

INSTANTIATE_TEST_SUITE_P(where, c_store, testing::Bool(), [](const auto& of) { return of.param ? "disk" : "memory"; });

struct entries {
  std::vector<std::string> keys;
  int answer = 0;
};
int take_entry(void* context, const void* key, size_t size, const void* /*value*/, size_t /*value_size*/) {
  auto& all = *static_cast<entries*>(context);
  all.keys.emplace_back(static_cast<const char*>(key), size);
  return all.answer;
}

TEST(c_store_on_disk, batches_scans_and_comes_back) {
  const temporary_directory folder;
  const std::string path = folder / "store";
  tamis_error error{};
  tamis_store* store = opened(path.c_str(), "taf capacity=10k ordered=1 sync=0 stripes=2 cache=1M");
  tamis_batch* batch = nullptr;
  ASSERT_EQ(tamis_batch_create(&batch, &error), TAMIS_OK);
  for (const char* key : {"b", "a", "c"}) ASSERT_EQ(tamis_batch_put(batch, key, 1, "1", 1, &error), TAMIS_OK);
  ASSERT_EQ(tamis_batch_erase(batch, "b", 1, &error), TAMIS_OK);
  ASSERT_EQ(tamis_store_write(store, batch, &error), TAMIS_OK) << error.message;
  tamis_batch_free(batch);
  ASSERT_EQ(tamis_batch_create(&batch, &error), TAMIS_OK);
  ASSERT_EQ(tamis_batch_put(batch, "d", 1, "2", 1, &error), TAMIS_OK);
  ASSERT_EQ(tamis_store_load(store, batch, &error), TAMIS_OK) << error.message;
  tamis_batch_free(batch);
  entries all;
  ASSERT_EQ(tamis_store_scan(store, nullptr, 0, take_entry, &all, &error), TAMIS_OK) << error.message;
  EXPECT_EQ(all.keys, (std::vector<std::string>{"a", "c", "d"}));
  entries first{{}, 1};
  ASSERT_EQ(tamis_store_scan(store, "b", 1, take_entry, &first, &error), TAMIS_OK);
  EXPECT_EQ(first.keys, (std::vector<std::string>{"c"}));
  entries failing{{}, -1};
  EXPECT_EQ(tamis_store_scan(store, nullptr, 0, take_entry, &failing, &error), TAMIS_CALLBACK);
  EXPECT_EQ(tamis_store_snapshot(store, &error), TAMIS_OK) << error.message;

  tamis_store* second = nullptr;
  EXPECT_LT(tamis_store_open(path.c_str(), "taf", nullptr, &second, &error), 0);
  EXPECT_EQ(second, nullptr);
  EXPECT_EQ(tamis_store_close(store, &error), TAMIS_OK);
  store = opened(path.c_str(), "taf capacity=10k ordered=1");
  EXPECT_EQ(tamis_store_wait(store, &error), TAMIS_OK);
  EXPECT_EQ(value_of(store, "d"), "2");
  EXPECT_EQ(value_of(store, "b"), "nothing");
  EXPECT_EQ(tamis_store_close(store, &error), TAMIS_OK);
}

TEST(c_store_on_disk, scans_only_if_it_was_made_for_it) {
  const temporary_directory folder;
  const std::string path = folder / "store";
  tamis_store* store = opened(path.c_str(), "taf capacity=1000");
  tamis_error error{};
  entries all;
  EXPECT_EQ(tamis_store_scan(store, nullptr, 0, take_entry, &all, &error), TAMIS_UNSUPPORTED) << error.message;
  EXPECT_EQ(tamis_store_close(store, &error), TAMIS_OK);
}

TEST(c_store_errors, name_the_thing) {
  tamis_store* store = nullptr;
  tamis_error error{};
  EXPECT_EQ(tamis_store_open(nullptr, "taf sync=perhaps", nullptr, &store, &error), TAMIS_INVALID);
  EXPECT_STREQ(error.message, "sync 'perhaps': must be 0 or 1");
  EXPECT_EQ(tamis_store_open(nullptr, "nosuch", nullptr, &store, &error), TAMIS_NOT_FOUND) << error.message;
  EXPECT_EQ(tamis_store_open(nullptr, "taf ordered=1", nullptr, &store, &error), TAMIS_UNSUPPORTED);
  EXPECT_LT(tamis_store_open("/proc/nowhere", "taf", nullptr, &store, &error), 0);
  EXPECT_EQ(tamis_store_put(nullptr, "a", 1, "b", 1, &error), TAMIS_INVALID);
  EXPECT_EQ(tamis_store_close(nullptr, &error), TAMIS_OK);
  tamis_batch_free(nullptr);
  store = opened(nullptr, "taf");
  EXPECT_EQ(tamis_store_put(store, nullptr, 1, "b", 1, &error), TAMIS_INVALID);
  EXPECT_STREQ(error.message, "key: is NULL");
  const std::vector<std::uint64_t> one = {1};
  const tamis_keys keys = integers(one);
  EXPECT_EQ(tamis_store_get_many(store, &keys, refuse_value, nullptr, &error), TAMIS_INVALID);
  std::uint8_t there = 0;
  EXPECT_EQ(tamis_store_contains_many(store, &keys, &there, &error), TAMIS_INVALID);
  EXPECT_EQ(tamis_store_close(store, &error), TAMIS_OK);
}

}  // namespace
}  // namespace tamis::test
