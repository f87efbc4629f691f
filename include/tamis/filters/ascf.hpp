#pragma once

// The additive and subtractive cuckoo filter (Huang and Yang, "Additive and subtractive cuckoo filters", IWQoS 2020): two
// blocks of m/2 buckets, any m/2, and one bucket in each. From block 0 to block 1 the fingerprint's hash is added, on the way
// back it is subtracted:
//
//   block 0                                    block 1
//   ┌──────────────────────────┐               ┌──────────────────────────┐
//   │        h0                │  + H(f) ──►   │              h1          │      h1 = (h0 + H(f)) mod m/2 + m/2   (equation 2)
//   └──────────────────────────┘  ◄── - H(f)   └──────────────────────────┘      h0 = (h1 - H(f)) mod m/2         (equation 3)
//
// The sums stay below m, so "mod" is one conditional subtraction. Lookups read the same two buckets as the cuckoo filter's, but
// the table is never larger than the load of 0.95 asks for, whatever the number of keys.

#include <algorithm>
#include <bit>
#include <type_traits>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/cuckoo/cuckoo_filter.hpp"

namespace tamis::inline TAMIS_LEVEL {

// How the two buckets of a key belong together. Contracts: detail/cuckoo/cuckoo_filter.hpp
class additive_addressing {
 public:
  static constexpr filter_info info{
      .id = "ascf",
      .summary = "additive and subtractive cuckoo filter: any number of buckets",
      .paper = "Huang, Yang: Additive and subtractive cuckoo filters (IWQoS 2020)",
      .options = detail::cuckoo_option_table,
  };

  static std::uint64_t allowed(std::uint64_t m) { return std::max<std::uint64_t>(m + m % 2, 2); }

  additive_addressing() = default;
  explicit additive_addressing(std::uint64_t m, unsigned /*width*/ = 0) : half_(m / 2), mask_(mask_of(half_)) {}

  // The highest bits decide on the bucket, the lowest ones are the fingerprint.
  template <class Word>
  TAMIS_INLINE Word first(Word word) const {
    return detail::short_reduce(word, half_);
  }
  template <class Word>
  TAMIS_INLINE static Word other_bits(Word word, unsigned count) {
    return word & ((std::uint64_t{1} << count) - 1);
  }
  template <class Word>
  TAMIS_INLINE Word second(Word first, Word fingerprint) const {
    const Word sum = first + distance(fingerprint);
    return sum < half_ ? sum + half_ : sum;
  }
  TAMIS_INLINE std::uint64_t alternate(std::uint64_t bucket, std::uint64_t fingerprint) const {
    // Both ways are computed: a search meets buckets of either block, and a branch would be mispredicted.
    const std::uint64_t difference = bucket - distance(fingerprint);
    const std::uint64_t back = difference < half_ ? difference : difference - half_;
    const std::uint64_t there = second(bucket, fingerprint);
    return bucket < half_ ? there : back;
  }

  friend bool operator==(const additive_addressing&, const additive_addressing&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.half_);
    if constexpr (!std::is_const_v<Self>) self.mask_ = mask_of(self.half_);
  }
  status fits(std::uint64_t m) const {
    if (detail::is_wrong(half_ != m / 2) || detail::is_wrong(m % 2 != 0)) {
      return failure{"two blocks of " + std::to_string(half_) + " buckets are not a table of " + std::to_string(m)};
    }
    return {};
  }

 private:
  // H(f), below the largest power of two that is at most m/2: half of the block at least, which is as good as all of it, and a
  // mask is cheaper than a multiplication.
  template <class Word>
  TAMIS_INLINE Word distance(Word fingerprint) const {
    return detail::additive_hash(fingerprint) & mask_;
  }
  static std::uint64_t mask_of(std::uint64_t half) { return half == 0 ? 0 : std::bit_floor(half) - 1; }

  std::uint64_t half_ = 1;  // m/2
  std::uint64_t mask_ = 0;  // follows from it
};

using ascf = detail::cuckoo_filter<additive_addressing>;

}  // namespace tamis::inline TAMIS_LEVEL
