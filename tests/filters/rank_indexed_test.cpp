#include "tamis/filters/rank_indexed.hpp"

#include "tests/filters/fingerprint_checks.hpp"

namespace tamis::test {

using namespace detail;

namespace {

TEST(rank_indexed, every_width_agrees_with_a_multiset_and_refuses_without_a_trace) {
  for (unsigned width = 4; width <= 32; ++width) {
    SCOPED_TRACE(width);
    check_against_multiset<rank_indexed>(300, width, 4000);
    check_refusals_change_nothing<rank_indexed>(200, width, 20);
  }
}

TEST(rank_indexed, holds_its_capacity_at_every_size) {
  for (std::uint64_t capacity = 1; capacity <= 400; capacity += capacity < 130 ? 1 : 13) {
    check_holds_capacity<rank_indexed>(capacity, 12, 2);
  }
  for (const std::uint64_t capacity : {1000u, 10007u, 100003u}) check_holds_capacity<rank_indexed>(capacity, 12, 3);
}

TEST(rank_indexed, states_its_rate) {
  for (const unsigned width : {4u, 7u, 10u}) check_rate<rank_indexed>(width);
}

// Table III: log2(0.9 / eps) bits.
TEST(rank_indexed, fingerprints_are_as_wide_as_the_paper_says) {
  const std::pair<double, unsigned> table[] = {{1e-2, 7}, {1e-3, 10}, {1e-4, 14}, {1e-5, 17}, {1e-6, 20}};
  for (const auto& [fpr, width] : table) {
    EXPECT_EQ(rank_indexed::create({.capacity = 240000, .fpr = fpr}).value().settings()[0].second, std::to_string(width));
  }
}

// All keys in one bucket: the block fills level by level, then the shared room, then keys are refused; and all the way back.
TEST(rank_indexed, one_bucket_fills_its_block_and_the_shared_room) {
  rank_indexed f = make_of_width<rank_indexed>(500, 16);
  const rank_indexed fresh = f;
  std::vector<digest> in;
  random_source random(fingerprint_seed);
  while (true) {
    const digest d{0, random()};
    if (f.insert(d) == insert_result::full) break;
    in.push_back(d);
    ASSERT_TRUE(f.may_contain(d));
  }
  EXPECT_GT(in.size(), 64u);
  ASSERT_TRUE(is_valid(f));
  for (const digest d : in) ASSERT_TRUE(f.may_contain(d));
  while (!in.empty()) {
    const std::size_t i = random.below(in.size());
    ASSERT_EQ(f.erase(in[i]), erase_result::erased);
    in[i] = in.back();
    in.pop_back();
    if (in.size() % 16 == 0) {
      ASSERT_TRUE(is_valid(f));
      for (const digest d : in) ASSERT_TRUE(f.may_contain(d));
    }
  }
  EXPECT_EQ(f, fresh);
}

// Fields: capacity, keys, blocks (8 bytes each), keys per block and per group (4 each), then index, fingerprints, spilled.
TEST(rank_indexed, refuses_damaged_files) {
  rank_indexed f = make_of_width<rank_indexed>(100, 12);
  for (const digest d : random_digests(60, fingerprint_seed)) ASSERT_EQ(f.insert(d), insert_result::inserted);
  check_round_trip(f);
  check_refused(f, 8, std::uint64_t{59});
  check_refused(f, 8, std::uint64_t{61});
  for (const std::uint64_t blocks : {0u, 1u, 3u}) check_refused(f, 16, blocks);
  for (const std::uint32_t wrong : {0u, 1u, 10000u}) {
    check_refused(f, 24, wrong);
    check_refused(f, 28, wrong);
  }
  check_refused(f, 48, std::uint64_t{0});                         // the first level of block 0 says empty
  check_refused(f, saved(f).size() - 8, std::uint64_t{1} << 48);  // spilled from a block that is not full
  check_refused(f, saved(f).size() - 8, std::uint64_t{7});        // not an entry
}

}  // namespace
}  // namespace tamis::test
