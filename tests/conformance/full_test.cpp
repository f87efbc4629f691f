// A full filter refuses and loses nothing.

#include "tests/conformance/cases.hpp"

namespace tamis::test {

using namespace detail;

namespace {

TAMIS_CONFORMANCE(full, all_cases());

TEST_P(full, refuses_without_a_change_and_keeps_what_it_took) {
  any_filter f = make(500);
  std::vector<digest> accepted;
  for (const digest d : keys(2000)) {
    const byte_vector before = f.save_bytes();
    if (f.insert(d) == insert_result::inserted) {
      accepted.push_back(d);
      ASSERT_TRUE(f.may_contain(d));
    } else {
      ASSERT_TRUE(unchanged(f, before)) << "after " << accepted.size() << " keys";
    }
  }
  EXPECT_GE(accepted.size(), 500u);
  EXPECT_EQ(f.keys(), accepted.size());
  EXPECT_TRUE(may_contain_all(f, accepted));
  EXPECT_TRUE(may_contain_all(load(f.save_bytes()).value(), accepted));
}

TEST_P(full, batch_says_what_went_in) {
  any_filter f = make(100);
  const std::vector<digest> all = keys(1000);
  const auto answers = std::make_unique<bool[]>(all.size());
  const std::span<bool> out(answers.get(), all.size());
  const std::size_t inserted = f.insert_many(all, out);
  EXPECT_EQ(inserted, static_cast<std::size_t>(std::count(out.begin(), out.end(), true)));
  EXPECT_EQ(f.keys(), inserted);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (out[i]) {
      ASSERT_TRUE(f.may_contain(all[i])) << "key " << i;
    }
  }
}

// No place of a table takes fewer of them than another: the last one has as much room behind it as it needs.
TEST_P(full, every_place_takes_as_many_keys) {
  constexpr std::size_t capacity = 2000;
  for (const bool is_one_key : {true, false}) {
    std::vector<std::size_t> taken;
    for (const std::uint64_t high : {std::uint64_t{0}, top_bit / 3, top_bit, all_ones - 1, all_ones}) {
      SCOPED_TRACE(::testing::Message() << (is_one_key ? "one key at " : "one word, ") << std::hex << high);
      any_filter f = make(capacity);
      const std::vector<digest> in = insert_all(f, crowd(high, capacity, is_one_key));
      taken.push_back(in.size());
      ASSERT_EQ(f.keys(), in.size());
      ASSERT_TRUE(may_contain_all(f, in));
      ASSERT_TRUE(may_contain_all(load(f.save_bytes()).value(), in));
      if (can().count) ASSERT_GE(f.count(in.front()).value(), is_one_key ? in.size() : 1);
      if (!can().erase) continue;
      for (std::size_t i = 0; i < in.size(); ++i) {
        ASSERT_EQ(f.erase(in[i]), erase_result::erased) << i;
        if (i % 100 == 0) ASSERT_TRUE(may_contain_all(f, std::span(in).subspan(i + 1)));
      }
      EXPECT_EQ(f.keys(), 0u);
    }
    for (const std::size_t count : taken) EXPECT_EQ(count, taken.front()) << (is_one_key ? "one key" : "one word");
  }
}

// The same beside other keys, which stay.
TEST_P(full, crowd_at_the_last_place_leaves_the_others_alone) {
  any_filter f = make(2000);
  const std::vector<digest> others = insert_all(f, keys(900));
  const std::vector<digest> crowded = insert_all(f, crowd(all_ones, 900, true));
  EXPECT_TRUE(may_contain_all(f, others));
  EXPECT_TRUE(may_contain_all(f, crowded));
  if (!can().erase) return;
  EXPECT_EQ(f.erase_many(others).value(), others.size());
  EXPECT_TRUE(may_contain_all(f, crowded));
  EXPECT_EQ(f.erase_many(crowded).value(), crowded.size());
  EXPECT_EQ(f.keys(), 0u);
}

// Some tables have room for a few copies of a key only. What they refuse must not push other keys out.
TEST_P(full, copies_of_one_key_push_nothing_out) {
  any_filter f = make(200);
  const std::vector<digest> others = insert_all(f, keys(100));
  const digest repeated = strangers(1)[0];
  std::uint64_t copies = 0;
  for (int i = 0; i < 100; ++i) {
    const byte_vector before = f.save_bytes();
    if (f.insert(repeated) == insert_result::inserted) {
      ++copies;
    } else {
      ASSERT_TRUE(unchanged(f, before)) << "after " << copies << " copies";
    }
  }
  EXPECT_GE(copies, 1u);
  EXPECT_TRUE(f.may_contain(repeated));
  EXPECT_TRUE(may_contain_all(f, others));
  EXPECT_EQ(f.keys(), others.size() + copies);
  if (can().count) {
    EXPECT_GE(f.count(repeated).value(), copies);
  }
}

}  // namespace
}  // namespace tamis::test
