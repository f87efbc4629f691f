#pragma once

// Seeded random numbers for tests, workloads and searches: the same seed gives the same sequence on every machine (the standard
// library's distributions do not promise that).

#include <cmath>
#include <cstdint>
#include <limits>

#include "tamis/detail/base/compiler.hpp"

namespace tamis::detail {

// A bijection of 64-bit words in which every input bit moves about half of the output bits (the finalizer of splitmix64).
TAMIS_INLINE constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// splitmix64: a counter through mix64. Small, fast, and every seed is a good one. Meets std::uniform_random_bit_generator.
class random_source {
 public:
  using result_type = std::uint64_t;

  explicit constexpr random_source(std::uint64_t seed) : state_(seed) {}

  static constexpr std::uint64_t min() { return 0; }
  static constexpr std::uint64_t max() { return std::numeric_limits<std::uint64_t>::max(); }

  constexpr std::uint64_t operator()() { return mix64(state_ += 0x9e3779b97f4a7c15u); }

  // Uniform in [0, bound), or 0 if the bound is 0. The bias is below bound / 2^64.
  constexpr std::uint64_t below(std::uint64_t bound) { return multiply_wide((*this)(), bound).high; }

  // Uniform in [0, 1), 53 random bits.
  constexpr double unit() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

  constexpr bool chance(double probability) { return unit() < probability; }

  // An independent source for a part of the work, so that parts can be reordered without changing each other.
  constexpr random_source split() { return random_source(mix64((*this)() ^ 0xd1342543de82ef95u)); }

 private:
  std::uint64_t state_;
};

}  // namespace tamis::detail
