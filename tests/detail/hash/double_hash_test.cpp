#include "tamis/detail/hash/double_hash.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tests/support/bounds.hpp"

namespace tamis {

using namespace detail;

namespace {

constexpr std::uint64_t seed = 5;

TEST(double_hash, every_place_is_even) {
  SCOPED_TRACE(seed);
  constexpr std::uint64_t cells = 777;
  constexpr unsigned k = 12;
  random_source random(seed);
  std::vector<std::vector<std::uint64_t>> counts(k, std::vector<std::uint64_t>(cells));
  for (int i = 0; i < 100000; ++i) {
    double_hash places({random(), random()});
    for (unsigned j = 0; j < k; ++j) ++counts[j].at(places.next(cells));
  }
  for (const auto& place : counts) EXPECT_TRUE(test::even_by_chance(place));
}

// Unmixed double hashing would tie the difference of two places to the next difference.
TEST(double_hash, neighbouring_places_are_independent) {
  SCOPED_TRACE(seed);
  constexpr std::uint64_t cells = 16;
  random_source random(seed);
  std::vector<std::uint64_t> triples(cells * cells * cells);
  for (int i = 0; i < 400000; ++i) {
    double_hash places({random(), random()});
    const std::uint64_t a = places.next(cells);
    const std::uint64_t b = places.next(cells);
    ++triples[(a * cells + b) * cells + places.next(cells)];
  }
  EXPECT_TRUE(test::even_by_chance(triples));
}

TEST(double_hash, works_for_digests_of_zeros_and_ones) {
  for (const digest d : {digest{0, 0}, digest{~0ull, ~0ull}}) {
    double_hash places(d);
    std::vector<std::uint64_t> seen;
    for (int i = 0; i < 64; ++i) seen.push_back(places.next(1 << 20));
    std::sort(seen.begin(), seen.end());
    EXPECT_GT(std::unique(seen.begin(), seen.end()) - seen.begin(), 60);
  }
}

}  // namespace
}  // namespace tamis
