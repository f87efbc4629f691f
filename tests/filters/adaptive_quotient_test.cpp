#include "tamis/detail/telescoping/adaptive_quotient.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tamis/detail/math/binomial.hpp"
#include "tamis/memory_remote.hpp"
#include "tests/filters/adaptive_kinds.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/remote.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;
using namespace tamis::test;

digest draw(random_source& random) { return {random(), random()}; }

template <class Kind>
class adaptive_quotients : public testing::Test {
 public:
  static typename Kind::tested make(std::uint64_t capacity, unsigned remainder) {
    return make_adaptive<Kind>(capacity, remainder);
  }
};
TYPED_TEST_SUITE(adaptive_quotients, adaptive_kinds);

// A filter, its remote and a small world of digests that collide often: few quotients, short remainders.
template <class Filter>
struct small_world {
  Filter filter;
  memory_remote remote{};
  std::vector<digest> members{};
  std::vector<digest> world{};
  random_source random;

  small_world(Filter f, std::uint64_t digests, double crowding, std::uint64_t seed) : filter(std::move(f)), random(seed) {
    for (std::uint64_t i = 0; i < digests; ++i) world.push_back(draw(random));
    // Some share their first bits, as far as 100 of them, and so their runs and many selectors.
    for (std::uint64_t i = 1; i < digests; ++i) {
      if (!random.chance(crowding)) continue;
      const digest other = world[random.below(i)];
      const digest_range same = prefix_range(other, static_cast<unsigned>(4 + random.below(100)));
      world[i] = {same.first.high | (world[i].high & (same.first.high ^ same.last.high)),
                  same.first.low | (world[i].low & (same.first.low ^ same.last.low))};
    }
  }

  digest any() { return world[random.below(world.size())]; }
  bool is_member(digest d) const { return std::find(members.begin(), members.end(), d) != members.end(); }

  void insert(bool with_remote, bool store_first) {
    const digest d = any();
    if (store_first) remote.insert(d);
    const auto before = filter;
    const insert_result answer = with_remote ? filter.insert(d, remote) : filter.insert(d);
    if (answer == insert_result::inserted) {
      members.push_back(d);
      if (!store_first) remote.insert(d);
    } else {
      ASSERT_EQ(filter, before);
      if (store_first) remote.erase(d);
    }
  }
  void erase(bool with_remote, bool store_first) {
    if (members.empty()) return;
    std::swap(members[random.below(members.size())], members.back());
    const digest d = members.back();
    members.pop_back();
    if (store_first) remote.erase(d);
    ASSERT_EQ(with_remote ? filter.erase(d, remote) : filter.erase(d), erase_result::erased);
    if (!store_first) remote.erase(d);
  }
  void adapt() {
    const digest d = any();
    const bool positive = filter.may_contain(d);
    const auto before = filter;
    switch (filter.adapt(d, remote)) {
      case adapt_result::fixed: ASSERT_TRUE(positive && !is_member(d) && !filter.may_contain(d)); break;
      case adapt_result::is_member: ASSERT_TRUE(is_member(d) && filter == before); break;
      case adapt_result::not_positive: ASSERT_TRUE(!positive && !is_member(d) && filter == before); break;
      case adapt_result::unfixable: ASSERT_TRUE(positive && !is_member(d) && filter == before); break;
    }
  }
  void expect_no_member_lost() const {
    for (const digest d : members) ASSERT_TRUE(filter.may_contain(d));
    const status valid = filter.validate();
    ASSERT_TRUE(valid.ok()) << valid.message();
  }
};

