#pragma once

// Lookups in the two usual shapes of an adaptive cuckoo filter, in a few steps: four bins of one slot, read together, and two
// bins of four slots, each read as one word. What stands there is compared with all that the key could have there at once.

#include <array>
#include <cstddef>
#include <cstdint>

#include "tamis/detail/cuckoo/adaptive/slot_fingerprints.hpp"
#include "tamis/detail/cuckoo/room_search.hpp"
#include "tamis/detail/hash/bit_stream.hpp"
#include "tamis/detail/simd/gather4.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

enum class probe_kind : std::uint8_t { none, one_value, two_values, four_values, one_long_value, bins_of_four };

// What a lookup needs to know of the table, as it needs it.
struct probe_constants {
  probe_kind way = probe_kind::none;
  four_tables tables{0};
  packed_values values{1};
  std::uint64_t largest = 0;  // of the fingerprints
  std::uint64_t lanes = 0;    // `width` ones in every 16 bits
  // What makes all that a key can have in a slot, or in the slots of a bin, out of its word of fingerprints.
  quarters factors;
  quarters sums;

  static probe_constants of(const acf_shape& shape, bool by_offset) {
    probe_constants made;
    const unsigned width = shape.fingerprint + shape.selector;
    made.largest = low_mask(shape.fingerprint);
    made.lanes = low_mask(width) * ones;
    if (shape.bins > most_places_by_quarter || width > 32) return made;
    made.tables = four_tables(shape.bins);
    made.values = packed_values(width);
    if (by_offset && shape.k == 2 && shape.b == 4 && width <= 14) {
      made.way = probe_kind::bins_of_four;
      made.factors.word = made.largest * ones;
      made.sums.word = ones;
    }
    if (by_offset || shape.k != 4 || shape.b != 1) return made;
    if (width > 16 && shape.selector == 0) made.way = probe_kind::one_long_value;
    if (width > 16 || shape.selector > 2) return made;
    made.way = std::array{probe_kind::one_value, probe_kind::two_values, probe_kind::four_values}[shape.selector];
    made.factors.word = made.largest;
    made.sums.word = 1;
    for (unsigned quarter = 1; quarter < 4 && shape.selector != 0; ++quarter) {
      const bool used = quarter >> shape.selector == 0;
      made.factors.word |= (used ? made.largest + 1 : 0) << 16 * quarter;
      made.sums.word |= (used ? std::uint64_t{quarter} << shape.fingerprint : 0xffff) << 16 * quarter;
    }
    return made;
  }

 private:
  static constexpr std::uint64_t ones = 0x0001'0001'0001'0001;
};

// The 128 bits that the hashes of a generation are made of. Later ones are rare, and kept out of the way.
TAMIS_COLD inline digest later_words(digest d, std::uint32_t generation) { return continuation(d, generation); }
TAMIS_INLINE digest words_of(digest d, std::uint32_t generation) { return generation == 0 ? d : later_words(d, generation); }

// k = 4, b = 1; a key has so many values, in parts of a word of so many bits.
template <unsigned Values, unsigned Part = 16>
struct slot_probe {
  const probe_constants& table;
  const std::byte* data;
  std::uint32_t generation;

  struct probe {
    gather4 places;
    std::uint64_t values;
  };
  static constexpr unsigned k() { return 4; }
  static constexpr unsigned b() { return 1; }

  TAMIS_INLINE probe locate(digest d) const {
    static_assert(Part == 16 || (Part == 32 && Values == 1));
    const digest words = words_of(d, generation);
    const std::uint64_t word = slot_fingerprints::word(words, 0);
    const std::uint64_t values =
        Part == 16 ? reduce_quarters(word, table.factors, table.sums) : 1 + reduce_short(32, half_of(word, 0), table.largest);
    return {gather4(words, table.tables), values};
  }
  TAMIS_INLINE void prefetch(const probe& p) const {
    for (unsigned t = 0; t < k(); ++t) prefetch_read(data + p.places[t] * table.values.width[t] / 8);
  }
  TAMIS_INLINE bool test(const probe& p) const { return equal(p) != 0; }
  // Which slots of the key match: a bit for each.
  TAMIS_INLINE std::uint64_t matching(const probe& p) const {
    const std::uint32_t found = equal(p);
    std::uint64_t matching = 0;
    for (unsigned t = 0; t < k(); ++t) matching |= std::uint64_t{(found >> 8 * t & 0xff) != 0} << t;
    return matching;
  }
  TAMIS_INLINE slot_at slot(const probe& p, unsigned bit) const { return {p.places[bit], 0}; }

 private:
  TAMIS_INLINE std::uint32_t equal(const probe& p) const {
    const four_values found = p.places.read(data, table.values);
    if constexpr (Values == 1) {
      return found.equal(p.values);
    } else {
      return found.equal_any<Values>(p.values);
    }
  }
};

// k = 2, b = 4; fingerprints by offset.
struct bin_probe {
  const probe_constants& table;
  const std::byte* data;
  std::uint32_t generation;

  struct probe {
    std::array<std::uint64_t, 2> places;
    std::uint64_t values;  // a key's fingerprint in each slot of a bin, 16 bits for each
  };
  static constexpr unsigned k() { return 2; }
  static constexpr unsigned b() { return 4; }

  TAMIS_INLINE probe locate(digest d) const {
    const digest words = words_of(d, generation);
    const std::uint64_t bins = table.tables.places[0];
    const std::uint64_t values = reduce_quarters(slot_fingerprints::word(words, 0), table.factors, table.sums);
    return {{reduce_short(32, quarter_of(words, 0), bins), bins + reduce_short(32, quarter_of(words, 1), bins)}, values};
  }
  TAMIS_INLINE void prefetch(const probe& p) const {
    for (const std::uint64_t place : p.places) prefetch_read(data + place * width() / 2);
  }
  // If a lane is 0, taking 1 from each sets the highest bit of the lowest such lane; if none is, no highest bit: lanes have at
  // most 15 bits.
  TAMIS_INLINE bool test(const probe& p) const {
    return ((((bin(p, 0) ^ p.values) - ones) | ((bin(p, 1) ^ p.values) - ones)) & ones << 15) != 0;
  }
  TAMIS_INLINE std::uint64_t matching(const probe& p) const {
    std::uint64_t matching = 0;
    for (unsigned bit = 0; bit < k() * b(); ++bit) {
      const std::uint64_t differ = bin(p, bit / b()) ^ p.values;
      matching |= std::uint64_t{(differ >> (bit % b() * 16) & 0xffff) == 0} << bit;
    }
    return matching;
  }
  TAMIS_INLINE slot_at slot(const probe& p, unsigned bit) const { return {p.places[bit / b()], bit % b()}; }

 private:
  static constexpr std::uint64_t ones = 0x0001'0001'0001'0001;

  TAMIS_INLINE std::uint64_t width() const { return table.values.width[0]; }
  // The slots of a bin, 16 bits for each.
  TAMIS_INLINE std::uint64_t bin(const probe& p, unsigned t) const {
    std::uint64_t word;
    const std::uint64_t bit = p.places[t] * width() * 4;
    __builtin_memcpy(&word, data + bit / 8, sizeof word);
    return spread_to_quarters(word >> (bit % 8), width(), table.lanes);
  }
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
