#pragma once

// The two buckets of each of eight keys, compared at once: one key in every lane of 64 bits. Two gathers read the buckets; a
// lane is then compared like a word of detail/cuckoo/buckets.hpp, all four slots of both buckets in seven instructions. Only
// with AVX-512, and for buckets of four slots that begin at whole bytes and whose fingerprints can be repeated by one shuffle.

#include <array>
#include <cstddef>
#include <cstdint>

#include "tamis/detail/simd/u64x8.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

template <unsigned Width>
inline constexpr bool has_bucket_compare_x8 = TAMIS_HAS_AVX512 != 0 && (Width == 8 || Width == 12 || Width == 16);

template <unsigned Width>
class bucket_compare_x8;

#if TAMIS_HAS_AVX512

template <unsigned Width>
class bucket_compare_x8 {
 public:
  // Of a table whose first bucket begins at `table`.
  TAMIS_INLINE bucket_compare_x8(const std::byte* table, u64x8 first, u64x8 second)
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
  static constexpr std::uint64_t ones =
      std::uint64_t{1} | std::uint64_t{1} << Width | std::uint64_t{1} << 2 * Width | std::uint64_t{1} << 3 * Width;
  static constexpr std::uint64_t high_bits = ones << (Width - 1);

  // Eight bytes from where the bucket begins: what lies above its slots does not matter, and the last bucket is followed by a
  // spare word.
  TAMIS_INLINE static u64x8 load(const std::byte* table, u64x8 buckets) {
    constexpr int bytes = Width / 2;
    constexpr int scale = bytes == 6 ? 2 : bytes;
    if constexpr (bytes == 6) buckets += buckets << 1;
    return words_of(_mm512_mask_i64gather_epi64(_mm512_setzero_si512(), all_eight, vector_of(buckets), table, scale));
  }

  // The fingerprint in each of the four slots: two of 12 bits are three bytes.
  TAMIS_INLINE static u64x8 repeat(u64x8 fingerprints) {
    constexpr unsigned period = Width == 12 ? 3 : Width / 8;
    constexpr auto bytes = [] {
      std::array<std::uint8_t, 64> from{};
      for (unsigned i = 0; i < 64; ++i) from[i] = static_cast<std::uint8_t>(i % 16 / 8 * 8 + i % 8 % period);
      return from;
    }();
    if constexpr (Width == 12) fingerprints |= fingerprints << 12;
    return words_of(_mm512_maskz_shuffle_epi8(~__mmask64{0}, vector_of(fingerprints), vector_of(load_eight(bytes.data()))));
  }

  u64x8 first_;
  u64x8 second_;
};

#endif

}  // namespace tamis::detail::inline TAMIS_LEVEL
