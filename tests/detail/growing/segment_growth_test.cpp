#include "tamis/detail/growing/segment_growth.hpp"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "tamis/detail/base/random.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

// Entries as prefixes behind the segment's own: length, bits (the cell in front), how many.
using prefixes = std::map<std::pair<unsigned, uint128>, std::uint64_t>;

void note(prefixes& all, std::uint64_t number, unsigned number_bits, const prefix_entry& e) {
  const uint128 front = number_bits == 0 ? 0 : static_cast<uint128>(number) << (128 - number_bits);
  all[{number_bits + e.length, front | (static_cast<uint128>(e.bits) << 64 >> number_bits)}] += e.count;
}
// All entries of segments that have `depth` bits in common, which lie in order.
prefixes entries_of(std::span<const prefix_segment> segments, unsigned depth) {
  prefixes all;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const prefix_segment& s = segments[i];
    const unsigned own_bits = s.depth() - depth;
    s.table().for_each_run([&](std::uint64_t cell, slot_range run) {
      for (const prefix_entry& e : s.entries_in(run)) note(all, i << s.cell_bits() | cell, own_bits + s.cell_bits(), e);
    });
    for (const covering_prefix& e : s.coverings()) {
      if (e.shift > s.cell_bits() + own_bits) continue;  // for more than these segments
      const std::uint64_t number = (i << s.cell_bits() | e.index << e.shift) >> e.shift;
      note(all, number, own_bits + s.cell_bits() - e.shift, {0, 0, e.count});
    }
  }
  return all;
}

// A segment with entries of all kinds, `crowded` more of them in a few cells and at its end.
prefix_segment draw(random_source& random, segment_shape shape, std::uint64_t spare, double load, bool all_kinds,
                    bool crowded) {
  prefix_segment made = prefix_segment::make(shape, spare).value();
  const auto target = static_cast<std::uint64_t>(load * static_cast<double>(made.cells()));
  for (std::uint64_t i = 0; made.used() < target && i < 4 * made.cells(); ++i) {
    std::uint64_t cell = random.below(made.cells());
    if (crowded && random.chance(0.5)) cell = random.chance(0.5) ? made.cells() - 1 - cell % 3 : cell / 16 * 16;
    unsigned length = shape.fingerprint;
    std::uint64_t count = 1;
    if (random.chance(0.5)) length = static_cast<unsigned>(random.below(shape.fingerprint + 1));
    if (all_kinds && random.chance(0.05)) length = static_cast<unsigned>(random.below(65));
    if (all_kinds && random.chance(0.05)) count = 1 + random.below(9);
    if (!all_kinds && length == 0) length = 1;  // no voids
    made.add(cell, prefix_entry::of(random(), length, count));
  }
  return made;
}

void expect_sound(const prefix_segment& s) {
  ASSERT_TRUE(s.validate().ok()) << s.validate().message();
  ASSERT_TRUE(s.table().validate().ok()) << s.table().validate().message();
}

const auto nobody = [](std::uint64_t, entry_list&) {};

TEST(segment_growth, a_split_keeps_every_prefix) {
  random_source random(11);
  std::printf("seed 11\n");
  int splits = 0;
  for (int round = 0; round < 1500; ++round) {
    const unsigned fingerprint = std::array{1u, 2u, 3u, 6u, 7u, 8u, 9u, 11u, 14u, 15u, 16u, 23u, 56u}[random.below(13)];
    const segment_shape shape{2, 6 + static_cast<std::uint32_t>(random.below(4)), fingerprint};
    const bool all_kinds = random.chance(0.7);
    const prefix_segment from = draw(random, shape, 64, random.unit() * 0.95, all_kinds, random.chance(0.3));
    const unsigned wider = std::min(56u, fingerprint + static_cast<unsigned>(random.below(3)));
    const prefixes before = entries_of(std::span(&from, 1), 2);
    auto halves = segment_growth::split(from, wider, nobody).value();
    if (halves) {
      const std::array<prefix_segment, 2> both{std::move(halves->first), std::move(halves->second)};
      for (const prefix_segment& half : both) expect_sound(half);
      ASSERT_EQ(entries_of(both, 2), before) << "round " << round;
      ++splits;
    }
    const auto whole = segment_growth::doubled(from, wider, 64, nobody).value();
    if (whole) {
      expect_sound(*whole);
      ASSERT_EQ(entries_of(std::span(&*whole, 1), 2), before) << "round " << round;
    }
  }
  EXPECT_GT(splits, 1000);
}

// Those who know what a void stands for are asked about every one of them, with its cell.
TEST(segment_growth, voids_are_asked_about) {
  random_source random(12);
  prefix_segment from = prefix_segment::make({0, 8, 8}, 64).value();
  std::map<std::uint64_t, std::uint64_t> voids;
  for (int i = 0; i < 150; ++i) {
    const std::uint64_t cell = random.below(256);
    const bool is_void = random.chance(0.2);
    if (is_void) ++voids[cell];
    ASSERT_TRUE(from.add(cell, prefix_entry::of(random(), is_void ? 0 : 1 + static_cast<unsigned>(random.below(8)))));
  }
  std::map<std::uint64_t, std::uint64_t> asked;
  const auto resolve = [&](std::uint64_t cell, entry_list& entries) {
    for (prefix_entry& e : entries) {
      if (e.length != 0) continue;
      asked[cell] += e.count;
      e = prefix_entry::of(cell << 56, 8, e.count);
    }
  };
  const auto halves = segment_growth::split(from, 8, resolve).value();
  ASSERT_TRUE(halves.has_value());
  EXPECT_EQ(asked, voids);
  EXPECT_TRUE(halves->first.coverings().empty() && halves->second.coverings().empty());
}

// A run that does not fit behind the last cell of a half: nothing comes of it.
TEST(segment_growth, what_does_not_fit_is_refused) {
  prefix_segment from = prefix_segment::make({0, 7, 8}, 192).value();
  random_source random(13);
  for (int i = 0; i < 150; ++i) {  // all of them go into the last cell of the upper half
    ASSERT_TRUE(from.add(127, prefix_entry::of(random() | std::uint64_t{1} << 63, 8)));
  }
  EXPECT_TRUE(segment_growth::split(from, 8, nobody).value().has_value());
  EXPECT_FALSE(segment_growth::doubled(from, 8, 64, nobody).value().has_value());
  EXPECT_TRUE(segment_growth::doubled(from, 8, 192, nobody).value().has_value());
}

}  // namespace
