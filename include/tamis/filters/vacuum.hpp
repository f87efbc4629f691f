#pragma once

// The vacuum filter (Wang, Zhou, Shi and Qian, "Vacuum filters: more space-efficient and faster replacement for Bloom and
// cuckoo filters", VLDB 2019): a cuckoo filter whose two buckets lie near each other. The table is cut into chunks of L
// buckets, L a power of two, and the second bucket is an XOR away inside the chunk; the table is any number of chunks. Two bits
// of the fingerprint choose among four chunk sizes L0 > L1 >= L2 >= L3, so most keys stay within a page or two, and the large
// chunks even out the load:
//
//   ┌───────────────── L0 ─────────────────┬───────────────── L0 ─────────────────┬─ …      m = a multiple of L0
//   ├─────── L1 ───────┬─────── L1 ────────┤
//   ├── L2 ──┬── L2 ───┼── L2 ──┬── L2 ────┤      f mod 4 = 2:  i and i XOR (H(f) mod L2)
//   └─L3─┴─L3┴─L3─┴─L3─┴─L3─┴─L3┴─L3─┴─L3──┘
//
// A small table has no room for chunks that are large enough. There the buckets are i and (H(f) - i) mod m.

#include <array>
#include <bit>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/cuckoo/cuckoo_filter.hpp"

namespace tamis::inline TAMIS_LEVEL {

// How the two buckets of a key belong together. Contracts: detail/cuckoo/cuckoo_filter.hpp
class chunk_addressing {
 public:
  static constexpr filter_info info{
      .id = "vacuum",
      .summary = "vacuum filter: both buckets in one chunk of the table",
      .paper =
          "Wang, Zhou, Shi, Qian: Vacuum filters: more space-efficient and faster replacement for Bloom and cuckoo filters "
          "(PVLDB 2019)",
      .options = detail::cuckoo_option_table,
  };

  static std::uint64_t allowed(std::uint64_t m) {
    if (is_small(m)) return std::max<std::uint64_t>(m + m % 2, 2);
    const std::uint64_t chunk = detail::vacuum_chunk(m, detail::most_slot_bits, 0);  // the same for every width
    return detail::divide_up(m, chunk) * chunk;
  }

  chunk_addressing() = default;
  chunk_addressing(std::uint64_t m, unsigned width) : buckets_(m) {
    for (unsigned i = 0; i < masks_.size() && !is_small(m); ++i) masks_[i] = detail::vacuum_chunk(m, width, i) - 1;
  }

  // The highest bits decide on the bucket, the lowest ones are the fingerprint.
  TAMIS_INLINE std::uint64_t first(std::uint64_t word) const { return detail::short_reduce(word, buckets_); }
  TAMIS_INLINE static std::uint64_t other_bits(std::uint64_t word, unsigned count) {
    return word & ((std::uint64_t{1} << count) - 1);
  }
  TAMIS_INLINE std::uint64_t second(std::uint64_t first, std::uint64_t fingerprint) const {
    return alternate(first, fingerprint);
  }
  TAMIS_INLINE std::uint64_t alternate(std::uint64_t bucket, std::uint64_t fingerprint) const {
    // Odd distances, and odd sums in an even table: the two buckets always differ.
    if (masks_[0] != 0) return bucket ^ ((detail::xor_hash(fingerprint) & masks_[fingerprint % 4]) | 1);
    const std::uint64_t product = fingerprint * 0x6a09'e667;
    const std::uint64_t sum = 2 * detail::reduce(product * product, buckets_ / 2) + 1;
    return bucket <= sum ? sum - bucket : sum + buckets_ - bucket;
  }

  friend bool operator==(const chunk_addressing&, const chunk_addressing&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.buckets_);
    for (auto& mask : self.masks_) archive(mask);
  }
  status fits(std::uint64_t m) const {
    if (detail::is_wrong(m != buckets_) || detail::is_wrong(m % 2 != 0)) {
      return failure{"the places do not fit " + std::to_string(m) + " buckets"};
    }
    if (masks_ == std::array<std::uint64_t, 4>{}) return {};
    for (const std::uint64_t mask : masks_) {
      if (detail::is_wrong(mask == 0) || detail::is_wrong(mask > 0xffffffffu) ||
          detail::is_wrong(!std::has_single_bit(mask + 1)) || detail::is_wrong(m % (mask + 1) != 0)) {
        return failure{"chunks of " + std::to_string(mask + 1) + " buckets do not fit " + std::to_string(m) + " buckets"};
      }
    }
    return {};
  }

 private:
  // Chunks pay from 2^18 keys on (section 4 of the paper).
  static bool is_small(std::uint64_t m) { return m < (std::uint64_t{1} << 16); }

  std::uint64_t buckets_ = 2;
  std::array<std::uint64_t, 4> masks_ = {};  // L_i - 1; all zero in a small table
};

using vacuum = detail::cuckoo_filter<chunk_addressing>;

}  // namespace tamis::inline TAMIS_LEVEL
