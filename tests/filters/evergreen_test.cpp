#include "tamis/filters/evergreen.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tamis/detail/base/random.hpp"
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

bool has_all(const evergreen& f, std::span<const digest> digests) { return positives(f, digests) == digests.size(); }

std::uint64_t coverings_in(const evergreen& f) {
  std::uint64_t coverings = 0;
  f.forest().segments().for_each(
      [&](std::uint64_t, const prefix_segment& segment) { coverings += segment.coverings().size(); });
  return coverings;
}

TEST(evergreen, growing_changes_no_answer) {
  evergreen f = make(1000, {{"fingerprint", "4"}, {"segment", "256"}});
  const std::vector<digest> in = keys(900);
  for (const digest d : in) f.insert(d);
  const std::vector<digest> asked = strangers(50000);
  for (int round = 0; round < 7; ++round) {  // entries run out of bits in the fifth
    const evergreen before = f;
    ASSERT_TRUE(f.expand().ok());
    for (const digest d : asked) ASSERT_EQ(f.may_contain(d), before.may_contain(d)) << round;
    EXPECT_NEAR(f.expected_fpr(), before.expected_fpr(), 1e-12);
    EXPECT_TRUE(has_all(f, in));
  }
  EXPECT_GT(coverings_in(f), 0u);
  for (const digest d : in) ASSERT_EQ(f.erase(d), erase_result::erased);
  EXPECT_EQ(f.expected_fpr(), 0.0);
}

TEST(evergreen, grows_by_itself_and_keeps_every_key) {
  for (const char* kind : {"fixed", "growing"}) {
    evergreen f = make(100, {{"fingerprint", "3"}, {"segment", "64"}, {"fingerprints", kind}});
    const std::vector<digest> in = keys(30000);
    for (const digest d : in) ASSERT_EQ(f.insert(d), insert_result::inserted);
    EXPECT_TRUE(has_all(f, in));
    EXPECT_GT(f.forest().segments().segments(), 400u);
    const std::vector<digest> asked = strangers(20000);
    EXPECT_TRUE(equal_by_chance(positives(f, asked), asked.size(), f.expected_fpr())) << kind;
  }
}

TEST(evergreen, with_a_remote_no_entry_runs_out_of_bits_and_the_rate_is_stable) {
  constexpr unsigned fingerprint = 6;
  for (const unsigned generations : {1u, 2u, 4u}) {
    evergreen f = make(
        100, {{"fingerprint", std::to_string(fingerprint)}, {"segment", "256"}, {"generations", std::to_string(generations)}});
    memory_remote stored;
    for (const digest d : keys(40000)) {
      ASSERT_EQ(f.insert(d, stored), insert_result::inserted);
      stored.insert(d);
    }
    EXPECT_EQ(coverings_in(f), 0u);
    EXPECT_TRUE(has_all(f, keys(40000)));
    // Up to g + 1 generations of half of 2^-F each, and those whose turn has not come yet.
    const double most = (generations + 2.0) * std::ldexp(0.9, -static_cast<int>(fingerprint) - 1) * 2;
    EXPECT_LT(f.expected_fpr(), most) << generations;
  }
}

TEST(evergreen, remote_resolves_coverings) {
  evergreen f = make(100, {{"fingerprint", "3"}, {"segment", "256"}, {"fingerprints", "fixed"}});
  memory_remote stored;
  for (const digest d : keys(20000)) {
    f.insert(d);
    stored.insert(d);
  }
  ASSERT_GT(coverings_in(f), 100u);
  const double before = f.expected_fpr();
  EXPECT_GT(f.rejuvenate_all(stored, 0), 0u);
  EXPECT_EQ(coverings_in(f), 0u);
  EXPECT_LT(f.expected_fpr(), before / 2);
  EXPECT_TRUE(has_all(f, keys(20000)));
}

TEST(evergreen, rejuvenates_a_key_that_was_seen) {
  evergreen f = make(1000, {{"fingerprint", "8"}, {"fingerprints", "fixed"}});
  const std::vector<digest> in = keys(800);
  for (const digest d : in) f.insert(d);
  ASSERT_TRUE(f.expand().ok() && f.expand().ok());
  const double before = f.expected_fpr();
  for (const digest d : in) f.rejuvenate(d);
  EXPECT_TRUE(has_all(f, in));
  EXPECT_NEAR(f.expected_fpr(), before / 4, before / 100);
}