TYPED_TEST(adaptive_quotients, no_member_is_lost_with_a_remote) {
  for (std::uint64_t seed = 0; seed < 36; ++seed) {
    SCOPED_TRACE(seed);
    const auto remainder = static_cast<unsigned>(1 + seed % 12);
    small_world world(TestFixture::make(20 + seed * 3, remainder), 60 + seed * 6, seed % 3 == 0 ? 0.0 : 0.5, seed);
    for (int step = 0; step < 1500; ++step) {
      const double dice = world.random.unit();
      const bool store_first = world.random.chance(0.5);
      if (dice < (step % 500 < 250 ? 0.35 : 0.15)) {
        world.insert(true, store_first);
      } else if (dice < 0.45) {
        world.erase(true, store_first);
      } else if (dice < 0.455) {
        const auto again = saved_and_loaded(world.filter);
        ASSERT_EQ(again, world.filter);
        world.filter = again;
      } else {
        world.adapt();
      }
      if (step % 3 == 0) world.expect_no_member_lost();
      ASSERT_EQ(world.filter.keys(), world.members.size());
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(adaptive_quotients, no_member_is_lost_when_the_remote_is_not_always_at_hand) {
  for (std::uint64_t seed = 100; seed < 136; ++seed) {
    SCOPED_TRACE(seed);
    const auto remainder = static_cast<unsigned>(1 + seed % 9);
    small_world world(TestFixture::make(40 + seed, remainder), 60 + seed * 2, seed % 3 == 0 ? 0.0 : 0.5, seed);
    for (int step = 0; step < 1500; ++step) {
      const double dice = world.random.unit();
      const bool with_remote = world.random.chance(0.5);
      const bool store_first = world.random.chance(0.5);
      if (dice < 0.3) {
        world.insert(with_remote, store_first);
      } else if (dice < 0.5) {
        world.erase(with_remote, store_first);
      } else {
        world.adapt();
      }
      if (step % 3 == 0) world.expect_no_member_lost();
      ASSERT_EQ(world.filter.keys(), world.members.size());
      if (this->HasFatalFailure()) return;
    }
  }
}

// Fill to half, adapt to many negatives, fill on to 0.95: reference code loses members here.
TYPED_TEST(adaptive_quotients, fill_adapt_fill) {
  for (const std::uint64_t negatives_per_slot : {50, 100, 800}) {
    constexpr std::uint64_t capacity = 3890;  // 0.95 · 4096
    random_source random(negatives_per_slot);
    auto filter = TestFixture::make(capacity, 8);
    memory_remote remote;
    std::vector<digest> members;
    const auto fill = [&](std::uint64_t keys) {
      while (members.size() < keys) {
        members.push_back(draw(random));
        remote.insert(members.back());
        ASSERT_EQ(filter.insert(members.back(), remote), insert_result::inserted);
      }
    };
    fill(capacity / 2);
    std::uint64_t unfixable = 0;
    for (std::uint64_t i = 0; i < 4096 * negatives_per_slot; ++i) {
      const digest d = draw(random);
      if (filter.may_contain(d)) unfixable += filter.adapt(d, remote) != adapt_result::fixed;
    }
    for (const digest d : members) ASSERT_TRUE(filter.may_contain(d));
    fill(capacity);
    for (const digest d : members) ASSERT_TRUE(filter.may_contain(d));
    EXPECT_EQ(filter.keys(), capacity);
    EXPECT_EQ(unfixable, 0u);
    EXPECT_TRUE(filter.validate().ok());
    std::printf("%llu negatives per slot: %llu resets\n", static_cast<unsigned long long>(negatives_per_slot),
                static_cast<unsigned long long>(filter.resets()));
  }
}

TYPED_TEST(adaptive_quotients, fixed_queries_stay_fixed_until_a_reset) {
  random_source random(7);
  auto filter = TestFixture::make(20000, 8);
  memory_remote remote;
  for (int i = 0; i < 20000; ++i) {
    const digest d = draw(random);
    remote.insert(d);
    filter.insert(d, remote);
  }
  std::vector<digest> wrong;
  for (int i = 0; i < 200000; ++i) {
    const digest d = draw(random);
    if (filter.may_contain(d) && filter.adapt(d, remote) == adapt_result::fixed) wrong.push_back(d);
  }
  ASSERT_GT(wrong.size(), 300u);
  // A later fix of the same slot may let an earlier query back in, with probability 1/256 for a TAF, never for an exAF.
  std::uint64_t back = 0;
  for (const digest d : wrong) back += filter.may_contain(d);
  if (filter.resets() == 0) {
    EXPECT_LE(back, binomial_upper_bound(wrong.size(), 1.0 / 256, 1e-9));
  }
}

TYPED_TEST(adaptive_quotients, a_remote_that_does_not_fit_changes_nothing) {
  random_source random(8);
  auto filter = TestFixture::make(50, 3);
  memory_remote other;
  for (int i = 0; i < 45; ++i) filter.insert(draw(random));
  for (int i = 0; i < 300; ++i) other.insert(draw(random));
  const auto before = filter;
  for (int i = 0; i < 2000; ++i) {
    const digest d = draw(random);
    if (filter.may_contain(d)) {
      EXPECT_EQ(filter.adapt(d, other), adapt_result::unfixable);
    }
  }
  EXPECT_EQ(filter, before);
}

// Many keys of one quotient: with one digest, with one first word, or with nothing in common behind the quotient.
enum class likeness { one_digest, one_word, one_quotient };
digest of_crowd(likeness which, random_source& random) {
  constexpr std::uint64_t high = 0x8000'1234'5678'9abc;
  if (which == likeness::one_digest) return {high, 7};
  if (which == likeness::one_word) return {high, random()};
  return {high ^ random() >> 24, random()};  // 40 random bits: the quotient has fewer than 24
}

// However many keys share a quotient, and whatever they look like: what an adapt does is counted, and bounded.
TYPED_TEST(adaptive_quotients, the_cost_of_adapting_is_bounded) {
  for (const std::uint64_t keys : {10u, 1000u, 1024u, 1025u, 8000u}) {
    for (const likeness which : {likeness::one_digest, likeness::one_word, likeness::one_quotient}) {
      SCOPED_TRACE(testing::Message() << keys << " keys, " << static_cast<int>(which));
      random_source random(11);
      auto filter = TestFixture::make(20000, 8);
      memory_remote stored;
      for (std::uint64_t i = 0; i < keys; ++i) {
        const digest d = of_crowd(which, random);
        stored.insert(d);
        ASSERT_EQ(filter.insert(d), insert_result::inserted);
      }
      for (int asked = 0; asked < 40; ++asked) {
        const digest y = of_crowd(which == likeness::one_digest ? likeness::one_word : which, random);
        const auto before = filter;
        const counting_remote remote(stored);
        adapt_work work;
        const adapt_result answer = filter.adapt(y, remote, work);
        ASSERT_LE(remote.digests(), adapt_work::most_slots + 2);
        ASSERT_LE(work.digests, remote.digests());
        ASSERT_LE(work.comparisons, adapt_work::most_comparisons + 1);
        ASSERT_LE(work.slots, 3 * adapt_work::most_slots);
        if (keys > adapt_work::most_slots) {
          ASSERT_EQ(answer, before.may_contain(y) ? adapt_result::unfixable : adapt_result::not_positive);
        }
        if (which == likeness::one_digest) ASSERT_LE(work.comparisons, keys);  // paired once, each with its neighbour
        if (answer != adapt_result::fixed) ASSERT_EQ(filter, before);
        ASSERT_EQ(filter.may_contain(y), answer == adapt_result::unfixable);
      }
      stored.for_each_in(all_digests, [&](digest d) { EXPECT_TRUE(filter.may_contain(d)); });
      const digest in = of_crowd(likeness::one_digest, random);
      if (which == likeness::one_digest) ASSERT_EQ(filter.adapt(in, stored), adapt_result::is_member);
    }
  }
}

// The same for a remote that has more digests there than the filter has slots.
TYPED_TEST(adaptive_quotients, a_crowded_remote_is_read_in_part) {
  random_source random(12);
  auto filter = TestFixture::make(20000, 8);
  memory_remote stored;
  const digest in = of_crowd(likeness::one_word, random);
  ASSERT_EQ(filter.insert(in), insert_result::inserted);
  for (int i = 0; i < 5000; ++i) stored.insert(of_crowd(likeness::one_quotient, random));
  const counting_remote remote(stored);
  const digest y = of_crowd(likeness::one_word, random);
  const auto before = filter;
  EXPECT_EQ(filter.adapt(y, remote), adapt_result::unfixable);
  EXPECT_EQ(filter, before);
  EXPECT_LE(remote.digests(), 4u);
  stored.insert(y);
  EXPECT_EQ(filter.adapt(y, remote), adapt_result::is_member);
  EXPECT_LE(remote.digests(), 8u);
}

// Where the symbols of the first block stand in a payload.
template <class Filter>
std::pair<std::size_t, std::size_t> first_symbols(const std::vector<std::byte>& payload) {
  constexpr std::size_t number = 8;
  if constexpr (std::is_same_v<Filter, utaf>) {  // the last column, a byte a slot and 64 spare ones
    const std::size_t slots = number_at<std::uint64_t>(payload, 3 * number + 2 * number) / 17 * 64;
    return {payload.size() - 64 - slots, 64};
  }
  const std::size_t scheme = std::is_same_v<Filter, taf> ? 5 : 0;
  return {3 * number + scheme + 3 * number + 17, 7};  // behind the counts, the table's, and the runs of the block
}

// Nothing but slots in use may have symbols: the rate that an exaf states is their number less what the symbols exclude.
TYPED_TEST(adaptive_quotients, symbols_of_free_slots_are_refused) {
  using tested = typename TypeParam::tested;
  random_source random(10);
  auto filter = TestFixture::make(60, 2);
  const std::vector<std::byte> empty = payload_of(filter);
  memory_remote remote;
  for (int i = 0; i < 50; ++i) {
    const digest d = draw(random);
    remote.insert(d);
    ASSERT_EQ(filter.insert(d), insert_result::inserted);
  }
  std::vector<std::byte> adapted;
  const auto [first, size] = first_symbols<tested>(empty);
  const auto symbols_in = [first, size](const std::vector<std::byte>& payload) {
    return std::vector<std::byte>(payload.begin() + first, payload.begin() + first + size);
  };
  do {
    const digest d = draw(random);
    if (filter.may_contain(d)) ASSERT_NE(filter.adapt(d, remote), adapt_result::is_member);
    adapted = payload_of(filter);
  } while (symbols_in(adapted) == symbols_in(empty));
  ASSERT_TRUE(loaded_from<tested>(adapted).ok());
  std::vector<std::byte> forged = empty;
  ASSERT_TRUE(loaded_from<tested>(forged).ok());
  const std::vector<std::byte> symbols = symbols_in(adapted);
  std::copy(symbols.begin(), symbols.end(), forged.begin() + first);
  EXPECT_TRUE(refused(loaded_from<tested>(forged), "not in use"));
}

TYPED_TEST(adaptive_quotients, copies_of_a_key_are_separate) {
  random_source random(9);
  auto filter = TestFixture::make(500, 8);
  memory_remote remote;
  const digest x = draw(random);
  for (int i = 0; i < 100; ++i) {
    remote.insert(x);
    ASSERT_EQ(filter.insert(x, remote), insert_result::inserted);
  }
  digest y = x;
  y.low ^= 1;  // shares about 120 bits: more than a hundred slots would have to learn many symbols
  EXPECT_TRUE(filter.may_contain(y));
  filter.adapt(y, remote);
  EXPECT_TRUE(filter.may_contain(x));
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(filter.may_contain(x));
    ASSERT_EQ(filter.erase(x, remote), erase_result::erased);
    remote.erase(x);
  }
  EXPECT_FALSE(filter.may_contain(x));
  EXPECT_EQ(filter.keys(), 0u);
}

}  // namespace
