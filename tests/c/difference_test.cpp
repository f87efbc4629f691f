// Differences between saved filters through the C interface.

#include <fstream>
#include <iterator>

#include "tests/c/support.hpp"
#include "tests/support/temporary_directory.hpp"

namespace tamis::test {
namespace {

int refuse(void* /*context*/, const void* /*bytes*/, size_t /*size*/) { return -1; }

class c_difference : public testing::Test {
 protected:
  const filter_handle f = made("cuckoo capacity=100k");
  std::string old, now;
  tamis_error error{};

  c_difference() {
    for (const std::uint64_t key : numbers(1, 5000)) EXPECT_EQ(tamis_insert_u64(f.get(), key, nullptr), 1);
    old = saved(f.get());
    for (const std::uint64_t key : numbers(1'000'000, 20)) EXPECT_EQ(tamis_insert_u64(f.get(), key, nullptr), 1);
    now = saved(f.get());
  }
  std::string difference() {
    std::string patch;
    EXPECT_EQ(tamis_diff_bytes(old.data(), old.size(), now.data(), now.size(), append, &patch, &error), TAMIS_OK)
        << error.message;
    return patch;
  }
  static std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void write(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }
};

TEST_F(c_difference, makes_the_new_bytes_of_the_old_ones) {
  const std::string patch = difference();
  EXPECT_LT(patch.size(), now.size() / 10);
  std::string made;
  ASSERT_EQ(tamis_patch_bytes(old.data(), old.size(), patch.data(), patch.size(), append, &made, &error), TAMIS_OK)
      << error.message;
  EXPECT_EQ(made, now);
}

TEST_F(c_difference, fits_one_filter_only) {
  const std::string patch = difference();
  std::string made;
  EXPECT_EQ(tamis_patch_bytes(now.data(), now.size(), patch.data(), patch.size(), append, &made, &error), TAMIS_MISMATCH);
  EXPECT_EQ(tamis_patch_bytes(old.data(), old.size(), patch.data(), patch.size() - 1, append, &made, &error), TAMIS_DAMAGED);
  EXPECT_EQ(made, "");
}

TEST_F(c_difference, is_made_of_checksums_too) {
  std::string sums, patch, made;
  ASSERT_EQ(tamis_checksums_of_bytes(old.data(), old.size(), append, &sums, &error), TAMIS_OK) << error.message;
  EXPECT_LT(sums.size(), old.size() / 100);
  ASSERT_EQ(tamis_diff_bytes(sums.data(), sums.size(), now.data(), now.size(), append, &patch, &error), TAMIS_OK);
  ASSERT_EQ(tamis_patch_bytes(old.data(), old.size(), patch.data(), patch.size(), append, &made, &error), TAMIS_OK);
  EXPECT_EQ(made, now);
}

TEST_F(c_difference, of_files_is_that_of_their_bytes) {
  const temporary_directory folder;
  const std::string before = folder / "before", after = folder / "after", patch = folder / "patch";
  write(before, old);
  write(after, now);
  std::string made, sums, expected;
  ASSERT_EQ(tamis_diff_files(before.c_str(), after.c_str(), append, &made, &error), TAMIS_OK) << error.message;
  EXPECT_EQ(made, difference());
  ASSERT_EQ(tamis_checksums_of_file(before.c_str(), append, &sums, &error), TAMIS_OK) << error.message;
  ASSERT_EQ(tamis_checksums_of_bytes(old.data(), old.size(), append, &expected, &error), TAMIS_OK);
  EXPECT_EQ(sums, expected);
  write(patch, made);
  ASSERT_EQ(tamis_patch_file(before.c_str(), patch.c_str(), &error), TAMIS_OK) << error.message;
  EXPECT_EQ(text_of(before), now);
  EXPECT_EQ(tamis_patch_file(before.c_str(), patch.c_str(), &error), TAMIS_MISMATCH);
  EXPECT_EQ(text_of(before), now);
}

TEST_F(c_difference, errors_name_the_thing) {
  std::string made;
  EXPECT_EQ(tamis_diff_bytes(nullptr, 1, now.data(), now.size(), append, &made, &error), TAMIS_INVALID);
  EXPECT_STREQ(error.message, "old: is NULL");
  EXPECT_EQ(tamis_diff_bytes(old.data(), old.size(), now.data(), now.size(), nullptr, nullptr, &error), TAMIS_INVALID);
  EXPECT_STREQ(error.message, "sink: is NULL");
  EXPECT_EQ(tamis_diff_bytes(old.data(), old.size(), now.data(), now.size(), refuse, nullptr, &error), TAMIS_CALLBACK);
  EXPECT_EQ(tamis_diff_bytes("junk", 4, now.data(), now.size(), append, &made, &error), TAMIS_DAMAGED);
  EXPECT_EQ(tamis_diff_files("/nowhere/at/all", "/nowhere/else", append, &made, &error), TAMIS_NOT_FOUND);
  EXPECT_NE(std::string(error.message).find("/nowhere/at/all"), std::string::npos);
  EXPECT_EQ(tamis_checksums_of_file(nullptr, append, &made, &error), TAMIS_INVALID);
  EXPECT_EQ(tamis_patch_file("/nowhere/at/all", nullptr, &error), TAMIS_INVALID);
  EXPECT_EQ(made, "");
}

}  // namespace
}  // namespace tamis::test
