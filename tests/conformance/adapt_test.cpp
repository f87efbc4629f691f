// A filter that learns: a false positive that it was told of is gone, and no key is lost by that.

#include "tests/conformance/cases.hpp"
#include "tests/support/remote.hpp"

namespace tamis::test {

using namespace detail;

namespace {

class adapting : public conformance {
 protected:
  // A filter with many false positives, and what is really in it.
  any_filter f_ = make(2000, 0.05);
  multiset_remote truth_;

  void SetUp() override { insert_both(keys(1800)); }

  void insert_both(std::span<const digest> digests) {
    for (const digest d : insert_all(f_, digests)) truth_.insert(d);
  }

  // Asks for all of them and reports every wrong "maybe". Answers how many were fixed.
  std::uint64_t adapt_all(std::span<const digest> asked) {
    std::uint64_t fixed = 0;
    for (const digest d : asked) {
      if (!f_.may_contain(d)) continue;
      const byte_vector before = f_.save_bytes();
      const adapt_result answer = f_.adapt(d, remote_ref(truth_));
      EXPECT_TRUE(answer == adapt_result::fixed || answer == adapt_result::unfixable);
      if (answer == adapt_result::fixed) {
        EXPECT_FALSE(f_.may_contain(d));
        ++fixed;
      } else {
        EXPECT_TRUE(unchanged(f_, before));
      }
    }
    return fixed;
  }
};
TAMIS_CONFORMANCE_CASES(adapting, cases_that_can(&capabilities::adapt));

TEST_P(adapting, fixes_most_and_loses_no_key) {
  const std::vector<digest> asked = strangers(5000);
  const std::uint64_t wrong = count_positives(f_, asked);
  ASSERT_GT(wrong, 20u);
  EXPECT_GE(adapt_all(asked), wrong / 2);
  if (f_.info().fixes_last) {
    EXPECT_LT(count_positives(f_, asked), wrong / 2);
  }
  EXPECT_TRUE(may_contain_all(f_, truth_));
}

// What was learnt is not all forgotten, even if fixing one key brings back others. A filter that has learnt nothing takes the
// keys it was told of for strangers: of the positives among as many of both each kind is half, and `told` is below the bound
// once in 1/check_fail runs only. Here that is 0.42 of about 2,000. Filters whose fixes do not last are well below it: over 40
// seeds abf has 0.32 and abf-j 0.35, with a standard deviation of 0.01.
TEST_P(adapting, knows_the_keys_it_was_told_of_from_strangers) {
  f_ = make(16000, 0.05);
  const std::vector<digest> in = insert_all(f_, keys(14400));
  const multiset_remote truth(in);
  const std::vector<digest> asked = strangers(40000);
  for (const digest d : asked) {
    if (f_.may_contain(d)) f_.adapt(d, remote_ref(truth));
  }
  const std::uint64_t told = count_positives(f_, asked);
  const std::uint64_t both = told + count_positives(f_, strangers(asked.size(), asked.size()));
  EXPECT_LT(told, binomial_lower_bound(both, 0.5, check_fail)) << "of " << both;
}

TEST_P(adapting, same_question_again_and_again) {
  const std::vector<digest> asked = strangers(50);
  for (int round = 0; round < 20; ++round) adapt_all(asked);
  EXPECT_TRUE(may_contain_all(f_, truth_));
}

TEST_P(adapting, key_that_is_in_is_a_member) {
  const byte_vector before = f_.save_bytes();
  for (const digest d : keys(100)) EXPECT_EQ(f_.adapt(d, remote_ref(truth_)), adapt_result::is_member);
  EXPECT_TRUE(unchanged(f_, before));
}

TEST_P(adapting, key_that_it_says_no_to_is_not_positive) {
  const byte_vector before = f_.save_bytes();
  for (const digest d : strangers(500)) {
    if (!f_.may_contain(d)) {
      EXPECT_EQ(f_.adapt(d, remote_ref(truth_)), adapt_result::not_positive);
    }
  }
  EXPECT_TRUE(unchanged(f_, before));
}

TEST_P(adapting, then_inserting_loses_no_key) {
  const std::vector<digest> asked = strangers(2000);
  adapt_all(asked);
  insert_both(keys(200, 1800));
  EXPECT_TRUE(may_contain_all(f_, truth_));
  // What was fixed can become a key.
  insert_both(std::span(asked).first(20));
  EXPECT_TRUE(may_contain_all(f_, truth_));
}

TEST_P(adapting, then_erasing_loses_no_other_key) {
  if (!can().erase) GTEST_SKIP() << "cannot erase";
  adapt_all(strangers(2000));
  for (const digest d : keys(900)) {
    ASSERT_EQ(f_.erase(d), erase_result::erased);
    truth_.erase_one(d);
  }
  EXPECT_TRUE(may_contain_all(f_, truth_));
  insert_both(keys(900));
  adapt_all(strangers(2000, 2000));
  EXPECT_TRUE(may_contain_all(f_, truth_));
}

TEST_P(adapting, then_expanding_loses_no_key) {
  if (!can().expand) GTEST_SKIP() << "cannot expand";
  adapt_all(strangers(2000));
  ASSERT_TRUE(f_.expand().ok());
  EXPECT_TRUE(may_contain_all(f_, truth_));
  adapt_all(strangers(2000, 2000));
  EXPECT_TRUE(may_contain_all(f_, truth_));
}

TEST_P(adapting, then_merging_loses_no_key) {
  if (!can().merge) GTEST_SKIP() << "cannot merge";
  adapt_all(strangers(2000));
  any_filter other = make(2000, 0.05);
  const std::vector<digest> more = insert_all(other, strangers(100));  // some of them were fixed above
  if (f_.merge(other).ok()) {
    for (const digest d : more) truth_.insert(d);
  }
  EXPECT_TRUE(may_contain_all(f_, truth_));
}

TEST_P(adapting, is_saved) {
  adapt_all(strangers(5000));
  any_filter loaded = load(f_.save_bytes()).value();
  const std::vector<digest> asked = strangers(20000);
  for (const digest d : asked) ASSERT_EQ(loaded.may_contain(d), f_.may_contain(d));
  EXPECT_TRUE(may_contain_all(loaded, truth_));
  f_ = std::move(loaded);
  adapt_all(asked);
  EXPECT_TRUE(may_contain_all(f_, truth_));
}

// A key that the filter already says yes to is a key of its own: what adapting changes for another one must not lose it.
TEST_P(adapting, keys_that_seemed_to_be_in_are_in) {
  std::vector<digest> seemed = strangers(3000);
  std::erase_if(seemed, [this](digest d) { return !f_.may_contain(d); });
  ASSERT_GT(seemed.size(), 20u);
  const std::uint64_t before = f_.keys();
  insert_both(seemed);
  EXPECT_EQ(f_.keys(), before + truth_.size() - 1800);
  adapt_all(strangers(5000, 3000));
  EXPECT_TRUE(may_contain_all(f_, truth_));
}

// Very many keys that share their place, and a false positive among them: what that may cost is bounded.
TEST_P(adapting, crowd_is_not_read_whole) {
  constexpr std::size_t many = 5000;
  constexpr std::uint64_t most_digests = 2200;  // a run's, twice, and a question for the digest itself
  for (const bool is_one_key : {true, false}) {
    for (const std::uint64_t high : {std::uint64_t{0}, top_bit, all_ones}) {
      SCOPED_TRACE(::testing::Message() << (is_one_key ? "one key at " : "one word, ") << std::hex << high);
      f_ = make(many + many / 4);
      const std::vector<digest> in = insert_all(f_, crowd(high, many, is_one_key));
      const multiset_remote truth(in);
      for (std::uint64_t low = 8; low < 16; ++low) {
        const byte_vector before = f_.save_bytes();
        const counting_remote remote(truth);
        const adapt_result answer = f_.adapt({high, low}, remote_ref(remote));
        ASSERT_NE(answer, adapt_result::is_member);
        ASSERT_LE(remote.digests(), most_digests);
        if (answer != adapt_result::fixed) ASSERT_TRUE(unchanged(f_, before));
      }
      const counting_remote remote(truth);
      ASSERT_EQ(f_.adapt(in.front(), remote_ref(remote)), adapt_result::is_member);
      ASSERT_LE(remote.digests(), most_digests);
      ASSERT_TRUE(may_contain_all(f_, in));
    }
  }
}

TEST_P(adapting, copies_of_a_key) {
  insert_both(keys(100));
  insert_both(keys(100));
  adapt_all(strangers(5000));
  EXPECT_TRUE(may_contain_all(f_, truth_));
}

}  // namespace
}  // namespace tamis::test
