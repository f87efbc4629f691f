#pragma once

// Keys for tests. Keys are integers; those of `keys` and of `strangers` never meet, whatever the numbers are.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tamis/hasher.hpp"

namespace tamis::test {

inline constexpr std::uint64_t hash_seed = 20240612;
inline hasher test_hash() { return hasher::fast(hash_seed); }

inline std::vector<digest> digests_from(std::uint64_t first, std::size_t count, const hasher& hash) {
  std::vector<digest> made(count);
  std::generate(made.begin(), made.end(), [&] { return hash(first++); });
  return made;
}

inline std::vector<digest> keys(std::size_t count, std::uint64_t first = 0) { return digests_from(first, count, test_hash()); }
inline std::vector<digest> strangers(std::size_t count, std::uint64_t first = 0) {
  return digests_from((std::uint64_t{1} << 60) + first, count, test_hash());
}

// Keys that somebody chose, which share their place in every table: all have the same first word, or are one key.
inline std::vector<digest> crowd(std::uint64_t high, std::size_t count, bool is_one_key) {
  std::vector<digest> made(count, digest{high, 7});
  for (std::size_t i = 0; i < count && !is_one_key; ++i) made[i].low = detail::mix64(i);
  return made;
}

// Digests at the ends and in the middle of the order, where carries and wrap-arounds go wrong.
inline constexpr std::uint64_t all_ones = ~std::uint64_t{0};
inline constexpr std::uint64_t top_bit = std::uint64_t{1} << 63;
inline constexpr std::array<digest, 8> extreme_digests = {{{0, 0},
                                                           {0, 1},
                                                           {0, all_ones},
                                                           {top_bit - 1, all_ones},
                                                           {top_bit, 0},
                                                           {all_ones, 0},
                                                           {all_ones, all_ones - 1},
                                                           {all_ones, all_ones}}};

}  // namespace tamis::test
