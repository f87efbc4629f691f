#pragma once

// The fingerprints of a key in an adaptive cuckoo filter, which may have several: by selector or by the slot's offset in its
// bin. They are parts of words that are made of the key's digest, several to a word where slots are short:
//
//   slots of up to 16 bits        │  16  │  16  │  16  │  16  │
//   up to 32 bits                 │     32      │     32      │
//   longer                        │             64            │
//
// A part is a fraction: times 2^f - 1 it gives a fingerprint from 1 to 2^f - 1, for 0 is an empty slot. Where the slot has a
// selector other than 0 it is not empty anyway, and all 2^f fingerprints serve.

#include <cstdint>

#include "tamis/detail/bits/word.hpp"
#include "tamis/detail/hash/derived_words.hpp"
#include "tamis/detail/hash/place.hpp"
#include "tamis/detail/math/acf.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// The lower or the upper half of a word.
TAMIS_INLINE constexpr std::uint64_t half_of(std::uint64_t word, unsigned half) {
  return half == 0 ? static_cast<std::uint32_t>(word) : word >> 32;
}

struct slot_fingerprints {
  unsigned part_bits = 64;
  unsigned bits = 1;
  bool by_selector = false;

  static slot_fingerprints of(const acf_shape& shape) {
    const unsigned width = shape.fingerprint + shape.selector;
    return {width <= 16 ? 16u : width <= 32 ? 32u : 64u, shape.fingerprint, shape.selector != 0};
  }

  // The word that this and perhaps other fingerprints are parts of.
  TAMIS_INLINE static std::uint64_t word(digest words, unsigned which) { return key_word(words, most_acf_tables + which); }

  TAMIS_INLINE std::uint64_t operator()(digest words, unsigned number) const {
    const unsigned parts = 64 / part_bits;
    const std::uint64_t part = word(words, number / parts) >> (number % parts * part_bits) & low_mask(part_bits);
    if (by_selector && number != 0) return part >> (part_bits - bits);
    return 1 + (part_bits == 64 ? reduce(part, low_mask(bits)) : reduce_short(part_bits, part, low_mask(bits)));
  }

  friend bool operator==(const slot_fingerprints&, const slot_fingerprints&) = default;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
