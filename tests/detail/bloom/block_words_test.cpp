#include "tamis/detail/bloom/block_words.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tests/support/bounds.hpp"

namespace tamis {

using namespace detail;

namespace {

constexpr std::uint64_t seed = 8;

template <class Shape>
class blocks : public ::testing::Test {};
template <unsigned W, bool Split = false>
using shape = std::integral_constant<block_shape, block_shape{W, Split}>;
using all_shapes =
    ::testing::Types<shape<32>, shape<64>, shape<128>, shape<256>, shape<512>, shape<256, true>, shape<512, true>>;
TYPED_TEST_SUITE(blocks, all_shapes);

// The places as the header's comment defines them, written a second time.
std::vector<unsigned> places_by_definition(digest d, unsigned k, block_shape s) {
  std::vector<unsigned> places;
  for (unsigned i = 0; i < k; ++i) {
    const std::uint64_t half = i < 8 && !s.split ? d.low >> 32 : d.low & 0xffffffffu;
    const std::uint64_t x = half * place_multipliers[i % 8] & 0xffffffffu;
    const std::uint64_t bit = 31 - (x >> 27);
    const std::uint64_t lane = ((x >> 23 & 1) * 8 + (s.split ? i : x >> 24 & 7)) % (s.width / 32);
    places.push_back(static_cast<unsigned>(32 * lane + bit));
  }
  return places;
}

// Split blocks always have eight places.
bool exists(block_shape s, unsigned k) { return !s.split || k == 8; }

TYPED_TEST(blocks, places_are_those_of_the_definition) {
  SCOPED_TRACE(seed);
  random_source random(seed);
  for (unsigned k = 1; k <= 16; ++k) {
    if (!exists(TypeParam::value, k)) continue;
    for (int i = 0; i < 500; ++i) {
      const digest d{random(), random()};
      std::vector<unsigned> places;
      block_places(d, k).template for_each<TypeParam::value>(
          [&](unsigned lane, unsigned bit) { places.push_back(32 * lane + bit); });
      ASSERT_EQ(places, places_by_definition(d, k, TypeParam::value));
    }
  }
}

// Built with AVX2 this compares the vector code with the definition, at every k and with every single place missing.
TYPED_TEST(blocks, all_set_means_every_place) {
  SCOPED_TRACE(seed);
  constexpr block_shape s = TypeParam::value;
  constexpr unsigned w = s.width;
  random_source random(seed);
  for (unsigned k = 1; k <= 16; ++k) {
    if (!exists(s, k)) continue;
    for (int round = 0; round < 50; ++round) {
      const digest d{random(), random()};
      alignas(64) std::array<std::uint32_t, w / 32> block{};
      const std::vector<unsigned> places = places_by_definition(d, k, s);
      alignas(64) std::array<std::uint32_t, w / 32> filled{};
      for (const unsigned place : places) block[place / 32] |= std::uint32_t{1} << place % 32;
      block_places(d, k).template set<s>(filled.data());
      ASSERT_EQ(filled, block);
      ASSERT_TRUE(block_places(d, k).template all_set<s>(block.data()));
      for (const unsigned place : places) {
        alignas(64) std::array<std::uint32_t, w / 32> almost;
        almost.fill(~std::uint32_t{0});
        almost[place / 32] ^= std::uint32_t{1} << place % 32;
        ASSERT_FALSE(block_places(d, k).template all_set<s>(almost.data()));
      }
      alignas(64) std::array<std::uint32_t, w / 32> noise{};
      for (std::uint32_t& lane : noise) lane = static_cast<std::uint32_t>(random() | random());
      const bool expected =
          std::all_of(places.begin(), places.end(), [&](unsigned place) { return (noise[place / 32] >> place % 32 & 1) != 0; });
      ASSERT_EQ(block_places(d, k).template all_set<s>(noise.data()), expected);
    }
  }
}

TYPED_TEST(blocks, every_place_is_even) {
  SCOPED_TRACE(seed);
  constexpr block_shape s = TypeParam::value;
  constexpr unsigned places = s.split ? 8 : 16;
  random_source random(seed);
  std::vector<std::vector<std::uint64_t>> counts(places, std::vector<std::uint64_t>(s.width));
  for (int i = 0; i < 50000; ++i) {
    unsigned place = 0;
    block_places({0, random()}, places).template for_each<s>([&](unsigned lane, unsigned bit) {
      ++counts[place++][32 * lane + bit];
    });
  }
  for (unsigned i = 0; i < places; ++i) {
    if (s.split) std::erase(counts[i], 0);  // the other eighths
    EXPECT_EQ(counts[i].size(), s.split ? s.width / 8 : s.width);
    EXPECT_TRUE(test::even_by_chance(counts[i]));
  }
}

TEST(block_words, blocks_never_cross_a_cache_line) {
  for (const unsigned w : {32u, 64u, 128u, 256u, 512u}) {
    block_words words = block_words::make(100, w).value();
    words.with_width([&](auto width) {
      for (std::uint64_t i = 0; i < words.blocks(); ++i) {
        const auto at = reinterpret_cast<std::uintptr_t>(words.template block<width>(i));
        EXPECT_EQ(at / 64, (at + w / 8 - 1) / 64);
      }
    });
    EXPECT_EQ(words.bits(), 100u * w);
  }
}

TEST(block_words, rate_is_the_mean_over_blocks) {
  block_words words = block_words::make(4, 32).value();
  EXPECT_EQ(words.rate(3), 0.0);
  *words.block<32>(1) = ~std::uint32_t{0};
  *words.block<32>(2) = 0xffff;
  EXPECT_DOUBLE_EQ(words.rate(3), (1.0 + 0.125) / 4);
}

TEST(block_words, split_rate_is_the_product_of_the_eighths) {
  block_words words = block_words::make(2, 512).value();
  EXPECT_EQ(words.split_rate(), 0.0);
  std::uint32_t* block = words.block<512>(1);
  for (unsigned lane = 0; lane < 16; ++lane) block[lane] = 0xff;  // a quarter of each eighth
  EXPECT_DOUBLE_EQ(words.split_rate(), std::pow(0.25, 8) / 2);
  block[0] = block[8] = ~std::uint32_t{0};
  EXPECT_DOUBLE_EQ(words.split_rate(), std::pow(0.25, 7) / 2);
  block[3] = block[11] = 0;
  EXPECT_EQ(words.split_rate(), 0.0);
}

TEST(block_words, widths) {
  for (std::uint64_t w = 0; w <= 2048; ++w) {
    EXPECT_EQ(block_words::is_width(w), (std::set<std::uint64_t>{32, 64, 128, 256, 512}.contains(w))) << w;
    EXPECT_EQ(block_shape::exists(w, false), block_words::is_width(w)) << w;
    EXPECT_EQ(block_shape::exists(w, true), w == 256 || w == 512) << w;
  }
}

}  // namespace
}  // namespace tamis
