// Any sequence of inserts, adaptations, erases, saves, loads and merges, with a remote beside it: after every step the filter
// has every member of a plain multiset, and its fields are sound. The worlds are small and crowded, so that runs are long,
// selectors high and codes overflow.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tests/filters/adaptive_kinds.hpp"
#include "tests/support/property.hpp"
#include "tests/support/remote.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;
using namespace tamis::test;

enum class step {
  insert_storing_first,
  insert_storing_last,
  adapt,
  adapt_more,
  erase_stored,
  erase_gone,
  save_and_load,
  count_
};
constexpr const char* step_names[] = {"insert, stored before", "insert, stored after", "adapt",        "adapt",
                                      "erase, still stored",   "erase, gone",          "save and load"};

struct operation {
  step what;
  std::uint32_t which;  // digest of the world, by number
};
std::ostream& operator<<(std::ostream& out, const operation& o) {
  return out << step_names[static_cast<int>(o.what)] << ' ' << o.which;
}

rc::Gen<std::vector<operation>> operations(double length) {
  const auto one = rc::gen::map(
      rc::gen::pair(rc::gen::inRange(0, static_cast<int>(step::count_)), rc::gen::inRange<std::uint32_t>(0, 1 << 16)),
      [](const std::pair<int, std::uint32_t>& drawn) {
        return operation{static_cast<step>(drawn.first), drawn.second};
      });
  return rc::gen::scale(length, rc::gen::container<std::vector<operation>>(one));
}

// Digests of few quotients, many of which agree in their first bits, some in more than hundred.
std::vector<digest> crowded(std::uint64_t count, std::uint64_t seed) {
  random_source random(seed);
  std::vector<digest> world;
  for (std::uint64_t i = 0; i < count; ++i) {
    digest d{random(), random()};
    if (i != 0 && random.chance(0.6)) {
      const digest other = world[random.below(i)];
      const digest_range same = prefix_range(other, static_cast<unsigned>(4 + random.below(110)));
      d = {same.first.high | (d.high & (same.first.high ^ same.last.high)),
           same.first.low | (d.low & (same.first.low ^ same.last.low))};
    }
    world.push_back(d);
  }
  return world;
}

template <class Filter>
struct pair_of_worlds {
  Filter filter;
  multiset_remote stored;  // what the filter must hold

  void check() const {
    for (const digest d : stored) RC_ASSERT(filter.may_contain(d));
    RC_ASSERT(filter.keys() == stored.size());
    const status valid = filter.validate();
    if (!valid.ok()) RC_FAIL(valid.message());
  }

  void insert(digest d, bool first) {
    multiset_remote remote = stored;
    if (first) remote.insert(d);
    const Filter before = filter;
    if (filter.insert(d, remote) == insert_result::inserted) {
      stored.insert(d);
    } else {
      RC_ASSERT(filter == before);
    }
  }
  void erase(digest d, bool gone) {
    if (!stored.contains(d)) return;
    multiset_remote remote = stored;
    if (gone) remote.erase_one(d);
    RC_ASSERT(filter.erase(d, remote) == erase_result::erased);
    stored.erase_one(d);
  }
  void adapt(digest d) {
    const bool positive = filter.may_contain(d);
    const Filter before = filter;
    switch (filter.adapt(d, stored)) {
      case adapt_result::fixed:
        RC_ASSERT(positive && !stored.contains(d));
        RC_ASSERT(!filter.may_contain(d));
        return;
      case adapt_result::is_member: RC_ASSERT(stored.contains(d)); break;
      case adapt_result::not_positive: RC_ASSERT(!positive); break;
      case adapt_result::unfixable: RC_ASSERT(positive && !stored.contains(d)); break;
    }
    RC_ASSERT(filter == before);
  }

