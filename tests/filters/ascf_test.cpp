#include "tamis/filters/ascf.hpp"

#include "tests/filters/cuckoo_checks.hpp"

namespace tamis::test {

using namespace detail;

namespace {

TEST(ascf, every_width_agrees_with_a_multiset_and_refuses_without_a_trace) { check_every_width<ascf>(); }

TEST(ascf, models_of_every_width_answer_like_the_filter) { check_models_of_every_width<ascf>(); }

TEST(ascf, small_tables_hold_their_capacity) { check_small_sizes<ascf>(); }

TEST(ascf, fills_to_95_percent) { check_load<ascf>(); }

TEST(ascf, fills_to_95_percent_in_99_of_100_seeds) { check_load_of_many_seeds<ascf>(); }

TEST(ascf, takes_eight_copies_of_a_key) { check_copies<ascf>(); }

TEST(ascf, states_its_rate) {
  for (const unsigned width : {5u, 8u, 11u}) check_rate<ascf>(width);
}

TEST(ascf, refuses_damaged_files) { check_damage<ascf>(8); }

// Figure 2 and 3 of the paper: block 0 to block 1 adds, the way back subtracts, for any number of buckets.
TEST(ascf, the_other_bucket_of_the_other_bucket_is_the_first) {
  random_source random(fingerprint_seed);
  for (std::uint64_t half = 1; half < std::uint64_t{1} << 40; half = half * 3 / 2 + 1) {
    const additive_addressing addressing(2 * half);
    ASSERT_TRUE(addressing.fits(2 * half).ok());
    for (int i = 0; i < 100; ++i) {
      const std::uint64_t first = addressing.first(random());
      const std::uint64_t fingerprint = 1 + random.below(0xffffffffu);
      const std::uint64_t second = addressing.second(first, fingerprint);
      ASSERT_TRUE(first < half && second >= half && second < 2 * half);
      ASSERT_EQ(addressing.alternate(first, fingerprint), second);
      ASSERT_EQ(addressing.alternate(second, fingerprint), first);
    }
  }
}

// The promise: within 2 % of log2(8 / eps) / 0.95 bits per key for every number of keys, where the rate is 8 / 2^f.
TEST(ascf, takes_the_same_bits_per_key_at_every_size) {
  for (const unsigned width : {8u, 12u, 16u, 23u}) {
    const double ideal = width / 0.95;
    for (std::uint64_t n = 1000; n <= 10000000; n += 1 + n / 50) {
      const ascf f = ascf::create({.capacity = n, .fpr = 8.0 / static_cast<double>(std::uint64_t{1} << width)}).value();
      EXPECT_EQ(f.settings()[0].second, std::to_string(width));
      EXPECT_LE(static_cast<double>(f.bits().fast) / static_cast<double>(n), ideal * 1.02) << n;
    }
  }
}

// Table III.
TEST(ascf, fingerprints_are_as_wide_as_the_paper_says) {
  const std::pair<double, std::string> table[] = {{1e-2, "10"}, {1e-3, "13"}, {1e-4, "17"}, {1e-5, "20"}, {1e-6, "23"}};
  for (const auto& [fpr, width] : table) {
    EXPECT_EQ(ascf::create({.capacity = 1000, .fpr = fpr}).value().settings()[0].second, width);
  }
}

TEST(ascf, bits_per_key_are_a_limit_that_is_used) {
  for (const double bits : {5.0, 8.0, 12.0, 12.3, 20.0, 33.0}) {
    const ascf f = ascf::create({.capacity = 100000, .bits_per_key = bits}).value();
    const double used = static_cast<double>(f.bits().fast) / 100000;
    EXPECT_LE(used, bits * 1.001);
    EXPECT_GE(used, bits * 0.998);
  }
  EXPECT_LT(ascf::create({.capacity = 100000, .bits_per_key = 64.0}).value().bits().fast, 3400000u);  // 32 / 0.95 do
  EXPECT_FALSE(ascf::create({.capacity = 100000, .bits_per_key = 4.0}).ok());
}

TEST(ascf, wishes_that_contradict_are_refused_by_name) {
  const auto narrow = ascf::create({.capacity = 1000, .fpr = 0.001, .options = {{"fingerprint", "8"}}});
  ASSERT_FALSE(narrow.ok());
  EXPECT_NE(narrow.message().find("13"), std::string::npos) << narrow.message();
  const auto tight = ascf::create({.capacity = 1000, .bits_per_key = 12.0, .options = {{"fingerprint", "12"}}});
  ASSERT_FALSE(tight.ok());
  EXPECT_NE(tight.message().find("bits per key 12"), std::string::npos) << tight.message();
  EXPECT_FALSE(ascf::create({.capacity = 1000, .fpr = 1e-12}).ok());
}

}  // namespace
}  // namespace tamis::test
