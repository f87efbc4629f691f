#pragma once

// Arithmetic on sizes that says when it does not fit.

#include <concepts>
#include <cstdint>
#include <optional>

namespace tamis::detail {

constexpr std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

constexpr std::optional<std::uint64_t> checked_multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// The smallest whole number that is not below `value`, if 64 bits can hold it.
constexpr std::optional<std::uint64_t> checked_ceil(double value) {
  if (!(value >= 0.0) || value >= 0x1p63) return std::nullopt;
  const auto floor = static_cast<std::uint64_t>(value);
  return static_cast<double>(floor) < value ? floor + 1 : floor;
}

constexpr std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0); }

// These end at the largest number.
constexpr std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) { return a > ~b ? ~std::uint64_t{0} : a + b; }
constexpr std::uint64_t saturating_increment(std::uint64_t a) { return a + (a != ~std::uint64_t{0}); }

}  // namespace tamis::detail
