// Lookups take a short way that reads views of segments; counting takes the long one. They agree.

#include <gtest/gtest.h>

#include <vector>

#include "tamis/batch.hpp"
#include "tamis/filters/evergreen.hpp"
#include "tamis/memory_remote.hpp"
#include "tests/support/keys.hpp"

namespace tamis::test {

using namespace detail;

namespace {

// Single and batched lookups of all of them; answers how many were positive.
std::uint64_t agreeing_positives(const evergreen& f, const std::vector<digest>& asked) {
  const auto answers = std::make_unique<bool[]>(asked.size());
  may_contain_many(f, std::span<const digest>(asked), std::span(answers.get(), asked.size()));
  std::uint64_t yes = 0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const bool truth = f.count(asked[i]) != 0;
    EXPECT_EQ(f.may_contain(asked[i]), truth) << i;
    EXPECT_EQ(answers[i], truth) << i;
    yes += truth;
  }
  return yes;
}

evergreen saved_and_loaded(const evergreen& f) {
  memory_sink sink;
  writer out(sink);
  out(f);
  EXPECT_TRUE(out.finish().ok());
  memory_source source(sink.bytes());
  reader from(source);
  evergreen loaded = stored_access::blank<evergreen>();
  from(loaded);
  EXPECT_TRUE(from.ok());
  return loaded;
}

struct lookup_kind {
  unsigned remainder;
  const char* fingerprints;
};

class evergreen_lookup : public ::testing::TestWithParam<lookup_kind> {
 protected:
  option_list options(const char* segment = "64") const {
    return {
        {"remainder", std::to_string(GetParam().remainder)}, {"segment", segment}, {"fingerprints", GetParam().fingerprints}};
  }
  evergreen f_ = evergreen::create({.capacity = 60, .fpr = 0.01, .options = options()}).value();
};

// Segments are uniform, and after growth without the store some of them aged, of all widths.
TEST_P(evergreen_lookup, agrees_while_the_filter_grows_adapts_and_shrinks) {
  memory_remote stored;
  const std::vector<digest> in = keys(4000);
  const std::vector<digest> asked = strangers(4000);
  for (std::size_t i = 0; i < in.size(); ++i) {
    stored.insert(in[i]);
    const bool with_store = i % 100 < 80;
    ASSERT_EQ(with_store ? f_.insert(in[i], stored) : f_.insert(in[i]), insert_result::inserted);
    if (i % 1000 == 999) agreeing_positives(f_, asked);
    for (std::size_t k = i; k < i + 30; ++k) {
      const digest d = asked[k % asked.size()];
      if (f_.may_contain(d)) f_.adapt(d, stored);
    }
  }
  EXPECT_EQ(agreeing_positives(f_, in), in.size());
  agreeing_positives(f_, asked);
  const std::size_t segments = f_.tree().segments().size();
  for (std::size_t i = 0; i < 3800; ++i) f_.erase(in[i]);
  EXPECT_LT(f_.tree().segments().size(), segments / 2);
  const std::vector<digest> left(in.begin() + 3800, in.end());
  EXPECT_EQ(agreeing_positives(f_, left), left.size());
  agreeing_positives(f_, asked);
}

TEST_P(evergreen_lookup, agrees_while_it_grows_without_a_store) {
  const std::vector<digest> in = keys(6000);
  for (std::size_t i = 0; i < in.size(); ++i) {
    ASSERT_EQ(f_.insert(in[i]), insert_result::inserted);
    if (i % 500 == 499) agreeing_positives(f_, strangers(1000));
  }
  EXPECT_EQ(agreeing_positives(f_, in), in.size());
  const evergreen loaded = saved_and_loaded(f_);
  EXPECT_EQ(loaded, f_);
  EXPECT_EQ(agreeing_positives(loaded, in), in.size());
}

// Entries that have run out of bits are copied into all quotients that their own becomes.
TEST_P(evergreen_lookup, agrees_where_entries_have_run_out_of_bits) {
  const std::vector<digest> in = keys(50);
  for (const digest d : in) static_cast<void>(f_.insert(d));
  for (unsigned i = 0; i < std::min(GetParam().remainder + 3, 13u) && f_.expand().ok(); ++i) {
    EXPECT_EQ(agreeing_positives(f_, in), in.size());
    agreeing_positives(f_, strangers(2000));
  }
  for (std::size_t i = 0; i < in.size(); i += 2) f_.rejuvenate(in[i]);
  EXPECT_EQ(agreeing_positives(f_, in), in.size());
  for (std::size_t i = 0; i < in.size(); i += 3) f_.erase(in[i]);
  agreeing_positives(f_, in);
  agreeing_positives(f_, strangers(2000));
}

// Many runs leave their block, and some begin in the next one.
TEST_P(evergreen_lookup, agrees_in_full_segments_of_many_blocks) {
  evergreen f = evergreen::create({.capacity = 15000, .fpr = 0.01, .options = options("16384")}).value();
  const std::vector<digest> in = keys(15000);
  for (const digest d : in) ASSERT_EQ(f.insert(d), insert_result::inserted);
  EXPECT_EQ(agreeing_positives(f, in), in.size());
  agreeing_positives(f, strangers(30000));
}

// A segment gets more slots behind its last quotient, and with them other memory.
TEST_P(evergreen_lookup, agrees_when_a_crowded_segment_gets_more_slots) {
  evergreen f = evergreen::create({.capacity = 700, .fpr = 0.01, .options = options("128")}).value();
  std::vector<digest> in = keys(100);
  for (std::uint64_t i = 0; i < 90; ++i) in.push_back({~(i << 46), i});  // all of them in the last quotient
  for (const digest d : in) ASSERT_EQ(f.insert(d), insert_result::inserted);
  EXPECT_EQ(agreeing_positives(f, in), in.size());
  agreeing_positives(f, strangers(5000));
}

// A filter that grew while it was empty.
TEST_P(evergreen_lookup, agrees_in_a_deep_directory) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(f_.expand().ok());
  const std::vector<digest> in = keys(static_cast<std::size_t>(f_.capacity() * 6 / 10));
  for (const digest d : in) ASSERT_EQ(f_.insert(d), insert_result::inserted);
  evergreen loaded = saved_and_loaded(f_);
  EXPECT_EQ(loaded.tree().depth(), 3u);
  EXPECT_EQ(loaded, f_);
  EXPECT_EQ(agreeing_positives(loaded, in), in.size());
  agreeing_positives(loaded, strangers(3000));
}

INSTANTIATE_TEST_SUITE_P(, evergreen_lookup,
                         ::testing::Values(lookup_kind{4, "growing"}, lookup_kind{5, "fixed"}, lookup_kind{6, "growing"},
                                           lookup_kind{7, "growing"}, lookup_kind{7, "fixed"}, lookup_kind{8, "growing"},
                                           lookup_kind{9, "growing"}, lookup_kind{10, "fixed"}, lookup_kind{12, "fixed"},
                                           lookup_kind{24, "growing"}),
                         [](const auto& kind) {
                           return "r" + std::to_string(kind.param.remainder) + "_" + kind.param.fingerprints;
                         });

}  // namespace
}  // namespace tamis::test
