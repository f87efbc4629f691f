#include "tamis/detail/bloom/hash_sets.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tests/support/bounds.hpp"
#include "tests/support/keys.hpp"

namespace tamis::test {

using namespace detail;

namespace {

constexpr std::uint64_t seed = 20240612;

template <class Use>
void with_every_width(Use use) {
  use(std::integral_constant<unsigned, 32>());
  use(std::integral_constant<unsigned, 64>());
  use(std::integral_constant<unsigned, 128>());
  use(std::integral_constant<unsigned, 256>());
  use(std::integral_constant<unsigned, 512>());
}

template <unsigned W>
using block = std::array<std::uint32_t, W / 32>;

template <unsigned W>
std::vector<unsigned> places_of(digest d, unsigned set, const word_layout& layout) {
  std::vector<unsigned> places;
  hash_sets<W>(d, set, layout).for_each([&](unsigned bit) { places.push_back(bit); });
  return places;
}

TEST(hash_sets, are_inside_the_payload) {
  with_every_width([](auto width) {
    for (const unsigned sets : {2u, 4u, 8u, 16u}) {
      const word_layout layout(width, sets, 16);
      std::vector<digest> asked = keys(300);
      asked.insert(asked.end(), extreme_digests.begin(), extreme_digests.end());
      for (const digest d : asked) {
        for (unsigned set = 0; set < sets; ++set) {
          const std::vector<unsigned> places = places_of<width>(d, set, layout);
          ASSERT_EQ(places.size(), 16u);
          for (const unsigned place : places) {
            ASSERT_LT(place, width);
            ASSERT_FALSE(place / 32 == width / 32 - 1 && place % 32 < layout.selector_bits());
          }
        }
      }
    }
  });
}

// The vector test and the places one by one say the same.
TEST(hash_sets, all_set_looks_at_each_place) {
  SCOPED_TRACE(seed);
  random_source random(seed);
  with_every_width([&](auto width) {
    for (unsigned k = 1; k <= 16; ++k) {
      const word_layout layout(width, 8, k);
      for (const digest d : keys(200, k * 1000)) {
        const auto set = static_cast<unsigned>(random.below(8));
        const hash_sets<width> places(d, set, layout);
        block<width> exact{};
        places.set_all(exact.data());
        ASSERT_TRUE(places.all_set(exact.data()));
        block<width> lacking;
        lacking.fill(~0u);
        ASSERT_TRUE(places.all_set(lacking.data()));
        const unsigned missing = places_of<width>(d, set, layout)[random.below(k)];
        lacking[missing / 32] &= ~(1u << missing % 32);
        ASSERT_FALSE(places.all_set(lacking.data()));
        exact[missing / 32] &= ~(1u << missing % 32);
        ASSERT_FALSE(places.all_set(exact.data()));
      }
    }
  });
}

TEST(hash_sets, are_uniform_in_every_set) {
  constexpr unsigned draws = 200000;
  with_every_width([](auto width) {
    const word_layout layout(width, 16, 16);
    const std::vector<digest> drawn = keys(draws / 16);
    for (const unsigned set : {0u, 7u, 15u}) {
      std::vector<std::uint64_t> hits(width);
      for (const digest d : drawn) {
        for (const unsigned place : places_of<width>(d, set, layout)) ++hits[place];
      }
      // A place has floor or ceil of 2^16 / payload of the 16-bit fractions.
      const double share = 65536.0 / (width - layout.selector_bits());
      for (unsigned place = 0; place < width; ++place) {
        if (place / 32 == width / 32 - 1 && place % 32 < 4) continue;
        EXPECT_TRUE(at_most_by_chance(hits[place], draws, std::ceil(share) / 65536)) << width << ": " << place;
        EXPECT_TRUE(at_least_by_chance(hits[place], draws, std::floor(share) / 65536)) << width << ": " << place;
      }
    }
  });
}

// What set c says about a key tells nothing about set c': among words with the same keys, being accepted by both is the
// product.
TEST(hash_sets, sets_are_independent) {
  constexpr unsigned in_word = 6;
  constexpr unsigned words = 4000;
  constexpr unsigned asked_each = 50;
  const word_layout layout(64, 16, 3);
  std::array<std::array<std::uint64_t, 16>, 16> both{};
  std::array<std::array<double, 16>, 16> expected{};
  const std::vector<digest> in = keys(words * in_word);
  const std::vector<digest> asked = strangers(words * asked_each);
  for (unsigned word = 0; word < words; ++word) {
    std::array<block<64>, 16> filled{};
    std::array<double, 16> rate{};
    for (unsigned set = 0; set < 16; ++set) {
      for (unsigned i = 0; i < in_word; ++i) hash_sets<64>(in[word * in_word + i], set, layout).set_all(filled[set].data());
      const int ones = std::popcount(filled[set][0]) + std::popcount(filled[set][1]);
      rate[set] = std::pow(ones / 60.0, 3);
    }
    for (unsigned i = 0; i < asked_each; ++i) {
      std::array<bool, 16> accepted{};
      for (unsigned set = 0; set < 16; ++set) {
        accepted[set] = hash_sets<64>(asked[word * asked_each + i], set, layout).all_set(filled[set].data());
      }
      for (unsigned a = 0; a < 16; ++a) {
        for (unsigned b = 0; b < a; ++b) {
          both[a][b] += accepted[a] && accepted[b];
          expected[a][b] += rate[a] * rate[b];
        }
      }
    }
  }
  for (unsigned a = 0; a < 16; ++a) {
    for (unsigned b = 0; b < a; ++b) {
      EXPECT_TRUE(equal_by_chance(both[a][b], words * asked_each, expected[a][b] / (words * asked_each))) << a << ' ' << b;
    }
  }
}

}  // namespace
}  // namespace tamis::test
