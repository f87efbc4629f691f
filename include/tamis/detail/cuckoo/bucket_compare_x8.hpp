#pragma once

// The two buckets of each of eight keys, compared at once: one key in every lane of 64 bits. Two gathers read the buckets; a
// lane is then compared like a word of detail/cuckoo/buckets.hpp, all four slots of both buckets in seven instructions.

#include <array>
#include <cstddef>
#include <cstdint>

#include "tamis/detail/cuckoo/buckets.hpp"
#include "tamis/detail/simd/u64x8.hpp"

#if TAMIS_HAS_AVX512

namespace tamis::detail::inline TAMIS_LEVEL {

// Buckets that begin at whole bytes and whose fingerprints can be repeated by one shuffle.
template <class Table>
concept has_bucket_compare_x8 =
    Table::lanes_type::fixed_width == 8 || Table::lanes_type::fixed_width == 12 || Table::lanes_type::fixed_width == 16;

template <has_bucket_compare_x8 Table>
class bucket_compare_x8 {
 public:
  TAMIS_INLINE bucket_compare_x8(const Table& table, u64x8 first, u64x8 second)
      : first_(load(table, first)), second_(load(table, second)) {}

  // Bit i: does a slot of key i hold its fingerprint?
  TAMIS_INLINE unsigned any_equal(u64x8 fingerprints) const {
    const u64x8 pattern = repeat(fingerprints);
    const u64x8 one = first_ ^ pattern;
    const u64x8 two = second_ ^ pattern;
    const u64x8 equal = ((one - ones) & ~one) | ((two - ones) & ~two);
    return _mm512_test_epi64_mask(vector_of(equal), vector_of(same_eight(high_bits)));
  }

 private:
  static constexpr unsigned width = Table::lanes_type::fixed_width;
  static constexpr auto ones = every_slot<std::uint64_t>(width);
  static constexpr std::uint64_t high_bits = ones << (width - 1);

  // Eight bytes from where the bucket begins: what lies above its slots does not matter, and the last bucket is followed by a
  // spare word.
  TAMIS_INLINE static u64x8 load(const Table& table, u64x8 buckets) {
    constexpr int bytes = width / 2;
    constexpr int scale = bytes == 6 ? 2 : bytes;
    if constexpr (bytes == 6) buckets += buckets << 1;
    return words_of(
        _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), all_eight, vector_of(buckets), table.first_byte(0), scale));
  }

  // The fingerprint in each of the four slots: two of 12 bits are three bytes.
  TAMIS_INLINE static u64x8 repeat(u64x8 fingerprints) {
    constexpr unsigned period = width == 12 ? 3 : width / 8;
    constexpr auto bytes = [] {
      std::array<std::uint8_t, 64> from{};
      for (unsigned i = 0; i < 64; ++i) from[i] = static_cast<std::uint8_t>(i % 16 / 8 * 8 + i % 8 % period);
      return from;
    }();
    if constexpr (width == 12) fingerprints |= fingerprints << 12;
    return words_of(_mm512_maskz_shuffle_epi8(~__mmask64{0}, vector_of(fingerprints), vector_of(load_eight(bytes.data()))));
  }

  u64x8 first_;
  u64x8 second_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL

#endif
