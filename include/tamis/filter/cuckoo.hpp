#pragma once

// The cuckoo filter (Fan, Andersen, Kaminsky and Mitzenmacher, CoNEXT 2014): the two buckets of a key are i and i XOR H(f),
// which needs a power of two of them.
//
//   ┌───────────────────────────────────────────────────────┐
//   │      i                          i XOR H(f)            │      m = 2^k buckets of four slots
//   └───────────────────────────────────────────────────────┘
//
// So a filter for a few keys more than 0.95·4·2^k is twice as large as it had to be: between powers of two the bits per key saw
// up and down between f/0.95 and 2f/0.95. `ascf` does not.

#include <bit>

#include "tamis/filter/cuckoo_family.hpp"

namespace tamis::inline TAMIS_LEVEL {

class xor_addressing {
 public:
  static constexpr filter_info info{
      .id = "cuckoo",
      .summary = "cuckoo filter, a power of two of buckets",
      .paper = "Fan, Andersen, Kaminsky, Mitzenmacher: Cuckoo filter: practically better than Bloom (CoNEXT 2014)",
      .options = cuckoo_options,
      .version = 2,  // 1 took fingerprints from the digest's second word
  };

  static std::uint64_t allowed(std::uint64_t m) { return std::bit_ceil(std::max<std::uint64_t>(m, 2)); }

  xor_addressing() = default;
  explicit xor_addressing(std::uint64_t m) : shift_(static_cast<std::uint32_t>(std::countl_zero(m) + 1)) {}

  TAMIS_INLINE first_bucket first(std::uint64_t word) const { return {word >> shift_, word << ((0 - shift_) & 63)}; }
  TAMIS_INLINE std::uint64_t second(std::uint64_t first, std::uint64_t fingerprint) const {
    return alternate(first, fingerprint);
  }
  // An odd distance: the two buckets always differ.
  TAMIS_INLINE std::uint64_t alternate(std::uint64_t bucket, std::uint64_t fingerprint) const {
    return bucket ^ (fingerprint_hash(fingerprint) >> shift_ | 1);
  }

  friend bool operator==(const xor_addressing&, const xor_addressing&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.shift_);
  }
  status fits(std::uint64_t m) const {
    if (m < 2 || !std::has_single_bit(m)) return error{std::to_string(m) + " buckets: not a power of two from 2 on"};
    if (*this != xor_addressing(m)) return error{"the places do not fit " + std::to_string(m) + " buckets"};
    return {};
  }

 private:
  std::uint32_t shift_ = 63;
};

using cuckoo = cuckoo_filter<xor_addressing>;

}  // namespace tamis::inline TAMIS_LEVEL
