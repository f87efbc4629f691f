#pragma once

// What a lookup in a telescoping filter compares slots with: the last eight bits of the query's remainders under the first
// selectors, a byte each.
//
//   following bits   | r bits: k = 0   | r bits: k = 1   | r bits: k = 2   | …
//                            └ 8 bits ┘        └ 8 bits ┘        └ 8 bits ┘

#include <bit>
#include <cstdint>

#include "tamis/detail/bits/word.hpp"
#include "tamis/detail/hash/hash_suffix.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

class remainder_tags {
 public:
  // Requires: r >= 8, or they are never asked for; count <= 8.
  remainder_tags(unsigned r, unsigned count) : r_(r), count_(count) {
    for (unsigned bit = 0; bit < 128 && r >= 8; ++bit) {
      const bool taken = bit < r * count && bit % r >= r - 8;
      std::uint64_t& mask = bit < 64 ? high_ : low_;
      mask |= static_cast<std::uint64_t>(taken) << (63 - bit % 64);
    }
    in_low_ = popcount(low_);
  }

  // Byte k: the tag of selector k; 0 from `count` on.  Requires: `quotients` is what y was made with.
  TAMIS_INLINE std::uint64_t operator()(const hash_suffix& y, std::uint64_t quotients) const {
    if (r_ == 8) return first_bytes(y);
    if (has_pdep && r_ * count_ <= y.random_bits()) {
      const std::uint64_t tags = pext(y.rest().high, high_) << in_low_ | pext(y.rest().low, low_);
      return __builtin_bswap64(tags << (64 - 8 * count_));
    }
    return one_by_one(y.source(), quotients);
  }
  // The tags of remainders of eight bits, whatever `count` is.
  TAMIS_INLINE static std::uint64_t first_bytes(const hash_suffix& y) { return __builtin_bswap64(y.rest().high); }

 private:
  // By the digest alone: following bits that are passed on must lie in memory.
  TAMIS_NOINLINE std::uint64_t one_by_one(digest d, std::uint64_t quotients) const {
    const hash_suffix y(d, quotients);
    std::uint64_t tags = 0;
    for (unsigned k = 0; k < count_; ++k) tags |= y.bits(std::uint64_t{k + 1} * r_ - 8, 8) << (8 * k);
    return tags;
  }

  unsigned r_;
  unsigned count_;
  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
  unsigned in_low_ = 0;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
