// Mapped files, folding and known mistakes through the C interface.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/c/support.hpp"
#include "tests/support/temporary_directory.hpp"

namespace tamis::test {
namespace {

// Kinds whose tables are not read at opening (mapped.hpp).
const std::set<std::string> opens_unread = {"bloom", "bloom1", "counting-bloom", "cuckoo", "ascf", "vacuum"};

class c_mapped : public testing::TestWithParam<std::string> {
 protected:
  const temporary_directory folder;
  const std::string path = folder / "seen";
  const std::vector<std::uint64_t> in = numbers(1, 90'000);

  // Large enough to be mapped: many blocks of 64 KiB, of which opening reads the ones with fields.
  std::string saved_file() const {
    const filter_handle f = made(GetParam() + " capacity=1M fpr=0.01");
    const tamis_keys keys = integers(in);
    tamis_error error{};
    EXPECT_EQ(tamis_insert(f.get(), &keys, nullptr, nullptr, &error), 90'000) << error.message;
    EXPECT_EQ(tamis_filter_save_file(f.get(), path.c_str(), &error), TAMIS_OK) << error.message;
    EXPECT_EQ(tamis_filter_is_verified(f.get()), 1);
    EXPECT_EQ(tamis_filter_verify(f.get(), &error), TAMIS_OK);
    return saved(f.get());
  }
  filter_handle opened() const {
    tamis_filter* f = nullptr;
    tamis_error error{};
    EXPECT_EQ(tamis_filter_open_mapped(path.c_str(), nullptr, &f, &error), TAMIS_OK) << error.message;
    return filter_handle(f);
  }
};

TEST_P(c_mapped, is_the_filter_that_was_saved) {
  const std::string bytes = saved_file();
  const filter_handle f = opened();
  EXPECT_EQ(GetParam(), tamis_filter_kind(f.get()));
  EXPECT_EQ(tamis_filter_is_verified(f.get()), opens_unread.contains(GetParam()) ? 0 : 1);
  EXPECT_EQ(answers(f.get(), integers(in)), std::vector<std::uint8_t>(in.size(), 1));
  tamis_error error{};
  EXPECT_EQ(tamis_filter_verify(f.get(), &error), TAMIS_OK) << error.message;
  EXPECT_EQ(tamis_filter_is_verified(f.get()), 1);
  EXPECT_EQ(saved(f.get()), bytes);
}

TEST_P(c_mapped, keeps_its_changes_in_memory) {
  const std::string bytes = saved_file();
  {
    const filter_handle f = opened();
    tamis_filter* copied = nullptr;
    ASSERT_EQ(tamis_filter_copy(f.get(), &copied, nullptr), TAMIS_OK);
    const filter_handle copy(copied);
    for (const std::uint64_t key : numbers(1'000'000, 100)) EXPECT_EQ(tamis_insert_u64(f.get(), key, nullptr), 1);
    EXPECT_EQ(tamis_filter_keys(f.get()), 90'100u);
    EXPECT_EQ(saved(copied), bytes);
  }
  std::ifstream file(path, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), bytes);
}

TEST_P(c_mapped, finds_damage_at_the_latest_when_verified) {
  const auto size = saved_file().size();
  {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(static_cast<std::streamoff>(size / 2));
    const auto byte = static_cast<char>(file.get() ^ 0x10);
    file.seekp(static_cast<std::streamoff>(size / 2));
    file.put(byte);
  }
  tamis_filter* f = nullptr;
  tamis_error error{};
  int answer = tamis_filter_open_mapped(path.c_str(), nullptr, &f, &error);
  const filter_handle kept(f);
  EXPECT_EQ(answer == TAMIS_OK, opens_unread.contains(GetParam()));
  if (answer == TAMIS_OK) answer = tamis_filter_verify(f, &error);
  EXPECT_EQ(answer, TAMIS_DAMAGED);
  EXPECT_NE(std::string(error.message).find(path), std::string::npos) << error.message;
  EXPECT_EQ(tamis_filter_is_verified(f), 0);
}

INSTANTIATE_TEST_SUITE_P(every_filter, c_mapped, testing::ValuesIn(kinds()), [](const auto& of) {
  std::string name = of.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(c_mapped_errors, name_the_thing) {
  tamis_filter* f = nullptr;
  tamis_error error{};
  EXPECT_EQ(tamis_filter_open_mapped("/nowhere/at/all", nullptr, &f, &error), TAMIS_NOT_FOUND) << error.message;
  EXPECT_EQ(tamis_filter_open_mapped(nullptr, nullptr, &f, &error), TAMIS_INVALID);
  EXPECT_STREQ(error.message, "path: is NULL");
  EXPECT_EQ(tamis_filter_verify(nullptr, &error), TAMIS_INVALID);
  EXPECT_EQ(tamis_filter_is_verified(nullptr), 0);
}

TEST(c_fold, makes_a_large_filter_small) {
  for (const char* kind : {"bloom", "bloom1"}) {
    const filter_handle f = made(std::string(kind) + " capacity=1M fpr=0.01");
    const auto in = numbers(1, 1000);
    const tamis_keys keys = integers(in);
    ASSERT_EQ(tamis_insert(f.get(), &keys, nullptr, nullptr, nullptr), 1000);
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    tamis_filter_bits(f.get(), &before, nullptr);
    tamis_error error{};
    const std::int64_t by = tamis_fold(f.get(), 0.01, &error);
    ASSERT_GT(by, 10) << error.message;
    tamis_filter_bits(f.get(), &after, nullptr);
    EXPECT_LE(after, before / static_cast<std::uint64_t>(by) + 64 * 8);
    EXPECT_LE(tamis_filter_expected_fpr(f.get()), 0.01);
    EXPECT_EQ(answers(f.get(), keys), std::vector<std::uint8_t>(in.size(), 1));
    EXPECT_EQ(tamis_fold(f.get(), 2, &error), TAMIS_RANGE) << error.message;
  }
  const filter_handle other = made("taf capacity=1000");
  tamis_error error{};
  EXPECT_EQ(tamis_fold(other.get(), 0.01, &error), TAMIS_UNSUPPORTED);
  EXPECT_STREQ(error.message, "taf filters cannot be folded");
  EXPECT_EQ(tamis_fold(nullptr, 0.01, &error), TAMIS_INVALID);
}

TEST(c_mistakes, are_listed_and_denied) {
  const filter_handle f = made("bloom1 capacity=1000 fpr=0.2 mistakes=50");
  EXPECT_STREQ(tamis_filter_kind(f.get()), "bloom1+mistakes");
  const auto in = numbers(1, 1000);
  const tamis_keys keys = integers(in);
  ASSERT_EQ(tamis_insert(f.get(), &keys, nullptr, nullptr, nullptr), 1000);
  std::vector<std::uint64_t> wrong;
  for (const std::uint64_t key : numbers(1'000'000, 1000)) {
    if (wrong.size() < 50 && tamis_may_contain_u64(f.get(), key) == 1) wrong.push_back(key);
  }
  // 200 of 1,000 strangers are expected, standard deviation 13: fewer than 50 is 11 deviations away.
  ASSERT_EQ(wrong.size(), 50u);
  const tamis_keys reported = integers(wrong);
  tamis_error error{};
  EXPECT_EQ(tamis_adapt(f.get(), &reported, nullptr, nullptr, &error), 50) << error.message;
  EXPECT_EQ(tamis_filter_known_mistakes(f.get()), 50u);
  EXPECT_EQ(answers(f.get(), reported), std::vector<std::uint8_t>(wrong.size(), 0));
  EXPECT_EQ(answers(f.get(), keys), std::vector<std::uint8_t>(in.size(), 1));
}

}  // namespace
}  // namespace tamis::test
