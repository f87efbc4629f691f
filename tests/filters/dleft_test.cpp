#include "tamis/filters/dleft.hpp"

#include "tests/filters/fingerprint_checks.hpp"

namespace tamis::test {
namespace {

TEST(dleft, every_width_agrees_with_a_multiset_and_refuses_without_a_trace) {
  for (unsigned width = 6; width <= 30; ++width) {
    SCOPED_TRACE(width);
    check_against_multiset<dleft>(300, width, 4000);
    check_refusals_change_nothing<dleft>(200, width, 20);
  }
}

TEST(dleft, holds_its_capacity_at_every_size) {
  for (std::uint64_t capacity = 1; capacity <= 200; ++capacity) check_holds_capacity<dleft>(capacity, 14, 2);
  for (const std::uint64_t capacity : {1000u, 10007u, 100003u}) check_holds_capacity<dleft>(capacity, 14, 4);
}

TEST(dleft, states_its_rate) {
  for (const unsigned width : {6u, 9u, 12u}) check_rate<dleft>(width);
}

// Tables III and IV: remainders of log2(24 / eps) bits, (2 + f) / 0.75 bits per key.
TEST(dleft, is_as_large_as_the_paper_says) {
  const std::pair<double, unsigned> table[] = {{1e-2, 12}, {1e-3, 15}, {1e-4, 18}, {1e-5, 22}, {1e-6, 25}};
  for (const auto& [fpr, width] : table) {
    const dleft f = dleft::create({.capacity = 240000, .fpr = fpr}).value();
    EXPECT_EQ(f.settings()[0].second, std::to_string(width));
    EXPECT_NEAR(static_cast<double>(f.bits().fast) / 240000, (2 + width) / 0.75, 0.01);
  }
}

// A counter counts to three; the fourth copy takes another cell. 32 cells of three each are all there are.
TEST(dleft, copies_share_cells_until_all_of_them_are_full) {
  dleft f = make_of_width<dleft>(1000, 14);
  const digest repeated = random_digests(1, fingerprint_seed)[0];
  for (std::uint64_t copy = 1; copy <= 96; ++copy) {
    ASSERT_EQ(f.insert(repeated), insert_result::inserted);
    ASSERT_EQ(f.count(repeated), copy);
  }
  const dleft before = f;
  EXPECT_EQ(f.insert(repeated), insert_result::full);
  EXPECT_EQ(f, before);
  for (std::uint64_t copy = 96; copy != 0; --copy) {
    ASSERT_EQ(f.count(repeated), copy);
    ASSERT_EQ(f.erase(repeated), erase_result::erased);
  }
  EXPECT_EQ(f.erase(repeated), erase_result::absent);
}

// The permutations: erasing keys one by one never takes another key's cell, even where remainders are short and collide often.
TEST(dleft, a_delete_never_hits_another_key) {
  dleft f = make_of_width<dleft>(20000, 6);
  std::vector<digest> in = random_digests(20000, fingerprint_seed);
  for (const digest d : in) ASSERT_EQ(f.insert(d), insert_result::inserted);
  while (in.size() > 10000) {
    ASSERT_EQ(f.erase(in.back()), erase_result::erased);
    in.pop_back();
  }
  for (const digest d : in) ASSERT_TRUE(f.may_contain(d));
  for (const digest d : in) ASSERT_EQ(f.erase(d), erase_result::erased);
  EXPECT_EQ(f.expected_fpr(), 0.0);
}

// Fields: capacity, keys, cells, buckets (8 bytes each), then the table: buckets 8, width 4, words 8 and themselves.
TEST(dleft, refuses_damaged_files) {
  dleft f = make_of_width<dleft>(100, 12);
  for (const digest d : random_digests(60, fingerprint_seed)) ASSERT_EQ(f.insert(d), insert_result::inserted);
  check_round_trip(f);
  for (const std::size_t field : {8u, 16u}) {
    check_refused(f, field, std::uint64_t{59});
    check_refused(f, field, std::uint64_t{61});
  }
  check_refused(f, 24, std::uint64_t{0});
  check_refused(f, 24, std::uint64_t{6});
  check_refused(f, 32, std::uint64_t{48});
  for (const std::uint32_t wrong : {0u, 6u, 7u, 13u, 15u, 33u}) check_refused(f, 40, wrong);
  // A remainder without a counter, a counter without a remainder.
  check_refused(f, 52, std::uint64_t{4});
  check_refused(f, 52, std::uint64_t{1});
}

}  // namespace
}  // namespace tamis::test
