#pragma once

// Many independent 64-bit words of one digest, at one multiplication each: the product of its two masked halves, folded. For
// filters with more hash functions than 128 bits have room for, all of which a lookup needs.

#include <array>
#include <cstdint>

#include "tamis/detail/base/random.hpp"
#include "tamis/digest.hpp"

namespace tamis::detail {

inline constexpr unsigned most_derived_words = 24;

// Masks without a visible pattern: consecutive words of a seeded source.
inline constexpr auto derived_word_masks = [] {
  std::array<digest, most_derived_words> masks{};
  random_source random(0x7461'6d69'73);
  for (digest& mask : masks) mask = {random(), random()};
  return masks;
}();

// Requires: number < most_derived_words.
TAMIS_INLINE constexpr std::uint64_t key_word(digest d, unsigned number) {
  const digest mask = derived_word_masks[number];
  const wide_product product = multiply_wide(d.high ^ mask.high, d.low ^ mask.low);
  return product.high ^ product.low;
}

}  // namespace tamis::detail
