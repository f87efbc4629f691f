#pragma once

// The endless bit stream of a digest: its own 128 bits, then those of a digest derived from it, and so on. It never wraps, so
// two keys that agree in n bits still differ with probability 1 - 2^-m in the next m, however large n is.

#include <cstdint>

#include "tamis/detail/base/random.hpp"
#include "tamis/digest.hpp"

namespace tamis::detail {

// Bits [128·block, 128·(block + 1)) of the stream. For every block this is a bijection of digests: distinct keys keep distinct
// streams.
TAMIS_INLINE constexpr digest continuation(digest d, std::uint64_t block) {
  if (block == 0) return d;
  const std::uint64_t high = mix64(d.high + block * 0x9e3779b97f4a7c15u);
  const std::uint64_t low = mix64((d.low ^ high) + 0xd1342543de82ef95u);
  return {mix64(high + low), low};
}

class bit_stream {
 public:
  explicit constexpr bit_stream(digest d) : digest_(d) {}

  // The `width` bits from bit `first` on, right-aligned.  Requires: width <= 64.
  constexpr std::uint64_t bits(std::uint64_t first, unsigned width) const {
    const std::uint64_t block = first / 128;
    const auto offset = static_cast<unsigned>(first % 128);
    if (offset + width <= 128) return continuation(digest_, block).bits(offset, width);
    const unsigned here = 128 - offset;
    const std::uint64_t head = continuation(digest_, block).bits(offset, here);
    return (head << (width - here)) | continuation(digest_, block + 1).bits(0, width - here);
  }

 private:
  digest digest_;
};

}  // namespace tamis::detail
