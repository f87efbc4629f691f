#include "tamis/buffered.hpp"

#include <gtest/gtest.h>

#include <new>
#include <optional>
#include <vector>

#include "tamis/any_filter.hpp"
#include "tamis/filters/cuckoo.hpp"
#include "tamis/filters/infini.hpp"
#include "tests/support/keys.hpp"
#include "tests/support/toy_filter.hpp"

namespace tamis::test {
namespace {

constexpr std::size_t many = 1000;  // no multiple of what waits

any_filter make_any() { return any_filter::create("infini", {.capacity = 300, .fpr = 0.01}, test_hash()).value(); }
template <class F>
std::optional<F> filled_singly(F f, const std::vector<digest>& in) {
  for (const digest d : in) {
    if (f.insert(d) != insert_result::inserted) return std::nullopt;
  }
  return f;
}

// Accepted, in the answers, in the filter after a flush or when the inserter goes: what is saved then is what single inserts
// give.
template <class F, class Same>
void expect_no_key_is_lost(const F& empty, Same same) {
  const std::vector<digest> in = keys(many);
  const std::optional<F> singly = filled_singly(empty, in);
  ASSERT_TRUE(singly);
  F flushed = empty;
  F dropped = empty;
  {
    buffered_inserter into(flushed);
    buffered_inserter leaving(dropped);
    for (std::size_t i = 0; i < in.size(); ++i) {
      ASSERT_EQ(into.insert(in[i]), insert_result::inserted);
      ASSERT_EQ(leaving.insert(in[i]), insert_result::inserted);
      ASSERT_EQ(into.waiting() + flushed.keys(), i + 1);
      for (std::size_t j = i < 40 ? 0 : i - 40; j <= i; ++j) ASSERT_TRUE(into.may_contain(in[j]));
    }
    EXPECT_NE(into.waiting(), 0u);
    EXPECT_TRUE(into.flush().ok());
    EXPECT_EQ(into.waiting(), 0u);
    EXPECT_TRUE(same(flushed, *singly));
    EXPECT_LT(dropped.keys(), many);
  }
  EXPECT_EQ(dropped.keys(), many);
  EXPECT_TRUE(same(dropped, *singly));
  for (const digest d : in) ASSERT_TRUE(dropped.may_contain(d));
}

TEST(buffered_inserter, loses_no_key_in_front_of_a_filter_type) {
  const auto same = [](const auto& a, const auto& b) { return a == b; };
  expect_no_key_is_lost(infini::create({.capacity = 300, .fpr = 0.01}).value(), same);
  expect_no_key_is_lost(cuckoo::create({.capacity = many, .fpr = 0.01}).value(), same);
}

TEST(buffered_inserter, loses_no_key_in_front_of_any_filter) {
  expect_no_key_is_lost(make_any(), [](const any_filter& a, const any_filter& b) { return a.save_bytes() == b.save_bytes(); });
}

TEST(buffered_inserter, says_no_to_what_is_not_in) {
  any_filter f = make_any();
  buffered_inserter into(f);
  for (const digest d : keys(10)) ASSERT_EQ(into.insert(d), insert_result::inserted);
  for (const digest d : strangers(20)) EXPECT_FALSE(into.may_contain(d));
  EXPECT_TRUE(f.empty());
}

// What the filter refuses waits until there is room.
TEST(buffered_inserter, keeps_what_a_full_filter_refuses) {
  auto f = toy_everything::create({.capacity = 40, .fpr = 1e-6}).value();
  buffered_inserter into(f);
  const std::vector<digest> in = keys(100);
  std::size_t taken = 0;
  while (taken < in.size() && into.insert(in[taken]) == insert_result::inserted) ++taken;
  EXPECT_EQ(taken, 40 + into.most);
  EXPECT_EQ(into.waiting(), into.most);
  const status refused = into.flush();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.code(), error_code::full);
  EXPECT_NE(refused.message().find("32 keys"), std::string::npos) << refused.message();
  for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(into.may_contain(in[i]), i < taken);
  ASSERT_TRUE(f.expand().ok());
  EXPECT_TRUE(into.flush().ok());
  EXPECT_EQ(f.keys(), taken);
  for (std::size_t i = 0; i < taken; ++i) ASSERT_TRUE(f.may_contain(in[i]));
}

// Of no memory in the middle of a batch.
class throwing : public toy_minimal {
 public:
  explicit throwing(toy_minimal f) : toy_minimal(std::move(f)) {}
  static result<throwing> create(const filter_params& params) { return throwing(toy_minimal::create(params).value()); }
  insert_result insert(digest d) {
    if (left-- == 0) throw std::bad_alloc();
    return toy_minimal::insert(d);
  }
  std::size_t left = 10;
};
static_assert(filter_type<throwing>);

TEST(buffered_inserter, keeps_what_an_exception_left_out) {
  throwing f = throwing::create({.capacity = 40, .fpr = 0.01}).value();
  const std::vector<digest> in = keys(50);
  {
    buffered_inserter into(f);
    for (std::size_t i = 0; i < into.most; ++i) ASSERT_EQ(into.insert(in[i]), insert_result::inserted);
    EXPECT_THROW(static_cast<void>(into.flush()), std::bad_alloc);
    EXPECT_EQ(f.keys(), 10u);
    EXPECT_EQ(into.waiting(), into.most - 10);
    f.left = 1000;
    for (std::size_t i = into.most; i < in.size(); ++i) ASSERT_EQ(into.insert(in[i]), insert_result::inserted);
  }
  EXPECT_EQ(f.keys(), in.size());
  for (const digest d : in) ASSERT_TRUE(f.may_contain(d));
}

}  // namespace
}  // namespace tamis::test
