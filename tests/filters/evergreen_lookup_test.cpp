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

class evergreen_lookup : public ::testing::TestWithParam<unsigned> {  // F
 protected:
  evergreen f_ = evergreen::create({.capacity = 60,
                                    .fpr = 0.01,
                                    .options = {{"fingerprint", std::to_string(GetParam())},
                                                {"segment", "64"},
                                                {"fingerprints", "fixed"},
                                                {"generations", "0"}}})
                     .value();
};

TEST_P(evergreen_lookup, agrees_while_the_filter_grows_adapts_and_shrinks) {
  memory_remote stored;
  const std::vector<digest> in = keys(4000);
  const std::vector<digest> asked = strangers(4000);
  for (std::size_t i = 0; i < in.size(); ++i) {
    stored.insert(in[i]);
    ASSERT_EQ(f_.insert(in[i], stored), insert_result::inserted);
    if (i % 1000 == 999) agreeing_positives(f_, asked);
    for (std::size_t k = i; k < i + 30; ++k) {
      const digest d = asked[k % asked.size()];
      if (f_.may_contain(d)) f_.adapt(d, stored);
    }
  }
  EXPECT_EQ(agreeing_positives(f_, in), in.size());
  agreeing_positives(f_, asked);
  for (std::size_t i = 0; i < 3800; ++i) f_.erase(in[i]);
  EXPECT_GT(f_.contract(), 0u);
  const std::vector<digest> left(in.begin() + 3800, in.end());
  EXPECT_EQ(agreeing_positives(f_, left), left.size());
  agreeing_positives(f_, asked);
}

// Without a store entries run out of bits after F doublings: then their coverings answer for many cells.
TEST_P(evergreen_lookup, agrees_where_entries_have_run_out_of_bits) {
  const std::vector<digest> in = keys(50);
  for (const digest d : in) f_.insert(d);
  for (unsigned i = 0; i < std::min(GetParam() + 3, 13u); ++i) {
    ASSERT_TRUE(f_.expand().ok());
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
  evergreen f =
      evergreen::create(
          {.capacity = 15000, .fpr = 0.01, .options = {{"fingerprint", std::to_string(GetParam())}, {"threshold", "95"}}})
          .value();
  const std::vector<digest> in = keys(15000);
  for (const digest d : in) ASSERT_EQ(f.insert(d), insert_result::inserted);
  EXPECT_EQ(agreeing_positives(f, in), in.size());
  agreeing_positives(f, strangers(30000));
}

// Lookups compare bytes where all entries are as they came. Many copies of a key become one entry that is not.
TEST_P(evergreen_lookup, agrees_when_copies_are_counted) {
  evergreen f =
      evergreen::create({.capacity = 3000, .fpr = 0.01, .options = {{"fingerprint", std::to_string(GetParam())}}}).value();
  const std::vector<digest> in = keys(2000);
  for (const digest d : in) ASSERT_EQ(f.insert(d), insert_result::inserted);
  EXPECT_EQ(agreeing_positives(f, in), in.size());
  EXPECT_EQ(f.forest().segments().way() == lookup_way::plain, 8 <= GetParam() && GetParam() <= 40);
  for (int i = 0; i < 30; ++i) ASSERT_EQ(f.insert(in[0]), insert_result::inserted);
  EXPECT_NE(f.forest().segments().way(), lookup_way::plain);
  EXPECT_TRUE(f.forest().segments().validate().ok());
  EXPECT_EQ(agreeing_positives(f, in), in.size());
  agreeing_positives(f, strangers(10000));
  for (int i = 0; i < 30; ++i) ASSERT_EQ(f.erase(in[0]), erase_result::erased);
  EXPECT_EQ(agreeing_positives(f, in), in.size());
}

// A segment gets more slots behind its last cell, and with them other memory, while all of them are plain.
TEST_P(evergreen_lookup, agrees_when_a_crowded_segment_gets_more_slots) {
  evergreen f =
      evergreen::create(
          {.capacity = 700, .fpr = 0.01, .options = {{"fingerprint", std::to_string(GetParam())}, {"segment", "128"}}})
          .value();
  const segment_directory& segments = f.forest().segments();
  const std::uint64_t before = segments[segments.size() - 1].spare();
  std::vector<digest> in = keys(100);
  for (std::uint64_t i = 0; i < 90; ++i) in.push_back({~(i << 46), i});  // all of them in the last cell
  for (const digest d : in) ASSERT_EQ(f.insert(d), insert_result::inserted);
  EXPECT_TRUE(segments.validate().ok());
  if (8 <= GetParam() && GetParam() <= 40) {
    EXPECT_EQ(segments.way(), lookup_way::plain);
    EXPECT_GT(segments[segments.size() - 1].spare(), before);
  }
  EXPECT_EQ(agreeing_positives(f, in), in.size());
  agreeing_positives(f, strangers(5000));
}

// A filter that grew while it was empty, loaded: all segments are plain, and deep. Nothing joins them.
TEST_P(evergreen_lookup, agrees_in_a_deep_directory_of_plain_segments) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(f_.expand().ok());
  const std::vector<digest> in = keys(static_cast<std::size_t>(f_.capacity() * 6 / 10));
  for (const digest d : in) ASSERT_EQ(f_.insert(d), insert_result::inserted);
  evergreen loaded = saved_and_loaded(f_);
  EXPECT_EQ(loaded.forest().segments().depth(), 3u);
  EXPECT_EQ(loaded.forest().segments().way() == lookup_way::plain, 8 <= GetParam() && GetParam() <= 40);
  EXPECT_EQ(loaded.contract(), 0u);
  EXPECT_EQ(loaded, f_);
  EXPECT_EQ(agreeing_positives(loaded, in), in.size());
  agreeing_positives(loaded, strangers(3000));
}

