// The table of the adaptive cuckoo filters: lookups by the quick ways say what the slots say one by one, whatever the shape.

#include "tamis/detail/cuckoo/adaptive/mirrored_slots.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tamis/detail/base/random.hpp"
#include "tamis/filters/acf.hpp"
#include "tests/support/keys.hpp"

namespace tamis::test {

using namespace detail;

namespace {

template <class Kind>
mirrored_slots<Kind> table_of(const acf_shape& shape) {
  return mirrored_slots<Kind>::make(shape, detail::mirror_place::memory, Kind::has_path).value();
}

// Slots filled with all selectors, and the answers of the view compared with those of the slots.
template <class Kind>
void check_lookups(unsigned k, unsigned b, unsigned fingerprint, unsigned selector) {
  SCOPED_TRACE(testing::Message() << Kind::info.id << " k " << k << " b " << b << " f " << fingerprint << " s " << selector);
  const acf_shape shape{k, b, fingerprint, selector, 61};
  auto table = table_of<Kind>(shape);
  const auto stored = keys(table.slots() / 2, 1);
  std::uint64_t kept = 0;
  for (const digest d : stored) {
    if (!table.insert(d)) continue;
    ++kept;
    const auto at = table.find_key(d);
    ASSERT_TRUE(at);
    if (selector != 0) table.write(*at, d, kept % (std::uint64_t{1} << selector));
    ASSERT_TRUE(table.may_contain(d));
  }
  EXPECT_GT(kept, stored.size() / 2);
  std::uint64_t positives = 0;
  const auto compare = [&](digest d) {
    const digest words = table.words(d);
    std::uint64_t by_slot = 0;
    for (unsigned t = 0; t < k; ++t) {
      for (unsigned offset = 0; offset < b; ++offset) {
        by_slot |= std::uint64_t{table.matches(words, {table.place(words, t), offset})} << (t * b + offset);
      }
    }
    positives += by_slot != 0;
    EXPECT_EQ(table.may_contain(d), by_slot != 0);
    table.with_view([&](const auto& view) {
      const auto probe = view.locate(d);
      EXPECT_EQ(view.test(probe), by_slot != 0);
      EXPECT_EQ(view.matching(probe), by_slot);
      for (unsigned bit = 0; bit < k * b; ++bit) {
        EXPECT_EQ(view.slot(probe, bit).place, table.place(words, bit / b));
        EXPECT_EQ(view.slot(probe, bit).slot, bit % b);
      }
    });
  };
  for (const digest d : stored) compare(d);
  for (const digest d : strangers(2000)) compare(d);
  auto later = table.rebuilt(strangers(1)[0]);  // by the hashes of another generation
  ASSERT_TRUE(later);
  table = *std::move(later);
  for (const digest d : stored) compare(d);
  if (fingerprint <= 8) {
    EXPECT_GT(positives, kept);  // some are wrong
  }
}

TEST(mirrored_slots, quick_lookups_say_what_the_slots_say) {
  for (const unsigned f : {4u, 5u, 7u, 8u, 11u, 12u, 13u, 14u, 15u, 16u, 17u, 24u, 30u, 31u, 32u, 33u, 48u}) {
    check_lookups<cuckooing_kind>(4, 1, f, 0);
    for (const unsigned s : {1u, 2u, 3u, 4u}) check_lookups<cyclic_kind>(4, 1, f, s);
    check_lookups<swapping_kind>(2, 4, f, 0);
  }
}

TEST(mirrored_slots, other_shapes_say_what_the_slots_say) {
  for (const unsigned f : {4u, 8u, 16u, 20u, 40u}) {
    for (const auto& [k, b] : {std::pair(2u, 1u), std::pair(3u, 2u), std::pair(4u, 2u), std::pair(8u, 8u)}) {
      check_lookups<cuckooing_kind>(k, b, f, 0);
      check_lookups<cyclic_kind>(k, b, f, 2);
      if (b > 1) check_lookups<swapping_kind>(k, b, f, 0);
    }
  }
}

// With more bins than a quarter of a digest tells apart evenly, further bits decide between neighbours.
TEST(mirrored_slots, places_of_large_tables_take_more_bits) {
  using slots = mirrored_slots<cuckooing_kind>;
  for (const std::uint64_t bins : {most_places_by_quarter + 1, std::uint64_t{1} << 34, (std::uint64_t{1} << 40) + 12345}) {
    std::uint64_t differing = 0;
    for (const digest d : keys(1000, 3)) {
      for (unsigned t = 0; t < 8; ++t) {
        const std::uint64_t place = slots::place(d, t, bins);
        EXPECT_GE(place, t * bins);
        EXPECT_LT(place, (t + 1) * bins);
      }
      // The same first 32 bits: a neighbour among bins / 2^32.
      const digest other{d.high, mix64(d.low)};
      const std::uint64_t one = slots::place(d, 0, bins);
      const std::uint64_t two = slots::place(other, 0, bins);
      EXPECT_LE(std::max(one, two) - std::min(one, two), (bins >> 32) + 1);
      differing += one != two;
    }
    if (bins >> 34 != 0) {
      EXPECT_GT(differing, 660u);  // 3 in 4 or more differ: 750 of 1000, less 6 deviations of 14
    }
  }
}

// Chi squared over all values: below its mean plus 6 deviations, which is exceeded less than once in 10^8 times.
TEST(mirrored_slots, fingerprints_are_spread_evenly_and_not_zero) {
  struct kind {
    acf_shape shape;
    unsigned count;
  };
  for (const kind& k : {kind{{4, 1, 6, 0, 1}, 1}, kind{{4, 1, 6, 1, 1}, 2}, kind{{4, 1, 6, 2, 1}, 4}, kind{{4, 1, 6, 4, 1}, 16},
                        kind{{2, 4, 6, 0, 1}, 4}, kind{{2, 8, 6, 0, 1}, 8}}) {
    const auto made = slot_fingerprints::of(k.shape);
    for (unsigned number = 0; number < k.count; ++number) {
      constexpr std::uint64_t asked = 64'000;
      std::map<std::uint64_t, std::uint64_t> seen;
      for (const digest d : keys(asked, 4)) ++seen[made(d, number)];
      const bool may_be_zero = k.shape.selector != 0 && number != 0;
      EXPECT_EQ(seen.begin()->first, may_be_zero ? 0u : 1u);
      EXPECT_EQ(seen.rbegin()->first, 63u);
      const double values = may_be_zero ? 64 : 63;
      double chi = 0;
      for (const auto& [value, times] : seen) {
        const double off = static_cast<double>(times) - asked / values;
        chi += off * off / (asked / values);
      }
      EXPECT_LT(chi, (values - 1) + 6 * std::sqrt(2 * (values - 1))) << number;
    }
  }
}

// Two fingerprints of a key agree by chance only: whoever collides under one selector seldom collides under the next.
TEST(mirrored_slots, fingerprints_of_a_key_are_independent) {
  const auto made = slot_fingerprints::of({4, 1, 8, 2, 1});
  std::uint64_t equal = 0;
  constexpr std::uint64_t asked = 100'000;
  for (const digest d : keys(asked, 5)) {
    for (unsigned number = 1; number < 4; ++number) equal += made(d, number) == made(d, number - 1);
  }
  const double expected = 3.0 * asked / 256;
  EXPECT_LT(std::abs(static_cast<double>(equal) - expected), 6 * std::sqrt(expected));
}

}  // namespace
}  // namespace tamis::test
