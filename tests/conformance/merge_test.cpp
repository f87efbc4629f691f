// Merging and expanding lose no key; what does not fit together is refused with nothing changed.

#include "tests/conformance/cases.hpp"
#include "tests/support/remote.hpp"

namespace tamis::test {

using namespace detail;

namespace {

TAMIS_CONFORMANCE(merging, cases_that_can(&capabilities::merge));
TAMIS_CONFORMANCE(merge_refused, all_cases());
TAMIS_CONFORMANCE(merging_impossible, cases_that_can(&capabilities::merge, all_cases(), false));
TAMIS_CONFORMANCE(expanding, cases_that_can(&capabilities::expand));

TEST_P(merging, has_the_keys_of_both) {
  any_filter f = make(1000);
  any_filter g = make(1000);
  insert_all(f, keys(400));
  insert_all(g, keys(400, 300));  // 100 keys are in both
  const byte_vector other = g.save_bytes();
  const status merged = f.merge(g);
  ASSERT_TRUE(merged.ok()) << merged.message();
  EXPECT_TRUE(may_contain_all(f, keys(700)));
  EXPECT_EQ(f.keys(), 800u);
  EXPECT_TRUE(unchanged(g, other));
  const std::vector<digest> asked = strangers(100000);
  EXPECT_TRUE(at_most_by_chance(count_positives(f, asked), asked.size(), f.expected_fpr()));
}

TEST_P(merging, with_an_empty_filter_changes_no_answer) {
  any_filter f = make_full(1000);
  ASSERT_TRUE(f.merge(make(1000)).ok());
  any_filter g = make(1000);
  ASSERT_TRUE(g.merge(f).ok());
  EXPECT_TRUE(may_contain_all(f, keys(1000)));
  EXPECT_TRUE(may_contain_all(g, keys(1000)));
  const std::vector<digest> asked = strangers(20000);
  EXPECT_EQ(count_positives(f, asked), count_positives(make_full(1000), asked));
}

// After both have adapted, which some filters cannot merge without a remote.
TEST_P(merging, with_a_remote_has_the_keys_of_both) {
  any_filter f = make(1000, 0.05);
  any_filter g = make(1000, 0.05);
  multiset_remote truth;
  for (const digest d : insert_all(f, keys(400))) truth.insert(d);
  for (const digest d : insert_all(g, keys(400, 400))) truth.insert(d);
  for (const digest d : strangers(5000)) {
    for (any_filter* told : {&f, &g}) {
      if (!can().adapt || !told->may_contain(d)) continue;
      const auto from = told == &f ? keys(400) : keys(400, 400);
      told->adapt(d, remote_ref(multiset_remote(from)));
    }
  }
  const byte_vector other = g.save_bytes();
  const status merged = f.merge(g, remote_ref(truth));
  ASSERT_TRUE(merged.ok()) << merged.message();
  EXPECT_TRUE(may_contain_all(f, keys(800)));
  EXPECT_EQ(f.keys(), 800u);
  EXPECT_TRUE(unchanged(g, other));
}

TEST_P(merging, goes_on_with_inserting) {
  any_filter f = make(1000);
  any_filter g = make(1000);
  insert_all(f, keys(300));
  insert_all(g, keys(300, 300));
  ASSERT_TRUE(f.merge(g).ok());
  for (const digest d : keys(300, 600)) ASSERT_EQ(f.insert(d), insert_result::inserted);
  EXPECT_TRUE(may_contain_all(f, keys(900)));
}

// Whatever the answer is, it is consistent: all keys of both, or an error and no change.
void expect_all_or_nothing(any_filter& f, const any_filter& g, std::span<const digest> in_g) {
  const byte_vector before = f.save_bytes();
  const status merged = f.merge(g);
  if (merged.ok()) {
    EXPECT_TRUE(may_contain_all(f, in_g));
  } else {
    EXPECT_TRUE(refused(merged));
    EXPECT_TRUE(unchanged(f, before));
  }
}

TEST_P(merging, of_other_shapes_is_all_or_nothing) {
  any_filter f = make_full(500);
  for (const std::uint64_t capacity : {100u, 499u, 501u, 1000u, 5000u}) {
    for (const double fpr : {0.2, default_fpr, 0.001}) {
      SCOPED_TRACE(capacity);
      any_filter g = make(capacity, fpr);
      expect_all_or_nothing(f, g, insert_all(g, strangers(100)));
      EXPECT_TRUE(may_contain_all(f, keys(500)));
    }
  }
}

TEST_P(merging, of_full_filters_is_all_or_nothing) {
  any_filter f = make(200);
  any_filter g = make(200);
  const std::vector<digest> in_f = insert_all(f, keys(800));
  expect_all_or_nothing(f, g, insert_all(g, strangers(800)));
  EXPECT_TRUE(may_contain_all(f, in_f));
}

TEST_P(merging, with_itself_loses_nothing) {
  any_filter f = make(1000);
  insert_all(f, keys(400));
  expect_all_or_nothing(f, f, keys(400));
  EXPECT_TRUE(may_contain_all(f, keys(400)));
}

TEST_P(merge_refused, for_another_kind) {
  for (const conformance_case& other : all_cases()) {
    if (other.id() == id()) continue;
    any_filter f = make_full(100);
    const byte_vector before = f.save_bytes();
    const any_filter g = any_filter::create(*other.known, other.id(), {.capacity = 100, .fpr = 0.01}, test_hash()).value();
    EXPECT_TRUE(refused(f.merge(g), id()));
    EXPECT_TRUE(unchanged(f, before));
  }
}

TEST_P(merge_refused, for_another_hash) {
  any_filter f = make_full(100);
  const byte_vector before = f.save_bytes();
  for (const hasher& other : {hasher(), hasher::fast(hash_seed + 1), hasher::keyed({hash_seed, 0})}) {
    EXPECT_TRUE(refused(f.merge(make(100, default_fpr, other)), "hash"));
    EXPECT_TRUE(unchanged(f, before));
  }
}

TEST_P(merging_impossible, is_an_error) {
  any_filter f = make_full(100);
  const byte_vector before = f.save_bytes();
  EXPECT_TRUE(refused(f.merge(make(100)), id()));
  EXPECT_TRUE(unchanged(f, before));
}

TEST_P(expanding, keeps_all_keys_and_takes_more) {
  any_filter f = make(500);
  std::vector<digest> in = insert_all(f, keys(500));
  for (int round = 0; round < 4; ++round) {
    SCOPED_TRACE(round);
    const byte_vector before = f.save_bytes();
    const status expanded = f.expand();
    if (!expanded.ok()) {
      EXPECT_TRUE(refused(expanded));
      EXPECT_TRUE(unchanged(f, before));
      EXPECT_GT(round, 0) << "it has the operation, so it must be able to expand once: " << expanded.message();
      break;
    }
    EXPECT_TRUE(may_contain_all(f, in));
    EXPECT_EQ(f.keys(), in.size());
    for (const digest d : keys(in.size(), in.size())) {
      ASSERT_EQ(f.insert(d), insert_result::inserted);
      in.push_back(d);
    }
    EXPECT_TRUE(may_contain_all(f, in));
    const std::vector<digest> asked = strangers(100000);
    EXPECT_TRUE(at_most_by_chance(count_positives(f, asked), asked.size(), f.expected_fpr()));
    EXPECT_TRUE(may_contain_all(load(f.save_bytes()).value(), in));
  }
}

TEST_P(expanding, empty_filter) {
  any_filter f = make(100);
  ASSERT_TRUE(f.expand().ok());
  EXPECT_EQ(f.keys(), 0u);
  EXPECT_EQ(count_positives(f, strangers(10000)), 0u);
}

TEST_P(expanding, goes_with_erasing) {
  if (!can().erase) GTEST_SKIP() << "cannot erase";
  any_filter f = make_full(500);
  ASSERT_TRUE(f.expand().ok());
  for (const digest d : keys(250)) ASSERT_EQ(f.erase(d), erase_result::erased);
  EXPECT_TRUE(may_contain_all(f, keys(250, 250)));
}

}  // namespace
}  // namespace tamis::test
