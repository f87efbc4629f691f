#include "tamis/filters/bloom1.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/bytes.hpp"
#include "tests/support/keys.hpp"

namespace tamis {

using namespace detail;

namespace {

test::byte_vector saved(const bloom1& f) {
  memory_sink sink;
  writer out(sink);
  out(f);
  out.finish().value();
  return std::move(sink).take();
}

class bloom1_words : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(widths, bloom1_words, ::testing::Values("32", "64", "128", "256", "512"));

// One memory access: everything that an insert changes lies in one word.
TEST_P(bloom1_words, key_touches_one_word_only) {
  const std::size_t word_bytes = std::stoul(GetParam()) / 8;
  const bloom1 empty =
      bloom1::create({.capacity = 1000, .bits_per_key = 10, .options = {{"word", GetParam()}, {"k", "9"}}}).value();
  const test::byte_vector before = saved(empty);
  const std::size_t words = before.size() - empty.bits().fast / 8;
  for (const digest d : test::keys(300)) {
    bloom1 f = empty;
    f.insert(d);
    const test::byte_vector after = saved(f);
    std::vector<std::size_t> touched;
    for (std::size_t i = words; i < after.size(); ++i) {
      if (after[i] != before[i]) touched.push_back((i - words) / word_bytes);
    }
    ASSERT_FALSE(touched.empty());
    ASSERT_EQ(touched.front(), touched.back());
  }
}

TEST_P(bloom1_words, memory_is_whole_words) {
  const std::uint64_t width = std::stoul(GetParam());
  for (const std::uint64_t capacity : {1u, 100u, 1001u}) {
    const bloom1 f = bloom1::create({.capacity = capacity, .bits_per_key = 10, .options = {{"word", GetParam()}}}).value();
    EXPECT_EQ(f.bits().fast % width, 0u);
    EXPECT_LT(f.bits().fast, capacity * 10 + width);
  }
}

TEST(bloom1, merging_is_the_union_of_bits) {
  const bloom1 empty = bloom1::create({.capacity = 1000, .fpr = 0.01}).value();
  bloom1 a = empty;
  bloom1 b = empty;
  bloom1 both = empty;
  for (const digest d : test::keys(500)) a.insert(d), both.insert(d);
  for (const digest d : test::keys(500, 500)) b.insert(d), both.insert(d);
  ASSERT_TRUE(a.merge(b).ok());
  EXPECT_EQ(a, both);
  for (const option_list& other : {option_list{{"word", "64"}}, option_list{{"k", "3"}}}) {
    EXPECT_TRUE(
        test::refused(a.merge(bloom1::create({.capacity = 1000, .fpr = 0.1, .options = other}).value()), "different shapes"));
  }
}

// What the header says: a shorter word costs accuracy.
TEST(bloom1, longer_words_have_lower_rates) {
  double before = 1.0;
  for (const char* word : {"32", "64", "128", "256", "512"}) {
    bloom1 f = bloom1::create({.capacity = 100000, .bits_per_key = 10, .options = {{"word", word}, {"split", "no"}}}).value();
    for (const digest d : test::keys(100000)) f.insert(d);
    EXPECT_LT(f.expected_fpr(), before) << word;
    before = f.expected_fpr();
  }
  EXPECT_NEAR(before, bloom1_rate(100000 * 10 / 512 + 1, 512, 100000, 6), 0.0005);
}

std::string split_of(const filter_params& params) {
  for (const auto& [name, value] : bloom1::create(params).value().settings()) {
    if (name == "split") return value;
  }
  return "none";
}

TEST(bloom1, splits_where_eight_places_are_about_right) {
  EXPECT_EQ(split_of({.capacity = 100000, .bits_per_key = 32.0 / 3}), "yes");
  EXPECT_EQ(split_of({.capacity = 100000, .fpr = 0.01}), "yes");
  EXPECT_EQ(split_of({.capacity = 100000, .fpr = 0.0001}), "no");
  EXPECT_EQ(split_of({.capacity = 100000, .fpr = 0.3}), "no");
  EXPECT_EQ(split_of({.capacity = 100000, .fpr = 0.01, .options = {{"split", "no"}}}), "no");
  EXPECT_EQ(split_of({.capacity = 100000, .fpr = 0.3, .options = {{"split", "yes"}}}), "yes");
  EXPECT_EQ(split_of({.capacity = 100000, .fpr = 0.01, .options = {{"k", "7"}}}), "no");
  for (const option_list& other : {option_list{{"split", "yes"}, {"k", "7"}}, option_list{{"split", "yes"}, {"word", "128"}}}) {
    EXPECT_TRUE(test::refused(bloom1::create({.capacity = 100, .fpr = 0.01, .options = other}), "split=yes needs"));
  }
}

// Both kinds keep the rate that was asked for, at nearly the same size where the split one is preferred.
TEST(bloom1, split_words_cost_little) {
  const auto bits = [](const char* split) {
    bloom1 f = bloom1::create({.capacity = 100000, .fpr = 0.01, .options = {{"split", split}}}).value();
    for (const digest d : test::keys(100000)) f.insert(d);
    EXPECT_NEAR(f.expected_fpr(), 0.01, 0.0005) << split;
    return static_cast<double>(f.bits().fast);
  };
  EXPECT_LE(bits("yes"), 1.05 * bits("no"));
}

TEST(bloom1, view_answers_like_the_filter) {
  for (const option_list& shape :
       {option_list{{"word", "64"}}, option_list{{"word", "256"}, {"split", "yes"}}, option_list{}}) {
    bloom1 f = bloom1::create({.capacity = 1000, .fpr = 0.05, .options = shape}).value();
    for (const digest d : test::keys(1000)) f.insert(d);
    f.with_view([&](const auto& view) {
      for (const digest d : test::keys(5000)) ASSERT_EQ(view.may_contain(d), f.may_contain(d));
    });
  }
}

}  // namespace
}  // namespace tamis
