// Differences of saved filters of every kind: the patch makes the very file, and no other one takes it.

#include "tamis/difference.hpp"

#include "tamis/detail/base/random.hpp"
#include "tests/conformance/cases.hpp"

namespace tamis::test {

using namespace detail;

namespace {

TAMIS_CONFORMANCE(differing, named(all_cases(), "added_", false));

void expect_same_file(const byte_vector& old, const byte_vector& made) {
  const auto patch = diff_bytes(old, made);
  ASSERT_TRUE(patch.ok()) << patch.message();
  const auto again = patch_bytes(old, *patch);
  ASSERT_TRUE(again.ok()) << again.message();
  ASSERT_TRUE(*again == made);
  const auto by_sums = diff_bytes(checksums_of_bytes(old).value(), made);
  ASSERT_TRUE(by_sums.ok()) << by_sums.message();
  ASSERT_TRUE(patch_bytes(old, *by_sums).value() == made);
  ASSERT_LE(patch->size(), made.size() + 2048);  // and so it is never much worse than the file itself
}

// Random changes, some of which make it grow or refuse a key.
TEST_P(differing, patch_makes_the_same_bytes) {
  any_filter f = make(20'000);
  random_source draw(4711);
  byte_vector old = f.save_bytes();
  std::size_t first = 0;
  for (const std::size_t fresh : {1ul, 10ul, 3000ul, 12000ul, 1ul, 400ul}) {
    insert_all(f, keys(fresh, first));
    first += fresh;
    if (can().erase) f.erase_many(keys(fresh / 3, draw.below(first - fresh / 3)));
    byte_vector made = f.save_bytes();
    expect_same_file(old, made);
    expect_same_file(made, old);  // and back
    old = std::move(made);
  }
}

TEST_P(differing, few_new_keys_need_few_bytes) {
  any_filter f = make(100'000);
  insert_all(f, keys(90'000));
  const byte_vector old = f.save_bytes();
  insert_all(f, keys(10, 90'000));
  const byte_vector made = f.save_bytes();
  const byte_vector patch = diff_bytes(old, made).value();
  EXPECT_LT(patch.size(), 512 + made.size() / 10);
  EXPECT_TRUE(patch_bytes(old, patch).value() == made);
}

// Between files that have nothing in common, hash and seed included.
TEST_P(differing, any_two_files) {
  any_filter f = make(3000);
  insert_all(f, keys(3000));
  const byte_vector mine = f.save_bytes();
  const any_filter other = any_filter::create("counting-bloom", {.capacity = 700, .fpr = 0.1}, hasher::fast(99)).value();
  expect_same_file(mine, other.save_bytes());
  expect_same_file(other.save_bytes(), mine);
  expect_same_file(mine, mine);
}

TEST_P(differing, only_the_right_file_takes_it) {
  any_filter f = make(300);
  const byte_vector empty = f.save_bytes();
  insert_all(f, keys(20));
  const byte_vector old = f.save_bytes();
  insert_all(f, keys(20, 20));
  const byte_vector made = f.save_bytes();
  const byte_vector patch = diff_bytes(old, made).value();
  const auto wrong = patch_bytes(empty, patch);
  EXPECT_TRUE(refused(wrong, "the patch is for another file"));
  EXPECT_EQ(wrong.code(), error_code::mismatch);
  EXPECT_TRUE(refused(patch_bytes(made, patch), "was applied already"));
  EXPECT_TRUE(refused(patch_bytes(old, made), "it is not a patch, but holds '"));
  EXPECT_TRUE(refused(patch_bytes(patch, patch), "it is no saved filter"));
  EXPECT_TRUE(refused(diff_bytes(old, patch), "it is no saved filter"));
  EXPECT_TRUE(refused(patch_bytes(with_flipped_bit(old, old.size() * 8 - 3), patch), "damaged"));
}

}  // namespace
}  // namespace tamis::test