TEST(evergreen, copies_of_a_key_are_a_counter) {
  evergreen f = make(1000, {});
  for (const digest d : keys(800)) f.insert(d);
  const std::uint64_t bits = f.bits().fast;
  const digest often = strangers(1)[0];
  for (std::uint64_t i = 1; i <= 100000; ++i) {
    ASSERT_EQ(f.insert(often), insert_result::inserted);
    if (i % 1000 == 0) {
      ASSERT_GE(f.count(often), i);
      ASSERT_LE(f.count(often), i + 3);
    }
  }
  EXPECT_EQ(f.bits().fast, bits);
  for (int i = 0; i < 100000; ++i) ASSERT_EQ(f.erase(often), erase_result::erased);
  EXPECT_FALSE(f.may_contain(often));
  EXPECT_TRUE(has_all(f, keys(800)));
}

TEST(evergreen, keys_with_one_long_beginning_are_refused_without_a_loss) {
  evergreen f = make(1000, {{"segment", "256"}, {"fingerprint", "56"}});
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
  EXPECT_LT(f.forest().segments().size(), 1u << 14);
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
  for (const digest d : keys(5000)) f.insert(d);
  EXPECT_GT(f.keys(), before + 4950);
  EXPECT_TRUE(has_all(f, in));
}

TEST(evergreen, adapting_heals_a_key_that_went_in_twice) {
  evergreen f = make(1000, {}, 0.2);
  multiset_remote stored;
  for (const digest d : keys(800)) {
    f.insert(d);
    f.insert(d);
    stored.insert(d);
  }
  for (const digest d : strangers(100000)) {
    if (f.may_contain(d)) {
      ASSERT_EQ(f.adapt(d, stored), adapt_result::fixed);
    }
  }
  EXPECT_TRUE(has_all(f, keys(800)));
  EXPECT_LT(f.keys(), 900u);  // nearly every cell was looked at
  EXPECT_EQ(f.missing(), 0u);
}

TEST(evergreen, reports_a_stored_key_that_it_does_not_have) {
  evergreen f = make(1000, {}, 0.2);
  multiset_remote stored;
  for (const digest d : keys(800)) {
    f.insert(d);
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
      EXPECT_EQ(g.forest(), f.forest());
      ++reported;
    }
  }
  EXPECT_GT(reported, 50u);
}

TEST(evergreen, visits_entries_in_the_order_of_digests) {
  evergreen f = make(1000, {{"segment", "256"}});
  for (const digest d : keys(5000)) f.insert(d);
  std::uint64_t entries = 0;
  stream_prefix last;
  f.for_each([&](const stream_prefix& p, std::uint64_t count) {
    EXPECT_TRUE(last.root < p.root || (last.root == p.root && last.bits <= p.bits));
    last = p;
    entries += count;
  });
  EXPECT_EQ(entries, 5000u);
}

TEST(evergreen, merges_filters_of_different_depth) {
  for (const auto& [mine, theirs] : {std::pair(20000u, 500u), std::pair(500u, 20000u), std::pair(9000u, 9000u)}) {
    evergreen f = make(500, {{"segment", "256"}});
    evergreen g = make(500, {{"segment", "256"}});
    for (const digest d : keys(mine)) f.insert(d);
    for (const digest d : strangers(theirs)) g.insert(d);
    const double rates = f.expected_fpr() + g.expected_fpr();
    ASSERT_TRUE(f.merge(g).ok());
    EXPECT_EQ(f.keys(), mine + theirs);
    EXPECT_TRUE(has_all(f, keys(mine)) && has_all(f, strangers(theirs)));
    EXPECT_LE(f.expected_fpr(), rates * 1.0001);
  }
}

TEST(evergreen, contracts_after_erasing) {
  evergreen f = make(1000, {{"segment", "256"}, {"fingerprints", "fixed"}});
  const std::vector<digest> in = keys(50000);
  for (const digest d : in) f.insert(d);
  const std::uint64_t bits = f.bits().fast;
  for (std::size_t i = 2000; i < in.size(); ++i) f.erase(in[i]);
  EXPECT_GT(f.contract(), 50u);
  EXPECT_LT(f.bits().fast, bits / 8);
  EXPECT_TRUE(has_all(f, std::span(in).first(2000)));
  for (const digest d : in) f.insert(d);
  EXPECT_TRUE(has_all(f, in));
}

