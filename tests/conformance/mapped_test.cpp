// Mapped files: the same filter as a loaded one, changes that stay in memory, and damage that is found when it is looked for.

#include "tamis/mapped.hpp"

#include <csignal>
#include <fstream>

#include "tamis/detail/base/random.hpp"
#include "tests/conformance/cases.hpp"
#include "tests/support/temporary_directory.hpp"

namespace tamis::test {

using namespace detail;

namespace {

constexpr std::uint64_t large = 300'000;  // keys: tables of several blocks, which are lent

class mapped : public conformance {
 protected:
  std::string path() const { return directory / "filter.tamis"; }
  result<mapped_filter> open() const { return open_mapped(path(), {std::nullopt, &known()}); }
  void write(const byte_vector& bytes) const {
    std::ofstream(path(), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  // Kinds that need not read their tables to be safe.
  bool opens_unread() const {
    for (const std::string_view kind : {"bloom", "bloom1", "counting-bloom", "cuckoo", "ascf", "vacuum"}) {
      if (id() == kind) return true;
    }
    return false;
  }

  temporary_directory directory;
};
TAMIS_CONFORMANCE_CASES(mapped, named(all_cases(), "added_", false));

TEST_P(mapped, answers_as_a_loaded_one) {
  any_filter f = make(large);
  const std::vector<digest> in = insert_all(f, keys(large / 2));
  f.save_file(path()).value();
  const auto opened = open();
  ASSERT_TRUE(opened.ok()) << opened.message();
  const any_filter& m = opened->filter();
  EXPECT_TRUE(may_contain_all(m, in));
  EXPECT_EQ(m.keys(), f.keys());
  EXPECT_EQ(m.expected_fpr(), f.expected_fpr());
  EXPECT_EQ(m.bits().fast, f.bits().fast);
  for (const digest d : strangers(5000)) ASSERT_EQ(m.may_contain(d), f.may_contain(d));
  EXPECT_EQ(m.save_bytes(), f.save_bytes());
}

TEST_P(mapped, can_be_changed_and_the_file_stays) {
  any_filter f = make(large);
  insert_all(f, keys(large / 2));
  f.save_file(path()).value();
  const byte_vector before = f.save_bytes();
  {
    mapped_filter m = open().value();
    insert_all(m.filter(), keys(large / 4, large / 2));
    insert_all(f, keys(large / 4, large / 2));
    if (can().erase) {
      m.filter().erase_many(keys(1000));
      f.erase_many(keys(1000));
    }
    EXPECT_EQ(m.filter().save_bytes(), f.save_bytes());
    EXPECT_TRUE(m.verify().ok());  // of the file, whatever has changed in memory
    any_filter copy = m.filter();
    any_filter moved = std::move(m.filter());
    m.filter() = make(10);  // gives its tables back
    EXPECT_EQ(copy.save_bytes(), f.save_bytes());
    EXPECT_EQ(moved.save_bytes(), f.save_bytes());
  }
  EXPECT_EQ(load_file(path(), {std::nullopt, &known()}).value().save_bytes(), before);
}

TEST_P(mapped, says_what_was_verified) {
  any_filter f = make(large);
  insert_all(f, keys(large / 2));
  f.save_file(path()).value();
  mapped_filter m = open().value();
  EXPECT_EQ(m.is_verified(), !opens_unread());
  ASSERT_TRUE(m.verify().ok());
  EXPECT_TRUE(m.is_verified());
}

TEST_P(mapped, small_files_are_verified_at_once) {
  tiny().save_file(path()).value();
  const mapped_filter m = open().value();
  EXPECT_TRUE(m.is_verified());
  EXPECT_EQ(m.filter().save_bytes(), tiny().save_bytes());
}

// Every flipped bit of a small file, and some of a large one: found at opening or, in tables that need no check, by verify().
TEST_P(mapped, damage_is_found) {
  const byte_vector small = tiny().save_bytes();
  for (std::size_t bit = 0; bit < small.size() * 8; bit += 7) {
    write(with_flipped_bit(small, bit));
    ASSERT_TRUE(refused(open(), path())) << bit;
  }
  any_filter f = make(large);
  insert_all(f, keys(large / 2));
  const byte_vector bytes = f.save_bytes();
  random_source draw(31);
  for (int i = 0; i < 20; ++i) {
    write(with_flipped_bit(bytes, draw.below(bytes.size() * 8)));
    auto m = open();
    if (!m) continue;
    ASSERT_TRUE(opens_unread());
    ASSERT_FALSE(m->is_verified());
    ASSERT_TRUE(refused(m->verify(), path()));
    ASSERT_FALSE(m->is_verified());
  }
  for (const std::size_t size : {0ul, 1ul, 42ul, 43ul, 128ul, bytes.size() / 2, bytes.size() - 1}) {
    write(byte_vector(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)));
    ASSERT_TRUE(refused(open(), path())) << size;
  }
}

// Whatever bytes the table has, with checksums of other ones: every operation stays inside it and ends. (The sanitizers see
// more of that than this test.)
TEST_P(mapped, any_table_is_safe_where_it_is_not_read) {
  if (!opens_unread()) GTEST_SKIP() << "its tables are verified first";
  const any_filter f = make(large);
  const byte_vector bytes = f.save_bytes();
  const frame_layout at(bytes);
  random_source draw(77);
  for (int i = 0; i < 4; ++i) {
    byte_vector changed = bytes;
    // Not the first block, which has the fields, nor the last two, which the end of the table and a list of mistakes lie in.
    for (std::size_t b = at.payload + at.block_bytes; b < at.payload + (at.blocks - 2) * at.block_bytes; ++b) {
      changed[b] = i == 0 ? std::byte{0xff} : static_cast<std::byte>(draw());
    }
    write(changed);
    mapped_filter m = open().value();
    any_filter& g = m.filter();
    count_positives(g, strangers(20000));
    for (const digest d : strangers(5000)) static_cast<void>(g.may_contain(d));
    const std::vector<digest> added = insert_all(g, keys(20000));
    ASSERT_TRUE(may_contain_all(g, added));
    if (can().count) {
      for (const digest d : added) ASSERT_GE(g.count(d).value(), 1u);
    }
    if (can().erase) g.erase_many(strangers(20000));
    const double rate = g.expected_fpr();
    ASSERT_TRUE(rate >= 0.0 && rate <= 1.0);
    ASSERT_FALSE(any_filter(g).save_bytes().empty());
    ASSERT_TRUE(refused(m.verify(), "block 1 of"));
  }
}

// The documented end of who shortens a mapped file.
TEST_P(mapped, file_that_shrinks_ends_the_process) {
  if (id() != "bloom") GTEST_SKIP() << "once is enough";
  any_filter f = make(large);
  insert_all(f, keys(large / 2));
  f.save_file(path()).value();
  EXPECT_EXIT(
      {
        const mapped_filter m = open().value();
        std::filesystem::resize_file(path(), 4096);
        count_positives(m.filter(), strangers(1000));
      },
      ::testing::KilledBySignal(SIGBUS), "");
}

// Replacing it whole is fine, and so is removing it.
TEST_P(mapped, file_may_be_replaced) {
  any_filter f = make(large);
  const std::vector<digest> in = insert_all(f, keys(large / 2));
  f.save_file(path()).value();
  mapped_filter m = open().value();
  make(10).save_file(path()).value();
  EXPECT_TRUE(may_contain_all(m.filter(), in));
  std::filesystem::remove(path());
  EXPECT_TRUE(m.verify().ok());
  EXPECT_TRUE(refused(open(), "cannot open"));
}

}  // namespace
}  // namespace tamis::test
