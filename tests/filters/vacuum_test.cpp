#include "tamis/filters/vacuum.hpp"

#include "tests/filters/cuckoo_checks.hpp"

namespace tamis::test {

using namespace detail;

namespace {

TEST(vacuum, every_width_agrees_with_a_multiset_and_refuses_without_a_trace) { check_every_width<vacuum>(); }

TEST(vacuum, models_of_every_width_answer_like_the_filter) { check_models_of_every_width<vacuum>(); }

TEST(vacuum, small_tables_hold_their_capacity) { check_small_sizes<vacuum>(); }

TEST(vacuum, fills_to_95_percent) { check_load<vacuum>(); }

TEST(vacuum, fills_to_95_percent_in_99_of_100_seeds) { check_load_of_many_seeds<vacuum>(); }

TEST(vacuum, takes_eight_copies_of_a_key) { check_copies<vacuum>(); }

TEST(vacuum, states_its_rate) {
  for (const unsigned width : {5u, 8u, 11u}) check_rate<vacuum>(width);
}

TEST(vacuum, refuses_damaged_files) { check_damage<vacuum>(40); }

TEST(vacuum, the_other_bucket_of_the_other_bucket_is_the_first) {
  random_source random(fingerprint_seed);
  for (std::uint64_t wanted = 1; wanted < std::uint64_t{1} << 32; wanted = wanted * 3 / 2 + 1) {
    const std::uint64_t buckets = chunk_addressing::allowed(wanted);
    ASSERT_GE(buckets, wanted);
    const chunk_addressing addressing(buckets, 12);
    ASSERT_TRUE(addressing.fits(buckets).ok()) << addressing.fits(buckets).message();
    for (int i = 0; i < 100; ++i) {
      const std::uint64_t first = addressing.first(random());
      const std::uint64_t fingerprint = 1 + random.below(0xffffffffu);
      const std::uint64_t second = addressing.second(first, fingerprint);
      ASSERT_TRUE(first < buckets && second < buckets && first != second);
      ASSERT_EQ(addressing.alternate(second, fingerprint), first);
    }
  }
}

TEST(vacuum, chunks_are_ordered_and_a_large_table_is_nearly_as_small_as_it_could_be) {
  for (std::uint64_t buckets = 1 << 16; buckets < std::uint64_t{1} << 30; buckets = buckets * 5 / 4) {
    for (const unsigned width : {4u, 12u}) {
      for (unsigned i = 0; i < 3; ++i) EXPECT_GE(vacuum_chunk(buckets, width, i), vacuum_chunk(buckets, width, i + 1));
    }
    EXPECT_LE(static_cast<double>(chunk_addressing::allowed(buckets)), 1.26 * static_cast<double>(buckets));
  }
  EXPECT_LE(static_cast<double>(chunk_addressing::allowed(4194305)), 1.01 * 4194305);
}

TEST(vacuum, fills_a_table_of_chunks) {
  for (const unsigned width : {8u, 12u}) check_holds_capacity<vacuum>(500000, width, 2);
}

}  // namespace
}  // namespace tamis::test
