#include "tamis/detail/cuckoo/bucket_pair.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tamis/detail/base/random.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;

constexpr std::uint64_t seed = 20240704;

// Few different values, so that equal and empty slots are common; the largest ones are among them.
std::uint64_t some_value(random_source& random, unsigned width) {
  const std::uint64_t most = (std::uint64_t{1} << width) - 1;
  return random.chance(0.3) ? most - random.below(2) : random.below(4);
}

// Every width, every pair of buckets of a small table (so both parities and the last bucket): the same as slot by slot.
TEST(bucket_pair, masks_are_what_comparing_each_slot_gives) {
  for (unsigned width = least_slot_bits; width <= most_slot_bits; ++width) {
    SCOPED_TRACE(width);
    random_source random(seed + width);
    for (const std::uint64_t count : {1u, 2u, 3u, 8u, 21u}) {
      buckets table = buckets::make(count, width).value();
      std::vector<std::uint64_t> slots(count * slots_per_bucket);
      table.with_access([&](const auto& access) {
        for (std::uint64_t i = 0; i < slots.size(); ++i) {
          slots[i] = some_value(random, width);
          access.set(i / slots_per_bucket, static_cast<unsigned>(i % slots_per_bucket) * width, slots[i]);
        }
        const auto expected = [&](std::uint64_t first, std::uint64_t second, std::uint64_t value) {
          unsigned mask = 0;
          for (unsigned slot = 0; slot < slots_per_bucket; ++slot) {
            mask |= static_cast<unsigned>(slots[first * slots_per_bucket + slot] == value) << slot;
            mask |= static_cast<unsigned>(slots[second * slots_per_bucket + slot] == value) << (slot + slots_per_bucket);
          }
          return mask;
        };
        for (std::uint64_t first = 0; first < count; ++first) {
          for (std::uint64_t second = 0; second < count; ++second) {
            const bucket_pair<std::decay_t<decltype(access)>> pair(access, first, second);
            ASSERT_EQ(pair.empty(), expected(first, second, 0));
            for (int i = 0; i < 4; ++i) {
              const std::uint64_t wanted = some_value(random, width);
              if (wanted == 0) continue;
              ASSERT_EQ(pair.equal(wanted), expected(first, second, wanted)) << first << " and " << second;
              ASSERT_EQ(pair.any_equal(wanted), expected(first, second, wanted) != 0);
              unsigned marked = 0;
              for (unsigned slot = 0; slot < 2 * slots_per_bucket; ++slot) {
                const unsigned one = pair.marks(wanted) >> slot * pair.marks_per_slot & ((1u << pair.marks_per_slot) - 1);
                ASSERT_TRUE(one == 0 || one == (1u << pair.marks_per_slot) - 1);
                marked |= static_cast<unsigned>(one != 0) << slot;
              }
              ASSERT_EQ(marked, expected(first, second, wanted));
              ASSERT_EQ(pair.marks(wanted) >> 2 * slots_per_bucket * pair.marks_per_slot, 0u);
            }
          }
        }
      });
    }
  }
}

TEST(bucket_pair, the_emptier_bucket_is_filled_first) {
  for (unsigned empty = 1; empty < 256; ++empty) {
    const unsigned slot = slot_of_emptier_bucket[empty];
    ASSERT_LT(slot, 8u);
    EXPECT_NE(empty >> slot & 1, 0u) << empty;
    const int in_chosen = std::popcount(slot < 4 ? empty & 15u : empty >> 4);
    EXPECT_GE(2 * in_chosen, std::popcount(empty)) << empty;
  }
}

}  // namespace