// Slots of nine bits have a way of their own while all segments have them whole. A directory has counted rightly what it has of
// others, or it is not sound.
TEST_P(evergreen_lookup, agrees_while_segments_become_whole_and_plain_again) {
  const segment_directory& segments = f_.forest().segments();
  const bool has_nine_bits = GetParam() == 8;
  const std::vector<digest> in = keys(6000);
  for (std::size_t i = 0; i < in.size(); ++i) {
    ASSERT_EQ(f_.insert(in[i]), insert_result::inserted);
    if (i % 500 == 499) {
      ASSERT_TRUE(segments.validate().ok());
      EXPECT_EQ(segments.way_of_digests() == lookup_way::nine_bits, has_nine_bits);
    }
  }
  EXPECT_EQ(agreeing_positives(f_, in), in.size());
  agreeing_positives(f_, strangers(6000));
  EXPECT_EQ(f_, evergreen(f_));
  EXPECT_EQ(evergreen(f_).forest().segments().way_of_digests(), segments.way_of_digests());
  // Segments without entries are loaded as plain ones: no longer the same for all.
  for (const digest d : in) ASSERT_EQ(f_.erase(d), erase_result::erased);
  f_.contract();
  ASSERT_TRUE(segments.validate().ok());
  evergreen loaded = saved_and_loaded(f_);
  EXPECT_TRUE(loaded.forest().segments().validate().ok());
  for (const digest d : in) ASSERT_EQ(loaded.insert(d), insert_result::inserted);
  EXPECT_TRUE(loaded.forest().segments().validate().ok());
  EXPECT_EQ(agreeing_positives(loaded, in), in.size());
  agreeing_positives(loaded, strangers(6000));
}

// Elders are all that is left of a filter that grew beyond its fingerprints: empty tables are plain, but lookups need the list.
TEST_P(evergreen_lookup, finds_coverings_beside_empty_tables) {
  if (GetParam() > 12) return;  // it would have to double too often
  const std::vector<digest> in = keys(5);
  for (const digest d : in) f_.insert(d);
  for (unsigned i = 0; i < GetParam() + 2; ++i) ASSERT_TRUE(f_.expand().ok());
  const evergreen loaded = saved_and_loaded(f_);
  EXPECT_EQ(loaded, f_);
  EXPECT_EQ(agreeing_positives(loaded, in), in.size());
  agreeing_positives(loaded, strangers(2000));
}

INSTANTIATE_TEST_SUITE_P(, evergreen_lookup, ::testing::Values(1, 6, 7, 8, 9, 12, 20, 40, 56));

}  // namespace
}  // namespace tamis::test
