#include "tamis/detail/cuckoo/buckets.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tamis/detail/base/random.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

constexpr std::uint64_t seed = 20240701;

// A table beside the plain vector that it must agree with.
struct pair_of_tables {
  buckets real;
  std::vector<std::uint64_t> model;

  pair_of_tables(std::uint64_t count, unsigned width)
      : real(buckets::make(count, width).value()), model(count * slots_per_bucket) {}

  // Small values, so that equal and empty slots are common.
  std::uint64_t value(random_source& random) const {
    const std::uint64_t most = (std::uint64_t{1} << real.width()) - 1;
    return random.chance(0.2) ? most - random.below(2) : random.below(4);
  }
  void set(std::uint64_t slot, std::uint64_t value) {
    model[slot] = value;
    real.with_access([&](const auto& table) { table.set(slot / 4, static_cast<unsigned>(slot % 4) * real.width(), value); });
  }
  // Empties the slot, or puts the value in if it is empty.
  void flip(std::uint64_t slot, std::uint64_t value) {
    const std::uint64_t flipped = model[slot] == 0 ? value : model[slot];
    model[slot] ^= flipped;
    real.with_access([&](const auto& table) { table.flip(slot / 4, static_cast<unsigned>(slot % 4) * real.width(), flipped); });
  }
  void fill(random_source& random) {
    for (std::uint64_t slot = 0; slot < model.size(); ++slot) set(slot, value(random));
  }
};

template <class Test>
void for_every_width(Test test) {
  for (unsigned width = least_slot_bits; width <= most_slot_bits; ++width) {
    SCOPED_TRACE(width);
    test(width);
  }
}

TEST(buckets, take_four_slots_of_their_width_and_one_spare_word) {
  for_every_width([](unsigned width) {
    for (const std::uint64_t count : {1u, 2u, 15u, 16u, 1001u}) {
      const buckets table = buckets::make(count, width).value();
      EXPECT_EQ(table.count(), count);
      EXPECT_EQ(table.slots(), 4 * count);
      EXPECT_EQ(table.bits(), (count * 4 * width + 63) / 64 * 64 + 64);
      EXPECT_EQ(table.occupied(), 0u);
      EXPECT_TRUE(table.validate().ok());
    }
  });
}

TEST(buckets, every_slot_keeps_its_value_whatever_its_neighbours_do) {
  random_source random(seed);
  for_every_width([&](unsigned width) {
    for (std::uint64_t count = 1; count <= 130; count += count < 20 ? 1 : 11) {
      pair_of_tables both(count, width);
      both.fill(random);
      for (int i = 0; i < 500; ++i) both.set(random.below(both.model.size()), both.value(random));
      for (int i = 0; i < 500; ++i) both.flip(random.below(both.model.size()), both.value(random));
      both.real.with_access([&](const auto& table) {
        for (std::uint64_t slot = 0; slot < both.model.size(); ++slot) {
          const unsigned offset = static_cast<unsigned>(slot % 4) * width;
          ASSERT_EQ(table.get(slot / 4, offset), both.model[slot]) << slot;
          ASSERT_EQ(table.lanes().get(table.load(slot / 4), offset), both.model[slot]) << slot;
        }
      });
      ASSERT_TRUE(both.real.validate().ok());
    }
  });
}

TEST(buckets, comparing_all_slots_at_once_finds_what_comparing_each_does) {
  random_source random(seed + 1);
  for_every_width([&](unsigned width) {
    pair_of_tables both(61, width);
    for (int round = 0; round < 20; ++round) {
      both.fill(random);
      both.real.with_access([&](const auto& table) {
        const auto& lanes = table.lanes();
        for (std::uint64_t bucket = 0; bucket < 61; ++bucket) {
          const std::uint64_t wanted = both.value(random);
          const auto slots = table.load(bucket);
          auto equal = lanes.equal(slots, lanes.repeat(wanted));
          unsigned expected = 0;
          for (unsigned slot = 0; slot < 4; ++slot) {
            if (both.model[bucket * 4 + slot] != wanted) continue;
            ++expected;
            ASSERT_NE(equal, 0u);
            ASSERT_EQ(lanes.first(equal), slot * width);
            equal &= equal - 1;
          }
          ASSERT_EQ(equal, 0u);
          ASSERT_EQ(lanes.how_many(lanes.equal(slots, lanes.repeat(wanted))), expected);
          ASSERT_EQ(lanes.any_equal(slots, lanes.repeat(wanted)), expected != 0);
          const auto other = table.load((bucket + 7) % 61);
          ASSERT_EQ(lanes.any_equal(slots, other, lanes.repeat(wanted)),
                    lanes.any_equal(slots, lanes.repeat(wanted)) || lanes.any_equal(other, lanes.repeat(wanted)));
        }
      });
    }
  });
}

TEST(buckets, ignored_bits_may_differ) {
  random_source random(seed + 2);
  for_every_width([&](unsigned width) {
    pair_of_tables both(40, width);
    both.fill(random);
    both.real.with_access([&](const auto& table) {
      const auto& lanes = table.lanes();
      for (std::uint64_t bucket = 0; bucket < 40; ++bucket) {
        const std::uint64_t wanted = both.value(random);
        unsigned expected = 0;
        for (unsigned slot = 0; slot < 4; ++slot) expected += both.model[bucket * 4 + slot] >> 2 == wanted >> 2;
        ASSERT_EQ(lanes.how_many(lanes.equal(table.load(bucket), lanes.repeat(wanted), lanes.repeat(3))), expected);
      }
    });
  });
}

TEST(buckets, occupied_slots_are_those_that_are_not_zero) {
  random_source random(seed + 3);
  for_every_width([&](unsigned width) {
    pair_of_tables both(97, width);
    both.fill(random);
    std::uint64_t expected = 0;
    for (const std::uint64_t value : both.model) expected += value != 0;
    EXPECT_EQ(both.real.occupied(), expected);
  });
}

TEST(buckets, impossible_shapes_are_refused) {
  EXPECT_FALSE(buckets::make(0, 12).ok());
  EXPECT_FALSE(buckets::make(1, 3).ok());
  EXPECT_FALSE(buckets::make(1, 33).ok());
  EXPECT_FALSE(buckets::make(~std::uint64_t{0}, 12).ok());
  EXPECT_FALSE(buckets::make(std::uint64_t{1} << 62, 16).ok());
}

}  // namespace
