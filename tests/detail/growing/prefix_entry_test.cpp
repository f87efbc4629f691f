#include "tamis/detail/growing/prefix_entry.hpp"

#include <gtest/gtest.h>

#include "tamis/detail/base/random.hpp"
#include "tamis/detail/bits/byte_column.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

constexpr std::uint64_t seed = 20250311;

prefix_entry draw(random_source& random, unsigned most_bits) {
  const auto length = static_cast<unsigned>(random.below(most_bits + 1));
  const std::uint64_t count = random.chance(0.5) ? 1 : 1 + (random() >> random.below(64));
  return prefix_entry::of(random(), length, count == 0 ? 1 : count);
}

slot_list slots_of(const entry_code& code, const prefix_entry& e) {
  slot_list slots;
  code.append(e, slots);
  return slots;
}

TEST(prefix_entry, matches_what_begins_like_it) {
  const prefix_entry e = prefix_entry::of(0b1011ull << 60, 4);
  EXPECT_TRUE(e.matches(0b10110ull << 59) && e.matches(0b10111ull << 59));
  EXPECT_FALSE(e.matches(0b1010ull << 60) || e.matches(0));
  EXPECT_TRUE(prefix_entry::of(~0ull, 0).matches(0));
  EXPECT_FALSE(prefix_entry::of(1, 64).matches(0));
  EXPECT_TRUE(e.extends(prefix_entry::of(0b10ull << 62, 2)));
  EXPECT_FALSE(prefix_entry::of(0b10ull << 62, 2).extends(e));
}

TEST(entry_code, comes_back_in_every_width) {
  random_source random(seed);
  for (unsigned width = 2; width <= 57; ++width) {
    const entry_code code(width);
    for (int i = 0; i < 2000; ++i) {
      prefix_entry e = draw(random, 64);
      if (e.count > 1 && e.count < 10) e.count = 1;  // few copies may stand side by side; they are tested below
      const slot_list slots = slots_of(code, e);
      for (const std::uint64_t slot : slots) ASSERT_EQ(slot >> width, 0u);
      const auto back = code.parse([&](std::uint64_t at) { return slots[at]; }, 0, slots.size());
      ASSERT_TRUE(back) << width;
      ASSERT_EQ(back->entry, e) << width;
      ASSERT_EQ(back->slots, slots.size());
      // Zero only begins a long entry, and a run that ends too early is noticed.
      ASSERT_EQ(std::count(slots.begin() + 1, slots.end(), 0), 0);
      ASSERT_EQ(slots.size() == 1, e.length < width && e.count == 1);
      if (slots.size() > 1) {
        ASSERT_FALSE(code.parse([&](std::uint64_t at) { return slots[at]; }, 0, slots.size() - 1));
      }
    }
  }
}

TEST(entry_code, copies_take_the_shorter_form) {
  for (const unsigned width : {2u, 3u, 8u, 9u, 14u}) {
    const entry_code code(width);
    for (const unsigned length : {0u, width - 1, width, 3 * width}) {
      std::size_t before = 0;
      for (std::uint64_t count = 1; count < 2000; ++count) {
        const prefix_entry e = prefix_entry::of(seed << 20, length, count);
        const slot_list slots = slots_of(code, e);
        ASSERT_GE(slots.size(), before);  // so that taking one out always fits
        before = slots.size();
        std::uint64_t found = 0;
        for (std::uint64_t at = 0; at < slots.size();) {
          const auto here = code.parse([&](std::uint64_t slot) { return slots[slot]; }, at, slots.size());
          ASSERT_TRUE(here && here->entry.same_prefix(e));
          found += here->entry.count;
          at += here->slots;
        }
        ASSERT_EQ(found, count);
      }
    }
  }
}

// Also where as many copies one by one would take more slots than a word can count.
TEST(entry_code, huge_counts_take_few_slots) {
  for (const unsigned width : {2u, 3u, 9u, 12u}) {
    for (const unsigned length : {1u, 20u, 40u}) {
      for (unsigned bit = 40; bit < 64; ++bit) {
        slot_list slots;
        const prefix_entry e = prefix_entry::of(~std::uint64_t{0}, length, std::uint64_t{1} << bit);
        entry_code(width).append(e, slots);
        ASSERT_LT(slots.size(), 256u) << width << ' ' << length << ' ' << bit;
        const auto back = entry_code(width).parse([&](std::uint64_t i) { return slots[i]; }, 0, slots.size());
        ASSERT_TRUE(back.has_value());
        ASSERT_EQ(back->entry, e);
      }
    }
  }
}

TEST(entry_code, slot_matches_as_its_entry_does) {
  random_source random(seed + 1);
  for (unsigned width = 2; width <= 57; ++width) {
    const entry_code code(width);
    for (int i = 0; i < 1000; ++i) {
      const prefix_entry e = prefix_entry::of(random(), static_cast<unsigned>(random.below(width)));
      const std::uint64_t asked = random.chance(0.5) ? random() : e.bits ^ (random() >> random.below(64));
      const std::uint64_t slot = code.slot_of(e);
      ASSERT_EQ(code.entry_of(slot), e);
      ASSERT_EQ(code.slot_matches(slot, asked >> (64 - width)), e.matches(asked));
    }
    EXPECT_EQ(code.fresh(~0ull), code.slot_of(prefix_entry::of(~0ull, width - 1)));
    EXPECT_EQ(code.fresh(0), code.slot_of(prefix_entry::of(0, width - 1)));
  }
}

// A long entry can be of any wrong form when its bytes come from outside.
TEST(entry_code, garbage_is_parsed_or_refused) {
  random_source random(seed + 2);
  for (const unsigned width : {2u, 3u, 9u, 57u}) {
    const entry_code code(width);
    for (int i = 0; i < 20000; ++i) {
      std::vector<std::uint64_t> slots(1 + random.below(300), 0);
      const bool mostly_zero = random.chance(0.3);
      for (std::size_t at = 1; at < slots.size(); ++at) slots[at] = mostly_zero ? random.below(2) : random() >> (64 - width);
      const auto parsed = code.parse([&](std::uint64_t at) { return slots[at]; }, 0, slots.size());
      if (!parsed) continue;
      ASSERT_LE(parsed->entry.length, prefix_entry::longest);
      ASSERT_GE(parsed->entry.count, 1u);
      ASSERT_LE(parsed->slots, slots.size());
      // What is accepted is what append would write, so that it can be written back.
      slot_list again;
      code.append(parsed->entry, again);
      ASSERT_LE(again.size(), parsed->slots);
    }
  }
}

TEST(byte_column, agreeing_bytes_are_found_in_one_step) {
  random_source random(seed + 3);
  std::array<std::uint8_t, 64> bytes{};
  for (int i = 0; i < 5000; ++i) {
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random() & random());
    const auto asked = static_cast<std::uint8_t>(random());
    const std::uint64_t found = agree_above_last_one(bytes.data(), asked);
    ASSERT_EQ(found, plain::agree_above_last_one(bytes.data(), asked));
    ASSERT_EQ(found & 0xffff, sixteen_agree_above_last_one(bytes.data(), asked));
    for (unsigned at = 0; at < 64; ++at) {
      ASSERT_EQ(found >> at & 1, static_cast<std::uint64_t>(entry_code::slot_matches(bytes[at], asked) || bytes[at] == 0));
    }
  }
}

}  // namespace
