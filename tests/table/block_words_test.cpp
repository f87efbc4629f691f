#include "tamis/table/block_words.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

#include "tamis/base/random.hpp"
#include "tests/support/bounds.hpp"

namespace tamis {
namespace {

constexpr std::uint64_t seed = 8;

template <class Width>
class blocks : public ::testing::Test {};
template <unsigned W>
using width = std::integral_constant<unsigned, W>;
using all_widths = ::testing::Types<width<32>, width<64>, width<128>, width<256>, width<512>>;
TYPED_TEST_SUITE(blocks, all_widths);

// The places as the header's comment defines them, written a second time.
std::vector<unsigned> places_by_definition(digest d, unsigned k, unsigned w) {
  std::vector<unsigned> places;
  for (unsigned i = 0; i < k; ++i) {
    const std::uint64_t half = i < 8 ? d.low >> 32 : d.low & 0xffffffffu;
    const std::uint64_t x = half * place_multipliers[i % 8] & 0xffffffffu;
    const std::uint64_t bit = 31 - (x >> 27);
    const std::uint64_t lane = ((x >> 23 & 1) * 8 + (x >> 24 & 7)) % (w / 32);
    places.push_back(static_cast<unsigned>(32 * lane + bit));
  }
  return places;
}

TYPED_TEST(blocks, places_are_those_of_the_definition) {
  SCOPED_TRACE(seed);
  random_source random(seed);
  for (unsigned k = 1; k <= 16; ++k) {
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
  constexpr unsigned w = TypeParam::value;
  random_source random(seed);
  for (unsigned k = 1; k <= 16; ++k) {
    for (int round = 0; round < 50; ++round) {
      const digest d{random(), random()};
      alignas(64) std::array<std::uint32_t, w / 32> block{};
      const std::vector<unsigned> places = places_by_definition(d, k, w);
      for (const unsigned place : places) block[place / 32] |= std::uint32_t{1} << place % 32;
      ASSERT_TRUE(block_places(d, k).template all_set<w>(block.data()));
      for (const unsigned place : places) {
        alignas(64) std::array<std::uint32_t, w / 32> almost;
        almost.fill(~std::uint32_t{0});
        almost[place / 32] ^= std::uint32_t{1} << place % 32;
        ASSERT_FALSE(block_places(d, k).template all_set<w>(almost.data()));
      }
      alignas(64) std::array<std::uint32_t, w / 32> noise{};
      for (std::uint32_t& lane : noise) lane = static_cast<std::uint32_t>(random() | random());
      const bool expected =
          std::all_of(places.begin(), places.end(), [&](unsigned place) { return (noise[place / 32] >> place % 32 & 1) != 0; });
      ASSERT_EQ(block_places(d, k).template all_set<w>(noise.data()), expected);
    }
  }
}

TYPED_TEST(blocks, every_place_is_even) {
  SCOPED_TRACE(seed);
  constexpr unsigned w = TypeParam::value;
  random_source random(seed);
  std::vector<std::vector<std::uint64_t>> counts(16, std::vector<std::uint64_t>(w));
  for (int i = 0; i < 50000; ++i) {
    unsigned place = 0;
    block_places({0, random()}, 16).template for_each<w>([&](unsigned lane, unsigned bit) {
      ++counts[place++][32 * lane + bit];
    });
  }
  for (const auto& place : counts) EXPECT_TRUE(test::even_by_chance(place));
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

TEST(block_words, widths) {
  for (std::uint64_t w = 0; w <= 2048; ++w) {
    EXPECT_EQ(block_words::is_width(w), (std::set<std::uint64_t>{32, 64, 128, 256, 512}.contains(w))) << w;
  }
}

}  // namespace
}  // namespace tamis
