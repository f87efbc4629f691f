#pragma once

// A key's 128-bit hash, read as one big-endian bit string: bit 0 is the most significant bit of `high`. The first bits choose a
// filter's place, the next ones are the fingerprint. Digest order is therefore place order, and a set of digests that share a
// prefix is a range.

#include <cassert>
#include <compare>
#include <cstdint>

#include "tamis/detail/base/compiler.hpp"

namespace tamis {

struct digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend constexpr auto operator<=>(const digest&, const digest&) = default;  // NOLINT(modernize-use-nullptr): a false alarm

  // The `width` bits that start at bit `first`, right-aligned.  Requires: width <= 64, first + width <= 128.
  TAMIS_INLINE constexpr std::uint64_t bits(unsigned first, unsigned width) const {
    assert(width <= 64 && first + width <= 128);
    if (width == 0) return 0;
    const detail::uint128 whole = (static_cast<detail::uint128>(high) << 64) | low;
    return static_cast<std::uint64_t>(whole << first >> 64) >> (64 - width);
  }
};

// All digests from `first` to `last`, both included.
struct digest_range {
  digest first;
  digest last;

  friend constexpr bool operator==(const digest_range&, const digest_range&) = default;
  // Does it lie between them, or on one of them?
  constexpr bool contains(digest d) const { return first <= d && d <= last; }
};

inline constexpr digest_range all_digests{{0, 0}, {~std::uint64_t{0}, ~std::uint64_t{0}}};

// Every digest that agrees with `d` in its first `width` bits.  Requires: width <= 128.
constexpr digest_range prefix_range(digest d, unsigned width) {
  assert(width <= 128);
  const auto tail = [](unsigned kept) { return kept >= 64 ? std::uint64_t{0} : ~std::uint64_t{0} >> kept; };
  const std::uint64_t high_tail = tail(width);
  const std::uint64_t low_tail = tail(width < 64 ? 0 : width - 64);
  return {{d.high & ~high_tail, d.low & ~low_tail}, {d.high | high_tail, d.low | low_tail}};
}

}  // namespace tamis
