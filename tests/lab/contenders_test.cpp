// The contenders that remember mistakes: they get the memory they were given, deny no member, and learn.

#include "lab/contenders.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "tamis/detail/base/random.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/keys.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

using test::keys;
using test::strangers;

constexpr std::uint64_t members = 20000;

contest_terms terms(const std::string& id, double bits_per_key = 12) { return {id, members, bits_per_key}; }

memory_remote stored_members() {
  memory_remote stored;
  for (const digest d : keys(members)) stored.insert(d);
  return stored;
}

// Half of the queries are for a few hundred keys, the others for keys that never come again.
std::vector<digest> skewed_log(std::size_t size) {
  random_source source(5);
  const std::vector<digest> popular = strangers(600);
  std::vector<digest> log = strangers(size, 10000);
  for (digest& d : log) {
    if (source.chance(0.5)) d = popular[source.below(popular.size())];
  }
  return log;
}

template <class Contender>
class contenders : public ::testing::Test {};
using all_contenders = ::testing::Types<known_mistakes, lru_tag_cache>;
TYPED_TEST_SUITE(contenders, all_contenders);

TYPED_TEST(contenders, share_the_memory_and_deny_no_member) {
  const memory_remote stored = stored_members();
  for (const char* id : {"bloom", "rsqf", "ascf", "taf"}) {
    for (const double share : {0.0, 1. / 64, 1. / 8}) {
      SCOPED_TRACE(::testing::Message() << id << ", share " << share);
      TypeParam f = TypeParam::make(terms(id), share).value();
      EXPECT_LE(static_cast<double>(f.fast_bits()), 12.0 * members * 1.01 + 4096);
      for (const digest d : keys(members)) ASSERT_TRUE(f.insert(d, stored));
      for (const digest d : skewed_log(50000)) f.ask(d, stored);
      for (const digest d : keys(members)) ASSERT_TRUE(f.may_contain(d));
    }
  }
}

TYPED_TEST(contenders, are_wrong_once_about_what_they_remember) {
  const memory_remote stored = stored_members();
  TypeParam f = TypeParam::make(terms("bloom"), 1. / 4).value();
  for (const digest d : keys(members)) f.insert(d, stored);
  std::uint64_t wrong = 0;
  for (const digest d : strangers(20000)) {
    if (!f.ask(d, stored)) continue;
    ++wrong;
    EXPECT_FALSE(f.ask(d, stored));
  }
  EXPECT_GT(wrong, 50u);
  // What becomes a member is denied no longer.
  memory_remote more = stored;
  for (const digest d : strangers(100)) {
    more.insert(d);
    ASSERT_TRUE(f.insert(d, more));
    EXPECT_TRUE(f.may_contain(d));
  }
}

TYPED_TEST(contenders, choose_on_the_first_fifth_of_a_log) {
  const std::vector<digest> in = keys(members);
  const std::vector<digest> log = skewed_log(200000);
  EXPECT_GT(choose_share<TypeParam>(terms("bloom", 8), in, log).value(), 0.0);
  // Where nothing comes again, remembering is waste; a filter as large as it can be is wrong least often.
  EXPECT_EQ(choose_share<TypeParam>(terms("bloom", 8), in, strangers(200000, 10000)).value(), 0.0);
  // The rest of the log has no say.
  std::vector<digest> changed = log;
  const std::vector<digest> others = strangers(160000, 1000000);
  std::copy(others.begin(), others.end(), changed.begin() + 40000);
  EXPECT_EQ(choose_share<TypeParam>(terms("bloom", 8), in, changed).value(),
            choose_share<TypeParam>(terms("bloom", 8), in, log).value());
  EXPECT_TRUE(test::refused(choose_share<TypeParam>(terms("rsqf", 0.5), in, log), "rsqf"));
}

class tag_cache_widths : public ::testing::TestWithParam<tag_cache::tags> {};
TEST_P(tag_cache_widths, forget_the_least_recently_used_of_a_set) {
  tag_cache cache(1, GetParam());
  std::deque<digest> model;  // the most recent first
  random_source source(9);
  const std::vector<digest> some = keys(14);
  for (int step = 0; step < 20000; ++step) {
    const digest d = some[source.below(some.size())];
    const auto at = std::find(model.begin(), model.end(), d);
    if (source.below(8) == 0) {
      cache.remove(d);
      if (at != model.end()) model.erase(at);
      continue;
    }
    const bool hit = cache.touch(d);
    ASSERT_EQ(hit, at != model.end()) << step;
    if (hit) {
      model.erase(at);
    } else {
      cache.add(d);
    }
    model.push_front(d);
    if (model.size() > tag_cache::ways) model.pop_back();
  }
  EXPECT_EQ(cache.bits(), 8 * static_cast<unsigned>(GetParam()));
  EXPECT_EQ(tag_cache::sets_in(3.9 * static_cast<double>(cache.bits()), GetParam()), 3u);
}
INSTANTIATE_TEST_SUITE_P(both, tag_cache_widths, ::testing::Values(tag_cache::tags::of_64_bits, tag_cache::tags::of_128_bits));

}  // namespace
}  // namespace tamis::lab
