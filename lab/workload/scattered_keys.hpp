#pragma once

// Random-looking 64-bit keys by serial number, in two families that never meet: a bijection of even numbers and of odd ones.

#include <cstdint>

#include "tamis/detail/base/random.hpp"

namespace tamis::lab {

class scattered_keys {
 public:
  explicit scattered_keys(std::uint64_t seed) : base_(detail::mix64(seed) & ~std::uint64_t{1}) {}

  std::uint64_t sent(std::uint64_t serial) const { return scatter(2 * serial); }
  std::uint64_t unsent(std::uint64_t serial) const { return scatter(2 * serial + 1); }

 private:
  // Two rounds: one leaves neighbours of small seeds visible.
  std::uint64_t scatter(std::uint64_t n) const { return detail::mix64(detail::mix64(base_ + n) ^ 0x6a09e667f3bcc909u); }

  std::uint64_t base_;
};

}  // namespace tamis::lab
