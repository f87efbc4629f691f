// Folding: a Bloom filter that was made too large becomes smaller, keeps every key and reaches no more than the rate asked for.

#include "tests/conformance/cases.hpp"

namespace tamis::test {

using namespace detail;

namespace {

TAMIS_CONFORMANCE(folded, named(all_cases(), "added_", false));

bool can_fold(const any_filter& f) { return f.info().id == "bloom" || f.info().id == "bloom1"; }

// 2^24 bits: as even as can be.
TEST_P(folded, keeps_all_keys_and_the_rate) {
  any_filter f = make(1'000'000, 0.01);
  if (can_fold(f)) f = create({.capacity = 1 << 20, .bits_per_key = 16}).value();
  const std::vector<digest> in = insert_all(f, keys(50'000));
  const byte_vector before = f.save_bytes();
  const std::uint64_t bits = f.bits().fast;
  const auto factor = f.fold(0.01);
  if (!can_fold(f)) {
    EXPECT_TRUE(refused(factor, "cannot be folded"));
    EXPECT_EQ(f.save_bytes(), before);
    return;
  }
  ASSERT_TRUE(factor.ok()) << factor.message();
  EXPECT_GE(*factor, 2u);
  EXPECT_TRUE(may_contain_all(f, in));
  EXPECT_EQ(f.keys(), in.size());
  EXPECT_GE(f.capacity(), f.keys());
  EXPECT_LE(f.expected_fpr(), 0.01);
  EXPECT_TRUE(GetParam().has_list() || f.bits().fast <= bits / *factor + 64);
  const std::vector<digest> asked = strangers(200'000);
  EXPECT_TRUE(at_most_by_chance(count_positives(f, asked), asked.size(), 0.01));
  EXPECT_EQ(load(f.save_bytes()).value().save_bytes(), f.save_bytes());
  EXPECT_EQ(f.fold(1e-12).value(), 1u);  // it has no such rate, however large it stays
  EXPECT_TRUE(refused(f.fold(0.0), "between 0 and 1"));
  EXPECT_TRUE(refused(f.fold(1.0), "between 0 and 1"));
}

// Of an empty filter every size has the rate; what is left is the factor that no small number divides.
TEST_P(folded, empty_filter_becomes_as_small_as_it_can) {
  any_filter f = make(100'000, 0.01);
  if (!can_fold(f)) GTEST_SKIP() << "cannot be folded";
  const std::uint64_t bits = f.bits().fast;
  const std::uint64_t factor = f.fold(0.5).value();
  EXPECT_TRUE(GetParam().has_list() || f.bits().fast <= bits / factor + 64);
  EXPECT_EQ(f.insert(keys(1)[0]), insert_result::inserted);
  EXPECT_TRUE(f.may_contain(keys(1)[0]));
}

}  // namespace
}  // namespace tamis::test
