#include "tamis/detail/quotient/pair_code.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "tamis/detail/base/random.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

uint128 random_stream(random_source& random) { return static_cast<uint128>(random()) << 64 | random(); }

run_entries random_run(const pair_code& code, random_source& random) {
  run_entries entries;
  const std::uint64_t size = 1 + random.below(8);
  uint128 last = random_stream(random);
  for (std::uint64_t i = 0; i < size; ++i) {
    uint128 stream = random_stream(random);
    // Often extreme bits, and often those of the entry before.
    if (random.chance(0.3)) stream |= ~uint128{0} << random.below(120);
    if (random.chance(0.2)) stream &= ~uint128{0} >> random.below(100);
    if (random.chance(0.3)) stream = (last >> 64 << 64) | (stream >> 64);
    if (random.chance(0.1)) stream = last;
    last = stream;
    const auto level = random.chance(0.5) ? 0u : static_cast<unsigned>(random.below(std::min(code.highest_level(), 6u) + 1));
    entries.push_back(code.prefix(stream, level));
    if (code.plain_length() < code.width()) {  // aged
      entries[entries.size() - 1] =
          code.prefix_within(stream, static_cast<unsigned>(random.below(code.length(level) + 1)), level);
    }
  }
  return entries;
}

std::vector<std::tuple<uint128, unsigned, unsigned>> sorted(const run_entries& entries) {
  std::vector<std::tuple<uint128, unsigned, unsigned>> all;
  for (const run_entry& e : entries) all.emplace_back(e.bits, e.level, e.lost);
  std::sort(all.begin(), all.end());
  return all;
}

constexpr slot_format both_formats[] = {slot_format::uniform, slot_format::aged};

// Would a lookup of the stream see this slot?
bool agrees(slot_format format, std::uint64_t slot, std::uint64_t x) {
  if (format == slot_format::uniform) return slot == x;
  return ((slot ^ x) & ~(slot ^ (slot - 1))) == 0;
}

TEST(PairCode, SaysEveryRunAgain) {
  std::uint64_t runs = 0;
  for (const slot_format format : both_formats)
    for (const unsigned width : {4u, 5u, 6u, 7u, 8u, 9u, 10u, 13u, 16u, 31u, 56u}) {
      const pair_code code(width, format);
      random_source random(width);
      run_slots slots;
      run_entries again;
      for (unsigned n = 0; n < 40'000; ++n, ++runs) {
        const run_entries entries = random_run(code, random);
        code.encode(entries, slots);
        ASSERT_TRUE(code.decode([&](std::uint64_t i) { return slots[i]; }, slots.size(), again));
        ASSERT_EQ(sorted(entries) == sorted(again), true) << "width " << width << ", run " << n;
        std::size_t size = 0;
        bool is_plain = true;
        for (const run_entry& e : entries) {
          size += code.slots_of(e);
          is_plain = is_plain && e.level == 0;
          const uint128 key = e.bits | ~uint128{0} >> 1 >> (code.length(e) == 0 ? 0 : code.length(e) - 1);
          ASSERT_TRUE(code.matches(e, key));
          for (const uint128 stream : {e.bits, key}) {
            const bool seen = std::any_of(slots.begin(), slots.end(),
                                          [&](std::uint64_t slot) { return agrees(format, slot, code.x_of(stream)); });
            ASSERT_TRUE(seen) << "x is not in a slot";
          }
        }
        ASSERT_EQ(slots.size(), size);
        ASSERT_EQ(is_plain, slots.size() == 1 || slots[0] <= slots[1]);
        for (const std::uint64_t slot : slots) ASSERT_EQ(slot >> width, 0u);
      }
    }
  std::printf("%llu runs\n", static_cast<unsigned long long>(runs));
}

TEST(PairCode, KeepsPrefixesOfStreams) {
  random_source random(3);
  for (const slot_format format : both_formats)
    for (const unsigned width : {4u, 7u, 8u, 20u, 56u}) {
      const pair_code code(width, format);
      ASSERT_LE(code.length(code.highest_level()), 128u);
      ASSERT_GT(code.length(code.highest_level() + 1), 126u);
      for (unsigned n = 0; n < 2000; ++n) {
        const uint128 stream = random_stream(random);
        for (unsigned level = 0; level <= code.highest_level(); ++level) {
          const run_entry e = code.prefix(stream, level);
          ASSERT_TRUE(code.matches(e, stream));
          const auto bit = static_cast<unsigned>(random.below(128));
          ASSERT_EQ(code.matches(e, stream ^ (uint128{1} << (127 - bit))), bit >= code.length(level));
          ASSERT_EQ(code.level_of(code.length(level)), level);
          ASSERT_EQ(code.prefix_within(stream, code.length(level), level), e);
        }
      }
    }
}

TEST(PairCode, RefusesSlotsThatAreNoRun) {
  const pair_code code(4);
  run_entries entries;
  const auto decodes = [&](std::vector<std::uint64_t> slots) {
    return code.decode([&](std::uint64_t i) { return slots[i]; }, slots.size(), entries);
  };
  EXPECT_TRUE(decodes({3, 1}));       // two apart: level 1
  EXPECT_FALSE(decodes({9, 3}));      // six apart: a chunk has to follow
  EXPECT_TRUE(decodes({9, 3, 7}));    // and does
  EXPECT_FALSE(decodes({9, 3, 15}));  // it says that more follows
  EXPECT_FALSE(decodes({12, 4}));     // eight apart: which of them is x?
  EXPECT_FALSE(decodes({12, 4, 2}));  // neither
  EXPECT_FALSE(decodes({12, 4, 1}));  // a chunk has to follow
  EXPECT_TRUE(decodes({12, 4, 1, 0}));
  std::vector<std::uint64_t> endless = {9, 3};
  for (unsigned i = 0; i < 60; ++i) endless.push_back(15);
  endless.push_back(0);
  EXPECT_FALSE(decodes(endless));  // longer than what is known of a key
}

}  // namespace
