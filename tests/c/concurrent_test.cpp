// Concurrent filters through the C interface: every function that another filter has, and all at once.

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>

#include "tests/c/support.hpp"
#include "tests/support/temporary_directory.hpp"

namespace tamis::test {
namespace {

class c_concurrent : public testing::TestWithParam<std::string> {};

TEST_P(c_concurrent, keeps_what_went_in) {
  const filter_handle f = made(GetParam() + " capacity=20000 fpr=0.01 concurrent=1 stripes=4");
  EXPECT_EQ(tamis_filter_stripes(f.get()), 4u);
  EXPECT_EQ(GetParam(), tamis_filter_kind(f.get()));
  const auto in = numbers(1, 10'000);
  const tamis_keys keys = integers(in);
  tamis_error error{};
  std::vector<std::uint8_t> went(in.size(), 9);
  ASSERT_EQ(tamis_insert(f.get(), &keys, nullptr, went.data(), &error), 10'000) << error.message;
  EXPECT_EQ(went, std::vector<std::uint8_t>(in.size(), 1));
  EXPECT_EQ(answers(f.get(), keys), went);
  for (const std::uint64_t key : in) ASSERT_EQ(tamis_may_contain_bytes(f.get(), &key, sizeof key), 1);
  EXPECT_EQ(tamis_filter_keys(f.get()), 10'000u);
  EXPECT_GE(tamis_filter_capacity(f.get()), 10'000u);
  // 100,000 strangers at 1 %: 1,000 expected, standard deviation 31. Twice as many is 32 deviations away.
  const auto strangers = numbers(1'000'000, 100'000);
  const auto found = answers(f.get(), integers(strangers));
  EXPECT_LT(std::count(found.begin(), found.end(), 1), 2000);
}

TEST_P(c_concurrent, saves_loads_and_copies_as_such) {
  const filter_handle f = made(GetParam() + " capacity=20000 fpr=0.01 concurrent=yes stripes=2 seed=7");
  const auto in = numbers(1, 5000);
  const tamis_keys keys = integers(in);
  ASSERT_EQ(tamis_insert(f.get(), &keys, nullptr, nullptr, nullptr), 5000);
  const std::string bytes = saved(f.get());
  EXPECT_EQ(tamis_filter_saved_size(f.get(), nullptr), static_cast<std::int64_t>(bytes.size()));
  const temporary_directory folder;
  const std::string path = folder / "seen";
  tamis_error error{};
  ASSERT_EQ(tamis_filter_save_file(f.get(), path.c_str(), &error), TAMIS_OK) << error.message;
  tamis_filter *copied = nullptr, *loaded = nullptr, *from_file = nullptr;
  ASSERT_EQ(tamis_filter_copy(f.get(), &copied, &error), TAMIS_OK) << error.message;
  const filter_handle first(copied);
  ASSERT_EQ(tamis_filter_load_bytes(bytes.data(), bytes.size(), nullptr, &loaded, &error), TAMIS_OK) << error.message;
  const filter_handle second(loaded);
  ASSERT_EQ(tamis_filter_load_file(path.c_str(), nullptr, &from_file, &error), TAMIS_OK) << error.message;
  const filter_handle third(from_file);
  for (tamis_filter* other : {copied, loaded, from_file}) {
    EXPECT_EQ(tamis_filter_stripes(other), 2u);
    EXPECT_EQ(tamis_filter_same_hash(other, f.get()), 1);
    EXPECT_EQ(saved(other), bytes);
  }
  ASSERT_EQ(tamis_insert_u64(copied, 1, nullptr), 1);
  EXPECT_EQ(saved(f.get()), bytes);
}

// What a filter can it can here, too; the rest is refused with the same code.
TEST_P(c_concurrent, can_what_its_kind_can) {
  const std::string spec = GetParam() + " capacity=20000 fpr=0.01";
  const filter_handle f = made(spec + " concurrent=1 stripes=2");
  const filter_handle alone = made(spec);
  EXPECT_EQ(tamis_filter_can(f.get()), tamis_filter_can(alone.get()));
  const auto in = numbers(1, 2000);
  const tamis_keys keys = integers(in);
  tamis_error error{};
  ASSERT_EQ(tamis_insert(f.get(), &keys, nullptr, nullptr, &error), 2000) << error.message;
  const std::uint32_t can = tamis_filter_can(f.get());
  const auto expect = [&](std::uint32_t bit, std::int64_t answer, const char* what) {
    EXPECT_TRUE((can & bit) != 0 ? answer >= 0 : answer == TAMIS_UNSUPPORTED) << what << ": " << answer << ' ' << error.message;
  };
  std::vector<std::uint64_t> copies(in.size());
  expect(TAMIS_CAN_COUNT, tamis_count(f.get(), &keys, copies.data(), &error), "count");
  EXPECT_EQ(*std::min_element(copies.begin(), copies.end()) > 0, (can & TAMIS_CAN_COUNT) != 0);
  expect(TAMIS_CAN_REJUVENATE, tamis_rejuvenate(f.get(), &keys, &error), "rejuvenate");
  const auto strangers = numbers(1'000'000, 1000);
  const tamis_keys others = integers(strangers);
  expect(TAMIS_CAN_ADAPT, tamis_adapt(f.get(), &others, nullptr, nullptr, &error), "adapt");
  const filter_handle again = made(spec + " concurrent=1 stripes=2");
  expect(TAMIS_CAN_MERGE, tamis_merge(f.get(), again.get(), nullptr, &error), "merge");
  expect(TAMIS_CAN_EXPAND, tamis_expand(f.get(), &error), "expand");
  EXPECT_EQ(tamis_fold(f.get(), 0.01, &error), TAMIS_UNSUPPORTED);
  EXPECT_EQ(answers(f.get(), keys), std::vector<std::uint8_t>(in.size(), 1));
  expect(TAMIS_CAN_ERASE, tamis_erase(f.get(), &keys, nullptr, nullptr, &error), "erase");
  EXPECT_EQ(tamis_filter_keys(f.get()), (can & TAMIS_CAN_ERASE) != 0 ? 0u : 2000u);
}

// Four threads write, each looks for its own keys at once, and others look for what was in before: nothing may be missed.
TEST_P(c_concurrent, misses_nothing_while_all_write) {
  constexpr std::uint64_t each = 3000;
  const filter_handle f = made(GetParam() + " capacity=40000 fpr=0.01 concurrent=1 stripes=4");
  const auto before = numbers(1, 5000);
  const tamis_keys members = integers(before);
  ASSERT_EQ(tamis_insert(f.get(), &members, nullptr, nullptr, nullptr), 5000);
  std::atomic<bool> done = false;
  std::atomic<int> missed = 0;
  std::vector<std::thread> readers, writers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&, i] {
      do {
        std::vector<std::uint8_t> out(before.size());
        if (i == 0 && tamis_may_contain(f.get(), &members, out.data(), nullptr) != TAMIS_OK) ++missed;
        for (std::size_t k = 0; i == 1 && k < before.size(); ++k)
          out[k] = static_cast<std::uint8_t>(tamis_may_contain_u64(f.get(), before[k]));
        missed += static_cast<int>(std::count(out.begin(), out.end(), 0));
      } while (!done);
    });
  }
  for (std::uint64_t t = 0; t < 4; ++t) {
    writers.emplace_back([&, t] {
      const auto own = numbers(1'000'000 * (t + 1), each);
      for (std::size_t i = 0; i < own.size(); i += 10) {
        const std::vector<std::uint64_t> some(own.begin() + static_cast<std::ptrdiff_t>(i),
                                              own.begin() + static_cast<std::ptrdiff_t>(i) + 10);
        const tamis_keys keys = integers(some);
        if (tamis_insert(f.get(), &keys, nullptr, nullptr, nullptr) != 10) ++missed;
        for (const std::uint64_t key : some) missed += tamis_may_contain_u64(f.get(), key) == 1 ? 0 : 1;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(missed, 0);
  EXPECT_EQ(tamis_filter_keys(f.get()), 5000 + 4 * each);
}

INSTANTIATE_TEST_SUITE_P(every_filter, c_concurrent, testing::ValuesIn(kinds()), [](const auto& of) {
  std::string name = of.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(c_concurrent_filters, adapt_with_a_remote) {
  const filter_handle f = made("taf capacity=20000 fpr=0.05 concurrent=1 stripes=4");
  const auto in = numbers(1, 10'000);
  const tamis_keys keys = integers(in);
  std::vector<tamis_digest> digests(in.size());
  ASSERT_EQ(tamis_hash(f.get(), &keys, digests.data(), nullptr), TAMIS_OK);
  tamis_remote* stored = nullptr;
  ASSERT_EQ(tamis_remote_memory(&stored, nullptr), TAMIS_OK);
  const remote_handle remote(stored);
  tamis_error error{};
  ASSERT_EQ(tamis_remote_insert(stored, digests.data(), digests.size(), &error), 10'000) << error.message;
  ASSERT_EQ(tamis_insert(f.get(), &keys, stored, nullptr, &error), 10'000) << error.message;
  std::vector<std::uint64_t> wrong;
  for (const std::uint64_t key : numbers(1'000'000, 20'000))
    if (tamis_may_contain_u64(f.get(), key) == 1) wrong.push_back(key);
  ASSERT_GT(wrong.size(), 100u);
  const tamis_keys reported = integers(wrong);
  const std::int64_t fixed = tamis_adapt(f.get(), &reported, stored, nullptr, &error);
  EXPECT_GT(fixed, static_cast<std::int64_t>(wrong.size() * 9 / 10)) << error.message;
  EXPECT_EQ(answers(f.get(), keys), std::vector<std::uint8_t>(in.size(), 1));
}

TEST(c_concurrent_filters, list_known_mistakes) {
  const filter_handle f = made("bloom1 capacity=1000 fpr=0.2 mistakes=50 concurrent=1 stripes=1");
  EXPECT_STREQ(tamis_filter_kind(f.get()), "bloom1+mistakes");
  std::vector<std::uint64_t> wrong;
  for (const std::uint64_t key : numbers(1, 1000)) ASSERT_EQ(tamis_insert_u64(f.get(), key, nullptr), 1);
  for (const std::uint64_t key : numbers(1'000'000, 1000))
    if (wrong.size() < 20 && tamis_may_contain_u64(f.get(), key) == 1) wrong.push_back(key);
  const tamis_keys reported = integers(wrong);
  EXPECT_EQ(tamis_adapt(f.get(), &reported, nullptr, nullptr, nullptr), 20);
  EXPECT_EQ(tamis_filter_known_mistakes(f.get()), 20u);
}

TEST(c_concurrent_filters, need_their_secret_again) {
  const std::uint8_t secret[16] = {1, 2, 3};
  const filter_handle f = made("cuckoo capacity=100 concurrent=1", secret);
  ASSERT_EQ(tamis_insert_bytes(f.get(), "alice", 5, nullptr), 1);
  EXPECT_EQ(tamis_filter_is_keyed(f.get()), 1);
  const std::string bytes = saved(f.get());
  tamis_filter* again = nullptr;
  tamis_error error{};
  EXPECT_EQ(tamis_filter_load_bytes(bytes.data(), bytes.size(), nullptr, &again, &error), TAMIS_HASH) << error.message;
  ASSERT_EQ(tamis_filter_load_bytes(bytes.data(), bytes.size(), secret, &again, &error), TAMIS_OK) << error.message;
  const filter_handle loaded(again);
  EXPECT_EQ(tamis_may_contain_bytes(again, "alice", 5), 1);
  ASSERT_EQ(tamis_filter_copy(f.get(), &again, &error), TAMIS_OK) << error.message;
  const filter_handle copy(again);
  EXPECT_EQ(tamis_may_contain_bytes(again, "alice", 5), 1);
}

TEST(c_concurrent_filters, refuse_what_does_not_fit) {
  tamis_filter* f = nullptr;
  tamis_error error{};
  EXPECT_EQ(tamis_filter_create("bloom concurrent=maybe", nullptr, &f, &error), TAMIS_INVALID);
  EXPECT_EQ(tamis_filter_create("bloom concurrent=1 stripes=3", nullptr, &f, &error), TAMIS_RANGE) << error.message;
  EXPECT_EQ(tamis_filter_create("bloom concurrent=1 stripes=512", nullptr, &f, &error), TAMIS_RANGE);
  EXPECT_EQ(tamis_filter_create("bloom stripes=4", nullptr, &f, &error), TAMIS_INVALID);
  EXPECT_EQ(tamis_filter_stripes(made("bloom concurrent=0").get()), 0u);
  EXPECT_EQ(tamis_filter_stripes(nullptr), 0u);
  const filter_handle shared = made("cqf capacity=1000 concurrent=1");
  const filter_handle alone = made("cqf capacity=1000");
  EXPECT_EQ(tamis_merge(shared.get(), alone.get(), nullptr, &error), TAMIS_MISMATCH);
  EXPECT_EQ(tamis_merge(alone.get(), shared.get(), nullptr, &error), TAMIS_MISMATCH);
  tamis_remote* stored = nullptr;
  ASSERT_EQ(tamis_remote_memory(&stored, nullptr), TAMIS_OK);
  const remote_handle remote(stored);
  EXPECT_EQ(tamis_merge(shared.get(), shared.get(), stored, &error), TAMIS_UNSUPPORTED);
  EXPECT_STREQ(error.message, "a concurrent filter cannot merge with a remote");
  const temporary_directory folder;
  const std::string path = folder / "seen";
  ASSERT_EQ(tamis_filter_save_file(shared.get(), path.c_str(), nullptr), TAMIS_OK);
  EXPECT_LT(tamis_filter_open_mapped(path.c_str(), nullptr, &f, &error), 0);
  EXPECT_NE(std::string(error.message).find("concurrent"), std::string::npos) << error.message;
  EXPECT_EQ(tamis_filter_verify(shared.get(), &error), TAMIS_OK);
  EXPECT_EQ(tamis_filter_is_verified(shared.get()), 1);
  std::string bytes = saved(shared.get());
  bytes.pop_back();
  EXPECT_EQ(tamis_filter_load_bytes(bytes.data(), bytes.size(), nullptr, &f, &error), TAMIS_DAMAGED) << error.message;
}

}  // namespace
}  // namespace tamis::test
