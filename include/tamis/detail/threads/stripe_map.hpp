#pragma once

// Stripes: all digests with the same first bits. Each has a filter of its own, so that changes of different stripes need not
// wait for each other.
//
// Inside a stripe the leading bits are the same for all, so a filter would use a fraction of its table. It therefore sees local
// digests: shifted to the left by the stripe's bits. That keeps order and difference; the places that become free at the end
// are filled with bits that depend on all of the first word, which is about as random as the ones that went away.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "tamis/detail/base/compiler.hpp"
#include "tamis/digest.hpp"

namespace tamis::detail {

// Which stripe, and how its digests look inside it.  Requires: bits <= 8.
class stripe_map {
 public:
  static constexpr unsigned most_bits = 8;

  explicit stripe_map(unsigned bits) : bits_(bits) {}

  unsigned bits() const { return bits_; }
  std::uint32_t count() const { return std::uint32_t{1} << bits_; }
  TAMIS_INLINE std::uint32_t index(digest d) const {
    return bits_ == 0 ? 0 : static_cast<std::uint32_t>(d.high >> (64 - bits_));
  }
  digest_range range(std::uint32_t index) const { return prefix_range(global(index, {0, 0}), bits_); }

  // The halves stay apart (compiler.hpp): as one vector, each lookup waited for the one before.
  TAMIS_INLINE digest local(digest d) const {
    std::uint64_t high = in_register(d.high), low = in_register(d.low);
    if (bits_ != 0) {
      const std::uint64_t filler = high * filler_factor >> (64 - bits_);
      high = high << bits_ | low >> (64 - bits_);
      low = low << bits_ | filler;
    }
    return {in_register(high), in_register(low)};
  }
  // The digest whose local form has the same first 128 - bits bits.
  digest global(std::uint32_t index, digest local) const {
    if (bits_ == 0) return local;
    return {std::uint64_t{index} << (64 - bits_) | local.high >> bits_, local.high << (64 - bits_) | local.low >> bits_};
  }
  // Everything that may have a local form in this range.
  digest_range global_range(std::uint32_t index, digest_range local) const {
    return {global(index, local.first), global(index, local.last)};
  }

 private:
  static constexpr std::uint64_t filler_factor = 0x9e3779b97f4a7c15u;  // odd, without a pattern

  unsigned bits_;
};

// Enough stripes for writers to keep out of each other's way, few enough for the keys to spread evenly.
inline std::uint32_t default_stripes(std::uint64_t capacity) {
  constexpr std::uint64_t least_keys_of_stripe = 16'384;
  constexpr std::uint64_t most = 16;
  return static_cast<std::uint32_t>(std::bit_floor(std::clamp<std::uint64_t>(capacity / least_keys_of_stripe, 1, most)));
}

// Keys fall into stripes by chance. Four standard deviations above the mean, so that hardly any stripe is ever short of room.
inline std::uint64_t share_of_stripe(std::uint64_t total, std::uint32_t stripes) {
  if (stripes == 1) return total;
  const double mean = static_cast<double>(total) / stripes;
  return static_cast<std::uint64_t>(std::ceil(mean + 4 * std::sqrt(mean)));
}

}  // namespace tamis::detail