// However many keys share a cell, and however long they agree: what an adapt does is counted, and bounded.
TEST(evergreen, the_cost_of_adapting_is_bounded) {
  for (const std::uint64_t count : {10u, 300u, 1000u, 2000u, 16000u}) {
    for (const unsigned shared : {24u, 40u, 64u}) {  // first bits, of which the place has 14 or more
      SCOPED_TRACE(::testing::Message() << count << " keys share " << shared << " bits");
      random_source random(shared);
      const auto like_them = [&]() -> digest {
        const std::uint64_t same = shared == 64 ? ~std::uint64_t{0} : ~(~std::uint64_t{0} >> shared);
        return {(mix64(seed) & same) | (random() & ~same), random()};
      };
      evergreen f = make(20000, {{"fingerprint", "8"}});
      multiset_remote stored;
      for (std::uint64_t i = 0; i < count; ++i) {
        const digest d = like_them();
        if (f.insert(d, stored) == insert_result::inserted) stored.insert(d);
      }
      for (int asked = 0; asked < 20; ++asked) {
        const digest y = like_them();
        const bool positive = f.may_contain(y);
        adapt_work work;
        const adapt_result answer = f.adapt(y, stored, work);
        ASSERT_EQ(answer == adapt_result::not_positive, !positive);
        ASSERT_EQ(answer == adapt_result::unfixable, f.may_contain(y));
        ASSERT_LE(work.digests, (1 + work.growths) * (adapt_work::most_slots + 3));
        ASSERT_LE(work.slots, (1 + work.growths) * adapt_work::most_matches);
        ASSERT_LE(work.growths, adapt_work::most_growths + 16u);
        if (count == 10) ASSERT_NE(answer, adapt_result::unfixable);
        if (count == 16000 && positive) ASSERT_EQ(answer, adapt_result::unfixable);
      }
      EXPECT_TRUE(has_all(f, std::vector<digest>(stored.begin(), stored.end())));
      EXPECT_TRUE(f.validate().ok());
    }
  }
}

// Three keys whose entries have seven bits, in segments of depth 12: every segment below those bits has a copy of the entries.
struct copied_entries {
  evergreen f = make(40, {{"fingerprint", "1"}, {"segment", "64"}, {"fingerprints", "fixed"}});
  multiset_remote stored;

  copied_entries() {
    for (std::uint64_t i = 0; i < 3; ++i) {
      const digest d{mix64(seed), mix64(i)};
      f.insert(d);
      stored.insert(d);
    }
    for (int i = 0; i < 12; ++i) f.expand().value();
  }
  static constexpr std::uint64_t copies = 3 * 31;
  // Another stream that begins with the seven bits.
  static digest like_them(unsigned shared) { return {mix64(seed) ^ std::uint64_t{1} << (63 - shared), 0}; }
};
TEST(evergreen, copies_that_splits_made_are_no_keys) {
  copied_entries world;
  evergreen& f = world.f;
  EXPECT_EQ(f.keys(), 3u);
  EXPECT_EQ(f.copies(), world.copies);
  EXPECT_GT(f.contract(), 0u);  // adds the copies up
  EXPECT_EQ(f.keys(), 3u);
  EXPECT_EQ(f.copies(), world.copies);
  ASSERT_EQ(f.adapt(world.like_them(8), world.stored), adapt_result::fixed);
  EXPECT_EQ(f.keys(), 3u);
  EXPECT_EQ(f.copies(), 0u);
  EXPECT_TRUE(has_all(f, std::vector<digest>(world.stored.begin(), world.stored.end())));
}
TEST(evergreen, copies_are_told_from_keys_after_merging) {
  copied_entries world;
  const evergreen other = world.f;
  ASSERT_TRUE(world.f.merge(other).ok());
  EXPECT_EQ(world.f.keys(), 6u);
  EXPECT_EQ(world.f.copies(), 2 * world.copies);
}
TEST(evergreen, copies_that_are_left_can_be_erased) {
  copied_entries world;
  for (const digest d : world.stored) ASSERT_EQ(world.f.erase(d), erase_result::erased);
  EXPECT_EQ(world.f.keys(), 0u);
  EXPECT_EQ(world.f.copies(), world.copies);
  EXPECT_EQ(world.f.erase(world.like_them(8)), erase_result::erased);
  EXPECT_EQ(world.f.keys(), 0u);
  EXPECT_EQ(world.f.copies(), world.copies - 1);
}
// Where a key went in twice and there are copies as well, the count is too high rather than too low.
TEST(evergreen, what_adapt_drops_is_taken_for_copies_first) {
  copied_entries world;
  const digest twice{~mix64(seed), 0};
  world.f.insert(twice);
  world.f.insert(twice);
  world.stored.insert(twice);
  const digest like_it{twice.high ^ 1, 0};  // the entries have 19 bits
  ASSERT_EQ(world.f.adapt(like_it, world.stored), adapt_result::fixed);
  EXPECT_EQ(world.f.keys(), 5u);
  EXPECT_EQ(world.f.copies(), world.copies - 1);
}

