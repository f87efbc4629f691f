// Patches of a forger: right checksums around any content. They are refused with a reason, and cost no more memory than the
// file and the patch allow.

#include "src/difference/patch.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tamis/any_filter.hpp"
#include "tamis/detail/base/random.hpp"
#include "tamis/difference.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/keys.hpp"
#include "tests/support/temporary_directory.hpp"

namespace tamis::difference {
namespace {

using test::byte_vector;
using test::refused;

class forged : public ::testing::Test {
 protected:
  void SetUp() override {
    any_filter f = any_filter::create("rsqf", {.capacity = 2000, .fpr = 0.01}).value();
    static_cast<void>(f.insert_many(test::keys(1500)));
    old = f.save_bytes();
    static_cast<void>(f.insert_many(test::keys(60, 1500)));
    made = f.save_bytes();
    patch = diff_bytes(old, made).value();
  }
  // The patch with another content.
  template <class Change>
  byte_vector changed(Change change) const {
    auto [content, hash] = read_patch(patch).value();
    change(content);
    return saved_patch(content, hash);
  }
  template <class Change>
  ::testing::AssertionResult is_refused(Change change, std::string_view words) const {
    return refused(patch_bytes(old, changed(change)), words);
  }

  byte_vector old;
  byte_vector made;
  byte_vector patch;
};

TEST_F(forged, unchanged_content_is_accepted) {
  EXPECT_TRUE(patch_bytes(old, changed([](patch_content&) {})).value() == made);
}

TEST_F(forged, every_cut_and_every_flipped_bit_is_refused) {
  for (std::size_t size = 0; size < patch.size(); ++size) {
    ASSERT_TRUE(refused(patch_bytes(old, std::span(patch).first(size)))) << size;
  }
  for (std::size_t bit = 0; bit < patch.size() * 8; ++bit) {
    ASSERT_TRUE(refused(patch_bytes(old, test::with_flipped_bit(patch, bit)))) << bit;
  }
  byte_vector longer = patch;
  longer.push_back({});
  EXPECT_TRUE(refused(patch_bytes(old, longer), "after its end"));
}

// The same with right checksums around it: another file may come out, but it is noticed. (The bits behind the code's last are
// free, and so is what is said about a part of a table in which nothing moved.)
TEST_F(forged, every_flipped_bit_of_the_content_is_refused_or_harmless) {
  const test::frame_layout at(patch);
  std::size_t harmless = 0;
  for (std::size_t bit = at.payload * 8; bit < patch.size() * 8; ++bit) {
    const auto answer = patch_bytes(old, test::resealed(test::with_flipped_bit(patch, bit)));
    if (!answer.ok()) continue;
    ASSERT_TRUE(*answer == made) << bit;
    ++harmless;
  }
  EXPECT_LT(harmless, 200u);
}

TEST_F(forged, lengths_are_compared_first) {
  const std::uint64_t huge = std::uint64_t{1} << 60;
  EXPECT_TRUE(is_refused([&](patch_content& p) { p.made_bytes = huge; }, "its pieces do not make the file"));
  EXPECT_TRUE(is_refused(
      [&](patch_content& p) {
        p.made_bytes = huge, p.pieces = {{huge, zeros}};
      },
      "larger file than a patch"));
  EXPECT_TRUE(is_refused([&](patch_content& p) { p.pieces = {{p.made_bytes, 1}}; }, "pieces"));
  EXPECT_TRUE(is_refused([&](patch_content& p) { p.pieces = {{p.made_bytes, zeros - 1}}; }, "pieces"));
  EXPECT_TRUE(is_refused([&](patch_content& p) { p.pieces.push_back({0, 0}); }, "pieces"));
  EXPECT_TRUE(is_refused(
      [&](patch_content& p) {
        p.pieces.push_back({huge, zeros}), p.pieces.push_back({0 - huge, zeros});
      },
      "pieces"));
  EXPECT_TRUE(is_refused([&](patch_content& p) { p.block_bits = 63; }, "blocks of a wrong size"));
  EXPECT_TRUE(is_refused([&](patch_content& p) { p.block_bits = 11; }, "blocks of a wrong size"));
  EXPECT_TRUE(is_refused([&](patch_content& p) { p.tables.resize(17, p.tables[0]); }, "too many tables"));
  EXPECT_TRUE(is_refused([&](patch_content& p) { p.tables[0].slots += group_slots; }, "a table does not lie"));
  EXPECT_TRUE(is_refused([&](patch_content& p) { p.old_bytes = huge; }, "the patch is for another file"));
  EXPECT_TRUE(is_refused([&](patch_content& p) { p.old_sum ^= 1; }, "the patch is for another file"));
}

TEST_F(forged, content_that_does_not_fit_is_refused) {
  EXPECT_TRUE(is_refused([&](patch_content& p) { p.made_sum ^= 1; }, "does not have the checksum"));
  EXPECT_TRUE(is_refused([&](patch_content& p) { p.kind = "bloom"; }, "does not have the checksum"));
  EXPECT_TRUE(is_refused([&](patch_content& p) { p.kind = ""; }, "no name for a kind"));
  EXPECT_TRUE(is_refused([&](patch_content& p) { p.kind = std::string(65, 'x'); }, "no name for a kind"));
  EXPECT_TRUE(is_refused([&](patch_content& p) { p.code.bytes.clear(); }, "the patch is damaged"));
  EXPECT_TRUE(is_refused([&](patch_content& p) { p.code.bytes.push_back({}); }, "the patch is damaged"));
  EXPECT_TRUE(is_refused([&](patch_content& p) { p.raw.bytes.push_back({}); }, "the patch is damaged"));
  EXPECT_TRUE(is_refused([&](patch_content& p) { p.tables.clear(); }, ""));
  detail::random_source draw(5);
  for (int i = 0; i < 2000; ++i) {
    EXPECT_TRUE(is_refused(
        [&](patch_content& p) {
          for (std::byte& b : p.code.bytes) b = static_cast<std::byte>(draw.below(256));
          p.code.bytes.resize(draw.below(200));
        },
        ""));
  }
}

// Zeros are cheap, and so a patch that makes many of them says so: it has all pages.
TEST(difference, little_may_become_much) {
  const byte_vector small = any_filter::create("bloom", {.capacity = 10, .fpr = 0.1}).value().save_bytes();
  const byte_vector large = any_filter::create("bloom", {.capacity = 1'000'000, .fpr = 0.01}).value().save_bytes();
  const byte_vector patch = diff_bytes(small, large).value();
  EXPECT_GT(patch.size() * (most_growth + 2), large.size());
  EXPECT_TRUE(patch_bytes(small, patch).value() == large);
}

TEST(difference, what_moved_is_found) {
  any_filter f = any_filter::create("bloom", {.capacity = 40'000, .fpr = 0.01}).value();
  static_cast<void>(f.insert_many(test::keys(40'000)));
  const byte_vector table = test::payload_of(f.save_bytes());
  // The same bytes at other places, in another order, and something new between.
  byte_vector moved(table.begin() + 20'000, table.end());
  detail::random_source draw(3);
  for (int i = 0; i < 3000; ++i) moved.push_back(static_cast<std::byte>(draw.below(256)));
  moved.insert(moved.end(), table.begin(), table.begin() + 20'000);
  const auto pieces = find_pieces(table, moved);
  EXPECT_TRUE(fit(pieces, table.size(), moved.size()));
  byte_vector made(moved.size());
  join(pieces, table, made);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < made.size(); ++i) wrong += made[i] != moved[i] ? 1 : 0;
  EXPECT_LT(wrong, 3000u + 2 * 4096u);
}

// Made once, and read for ever, whatever later patches look like.
TEST(difference, golden_patches_are_read) {
  const auto read = [](const std::string& name) {
    std::ifstream file(TAMIS_SOURCE_DIR "/tests/golden/difference/" + name, std::ios::binary);
    return test::bytes_of(std::string((std::istreambuf_iterator<char>(file)), {}));
  };
  for (const std::string kind : {"rsqf", "bloom1", "chain-linear"}) {
    const byte_vector old = read(kind + ".old");
    ASSERT_FALSE(old.empty());
    const auto made = patch_bytes(old, read(kind + ".patch"));
    ASSERT_TRUE(made.ok()) << made.message();
    EXPECT_TRUE(patch_bytes(old, read(kind + ".by_sums")).value() == *made);
    const any_filter f = load_bytes(*made).value();
    for (std::uint64_t key = 0; key < 2900; ++key) ASSERT_TRUE(f.may_contain(key)) << kind << ' ' << key;
  }
}

// Patched in place: all of it, or nothing.
TEST_F(forged, file_is_replaced_or_stays) {
  const test::temporary_directory directory;
  const auto write = [](const std::string& path, const byte_vector& bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  };
  const auto read = [](const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return test::bytes_of(std::string((std::istreambuf_iterator<char>(file)), {}));
  };
  const std::string file = directory / "f";
  const std::string changes = directory / "p";
  write(file, old);
  write(changes, changed([](patch_content& p) { p.made_sum ^= 1; }));
  EXPECT_TRUE(refused(patch_file(file, changes), changes + ": what it makes"));
  EXPECT_TRUE(read(file) == old);
  struct stop {};
  write(changes, patch);
  EXPECT_THROW(static_cast<void>(patch_file(file, changes,
                                            [](double share) {
                                              if (share > 0.4) throw stop();
                                            })),
               stop);
  EXPECT_TRUE(read(file) == old);
  ASSERT_TRUE(patch_file(file, changes).ok());
  EXPECT_TRUE(read(file) == made);
  EXPECT_TRUE(refused(patch_file(file, changes), file + ": it is what the patch makes"));
  EXPECT_TRUE(refused(patch_file(directory / "none", changes), "none: cannot open"));
  EXPECT_TRUE(refused(diff_files(file, directory / "none"), "none: cannot open"));
  EXPECT_TRUE(refused(checksums_of_file(changes), changes + ": it is no saved filter"));
}

}  // namespace
}  // namespace tamis::difference
