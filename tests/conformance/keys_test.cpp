// Keys are as good as their digests, one by one and in batches, in whatever form they come. What a filter cannot do is an
// answer.

#include <memory>
#include <string>

#include "tests/conformance/cases.hpp"

namespace tamis::test {
namespace {

TAMIS_CONFORMANCE(keys_in_batches, all_cases());
TAMIS_CONFORMANCE(missing_abilities, all_cases());

constexpr std::size_t sizes[] = {0, 1, 31, 32, 33, 64, 65, 96, 97, 128, 129, 200, 300};

template <class Key, class Make>
std::vector<Key> made(std::size_t count, Make make) {
  std::vector<Key> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(static_cast<Key>(make(i)));
  return all;
}

// Fills two filters with the same keys, one of them through a batch, and compares everything that batches do.
template <class Keys>
void expect_as_single(const any_filter& empty, const Keys& keys, const key_batch& batch, std::size_t in) {
  any_filter one_by_one = empty;
  any_filter at_once = empty;
  std::size_t taken = 0;
  for (std::size_t i = 0; i < in; ++i) taken += one_by_one.insert(keys[i]) == insert_result::inserted;
  const auto went = std::make_unique<bool[]>(keys.size() + 1);
  ASSERT_EQ(at_once.insert_many(batch.part(0, in), std::span(went.get(), in)), taken);
  ASSERT_EQ(at_once.save_bytes(), one_by_one.save_bytes());
  at_once.may_contain_many(batch, std::span(went.get(), keys.size()));
  for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(went[i], one_by_one.may_contain(keys[i])) << i;
  if (empty.can().count) {
    std::vector<std::uint64_t> counts(keys.size());
    ASSERT_TRUE(at_once.count_many(batch, counts).ok());
    for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(counts[i], one_by_one.count(keys[i]).value());
  }
  if (empty.can().rejuvenate && taken == in) {
    ASSERT_TRUE(at_once.rejuvenate_many(batch.part(0, in)).ok());
    for (std::size_t i = 0; i < in; ++i) ASSERT_TRUE(one_by_one.rejuvenate(keys[i]).ok());
    ASSERT_EQ(at_once.save_bytes(), one_by_one.save_bytes());
  }
  if (empty.can().erase && taken == in) {
    for (std::size_t i = 0; i < in; ++i) ASSERT_EQ(one_by_one.erase(keys[i]), erase_result::erased);
    ASSERT_EQ(at_once.erase_many(batch.part(0, in)).value(), in);
    ASSERT_EQ(at_once.save_bytes(), one_by_one.save_bytes());
  }
}

TEST_P(keys_in_batches, do_what_single_calls_do) {
  for (const hasher& hash : {test_hash(), hasher::keyed({7, 8})}) {
    const any_filter empty = make(300, 0.05, hash);
    for (const std::size_t size : sizes) {
      const std::size_t in = size - size / 3;
      const auto words = made<std::uint64_t>(size, [](std::size_t i) { return i * 0x9e3779b97f4a7c15u; });
      expect_as_single(empty, words, words, in);
      const auto small = made<std::int16_t>(size, [](std::size_t i) { return -static_cast<int>(i); });
      expect_as_single(empty, small, small, in);
      const auto texts = made<std::string>(size, [](std::size_t i) { return std::string(i % 70, 'x') + std::to_string(i); });
      expect_as_single(empty, texts, texts, in);
      std::string joined;
      std::vector<std::int32_t> offsets = {0};
      for (const std::string& text : texts) joined += text, offsets.push_back(static_cast<std::int32_t>(joined.size()));
      const auto bytes = std::as_bytes(std::span(joined));
      expect_as_single(empty, texts, key_batch::from_offsets(std::span<const std::int32_t>(offsets), bytes).value(), in);
      if (HasFatalFailure()) return;
    }
  }
}

// A list of known mistakes sees keys in batches, too.
TEST_P(keys_in_batches, respect_what_was_adapted_to) {
  any_filter f = make(500, 0.2);
  if (!f.can().adapt) return;
  std::vector<std::uint64_t> asked;
  for (std::uint64_t i = 0; i < 500; ++i) ASSERT_EQ(f.insert(i), insert_result::inserted);
  for (std::uint64_t i = 1000; i < 3000; ++i) {
    if (!f.may_contain(i)) continue;
    const adapt_result how = f.adapt(i);
    ASSERT_NE(how, adapt_result::unsupported);
    asked.push_back(i);
  }
  const auto answers = std::make_unique<bool[]>(asked.size());
  f.may_contain_many(asked, std::span(answers.get(), asked.size()));
  for (std::size_t i = 0; i < asked.size(); ++i) ASSERT_EQ(answers[i], f.may_contain(asked[i]));
}

TEST_P(missing_abilities, are_answers_and_change_nothing) {
  any_filter f = make_full(100);
  const byte_vector before = f.save_bytes();
  const digest d = keys(1)[0];
  const std::vector<std::uint64_t> numbers = {1, 2, 3};
  const auto is_unsupported = [&](const auto& answer, const char* what) {
    EXPECT_FALSE(answer.ok());
    EXPECT_EQ(answer.code(), error_code::unsupported);
    EXPECT_NE(answer.message().find(id()), std::string::npos) << answer.message();
    EXPECT_NE(answer.message().find(what), std::string::npos) << answer.message();
  };
  if (!can().erase) {
    EXPECT_EQ(f.erase(d), erase_result::unsupported);
    EXPECT_EQ(f.erase("key"), erase_result::unsupported);
    is_unsupported(f.erase_many(numbers), "erase");
  }
  if (!can().count) {
    std::uint64_t counts[3];
    is_unsupported(f.count(d), "count");
    is_unsupported(f.count_many(numbers, counts), "count");
  }
  if (!can().adapt) EXPECT_EQ(f.adapt(d), adapt_result::unsupported);
  if (!can().expand) is_unsupported(f.expand(), "expand");
  if (!can().merge) is_unsupported(f.merge(any_filter(f)), "merge");
  if (!can().rejuvenate) {
    is_unsupported(f.rejuvenate(d), "rejuvenate");
    is_unsupported(f.rejuvenate_many(numbers), "rejuvenate");
  }
  if (can().erase || can().adapt) {
    EXPECT_EQ(f.insert_if_absent(d), insert_result::unsupported);
    EXPECT_EQ(f.insert_if_absent("key"), insert_result::unsupported);
  }
  EXPECT_TRUE(unchanged(f, before));
}

TEST_P(missing_abilities, only_what_is_absent_goes_in_where_nothing_ever_leaves) {
  if (can().erase || can().adapt) return;
  any_filter f = make(1000);
  for (const digest d : keys(1000)) {
    const std::uint64_t before = f.size();
    const bool was_in = f.may_contain(d);
    ASSERT_EQ(f.insert_if_absent(d), was_in ? insert_result::present : insert_result::inserted);
    ASSERT_EQ(f.size(), was_in ? before : before + 1);
    ASSERT_TRUE(f.may_contain(d));
  }
}

}  // namespace
}  // namespace tamis::test