TEST(evergreen, flat_growth_keeps_memory_in_proportion) {
  double worst[2] = {0, 0};
  for (const bool flat : {false, true}) {
    evergreen f = make(2000, {{"segment", "1024"}, {"fingerprints", "fixed"}, {"growth", flat ? "flat" : "even"}});
    const std::vector<digest> in = keys(1 << 19);
    for (std::size_t i = 0; i < in.size(); ++i) {
      f.insert(in[i]);
      if (i > (1 << 18) && i % 8192 == 0) {
        worst[flat] = std::max(worst[flat], static_cast<double>(f.bits().fast) / static_cast<double>(i));
      }
    }
    EXPECT_TRUE(has_all(f, in));
    const std::vector<digest> asked = strangers(20000);
    EXPECT_TRUE(equal_by_chance(positives(f, asked), asked.size(), f.expected_fpr()));
  }
  EXPECT_LT(worst[1], 0.85 * worst[0]);
}

// Is a file accepted whose one segment has so many cells and slots behind them, and one entry that counts so much?
::testing::AssertionResult is_loaded(unsigned cell_bits, std::uint64_t spare, std::uint64_t keys = 0, std::uint64_t count = 0) {
  table_list<prefix_segment> roots;
  roots.push_back(prefix_segment::make({0, cell_bits, 8}, spare).value());
  if (count != 0) {
    EXPECT_TRUE(roots[0].add(1, prefix_entry::of(0, 8, count)));
  }
  memory_sink sink;
  writer out(sink);
  out(keys, std::uint32_t{cell_bits}, std::uint32_t{8}, std::uint32_t{90}, std::uint32_t{2}, evergreen::fingerprints::fixed,
      segment_trie(stream_places::even(1), cell_bits, std::move(roots)));
  out.finish().value();
  memory_source source(sink.bytes());
  reader in(source);
  evergreen f = stored_access::blank<evergreen>();
  in(f);
  if (in.ok()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << in.state().message();
}
TEST(evergreen, files_with_segments_too_small_to_split_are_refused) {
  EXPECT_FALSE(is_loaded(0, 64));
  EXPECT_FALSE(is_loaded(5, 64));
  EXPECT_TRUE(is_loaded(6, 64));
}
// Lookups would read behind the headers, and an insert at the end would look for room for ever.
TEST(evergreen, files_with_segments_without_spare_slots_are_refused) {
  EXPECT_FALSE(is_loaded(6, 0));
  EXPECT_FALSE(is_loaded(12, 0));
  EXPECT_TRUE(is_loaded(6, 1));
}
TEST(evergreen, files_with_more_keys_than_entries_are_refused) {
  EXPECT_FALSE(is_loaded(6, 64, 1));
  EXPECT_FALSE(is_loaded(6, 64, 8, 7));
  EXPECT_TRUE(is_loaded(6, 64, 7, 7));
}
// A count that overflows would become 0, and its keys be lost.
TEST(evergreen, files_with_counts_that_may_overflow_are_refused) {
  EXPECT_FALSE(is_loaded(6, 64, 0, ~std::uint64_t{0}));
  EXPECT_FALSE(is_loaded(6, 64, 1, (std::uint64_t{1} << 62) + 1));
  EXPECT_TRUE(is_loaded(6, 64, 1, std::uint64_t{1} << 62));
}

}  // namespace
}  // namespace tamis::test