  void run(const operation& o, const std::vector<digest>& world) {
    const digest d = world[o.which % world.size()];
    // Erases pick among the members, or nearly all would find nothing to do.
    const auto member = [&] { return *std::next(stored.begin(), static_cast<std::ptrdiff_t>(o.which % stored.size())); };
    switch (o.what) {
      case step::insert_storing_first: return insert(d, true);
      case step::insert_storing_last: return insert(d, false);
      case step::adapt:
      case step::adapt_more: return adapt(d);
      case step::erase_stored:
      case step::erase_gone:
        if (stored.size() != 0) erase(member(), o.what == step::erase_gone);
        return;
      case step::save_and_load: {
        Filter again = saved_and_loaded(filter);
        RC_ASSERT(again == filter);
        filter = std::move(again);
        return;
      }
      case step::count_: return;
    }
  }
};

template <class Kind>
class adaptive_sequences : public testing::Test {};
TYPED_TEST_SUITE(adaptive_sequences, adaptive_kinds);

template <class Kind>
void expect_members_kept(std::uint64_t capacity, unsigned remainder, std::uint64_t at_first, int cases, double length) {
  const std::uint64_t seed = capacity * 10 + remainder;
  SCOPED_TRACE("capacity " + std::to_string(capacity) + ", remainder " + std::to_string(remainder));
  const std::vector<digest> world = crowded(20 + 2 * capacity, seed);
  pair_of_worlds<typename Kind::tested> start{make_adaptive<Kind>(capacity, remainder), {}};
  for (std::uint64_t i = 0; i < at_first; ++i) {
    start.stored.insert(world[i]);
    ASSERT_EQ(start.filter.insert(world[i], start.stored), insert_result::inserted);
  }
  expect_always(seed, cases, [&] {
    auto now = start;
    for (const operation& o : *operations(length)) {
      now.run(o, world);
      now.check();
    }
  });
}

TYPED_TEST(adaptive_sequences, keep_every_member) {
  for (const unsigned remainder : {2u, 3u, 4u}) {
    expect_members_kept<TypeParam>(1, remainder, 0, 60, 1.0);
    expect_members_kept<TypeParam>(40, remainder, 0, 60, 4.0);
    expect_members_kept<TypeParam>(100, remainder, 80, 60, 4.0);
  }
  for (const unsigned remainder : {8u, 12u, 16u}) expect_members_kept<TypeParam>(100, remainder, 80, 30, 4.0);
}

TYPED_TEST(adaptive_sequences, keep_every_member_where_a_block_begins) {
  for (const unsigned remainder : {2u, 3u, 4u}) expect_members_kept<TypeParam>(1025, remainder, 800, 12, 3.0);
}

// Two filters that have adapted become one.
TYPED_TEST(adaptive_sequences, merge_keeps_the_members_of_both) {
  std::uint64_t refused_without = 0;
  std::uint64_t refused_with = 0;
  const std::vector<digest> world = crowded(300, 77);
  expect_always(77, 150, [&] {
    const unsigned remainder = *rc::gen::inRange(2u, 5u);
    pair_of_worlds<typename TypeParam::tested> both[2] = {{make_adaptive<TypeParam>(120, remainder), {}},
                                                          {make_adaptive<TypeParam>(120, remainder), {}}};
    for (auto& one : both) {
      for (const operation& o : *operations(12.0)) one.run(o, world);
      one.check();
    }
    const auto before = both[0];
    multiset_remote all = both[0].stored;
    for (const digest d : both[1].stored) all.insert(d);
    auto alone = both[0];
    if (alone.filter.merge(both[1].filter).ok()) {
      alone.stored = all;
      alone.check();
    } else {
      ++refused_without;
      RC_ASSERT(alone.filter == before.filter);
    }
    if (both[0].filter.merge(both[1].filter, all).ok()) {
      both[0].stored = all;
      both[0].check();
      // And it lives on.
      for (const operation& o : *operations(1.0)) {
        both[0].run(o, world);
        both[0].check();
      }
    } else {
      ++refused_with;
      RC_ASSERT(both[0].filter == before.filter);
    }
  });
  std::printf("refused without a remote %llu, with one %llu\n", static_cast<unsigned long long>(refused_without),
              static_cast<unsigned long long>(refused_with));
  EXPECT_LE(refused_with, refused_without);
  if (!TypeParam::tested::merging_may_need_a_remote) {
    EXPECT_EQ(refused_with, refused_without);
  }
}

}  // namespace
