// Four at once is the same as one by one.

#include "tamis/table/four_places.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tamis/base/random.hpp"

namespace tamis::test {
namespace {

constexpr std::uint64_t seed = 41;

digest any_digest(random_source& random) { return {random(), random()}; }

TEST(four_places, places_are_those_of_the_quarters) {
  random_source random(seed);
  for (const std::uint64_t places : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{1000}, std::uint64_t{275'941},
                                     most_places_by_quarter - 1, most_places_by_quarter}) {
    const digest last = {~std::uint64_t{0}, ~std::uint64_t{0}};
    for (int i = 0; i < 1000; ++i) {
      const digest d = i == 0 ? digest{} : i == 1 ? last : any_digest(random);
      const four_places all(d, places);
      std::uint64_t copied[4];
      all.copy_to(copied);
      for (unsigned t = 0; t < 4; ++t) {
        const std::uint64_t word = t < 2 ? d.high : d.low;
        const std::uint64_t quarter = t % 2 == 0 ? word & 0xffff'ffff : word >> 32;
        EXPECT_EQ(all[t], t * places + quarter * places / (std::uint64_t{1} << 32));
        EXPECT_LT(all[t], (t + 1) * places);
        EXPECT_EQ(copied[t], all[t]);
      }
    }
  }
}

// Every width, so that values stand at every bit of a byte.
TEST(four_places, values_are_read_and_compared) {
  random_source random(seed);
  for (unsigned width = 1; width <= 32; ++width) {
    constexpr std::uint64_t places = 25;
    auto table = packed_array<dynamic_width>::make(4 * places, width).value();
    const std::uint64_t few = std::min<std::uint64_t>(low_mask(width), 6);
    for (std::uint64_t i = 0; i < table.size(); ++i) {
      table.set(i, i % 3 == 0 ? random() & low_mask(width) : low_mask(width) - random.below(few + 1));
    }
    for (int i = 0; i < 300; ++i) {
      const four_places all(any_digest(random), places);
      const four_values found = all.read(table.data(), width, low_mask(width));
      const auto value = [&] { return i % 2 == 0 ? table.get(random.below(table.size())) : random() & low_mask(width); };
      const std::uint64_t one = value();
      const std::uint64_t pair = one | value() << 32;
      const std::uint64_t quad = (one & 0xffff) | (value() & 0xffff) << 16 | (value() & 0xffff) << 32 | value() << 48;
      for (unsigned t = 0; t < 4; ++t) {
        const std::uint64_t stands = table.get(all[t]);
        const auto says = [&](std::uint32_t mask) { return (mask >> 8 * t & 0xff) != 0; };
        EXPECT_EQ(says(found.equal(one)), stands == one);
        EXPECT_EQ(says(found.equal_either(pair)), stands == (pair & 0xffff'ffff) || stands == pair >> 32);
        if (width <= 16) {
          const std::set<std::uint64_t> wanted = {quad & 0xffff, quad >> 16 & 0xffff, quad >> 32 & 0xffff, quad >> 48};
          EXPECT_EQ(says(found.equal_any(quad)), wanted.contains(stands));
        }
        EXPECT_EQ(found.with_bit<0>() >> t & 1, stands & 1);
        EXPECT_EQ(found.with_bit<1>() >> t & 1, stands >> 1 & 1);
      }
    }
  }
}

TEST(four_places, quarters_of_a_word_are_reduced_and_spread) {
  random_source random(seed);
  for (unsigned width = 1; width <= 16; ++width) {
    const std::uint64_t mask = low_mask(width) * 0x0001'0001'0001'0001;
    for (int i = 0; i < 200; ++i) {
      const std::uint64_t word = i == 0 ? ~std::uint64_t{0} : random();
      const std::uint64_t reduced = reduce_quarters(word, low_mask(width));
      const std::uint64_t spread = spread_to_quarters(word, width, mask);
      for (unsigned q = 0; q < 4; ++q) {
        EXPECT_EQ(reduced >> 16 * q & 0xffff, (word >> 16 * q & 0xffff) * low_mask(width) / 65536);
        EXPECT_EQ(spread >> 16 * q & 0xffff, word >> q * width & low_mask(width));
      }
    }
  }
}

}  // namespace
}  // namespace tamis::test
