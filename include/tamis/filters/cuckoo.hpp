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

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/cuckoo/cuckoo_filter.hpp"

namespace tamis::inline TAMIS_LEVEL {

// How the two buckets of a key belong together. Contracts: detail/cuckoo/cuckoo_filter.hpp
class xor_addressing {
 public:
  static constexpr filter_info info{
      .id = "cuckoo",
      .summary = "cuckoo filter, a power of two of buckets",
      .paper = "Fan, Andersen, Kaminsky, Mitzenmacher: Cuckoo filter: practically better than Bloom (CoNEXT 2014)",
      .options = detail::cuckoo_option_table,
  };

  static std::uint64_t allowed(std::uint64_t m) { return std::bit_ceil(std::max<std::uint64_t>(m, 2)); }

  xor_addressing() = default;
  explicit xor_addressing(std::uint64_t m, unsigned /*width*/ = 0) : mask_(m - 1) {}

  // The lowest bits are the bucket, the highest ones the fingerprint.
  template <class Word>
  TAMIS_INLINE Word first(Word word) const {
    return word & mask_;
  }
  template <class Word>
  TAMIS_INLINE static Word other_bits(Word word, unsigned count) {
    return word >> (64 - count);
  }
  template <class Word>
  TAMIS_INLINE Word second(Word first, Word fingerprint) const {
    return alternate(first, fingerprint);
  }
  // An odd distance: the two buckets always differ.
  template <class Word>
  TAMIS_INLINE Word alternate(Word bucket, Word fingerprint) const {
    return (bucket ^ (detail::xor_hash(fingerprint) | 1)) & mask_;
  }

  friend bool operator==(const xor_addressing&, const xor_addressing&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.mask_);
  }
  status fits(std::uint64_t m) const {
    if (detail::is_wrong(m < 2) || detail::is_wrong(!std::has_single_bit(m)))
      return failure{std::to_string(m) + " buckets: not a power of two from 2 on"};
    if (detail::is_wrong(*this != xor_addressing(m))) return failure{"the places do not fit " + std::to_string(m) + " buckets"};
    return {};
  }

 private:
  std::uint64_t mask_ = 1;
};

using cuckoo = detail::cuckoo_filter<xor_addressing>;

}  // namespace tamis::inline TAMIS_LEVEL
