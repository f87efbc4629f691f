#pragma once

// Lookups in the two usual shapes of an adaptive cuckoo filter, in a few steps: four bins of one slot, read together, and two
// bins of four slots, each read as one word. What stands there is compared with all that the key could have there at once.

#include <array>
#include <cstddef>
#include <cstdint>

#include "tamis/filter/slot_fingerprints.hpp"
#include "tamis/hash/bit_stream.hpp"
#include "tamis/table/four_places.hpp"
#include "tamis/table/slot_search.hpp"

namespace tamis::inline TAMIS_LEVEL {

// What a lookup needs to know of the table, as it needs it.
struct quick_numbers {
  enum : std::uint8_t { impossible, slots, bins_of_four } way = impossible;
  std::uint64_t bins = 0;
  std::uint64_t width = 0;
  std::uint64_t slot_mask = 0;
  std::uint64_t largest = 0;    // of the fingerprints
  std::uint64_t raw_mask = 0;   // the fingerprints of selectors other than 0, in their parts of a word
  std::uint64_t selectors = 0;  // above them; and the 1 that makes the first fingerprint other than 0
  std::uint64_t lanes = 0;      // `width` ones in every 16 bits

  static quick_numbers of(const acf_shape& shape, bool by_offset) {
    quick_numbers made;
    const unsigned width = shape.fingerprint + shape.selector;
    made.bins = shape.bins;
    made.width = width;
    made.slot_mask = low_mask(width);
    made.largest = low_mask(shape.fingerprint);
    made.lanes = low_mask(width) * 0x0001'0001'0001'0001;
    made.selectors = 1;
    const unsigned part = shape.selector <= 1 ? 32 : 16;
    for (std::uint64_t selector = 1; selector < 64 / part && shape.selector != 0 && width <= part; ++selector) {
      made.raw_mask |= made.largest << (part * selector);
      made.selectors |= selector << (part * selector + shape.fingerprint);
    }
    if (shape.bins > most_places_by_quarter) return made;
    if (!by_offset && shape.k == 4 && shape.b == 1 && shape.selector <= 2 && width <= part) made.way = slots;
    if (by_offset && shape.k == 2 && shape.b == 4 && width <= 14) made.way = bins_of_four;
    return made;
  }
};

// The 128 bits that the hashes of a generation are made of. Later ones are rare, and kept out of the way.
TAMIS_COLD inline digest later_words(digest d, std::uint32_t generation) { return continuation(d, generation); }
TAMIS_INLINE digest words_of(digest d, std::uint32_t generation) { return generation == 0 ? d : later_words(d, generation); }

// k = 4, b = 1; selectors of s bits, 0 to 2.
template <unsigned S>
struct quick_slots {
  const quick_numbers& table;
  const std::byte* data;
  std::uint32_t generation;

  struct probe {
    four_places places;
    std::uint64_t values;  // all that the key can have in a slot: one, or two or four in parts of the word
  };
  static constexpr unsigned k() { return 4; }
  static constexpr unsigned b() { return 1; }

  TAMIS_INLINE probe locate(digest d) const {
    const digest words = words_of(d, generation);
    const std::uint64_t word = slot_fingerprints::word(words, 0);
    constexpr unsigned bits = S == 2 ? 16 : 32;
    const std::uint64_t first = reduce_short(bits, word & low_mask(bits), table.largest);
    return {four_places(words, table.bins), S == 0 ? first + 1 : first + (word & table.raw_mask) + table.selectors};
  }
  TAMIS_INLINE void prefetch(const probe& p) const {
    for (unsigned t = 0; t < k(); ++t) prefetch_read(data + p.places[t] * table.width / 8);
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
    const four_values found = p.places.read(data, table.width, table.slot_mask);
    if constexpr (S == 0) return found.equal(p.values);
    return S == 1 ? found.equal_either(p.values) : found.equal_any(p.values);
  }
};

// k = 2, b = 4; fingerprints by offset.
struct quick_bins {
  const quick_numbers& table;
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
    const std::uint64_t second = table.bins + reduce_short(32, quarter_of(words, 1), table.bins);
    const std::uint64_t fingerprints = ones + reduce_quarters(slot_fingerprints::word(words, 0), table.largest);
    return {{reduce_short(32, quarter_of(words, 0), table.bins), second}, fingerprints};
  }
  TAMIS_INLINE void prefetch(const probe& p) const {
    for (const std::uint64_t place : p.places) prefetch_read(data + place * table.width / 2);
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

  // The slots of a bin, 16 bits for each.
  TAMIS_INLINE std::uint64_t bin(const probe& p, unsigned t) const {
    std::uint64_t word;
    const std::uint64_t bit = p.places[t] * table.width * 4;
    __builtin_memcpy(&word, data + bit / 8, sizeof word);
    return spread_to_quarters(word >> (bit % 8), table.width, table.lanes);
  }
};

}  // namespace tamis::inline TAMIS_LEVEL
