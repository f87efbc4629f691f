// The adaptive Bloom filters beyond what the conformance suite asks of every filter.

#include "tamis/filters/abf.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "tamis/batch.hpp"
#include "tamis/detail/base/random.hpp"
#include "tamis/filters/abf.hpp"
#include "tests/support/bounds.hpp"
#include "tests/support/keys.hpp"
#include "tests/support/remote.hpp"

namespace tamis::test {

using namespace detail;

namespace {

template <class F>
F made(std::uint64_t capacity, double bits_per_key, option_list options = {}) {
  return F::create({.capacity = capacity, .bits_per_key = bits_per_key, .options = std::move(options)}).value();
}

template <class F>
F filled(std::uint64_t keys_in, double bits_per_key, option_list options = {}) {
  F f = made<F>(keys_in, bits_per_key, std::move(options));
  for (const digest d : keys(keys_in)) f.insert(d);
  return f;
}

template <class F>
std::vector<digest> positives(const F& f, std::size_t asked) {
  std::vector<digest> found;
  for (const digest d : strangers(asked)) {
    if (f.may_contain(d)) found.push_back(d);
  }
  return found;
}

template <class F>
bool may_contain_each(const F& f, std::span<const digest> digests) {
  return std::all_of(digests.begin(), digests.end(), [&](digest d) { return f.may_contain(d); });
}

template <class F>
class every_abf : public ::testing::Test {};
using all_kinds = ::testing::Types<abf, abf_counting, abf_spare, abf_j>;
TYPED_TEST_SUITE(every_abf, all_kinds);

static_assert(adaptive_alone<abf> && adaptive_with_remote<abf> && mergeable<abf> && !erasable<abf>);
static_assert(erasable<abf_counting> && !erasable<abf_spare> && !erasable<abf_j>);

TYPED_TEST(every_abf, adapts_to_a_set_that_rejects) {
  for (const char* sets : {"2", "4", "8", "16"}) {
    for (const char* word : {"32", "64", "128", "256", "512"}) {
      TypeParam f = filled<TypeParam>(2000, 6, {{"sets", sets}, {"word", word}});
      std::uint64_t fixed = 0;
      for (const digest d : strangers(2000)) {
        if (!f.may_contain(d)) {
          ASSERT_EQ(f.adapt(d), adapt_result::not_positive);
          continue;
        }
        const TypeParam before = f;
        const bool absent = f.certainly_absent(d);
        const adapt_result answer = f.adapt(d);
        ASSERT_EQ(answer == adapt_result::fixed, absent);
        ASSERT_EQ(answer == adapt_result::unfixable, f.may_contain(d));
        if (answer == adapt_result::unfixable) {
          ASSERT_EQ(f, before);
        }
        fixed += answer == adapt_result::fixed;
      }
      EXPECT_GT(fixed, 50u);
      EXPECT_TRUE(may_contain_each(f, keys(2000)));
    }
  }
}

TYPED_TEST(every_abf, members_are_never_certainly_absent) {
  TypeParam f = filled<TypeParam>(2000, 6);
  const multiset_remote truth(keys(2000));
  const TypeParam before = f;
  for (const digest d : keys(2000)) {
    EXPECT_FALSE(f.certainly_absent(d));
    EXPECT_EQ(f.adapt(d, truth), adapt_result::is_member);
    EXPECT_EQ(f.adapt(d), adapt_result::unfixable);
  }
  EXPECT_EQ(f, before);
}

TYPED_TEST(every_abf, inserts_after_adapting_reach_every_set) {
  TypeParam f = filled<TypeParam>(1000, 6);
  random_source random(20240612);
  for (std::uint64_t first = 1000; first < 3000; first += 50) {
    for (const digest d : keys(50, first)) f.insert(d);
    for (const digest d : strangers(200, random.below(100000))) f.adapt(d);
    ASSERT_TRUE(may_contain_each(f, keys(first + 50)));
  }
}

TYPED_TEST(every_abf, decimation_acts_on_every_nth_false_positive) {
  TypeParam f = filled<TypeParam>(2000, 6, {{"decimate", "5"}});
  unsigned seen = 0;
  unsigned acted = 0;
  for (const digest d : strangers(5000)) {
    if (!f.may_contain(d)) continue;
    const TypeParam before = f;
    const bool absent = f.certainly_absent(d);
    const bool due = ++seen % 5 == 0;
    ASSERT_EQ(f.adapt(d), due && absent ? adapt_result::fixed : adapt_result::unfixable);
    if (!due) {
      ASSERT_EQ(f, before);
    }
    acted += due;
  }
  EXPECT_GT(acted, 10u);
}

TYPED_TEST(every_abf, rate_is_the_one_of_its_content) {
  constexpr std::uint64_t asked = 400000;
  for (const char* word : {"32", "64", "512"}) {
    for (const char* sets : {"2", "16"}) {
      const TypeParam f = filled<TypeParam>(20000, 8, {{"word", word}, {"sets", sets}});
      EXPECT_TRUE(equal_by_chance(positives(f, asked).size(), asked, f.expected_fpr())) << word << ' ' << sets;
    }
  }
}

TYPED_TEST(every_abf, batches_agree_with_single_lookups) {
  TypeParam f = filled<TypeParam>(5000, 6);
  for (const digest d : strangers(1000)) f.adapt(d);
  std::vector<digest> asked = strangers(5000);
  const std::vector<digest> in = keys(5000);
  asked.insert(asked.end(), in.begin(), in.end());
  const auto out = std::make_unique<bool[]>(asked.size());
  may_contain_many(f, asked, std::span(out.get(), asked.size()));
  for (std::size_t i = 0; i < asked.size(); ++i) ASSERT_EQ(out[i], f.may_contain(asked[i]));
}

TYPED_TEST(every_abf, merging_adapted_filters_keeps_both) {
  TypeParam f = filled<TypeParam>(2000, 8);
  TypeParam g = made<TypeParam>(2000, 8);
  for (const digest d : keys(1000, 5000)) g.insert(d);
  for (const digest d : strangers(3000)) f.adapt(d);
  for (const digest d : strangers(3000, 10000)) g.adapt(d);
  ASSERT_TRUE(f.merge(g).ok());
  EXPECT_TRUE(may_contain_each(f, keys(2000)));
  EXPECT_TRUE(may_contain_each(f, keys(1000, 5000)));
  EXPECT_EQ(f.keys(), 3000u);
  // The merged filter is adaptable still, and loses nothing by it.
  for (const digest d : strangers(3000, 50000)) f.adapt(d);
  EXPECT_TRUE(may_contain_each(f, keys(2000)));
  EXPECT_TRUE(may_contain_each(f, keys(1000, 5000)));
}

TYPED_TEST(every_abf, shapes_that_differ_are_not_merged) {
  TypeParam f = made<TypeParam>(1000, 8);
  EXPECT_FALSE(f.merge(made<TypeParam>(1000, 9)).ok());
  EXPECT_FALSE(f.merge(made<TypeParam>(1000, 8, {{"sets", "2"}})).ok());
  EXPECT_FALSE(f.merge(made<TypeParam>(1000, 8, {{"word", "128"}})).ok());
}

// Every "maybe" is reported, of members too: the filter finds out itself which of them were wrong.
TYPED_TEST(every_abf, detects_false_positives_without_a_table) {
  TypeParam f = filled<TypeParam>(5000, 6, {{"detect", "1"}});
  const multiset_remote nothing;
  std::uint64_t detected = 0;
  std::uint64_t missed = 0;
  for (const digest d : strangers(20000)) {
    if (!f.may_contain(d)) continue;
    const bool absent = f.certainly_absent(d);
    const adapt_result answer = f.adapt(d, nothing);
    ASSERT_EQ(answer, absent ? adapt_result::fixed : adapt_result::unfixable);
    ASSERT_EQ(f.may_contain(d), !absent);
    (absent ? detected : missed) += 1;
  }
  EXPECT_LT(missed * 10, detected) << "with four sets most false positives are rejected by some other set";
  for (const digest d : keys(5000)) ASSERT_EQ(f.adapt(d, nothing), adapt_result::unfixable);
  EXPECT_TRUE(may_contain_each(f, keys(5000)));
}

TYPED_TEST(every_abf, detection_checks_every_nth_maybe) {
  TypeParam f = filled<TypeParam>(5000, 6, {{"detect", "10"}});
  std::uint64_t reported = 0;
  std::uint64_t fixed = 0;
  for (const digest d : strangers(20000)) {
    if (!f.may_contain(d)) continue;
    const bool absent = f.certainly_absent(d);
    const bool due = ++reported % 10 == 0;
    ASSERT_EQ(f.adapt(d), due && absent ? adapt_result::fixed : adapt_result::unfixable);
    fixed += due && absent;
  }
  EXPECT_GT(fixed, 20u);
}

TYPED_TEST(every_abf, table_at_hand_still_knows_members_while_detecting) {
  TypeParam f = filled<TypeParam>(500, 6, {{"detect", "3"}});
  const multiset_remote truth(keys(500));
  for (const digest d : keys(500)) ASSERT_EQ(f.adapt(d, truth), adapt_result::is_member);
}

TYPED_TEST(every_abf, options_are_in_the_settings_and_in_the_file) {
  const option_list given = {{"switch", "blind"}, {"decimate", "7"}, {"detect", "9"}};
  const TypeParam f = filled<TypeParam>(50, 8, given);
  const option_list settings = f.settings();
  for (const auto& option : given) EXPECT_EQ(std::count(settings.begin(), settings.end(), option), 1) << option.first;
  EXPECT_NE(f, filled<TypeParam>(50, 8));
}

// A RapidCheck property with a fixed seed.
template <class Property>
void expect_always(Property property) {
  rc::detail::TestParams how;
  how.seed = 20240612;
  const auto outcome = rc::detail::checkTestable(property, rc::detail::TestMetadata(), how);
  if (outcome.template is<rc::detail::SuccessResult>()) return;
  std::ostringstream text;
  rc::detail::printResultMessage(outcome, text);
  ADD_FAILURE() << "seed " << how.seed << "\n" << text.str();
}

// Bytes of a saved filter, without the frame.
template <class F>
std::vector<std::byte> bytes_of_filter(const F& f) {
  memory_sink sink;
  writer out(sink);
  out(f);
  out.finish().value();
  return std::move(sink).take();
}

template <class F>
status load_from(std::vector<std::byte> bytes) {
  memory_source source(bytes);
  reader in(source);
  F f = stored_access::blank<F>();
  in(f);
  return in.state();
}

// Every word has to be the one of its selector: a flipped bit of the active words is found.
TYPED_TEST(every_abf, loading_finds_words_that_do_not_belong_to_their_selector) {
  if constexpr (std::same_as<TypeParam, abf_spare>) {
    GTEST_SKIP() << "holds nothing twice but the selectors";
  }
  TypeParam f = filled<TypeParam>(50, 8, {{"word", "64"}});
  for (const digest d : strangers(300)) f.adapt(d);
  const std::vector<std::byte> bytes = bytes_of_filter(f);
  ASSERT_TRUE(load_from<TypeParam>(bytes).ok());
  // The active words stand behind capacity, keys, switch, decimation, detection, (j,) sets, k, payload, and the table's width,
  // blocks and length.
  const std::size_t words_at = 8 + 8 + 3 * 4 + (std::same_as<TypeParam, abf_j> ? 4 : 0) + 4 + 4 + 4 + 4 + 8 + 8;
  for (std::uint64_t bit = 0; bit < f.bits().fast; ++bit) {
    std::vector<std::byte> damaged = bytes;
    damaged[words_at + bit / 8] ^= std::byte{1} << (bit % 8);
    ASSERT_FALSE(load_from<TypeParam>(damaged).ok()) << bit;
  }
}

TYPED_TEST(every_abf, slow_memory_is_counted_apart) {
  const TypeParam f = made<TypeParam>(64000, 8, {{"sets", "4"}});
  EXPECT_EQ(f.bits().fast, 64000u * 8);
  const std::uint64_t factor = std::same_as<TypeParam, abf_counting> ? 16 : std::same_as<TypeParam, abf_spare> ? 3 : 4;
  EXPECT_EQ(f.bits().slow, 64000u * 8 * factor);
}

// The three one-word filters differ in slow memory only: whatever is done to them, they give the same answers.
TEST(abf_kinds, answer_alike) {
  expect_always([] {
    const auto sets = *rc::gen::elementOf(std::vector<std::string>{"2", "4", "8", "16"});
    const auto word = *rc::gen::elementOf(std::vector<std::string>{"32", "64", "128", "256", "512"});
    const option_list options{{"sets", sets}, {"word", word}};
    abf kept = made<abf>(40, 6, options);
    abf_counting counting = made<abf_counting>(40, 6, options);
    abf_spare spare = made<abf_spare>(40, 6, options);
    for (const unsigned step : *rc::gen::container<std::vector<unsigned>>(rc::gen::inRange(0u, 400u))) {
      const digest d = test_hash()(step / 2);
      if (step % 2 == 0) {
        kept.insert(d);
        counting.insert(d);
        spare.insert(d);
      } else {
        const adapt_result answer = kept.adapt(d);
        RC_ASSERT(counting.adapt(d) == answer);
        RC_ASSERT(spare.adapt(d) == answer);
      }
      for (std::uint64_t key = 0; key < 200; ++key) {
        const digest asked = test_hash()(key);
        RC_ASSERT(kept.may_contain(asked) == counting.may_contain(asked));
        RC_ASSERT(kept.may_contain(asked) == spare.may_contain(asked));
      }
    }
  });
}

TEST(abf_counting, erasing_undoes_inserting) {
  expect_always([] {
    const auto sets = *rc::gen::elementOf(std::vector<std::string>{"2", "4", "16"});
    const auto word = *rc::gen::elementOf(std::vector<std::string>{"32", "64", "512"});
    abf_counting f = made<abf_counting>(60, 12, {{"sets", sets}, {"word", word}, {"k", "3"}});
    // Different keys each, of which some are in both: a counter must not reach 15, where it sticks.
    const std::vector<digest> first = keys(20, *rc::gen::inRange<std::uint64_t>(0, 40));
    const std::vector<digest> second = keys(20, *rc::gen::inRange<std::uint64_t>(0, 40));
    for (const digest d : first) f.insert(d);
    const abf_counting before = f;
    for (const digest d : second) f.insert(d);
    for (const digest d : second) RC_ASSERT(f.erase(d) == erase_result::erased);
    RC_ASSERT(f == before);
  });
}

TEST(abf_counting, erasing_and_adapting_in_turn_loses_nothing) {
  abf_counting f = filled<abf_counting>(3000, 6);
  multiset_remote truth(keys(3000));
  random_source random(20240612);
  for (int round = 0; round < 20; ++round) {
    for (const digest d : strangers(300, random.below(100000))) f.adapt(d);
    for (int i = 0; i < 100; ++i) {
      const digest d = test_hash()(random.below(3000));
      if (truth.contains(d)) {
        ASSERT_EQ(f.erase(d), erase_result::erased);
        truth.erase_one(d);
      } else {
        f.insert(d);
        truth.insert(d);
      }
    }
    ASSERT_EQ(f.keys(), truth.size());
    for (const digest d : truth) ASSERT_TRUE(f.may_contain(d));
  }
}

TEST(abf, blind_switch_goes_round_all_sets) {
  abf f = filled<abf>(200, 3, {{"sets", "4"}, {"switch", "blind"}});
  const abf before = f;
  const std::vector<digest> wrong = positives(f, 1000);
  ASSERT_FALSE(wrong.empty());
  const digest d = wrong[0];
  std::uint64_t switches = 0;
  // It moves on only while the key is a positive; once round if all four sets accept it.
  while (f.may_contain(d) && switches < 4) {
    const adapt_result answer = f.adapt(d);
    ++switches;
    ASSERT_EQ(answer == adapt_result::fixed, !f.may_contain(d));
  }
  EXPECT_TRUE(may_contain_each(f, keys(200)));
  EXPECT_EQ(f == before, f.may_contain(d));
}

TEST(abf_j, blind_switch_changes_words_until_the_key_is_gone) {
  abf_j f = filled<abf_j>(2000, 6, {{"switch", "blind"}});
  std::uint64_t fixed = 0;
  std::uint64_t wrong = 0;
  for (const digest d : strangers(5000)) {
    if (!f.may_contain(d)) continue;
    const adapt_result answer = f.adapt(d);
    ASSERT_EQ(answer == adapt_result::fixed, !f.may_contain(d));
    fixed += answer == adapt_result::fixed;
    ++wrong;
  }
  EXPECT_GT(fixed * 2, wrong) << "two words have to accept it again";
  EXPECT_TRUE(may_contain_each(f, keys(2000)));
}

TEST(abf_j, one_word_is_abf) {
  const abf_j one = filled<abf_j>(2000, 8, {{"j", "1"}, {"k", "4"}});
  const abf plain = filled<abf>(2000, 8, {{"k", "4"}});
  for (const digest d : strangers(20000)) ASSERT_EQ(one.may_contain(d), plain.may_contain(d));
}

// More words are closer to a classic Bloom filter, and better.
TEST(abf_j, more_words_have_a_lower_rate) {
  double before = filled<abf>(50000, 10).expected_fpr();
  for (const char* j : {"2", "3"}) {
    const double rate = filled<abf_j>(50000, 10, {{"j", j}}).expected_fpr();
    EXPECT_LT(rate, before) << j;
    before = rate;
  }
  const abf_j bits = filled<abf_j>(50000, 10, {{"j", "7"}, {"k", "1"}});
  EXPECT_NEAR(bits.expected_fpr(), bloom_rate(500000 * 62.0 / 64, 50000, 7), 0.0005);
}

}  // namespace
}  // namespace tamis::test
