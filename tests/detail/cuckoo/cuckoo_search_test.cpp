#include "tamis/detail/cuckoo/cuckoo_search.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <utility>

#include "tamis/detail/base/random.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

constexpr std::uint64_t seed = 20240702;

std::uint64_t get(const buckets& table, std::uint64_t bucket, unsigned slot) {
  return table.with_access([&](const auto& access) { return access.get(bucket, slot * table.width()); });
}
void set(buckets& table, std::uint64_t bucket, unsigned slot, std::uint64_t value) {
  table.with_access([&](const auto& access) { access.set(bucket, slot * table.width(), value); });
}

// An involution without fixed points in an even table.
std::uint64_t other_bucket(std::uint64_t buckets, std::uint64_t bucket, std::uint64_t fingerprint) {
  return (2 * mix64(fingerprint) % buckets + 1 + buckets - bucket) % buckets;
}

slot_place make_room(buckets& table, std::uint64_t first, std::uint64_t second) {
  return table.with_access([&](const auto& access) {
    const auto alternate = [&](std::uint64_t bucket, std::uint64_t fingerprint) {
      return other_bucket(table.count(), bucket, fingerprint);
    };
    return cuckoo_make_room(access, first, second, alternate);
  });
}

// How many of each fingerprint each pair of buckets has. Moves must not change it.
using inventory = std::map<std::pair<std::uint64_t, std::uint64_t>, unsigned>;
inventory take(const buckets& table) {
  inventory all;
  for (std::uint64_t bucket = 0; bucket < table.count(); ++bucket) {
    for (unsigned slot = 0; slot < slots_per_bucket; ++slot) {
      const std::uint64_t fingerprint = get(table, bucket, slot);
      if (fingerprint == 0) continue;
      ++all[{std::min(bucket, other_bucket(table.count(), bucket, fingerprint)), fingerprint}];
    }
  }
  return all;
}

void fill(buckets& table, random_source& random) {
  for (std::uint64_t bucket = 0; bucket < table.count(); ++bucket) {
    for (unsigned slot = 0; slot < slots_per_bucket; ++slot) {
      set(table, bucket, slot, 1 + random.below((std::uint64_t{1} << table.width()) - 1));
    }
  }
}

TEST(cuckoo_search, moves_keep_every_fingerprint_in_one_of_its_buckets) {
  for (const unsigned width : {4u, 9u, 12u, 16u, 21u, 32u}) {
    for (const std::uint64_t count : {2u, 6u, 30u, 130u, 20000u}) {
      SCOPED_TRACE(testing::Message() << width << " bits, " << count << " buckets");
      random_source random(seed + width * count);
      for (int round = 0; round < (count > 1000 ? 2 : 400); ++round) {
        buckets table = buckets::make(count, width).value();
        fill(table, random);
        // One gap in a thousand slots, at least one: chains are long.
        for (std::uint64_t gap = 0; gap <= count / 250; ++gap) set(table, random.below(count), 0, 0);
        const std::uint64_t fingerprint = 1 + random.below(15);
        const std::uint64_t first = random.below(count);
        const std::uint64_t second = other_bucket(count, first, fingerprint);
        if (get(table, first, 0) == 0 || get(table, second, 0) == 0) continue;
        const inventory before = take(table);
        const buckets untouched = table;
        const slot_place freed = make_room(table, first, second);
        if (!freed.exists) {
          EXPECT_EQ(table, untouched);
          continue;
        }
        EXPECT_TRUE(freed.bucket == first || freed.bucket == second);
        // The freed slot still shows what was moved on: it is counted twice until the caller overwrites it.
        set(table, freed.bucket, freed.offset / width, 0);
        EXPECT_EQ(take(table), before);
      }
    }
  }
}

TEST(cuckoo_search, full_table_is_left_as_it_is) {
  random_source random(seed);
  for (const std::uint64_t count : {2u, 64u, 50000u}) {
    buckets table = buckets::make(count, 12).value();
    fill(table, random);
    const buckets before = table;
    EXPECT_FALSE(make_room(table, 0, other_bucket(count, 0, 7)).exists);
    EXPECT_EQ(table, before);
  }
}

TEST(cuckoo_search, pair_full_of_one_fingerprint_has_no_room) {
  buckets table = buckets::make(100, 12).value();
  const std::uint64_t second = other_bucket(100, 17, 5);
  for (unsigned slot = 0; slot < slots_per_bucket; ++slot) {
    set(table, 17, slot, 5);
    set(table, second, slot, 5);
  }
  const buckets before = table;
  EXPECT_FALSE(make_room(table, 17, second).exists);
  EXPECT_EQ(table, before);
}

// In a small table every bucket that can be reached is reached: a single gap is found from everywhere, or cannot be reached.
TEST(cuckoo_search, finds_the_only_gap_if_a_chain_leads_to_it) {
  random_source random(seed + 1);
  const std::uint64_t count = 300;
  buckets table = buckets::make(count, 16).value();
  fill(table, random);
  set(table, 123, 2, 0);
  std::vector<bool> reaches(count);  // by a plain search backwards from nothing: repeat until nothing changes
  reaches[123] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint64_t bucket = 0; bucket < count; ++bucket) {
      for (unsigned slot = 0; slot < slots_per_bucket && !reaches[bucket]; ++slot) {
        if (!reaches[other_bucket(count, bucket, get(table, bucket, slot))]) continue;
        reaches[bucket] = changed = true;
      }
    }
  }
  for (std::uint64_t first = 0; first < count; ++first) {
    const std::uint64_t second = other_bucket(count, first, 99);
    if (first == 123 || second == 123) continue;
    buckets copy = table;
    ASSERT_EQ(make_room(copy, first, second).exists, reaches[first] || reaches[second]) << first;
  }
}

}  // namespace
