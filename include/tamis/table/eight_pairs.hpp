#pragma once

// The two buckets of each of eight keys, compared at once: one key in every lane of 64 bits. Two gathers read the buckets; a
// lane is then compared like a word of table/buckets.hpp, all four slots of both buckets in seven instructions.

#include <array>
#include <cstddef>
#include <cstdint>

#include "tamis/hash/eight_words.hpp"
#include "tamis/table/buckets.hpp"

#if TAMIS_HAS_AVX512

namespace tamis::inline TAMIS_LEVEL {

// Buckets that begin at whole bytes and whose fingerprints can be repeated by one shuffle.
template <class Table>
concept has_eight_pairs =
    Table::lanes_type::fixed_width == 8 || Table::lanes_type::fixed_width == 12 || Table::lanes_type::fixed_width == 16;

template <has_eight_pairs Table>
class eight_pairs {
 public:
  TAMIS_INLINE eight_pairs(const Table& table, eight_words first, eight_words second)
      : first_(load(table, first)), second_(load(table, second)) {}

  // Bit i: does a slot of key i hold its fingerprint?
  TAMIS_INLINE unsigned any_equal(eight_words fingerprints) const {
    const eight_words pattern = repeat(fingerprints);
    const eight_words one = first_ ^ pattern;
    const eight_words two = second_ ^ pattern;
    const eight_words equal = ((one - ones) & ~one) | ((two - ones) & ~two);
    return _mm512_test_epi64_mask(detail::vector_of(equal), detail::vector_of(same_eight(tops)));
  }

 private:
  static constexpr unsigned width = Table::lanes_type::fixed_width;
  static constexpr auto ones = detail::every_slot<std::uint64_t>(width);
  static constexpr std::uint64_t tops = ones << (width - 1);

  // Eight bytes from where the bucket begins: what lies above its slots does not matter, and the last bucket is followed by a
  // spare word.
  TAMIS_INLINE static eight_words load(const Table& table, eight_words buckets) {
    constexpr int bytes = width / 2;
    constexpr int scale = bytes == 6 ? 2 : bytes;
    if constexpr (bytes == 6) buckets += buckets << 1;
    return detail::words_of(_mm512_mask_i64gather_epi64(_mm512_setzero_si512(), detail::all_eight, detail::vector_of(buckets),
                                                        table.first_byte(0), scale));
  }

  // The fingerprint in each of the four slots: two of 12 bits are three bytes.
  TAMIS_INLINE static eight_words repeat(eight_words fingerprints) {
    constexpr unsigned period = width == 12 ? 3 : width / 8;
    constexpr auto bytes = [] {
      std::array<std::uint8_t, 64> from{};
      for (unsigned i = 0; i < 64; ++i) from[i] = static_cast<std::uint8_t>(i % 16 / 8 * 8 + i % 8 % period);
      return from;
    }();
    if constexpr (width == 12) fingerprints |= fingerprints << 12;
    return detail::words_of(
        _mm512_maskz_shuffle_epi8(~__mmask64{0}, detail::vector_of(fingerprints), detail::vector_of(load_eight(bytes.data()))));
  }

  eight_words first_;
  eight_words second_;
};

}  // namespace tamis::inline TAMIS_LEVEL

#endif
