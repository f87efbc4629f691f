// Four at once is the same as one by one.

#include "tamis/detail/simd/gather4.hpp"

#include <gtest/gtest.h>

#include "tamis/detail/base/random.hpp"
#include "tamis/detail/bits/packed_array.hpp"
#include "tamis/detail/bits/word.hpp"

namespace tamis::test {

using namespace detail;

namespace {

constexpr std::uint64_t seed = 41;

digest any_digest(random_source& random) { return {random(), random()}; }

TEST(gather4, places_are_those_of_the_quarters) {
  random_source random(seed);
  for (const std::uint64_t places : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{1000}, std::uint64_t{275'941},
                                     most_places_by_quarter - 1, most_places_by_quarter}) {
    const digest last = {~std::uint64_t{0}, ~std::uint64_t{0}};
    for (int i = 0; i < 1000; ++i) {
      const digest d = i == 0 ? digest{} : i == 1 ? last : any_digest(random);
      const gather4 all(d, four_tables(places));
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
TEST(gather4, values_are_read_and_compared) {
  random_source random(seed);
  for (unsigned width = 1; width <= 32; ++width) {
    constexpr std::uint64_t places = 25;
    auto table = packed_array<dynamic_width>::make(4 * places, width).value();
    const std::uint64_t few = std::min<std::uint64_t>(low_mask(width), 6);
    for (std::uint64_t i = 0; i < table.size(); ++i) {
      table.set(i, i % 3 == 0 ? random() & low_mask(width) : low_mask(width) - random.below(few + 1));
    }
    for (int i = 0; i < 300; ++i) {
      const gather4 all(any_digest(random), four_tables(places));
      const four_values found = all.read(table.data(), packed_values(width));
      const auto value = [&] { return i % 2 == 0 ? table.get(random.below(table.size())) : random() & low_mask(width); };
      const std::uint64_t one = value();
      const auto quarter = [&] { return value() & 0xffff; };
      const std::uint64_t pair = (one & 0xffff) | quarter() << 16 | std::uint64_t{0xffff'ffff} << 32;  // no 0 behind the two
      const std::uint64_t four = (one & 0xffff) | quarter() << 16 | quarter() << 32 | quarter() << 48;
      for (unsigned t = 0; t < 4; ++t) {
        const std::uint64_t stands = table.get(all[t]);
        const auto says = [&](std::uint32_t mask) { return (mask >> 8 * t & 0xff) != 0; };
        EXPECT_EQ(says(found.equal(one)), stands == one);
        if (width <= 16) {
          const auto is_one_of = [stands](std::uint64_t word, unsigned count) {
            bool is_one = false;
            for (unsigned q = 0; q < count; ++q) is_one |= stands == (word >> 16 * q & 0xffff);
            return is_one;
          };
          EXPECT_EQ(says(found.equal_any<2>(pair)), is_one_of(pair, 2));
          EXPECT_EQ(says(found.equal_any<4>(four)), is_one_of(four, 4));
        }
        EXPECT_EQ(found.with_bit<0>() >> t & 1, stands & 1);
        EXPECT_EQ(found.with_bit<1>() >> t & 1, stands >> 1 & 1);
      }
    }
  }
}

TEST(gather4, quarters_of_a_word_are_reduced_and_spread) {
  random_source random(seed);
  for (unsigned width = 1; width <= 16; ++width) {
    const std::uint64_t mask = low_mask(width) * 0x0001'0001'0001'0001;
    for (int i = 0; i < 200; ++i) {
      const std::uint64_t word = i == 0 ? ~std::uint64_t{0} : random();
      const std::uint64_t factors = i < 2 ? mask : random();
      const std::uint64_t sums = i < 2 ? 0 : random();
      const std::uint64_t reduced = reduce_quarters(word, {factors}, {sums});
      const std::uint64_t spread = spread_to_quarters(word, width, mask);
      for (unsigned q = 0; q < 4; ++q) {
        const auto quarter = [q](std::uint64_t from) { return from >> 16 * q & 0xffff; };
        EXPECT_EQ(quarter(reduced), (quarter(word) * quarter(factors) / 65536 + quarter(sums)) % 65536);
        EXPECT_EQ(spread >> 16 * q & 0xffff, word >> q * width & low_mask(width));
      }
    }
  }
}

}  // namespace
}  // namespace tamis::test
