// Erasing takes out one copy of one key; counting never counts too little.

#include "tests/conformance/cases.hpp"
#include "tests/support/remote.hpp"

namespace tamis::test {

using namespace detail;

namespace {

TAMIS_CONFORMANCE(erasing, cases_that_can(&capabilities::erase));
TAMIS_CONFORMANCE(counts, cases_that_can(&capabilities::count));

TEST_P(erasing, keeps_every_other_key) {
  any_filter f = make_full(2000);
  const std::vector<digest> gone = keys(1000);
  const std::vector<digest> kept = keys(1000, 1000);
  for (const digest d : gone) ASSERT_EQ(f.erase(d), erase_result::erased);
  EXPECT_EQ(f.keys(), kept.size());
  EXPECT_TRUE(may_contain_all(f, kept));
  // What was erased is as strange as any other key now.
  EXPECT_TRUE(at_most_by_chance(count_positives(f, gone), gone.size(), f.expected_fpr()));
}

TEST_P(erasing, everything_leaves_an_empty_filter) {
  any_filter f = make_full(2000);
  std::vector<digest> all = keys(2000);
  ASSERT_EQ(f.erase_many(all).value(), all.size());
  EXPECT_EQ(f.keys(), 0u);
  EXPECT_LE(f.expected_fpr(), 1e-6);  // nothing has overflowed at this load, so nothing is left
  EXPECT_EQ(count_positives(f, all), 0u);
}

TEST_P(erasing, goes_on_for_ever) {
  constexpr std::size_t window = 300;
  any_filter f = make(window + window / 4);
  const std::vector<digest> all = keys(20000);
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(f.insert(all[i]), insert_result::inserted) << "key " << i;
    if (i >= window) {
      ASSERT_EQ(f.erase(all[i - window]), erase_result::erased) << "key " << i - window;
    }
    if (i % 1000 == 999) {
      ASSERT_TRUE(may_contain_all(f, std::span(all).subspan(i + 1 - window, window)));
    }
  }
  EXPECT_EQ(f.keys(), window);
}

TEST_P(erasing, takes_one_copy) {
  any_filter f = make(100);
  const digest twice = keys(1)[0];
  ASSERT_EQ(f.insert(twice), insert_result::inserted);
  ASSERT_EQ(f.insert(twice), insert_result::inserted);
  EXPECT_EQ(f.erase(twice), erase_result::erased);
  EXPECT_TRUE(f.may_contain(twice));
  EXPECT_EQ(f.erase(twice), erase_result::erased);
  EXPECT_FALSE(f.may_contain(twice));
}

// Inserting is physical, whatever the filter said before: as often as a key went in, it has to be erased.
TEST_P(erasing, every_copy_that_went_in) {
  any_filter f = make(200);
  const digest d = keys(1)[0];
  for (const bool in_a_batch : {false, true}) {
    std::vector<digest> copies(100, d);
    const std::size_t in = in_a_batch ? f.insert_many(copies) : insert_all(f, copies).size();
    ASSERT_GE(in, 2u);
    EXPECT_EQ(f.keys(), in);
    for (std::size_t left = in; left > 0; --left) {
      ASSERT_TRUE(f.may_contain(d)) << left << " of " << in;
      ASSERT_EQ(f.erase(d), erase_result::erased);
    }
    EXPECT_EQ(f.keys(), 0u);
  }
}

// The same for keys that only seemed to be in.
TEST_P(erasing, keys_that_seemed_to_be_in_stay) {
  any_filter f = make(2000, 0.1);
  const std::vector<digest> first = insert_all(f, keys(900));
  std::vector<digest> seemed = strangers(6000);
  std::erase_if(seemed, [&f](digest d) { return !f.may_contain(d); });
  ASSERT_GT(seemed.size(), 20u);
  const std::vector<digest> second = insert_all(f, seemed);
  EXPECT_EQ(f.keys(), first.size() + second.size());
  for (const digest d : first) ASSERT_EQ(f.erase(d), erase_result::erased);
  EXPECT_TRUE(may_contain_all(f, second));
  EXPECT_EQ(f.keys(), second.size());
}

TEST_P(erasing, absent_key_changes_nothing) {
  any_filter f = make_full(500);
  const byte_vector before = f.save_bytes();
  for (const digest d : strangers(1000)) {
    if (!f.may_contain(d)) {
      ASSERT_EQ(f.erase(d), erase_result::absent);
    }
  }
  EXPECT_TRUE(unchanged(f, before));
}

TEST_P(erasing, extreme_digests) {
  any_filter f = make(100);
  insert_all(f, keys(50));
  insert_all(f, extreme_digests);
  for (const digest d : extreme_digests) EXPECT_EQ(f.erase(d), erase_result::erased);
  EXPECT_TRUE(may_contain_all(f, keys(50)));
}

TEST_P(erasing, makes_room_in_a_full_filter) {
  any_filter f = make(200);
  std::vector<digest> accepted = insert_all(f, keys(2000));
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(f.erase(accepted.back()), erase_result::erased);
    accepted.pop_back();
  }
  const std::vector<digest> added = insert_all(f, strangers(50));
  EXPECT_GE(added.size(), 25u);
  EXPECT_TRUE(may_contain_all(f, accepted));
  EXPECT_TRUE(may_contain_all(f, added));
}

TEST_P(erasing, works_after_loading) {
  const any_filter saved = make_full(500);
  any_filter f = load(saved.save_bytes()).value();
  for (const digest d : keys(250)) ASSERT_EQ(f.erase(d), erase_result::erased);
  EXPECT_TRUE(may_contain_all(f, keys(250, 250)));
}

TEST_P(counts, never_too_little) {
  constexpr std::uint64_t most = 6;
  any_filter f = make(2000);
  multiset_remote truth;
  const std::vector<digest> distinct = keys(300);
  for (std::size_t i = 0; i < distinct.size(); ++i) {
    for (std::uint64_t copy = 0; copy < 1 + i % most; ++copy) {
      if (f.insert(distinct[i]) == insert_result::inserted) truth.insert(distinct[i]);
    }
  }
  std::uint64_t exact = 0;
  for (const digest d : distinct) {
    ASSERT_GE(f.count(d).value(), truth.count(d));
    exact += f.count(d).value() == truth.count(d);
  }
  // A count is too high only where the key collides, which is a false positive without its own copies.
  EXPECT_TRUE(at_least_by_chance(exact, distinct.size(), 1 - f.expected_fpr()));
  for (const digest d : strangers(1000)) EXPECT_EQ(f.count(d).value() != 0, f.may_contain(d));
}

}  // namespace
}  // namespace tamis::test
