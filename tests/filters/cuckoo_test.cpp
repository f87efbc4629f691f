#include "tamis/filters/cuckoo.hpp"

#include "tests/filters/cuckoo_checks.hpp"

namespace tamis::test {

using namespace detail;

namespace {

TEST(cuckoo, every_width_agrees_with_a_multiset_and_refuses_without_a_trace) { check_every_width<cuckoo>(); }

TEST(cuckoo, models_of_every_width_answer_like_the_filter) { check_models_of_every_width<cuckoo>(); }

TEST(cuckoo, small_tables_hold_their_capacity) { check_small_sizes<cuckoo>(); }

TEST(cuckoo, fills_to_95_percent) { check_load<cuckoo>(); }

TEST(cuckoo, fills_to_95_percent_in_99_of_100_seeds) { check_load_of_many_seeds<cuckoo>(); }

TEST(cuckoo, takes_eight_copies_of_a_key) { check_copies<cuckoo>(); }

TEST(cuckoo, states_its_rate) {
  for (const unsigned width : {5u, 8u, 11u}) check_rate<cuckoo>(width);
}

TEST(cuckoo, refuses_damaged_files) { check_damage<cuckoo>(8); }

TEST(cuckoo, has_a_power_of_two_of_buckets) {
  for (std::uint64_t capacity = 1; capacity < 2000000; capacity = capacity * 3 / 2 + 1) {
    const cuckoo f = make_of_width<cuckoo>(capacity, 8);
    EXPECT_TRUE(std::has_single_bit(f.slots())) << capacity;
    EXPECT_GE(f.slots(), capacity);
  }
  EXPECT_EQ(make_of_width<cuckoo>(996147, 12).slots(), 1u << 20);  // 0.95 * 2^20
  EXPECT_EQ(make_of_width<cuckoo>(996148, 12).slots(), 1u << 21);
}

TEST(cuckoo, the_other_bucket_of_the_other_bucket_is_the_first) {
  random_source random(fingerprint_seed);
  for (std::uint64_t buckets = 2; buckets <= std::uint64_t{1} << 40; buckets *= 2) {
    const xor_addressing addressing(buckets);
    ASSERT_TRUE(addressing.fits(buckets).ok());
    for (int i = 0; i < 100; ++i) {
      const std::uint64_t first = addressing.first(random());
      const std::uint64_t fingerprint = 1 + random.below(0xffffffffu);
      const std::uint64_t second = addressing.second(first, fingerprint);
      ASSERT_TRUE(first < buckets && second < buckets && first != second);
      ASSERT_EQ(addressing.alternate(second, fingerprint), first);
      ASSERT_EQ(addressing.alternate(first, fingerprint), second);
    }
  }
}

}  // namespace
}  // namespace tamis::test
