#include "tamis/filters/evergreen.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tamis/detail/math/binomial.hpp"
#include "tamis/memory_remote.hpp"
#include "tests/support/bounds.hpp"
#include "tests/support/keys.hpp"
#include "tests/support/remote.hpp"

namespace tamis::test {

using namespace detail;

namespace {

constexpr std::uint64_t seed = 20250312;

evergreen make(std::uint64_t capacity, option_list options, double fpr = 0.01) {
  return evergreen::create({.capacity = capacity, .fpr = fpr, .options = std::move(options)}).value();
}

std::uint64_t positives(const evergreen& f, std::span<const digest> asked) {
  return static_cast<std::uint64_t>(std::count_if(asked.begin(), asked.end(), [&](digest d) { return f.may_contain(d); }));
}

// Counts what is read.
struct reading_remote {
  const multiset_remote* behind;
  mutable std::uint64_t digests = 0;

  template <class Visit>
  void for_each_in(digest_range range, Visit visit) const {
    behind->for_each_in(range, [&](digest d) {
      ++digests;
      return wants_more_after(visit, d);
    });
  }
};

bool has_all(const evergreen& f, std::span<const digest> digests) { return positives(f, digests) == digests.size(); }

// Each segment would fit. Taken one by one they would fill the machine before one is refused.
TEST(evergreen, asks_for_all_memory_before_it_takes_any) {
  const auto made = evergreen::create({.capacity = std::uint64_t{1} << 45, .fpr = 0.01});
  ASSERT_FALSE(made);
  EXPECT_NE(made.message().find("does not fit into this machine's memory"), std::string::npos) << made.message();
}

TEST(evergreen, growing_changes_no_answer) {
  evergreen f = make(1000, {{"remainder", "4"}, {"segment", "256"}, {"fingerprints", "fixed"}});
  const std::vector<digest> in = keys(900);
  for (const digest d : in) ASSERT_EQ(f.insert(d), insert_result::inserted);
  const std::vector<digest> asked = strangers(50000);
  for (int round = 0; round < 4; ++round) {
    const evergreen before = f;
    ASSERT_TRUE(f.expand().ok());
    for (const digest d : asked) ASSERT_EQ(f.may_contain(d), before.may_contain(d)) << round;
    EXPECT_NEAR(f.expected_fpr(), before.expected_fpr(), 1e-12);
    EXPECT_TRUE(has_all(f, in));
    EXPECT_EQ(f.keys(), in.size());
    EXPECT_EQ(f.copies(), 0u);
  }
  // All have run out of bits: copying them again and again would never end.
  const evergreen before = f;
  EXPECT_FALSE(f.expand().ok());
  EXPECT_EQ(f, before);
  // A few may be copied.
  for (const digest d : keys(9000, 2000)) ASSERT_EQ(f.insert(d), insert_result::inserted);
  const evergreen more = f;
  ASSERT_TRUE(f.expand().ok());
  EXPECT_GE(f.copies(), 800u);
  for (const digest d : asked) ASSERT_EQ(f.may_contain(d), more.may_contain(d));
  EXPECT_TRUE(has_all(f, in));
  EXPECT_EQ(f.keys(), 9900u);
  for (const digest d : in) ASSERT_EQ(f.erase(d), erase_result::erased);
  for (const digest d : keys(9000, 2000)) ASSERT_EQ(f.erase(d), erase_result::erased);
  EXPECT_EQ(f.keys(), 0u);
}

TEST(evergreen, growing_keeps_what_was_fixed) {
  evergreen f = make(1000, {{"remainder", "6"}, {"segment", "256"}, {"fingerprints", "fixed"}});
  multiset_remote stored;
  for (const digest d : keys(2000)) {
    ASSERT_EQ(f.insert(d, stored), insert_result::inserted);
    stored.insert(d);
  }
  std::vector<digest> fixed;
  for (const digest d : strangers(20000)) {
    if (f.may_contain(d) && f.adapt(d, stored) == adapt_result::fixed) fixed.push_back(d);
  }
  ASSERT_GT(fixed.size(), 100u);
  for (int round = 0; round < 4; ++round) {
    ASSERT_TRUE(f.expand().ok());
    EXPECT_EQ(positives(f, fixed), 0u) << round;
    EXPECT_TRUE(has_all(f, keys(2000)));
  }
  EXPECT_GT(f.rejuvenate_all(stored), 0u);
  EXPECT_TRUE(has_all(f, keys(2000)));
}

TEST(evergreen, grows_by_itself_and_keeps_every_key) {
  for (const char* kind : {"fixed", "growing"}) {
    evergreen f = make(100, {{"remainder", "5"}, {"segment", "64"}, {"fingerprints", kind}});
    const std::vector<digest> in = keys(30000);
    for (const digest d : in) ASSERT_EQ(f.insert(d), insert_result::inserted);
    EXPECT_TRUE(has_all(f, in));
    EXPECT_EQ(f.keys(), in.size());
    EXPECT_GT(f.tree().segments().size(), 400u);
    const std::vector<digest> asked = strangers(20000);
    EXPECT_TRUE(equal_by_chance(positives(f, asked), asked.size(), f.expected_fpr())) << kind;
  }
}

TEST(evergreen, small_segments_have_more_bits) {
  // Without a remainder that was asked for: keys of a small filter last for many doublings.
  evergreen f = make(200, {{"segment", "1024"}}, 0.01);
  multiset_remote stored;
  const std::vector<digest> in = keys(20000);
  const std::vector<digest> asked = strangers(20000);
  std::vector<digest> fixed;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const bool with_store = i % 7 == 0;
    stored.insert(in[i]);
    ASSERT_EQ(with_store ? f.insert(in[i], stored) : f.insert(in[i]), insert_result::inserted);
    if (i % 100 == 0) {
      for (const digest d : std::span(asked).subspan(i, 100)) {
        if (f.may_contain(d) && f.adapt(d, stored) == adapt_result::fixed) fixed.push_back(d);
      }
    }
    if (i % 2500 == 0) {
      ASSERT_TRUE(has_all(f, std::span(in).first(i + 1)));
      ASSERT_TRUE(f.validate().ok()) << f.validate().message();
    }
  }
  EXPECT_TRUE(has_all(f, in));
  EXPECT_EQ(f.keys(), in.size());
  EXPECT_EQ(f.missing(), 0u);
  EXPECT_GT(fixed.size(), 20u);
  EXPECT_LT(positives(f, fixed), fixed.size() / 10);
  evergreen alone = make(200, {{"segment", "1024"}}, 0.01);
  for (const digest d : in) ASSERT_EQ(alone.insert(d), insert_result::inserted);
  EXPECT_EQ(alone.copies(), 0u);
  EXPECT_LE(alone.expected_fpr(), 0.0105);
  EXPECT_GT(alone.rejuvenate_all(stored), 0u);
  EXPECT_EQ(alone.missing(), 0u);
  EXPECT_TRUE(has_all(alone, in));
  for (const digest d : in) ASSERT_EQ(f.erase(d), erase_result::erased);
  EXPECT_EQ(f.keys(), 0u);
}

TEST(evergreen, keeps_the_rate_that_was_asked_for_without_a_store) {
  for (const double rate : {0.05, 0.01, 0.001}) {
    evergreen f = make(200, {{"segment", "256"}}, rate);
    for (const digest d : keys(200000)) ASSERT_EQ(f.insert(d), insert_result::inserted);  // ten doublings
    EXPECT_LE(f.expected_fpr(), 1.07 * rate);
  }
}

TEST(evergreen, rejuvenates_a_key_that_was_seen) {
  evergreen f = make(1000, {{"remainder", "8"}, {"fingerprints", "fixed"}});
  const std::vector<digest> in = keys(800);
  for (const digest d : in) ASSERT_EQ(f.insert(d), insert_result::inserted);
  ASSERT_TRUE(f.expand().ok() && f.expand().ok());
  const double before = f.expected_fpr();
  for (const digest d : in) f.rejuvenate(d);
  EXPECT_TRUE(has_all(f, in));
  EXPECT_NEAR(f.expected_fpr(), before / 4, before / 100);
}

TEST(evergreen, keys_with_one_long_beginning_are_refused_without_a_loss) {
  evergreen f = make(1000, {{"segment", "256"}, {"remainder", "24"}});
  random_source random(seed);
  std::vector<digest> in;
  std::uint64_t refused = 0;
  for (int i = 0; i < 3000; ++i) {
    const digest d{0x123456789a000000u | random() >> 40, random()};
    const digest other{0x123456789a000000u | random() >> 40, random()};
    const bool accepted[] = {f.may_contain(d), f.may_contain(other)};
    if (f.insert(d) == insert_result::inserted) {
      in.push_back(d);
    } else {
      ++refused;
      ASSERT_EQ(f.keys(), in.size());
      ASSERT_LE(f.may_contain(d), accepted[0]);
      ASSERT_LE(f.may_contain(other), accepted[1]);
    }
  }
  EXPECT_GT(in.size(), 200u);
  EXPECT_GT(refused, 0u);
  EXPECT_LT(f.tree().segments().size(), 1u << 10);
  EXPECT_TRUE(has_all(f, in));
  EXPECT_EQ(f.keys(), in.size());
  // Full, then erased, then filled again.
  const std::size_t half = in.size() / 2;
  for (std::size_t i = 0; i < half; ++i) ASSERT_EQ(f.erase(in[i]), erase_result::erased);
  EXPECT_TRUE(has_all(f, std::vector<digest>(in.begin() + static_cast<std::ptrdiff_t>(half), in.end())));
  for (std::size_t i = 0; i < half; ++i) ASSERT_EQ(f.insert(in[i]), insert_result::inserted);
  EXPECT_TRUE(has_all(f, in));
  // Other keys still go in, but for those of the full segment, which has less than a thousandth of the streams.
  const std::uint64_t before = f.keys();
  for (const digest d : keys(5000)) static_cast<void>(f.insert(d));
  EXPECT_GT(f.keys(), before + 4950);
  EXPECT_TRUE(has_all(f, in));
}

TEST(evergreen, adapting_heals_a_key_that_went_in_twice) {
  evergreen f = make(1000, {{"remainder", "4"}}, 0.2);
  multiset_remote stored;
  for (const digest d : keys(800)) {
    ASSERT_EQ(f.insert(d), insert_result::inserted);
    ASSERT_EQ(f.insert(d), insert_result::inserted);
    stored.insert(d);
  }
  for (const digest d : strangers(100000)) {
    if (f.may_contain(d)) {
      ASSERT_EQ(f.adapt(d, stored), adapt_result::fixed);
    }
  }
  EXPECT_TRUE(has_all(f, keys(800)));
  EXPECT_LT(f.keys(), 900u);  // nearly every quotient was looked at
  EXPECT_EQ(f.missing(), 0u);
}

TEST(evergreen, reports_a_stored_key_that_it_does_not_have) {
  evergreen f = make(1000, {{"remainder", "4"}}, 0.2);
  multiset_remote stored;
  for (const digest d : keys(800)) {
    ASSERT_EQ(f.insert(d), insert_result::inserted);
    stored.insert(d);
  }
  for (const digest d : keys(2000, 5000)) stored.insert(d);
  const evergreen before = f;
  std::uint64_t reported = 0;
  for (const digest d : strangers(5000)) {
    if (!f.may_contain(d)) continue;
    evergreen g = f;
    if (g.adapt(d, stored) == adapt_result::unfixable) {
      EXPECT_EQ(g.missing(), f.missing() + 1);
      EXPECT_EQ(g, f);
      ++reported;
    }
  }
  EXPECT_GT(reported, 5u);
}

TEST(evergreen, visits_entries_in_the_order_of_digests) {
  evergreen f = make(1000, {{"segment", "256"}});
  for (const digest d : keys(5000)) ASSERT_EQ(f.insert(d), insert_result::inserted);
  std::uint64_t entries = 0;
  stream_prefix last;
  f.for_each([&](const stream_prefix& p) {
    EXPECT_TRUE(last.root < p.root || (last.root == p.root && last.bits <= p.bits));
    last = p;
    ++entries;
  });
  EXPECT_EQ(entries, 5000u);
}

TEST(evergreen, merges_filters_of_different_depth) {
  for (const auto& [mine, theirs] : {std::pair(20000u, 500u), std::pair(500u, 20000u), std::pair(9000u, 9000u)}) {
    evergreen f = make(500, {{"segment", "256"}});
    evergreen g = make(500, {{"segment", "256"}});
    for (const digest d : keys(mine)) ASSERT_EQ(f.insert(d), insert_result::inserted);
    for (const digest d : strangers(theirs)) ASSERT_EQ(g.insert(d), insert_result::inserted);
    const double rates = f.expected_fpr() + g.expected_fpr();
    ASSERT_TRUE(f.merge(g).ok());
    EXPECT_EQ(f.keys(), mine + theirs);
    EXPECT_TRUE(has_all(f, keys(mine)) && has_all(f, strangers(theirs)));
    EXPECT_LE(f.expected_fpr(), rates * 1.0001);
  }
  // Entries that would have to be copied to hundreds of places.
  evergreen f = make(500, {{"segment", "256"}, {"remainder", "4"}, {"fingerprints", "fixed"}});
  evergreen g = make(500, {{"segment", "256"}, {"remainder", "4"}, {"fingerprints", "fixed"}});
  multiset_remote stored;
  for (const digest d : keys(400000)) {
    ASSERT_EQ(f.insert(d, stored), insert_result::inserted);
    stored.insert(d);
  }
  for (const digest d : strangers(500)) ASSERT_EQ(g.insert(d), insert_result::inserted);
  const evergreen before = f;
  const status refused = f.merge(g);
  EXPECT_NE(refused.message().find("too short"), std::string::npos);
  EXPECT_EQ(f, before);
}

// Deep for a few keys, and then nearly empty: such a directory must still be one that a file may have.
TEST(evergreen, what_has_shrunk_in_a_deep_directory_can_be_loaded) {
  evergreen f = make(100, {{"segment", "64"}, {"remainder", "8"}});
  multiset_remote stored;
  const std::vector<digest> in = keys(20000);
  for (const digest d : in) {
    ASSERT_EQ(f.insert(d, stored), insert_result::inserted);
    stored.insert(d);
  }
  random_source random(seed);
  std::vector<digest> alike;
  for (int i = 0; i < 200; ++i) {
    const digest d{0x123456789a000000u | random() >> 40, random()};
    if (f.insert(d, stored) != insert_result::inserted) continue;
    stored.insert(d);
    alike.push_back(d);
  }
  ASSERT_GT(f.tree().depth(), 14u);
  const std::size_t segments = f.tree().segments().size();
  for (const digest d : in) ASSERT_EQ(f.erase(d), erase_result::erased);
  EXPECT_LT(f.tree().segments().size(), segments);
  EXPECT_TRUE(has_all(f, alike));
  memory_sink sink;
  writer out(sink);
  out(f);
  ASSERT_TRUE(out.finish().ok());
  memory_source source(sink.bytes());
  reader from(source);
  evergreen loaded = stored_access::blank<evergreen>();
  from(loaded);
  ASSERT_TRUE(from.ok()) << from.state().message();
  EXPECT_EQ(loaded, f);
  for (const digest d : alike) ASSERT_EQ(f.erase(d), erase_result::erased);
  EXPECT_LT(f.tree().depth(), 12u);
}

TEST(evergreen, shrinks_after_erasing) {
  evergreen f = make(1000, {{"segment", "256"}, {"fingerprints", "fixed"}});
  const std::vector<digest> in = keys(50000);
  for (const digest d : in) ASSERT_EQ(f.insert(d), insert_result::inserted);
  const std::uint64_t bits = f.bits().fast;
  for (std::size_t i = 2000; i < in.size(); ++i) f.erase(in[i]);
  EXPECT_LT(f.bits().fast, bits / 8);
  EXPECT_TRUE(has_all(f, std::span(in).first(2000)));
  for (const digest d : in) ASSERT_EQ(f.insert(d), insert_result::inserted);
  EXPECT_TRUE(has_all(f, in));
}

// However many keys share a quotient, and however long they agree: what an adapt reads is bounded.
TEST(evergreen, the_cost_of_adapting_is_bounded) {
  for (const std::uint64_t count : {10u, 300u, 1000u, 2000u, 16000u}) {
    for (const unsigned shared : {24u, 40u, 64u}) {  // first bits, of which the place has 14 or more
      SCOPED_TRACE(::testing::Message() << count << " keys share " << shared << " bits");
      random_source random(shared);
      const auto like_them = [&]() -> digest {
        const std::uint64_t same = shared == 64 ? ~std::uint64_t{0} : ~(~std::uint64_t{0} >> shared);
        return {(mix64(seed) & same) | (random() & ~same), random()};
      };
      evergreen f = make(20000, {{"remainder", "8"}});
      multiset_remote stored;
      for (std::uint64_t i = 0; i < count; ++i) {
        const digest d = like_them();
        if (f.insert(d, stored) == insert_result::inserted) stored.insert(d);
      }
      for (int asked = 0; asked < 20; ++asked) {
        const digest y = like_them();
        const bool positive = f.may_contain(y);
        const reading_remote counted{&stored};
        const adapt_result answer = f.adapt(y, counted);
        ASSERT_EQ(answer == adapt_result::not_positive, !positive);
        ASSERT_EQ(answer == adapt_result::unfixable, f.may_contain(y));
        // A growth reads a segment: its keys, and what it could have beside them.
        ASSERT_LE(counted.digests, (1 + adapt_work::most_growths) * (adapt_work::most_slots + 3) + 2 * 16384u);
        if (count == 10) {
          ASSERT_NE(answer, adapt_result::unfixable);
        }
        if (count == 16000 && positive) {
          ASSERT_EQ(answer, adapt_result::unfixable);
        }
      }
      EXPECT_TRUE(has_all(f, std::vector<digest>(stored.begin(), stored.end())));
      EXPECT_TRUE(f.validate().ok());
    }
  }
}

TEST(evergreen, follows_its_keys_in_small_steps) {
  random_source random(5);
  auto filter = evergreen::create({.capacity = 1000, .fpr = 0.01}).value();
  memory_remote stored;
  std::vector<digest> keys;
  double sum = 0;
  double most = 0;
  unsigned points = 0;
  double next = 16384;
  while (keys.size() < 121000) {  // eight segments, which are nearly full
    keys.push_back({random(), random()});
    stored.insert(keys.back());
    ASSERT_EQ(filter.insert(keys.back(), stored), insert_result::inserted);
    if (static_cast<double>(keys.size()) < next) continue;
    next *= std::exp2(1.0 / 16);
    const double bits = static_cast<double>(filter.bits().fast) / static_cast<double>(keys.size());
    EXPECT_LE(filter.expected_fpr(), 0.01);
    sum += bits;
    most = std::max(most, bits);
    ++points;
  }
  std::printf("%.2f bits per key in the mean, %.2f at most\n", sum / points, most);
  EXPECT_LE(sum / points, 10.9);
  EXPECT_LE(most, 12.0);
  for (const digest d : keys) ASSERT_TRUE(filter.may_contain(d));
  std::uint64_t wrong = 0;
  constexpr std::uint64_t trials = 1000000;
  for (std::uint64_t i = 0; i < trials; ++i) wrong += filter.may_contain({random(), random()});
  EXPECT_LE(wrong, binomial_upper_bound(trials, filter.expected_fpr(), 1e-9));
  EXPECT_GE(wrong, binomial_lower_bound(trials, filter.expected_fpr(), 1e-9));
  // And gives slots back when they go.
  const std::uint64_t full = filter.bits().fast;
  for (std::size_t i = 0; i < keys.size() / 2; ++i) ASSERT_EQ(filter.erase(keys[i]), erase_result::erased);
  EXPECT_LT(filter.bits().fast, full * 3 / 4);
  for (std::size_t i = keys.size() / 2; i < keys.size(); ++i) ASSERT_TRUE(filter.may_contain(keys[i]));
}

TEST(evergreen, grows_without_a_store_and_gets_its_bits_back) {
  random_source random(6);
  for (const char* fingerprints : {"growing", "fixed"}) {
    auto filter =
        evergreen::create({.capacity = 1000, .fpr = 0.01, .options = {{"segment", "1024"}, {"fingerprints", fingerprints}}})
            .value();
    memory_remote stored;
    std::vector<digest> keys;
    while (keys.size() < 100000) {
      const digest d{random(), random()};
      ASSERT_EQ(filter.insert(d), insert_result::inserted);
      keys.push_back(d);
      stored.insert(d);
    }
    EXPECT_EQ(filter.keys(), keys.size());
    for (const digest d : keys) ASSERT_TRUE(filter.may_contain(d));
    std::uint64_t wrong = 0;
    constexpr std::uint64_t trials = 1000000;
    for (std::uint64_t i = 0; i < trials; ++i) wrong += filter.may_contain({random(), random()});
    std::printf("%s: %llu wrong, expected %.0f, %.2f bits per key, %llu copies\n", fingerprints,
                static_cast<unsigned long long>(wrong), trials * filter.expected_fpr(),
                static_cast<double>(filter.bits().fast) / static_cast<double>(keys.size()),
                static_cast<unsigned long long>(filter.copies()));
    EXPECT_LE(wrong, binomial_upper_bound(trials, filter.expected_fpr(), 1e-9));
    EXPECT_GE(wrong, binomial_lower_bound(trials, filter.expected_fpr(), 1e-9));
    if (std::string(fingerprints) == "growing") {
      EXPECT_LE(filter.expected_fpr(), 0.0105);
    }
    EXPECT_GT(filter.rejuvenate_all(stored), 0u);
    EXPECT_LT(filter.expected_fpr(), std::ldexp(1.02, -7));
    EXPECT_LT(static_cast<double>(filter.bits().fast), 13.0 * static_cast<double>(keys.size()));
    for (const digest d : keys) ASSERT_TRUE(filter.may_contain(d));
    EXPECT_EQ(filter.keys(), keys.size());
    EXPECT_EQ(filter.copies(), 0u);
  }
}

// No remote promises an order.
TEST(evergreen, is_renewed_alike_from_a_store_in_any_order) {
  struct backward_remote {
    const multiset_remote* behind;

    void for_each_in(digest_range range, const std::function<bool(digest)>& visit) const {
      std::vector<digest> all;
      behind->for_each_in(range, [&](digest d) { all.push_back(d); });
      for (std::size_t i = all.size(); i-- != 0 && visit(all[i]);) {
      }
    }
  };
  multiset_remote stored;
  const backward_remote backward{&stored};
  evergreen f = make(1000, {{"segment", "256"}});
  evergreen g = f;
  for (const digest d : keys(20'000)) {
    stored.insert(d);
    ASSERT_EQ(f.insert(d, stored), insert_result::inserted);
    ASSERT_EQ(g.insert(d, backward), insert_result::inserted);
  }
  EXPECT_EQ(f.missing(), 0u);
  EXPECT_EQ(g.missing(), 0u);
  EXPECT_EQ(f, g);
}

TEST(evergreen, does_not_grow_if_the_store_has_keys_that_it_has_not) {
  random_source random(7);
  auto filter = evergreen::create({.capacity = 60, .fpr = 0.01}).value();
  memory_remote stored;
  std::vector<digest> in;
  for (int i = 0; i < 4000; ++i) {
    const digest d{random(), random()};
    stored.insert(d);
    if (i % 10 != 0 && filter.insert(d, stored) == insert_result::inserted) in.push_back(d);
  }
  EXPECT_GT(filter.missing(), 0u);
  for (const digest d : in) ASSERT_TRUE(filter.may_contain(d));
}

// Three keys whose entries have ten bits, in segments of depth six: four quotients have a copy of each entry.
struct copied_entries {
  evergreen f = make(40, {{"remainder", "4"}, {"segment", "64"}, {"fingerprints", "fixed"}});
  multiset_remote stored;

  copied_entries() {
    for (std::uint64_t i = 0; i < 3; ++i) {
      const digest d{mix64(seed), mix64(i)};
      EXPECT_EQ(f.insert(d), insert_result::inserted);
      stored.insert(d);
    }
    for (int i = 0; i < 4; ++i) f.expand().value();
    for (const digest d : keys(800)) EXPECT_EQ(f.insert(d), insert_result::inserted);
    for (int i = 0; i < 2; ++i) f.expand().value();
    for (const digest d : keys(800)) f.erase(d);
  }
  // Another stream that begins with the ten bits.
  static digest like_them(unsigned shared) { return {mix64(seed) ^ std::uint64_t{1} << (63 - shared), 0}; }
};

TEST(evergreen, copies_of_voids_are_no_keys) {
  copied_entries world;
  evergreen& f = world.f;
  EXPECT_EQ(f.keys(), 3u);
  const std::uint64_t copies = f.copies();
  EXPECT_GE(copies, 3u);
  ASSERT_TRUE(f.may_contain(world.like_them(14)));
  ASSERT_EQ(f.adapt(world.like_them(14), world.stored), adapt_result::fixed);
  EXPECT_EQ(f.keys(), 3u);
  EXPECT_TRUE(has_all(f, std::vector<digest>(world.stored.begin(), world.stored.end())));
  const evergreen other = f;
  ASSERT_TRUE(f.merge(other).ok());
  EXPECT_EQ(f.keys(), 6u);
  EXPECT_EQ(f.copies(), 2 * other.copies());
  for (const digest d : world.stored) ASSERT_EQ(f.erase(d), erase_result::erased);
  for (const digest d : world.stored) ASSERT_EQ(f.erase(d), erase_result::erased);
  EXPECT_EQ(f.keys(), 0u);
}

}  // namespace
}  // namespace tamis::test
