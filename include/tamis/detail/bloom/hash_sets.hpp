#pragma once

// Words that say how they are to be read: a block of W bits of which the last s are a selector, the number of one of S = 2^s
// sets of places. A key has k places, drawn with replacement, among the other W - s bits, in each set:
//
//   lane 0                   last lane
//   ┌───────────────┬─ … ─┬────────────────┬───────┐
//   │ payload: place 0 is the first bit, place W - s - 1 the last   │ c │     place p: bit 31 - p mod 32 of lane p / 32
//   └───────────────┴─ … ─┴────────────────┴───────┘
//
//   digest.low ── two 32-bit seeds, eight odd multipliers each ──► u, 16 bits for each place
//   set c      ── u × an odd constant of c and the place, mod 2^16 ──► a fraction of 2^16, times W - s: the place
//
// A place is uniform to 1 in 128 at worst, and the places of different sets of one key are as good as independent. A lookup
// knows u before its word has come from memory; the set then costs one multiplication of all places, whose constants stand in a
// row of a table, and no branch. What has to wait for the word is kept short, because a processor can only have so many
// instructions waiting: the second multiplication leaves the place at the top of its lane, where its first bits choose the lane
// of the word and the next five the bit.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/base/random.hpp"
#include "tamis/detail/bloom/block_words.hpp"
#include "tamis/detail/simd/block_places.hpp"
#include "tamis/digest.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

inline constexpr unsigned most_sets = 16;

// The constants of each set, one per place, in the upper half of a lane.
struct set_multipliers {
  alignas(32) std::uint32_t of_place[places_per_seed];
};
inline constexpr auto multipliers_of_set = [] {
  std::array<set_multipliers, most_sets> made{};
  random_source random(1);
  for (set_multipliers& set : made) {
    for (std::uint32_t& multiplier : set.of_place) multiplier = static_cast<std::uint32_t>(random() >> 48 | 1) << 16;
  }
  return made;
}();

// How all words of a table are read.
class word_layout {
 public:
  // Requires: width is one of 32, 64, 128, 256, 512, sets is 2, 4, 8 or 16, and k is 1 to 16.
  word_layout(unsigned width, unsigned sets, unsigned k)
      : mask_(sets - 1), k_(k), scale_((width - selector_bits()) << (32 - std::countr_zero(width))) {}
  word_layout() : word_layout(32, 2, 1) {}

  TAMIS_INLINE unsigned sets() const { return mask_ + 1; }
  TAMIS_INLINE unsigned k() const { return k_; }
  TAMIS_INLINE unsigned selector_bits() const { return static_cast<unsigned>(std::popcount(mask_)); }
  TAMIS_INLINE std::uint32_t scale() const { return scale_; }

  template <unsigned W>
  TAMIS_INLINE unsigned selector(const std::uint32_t* block) const {
    return block[W / 32 - 1] & mask_;
  }

  friend bool operator==(const word_layout&, const word_layout&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.mask_, self.k_, self.scale_);
  }
  // For words of this width.
  status fits(unsigned width) const {
    if (is_wrong(!std::has_single_bit(sets())) || is_wrong(sets() < 2) || is_wrong(sets() > most_sets)) {
      return failure{std::to_string(sets()) + " sets are not 2, 4, 8 or 16"};
    }
    if (is_wrong(k_ < 1) || is_wrong(k_ > 2 * places_per_seed)) return failure{"k is " + std::to_string(k_) + ", not 1 to 16"};
    if (is_wrong(*this != word_layout(width, sets(), k_)))
      return failure{"the payload is not what the selector leaves of a word"};
    return {};
  }

 private:
  std::uint32_t mask_;  // of the selector: sets - 1
  std::uint32_t k_;
  std::uint32_t scale_;  // the payload's share of the word, of 2^32
};

// The places of one key in one set.
template <unsigned W>
class hash_sets {
 public:
  TAMIS_INLINE hash_sets(digest d, unsigned set, const word_layout& layout)
      : seeds_(d.low), multipliers_(multipliers_of_set[set].of_place), scale_(layout.scale()), k_(layout.k()) {}

  // Calls `visit` with the bit number of each place in the block, 32 lane + bit; places may coincide. A seed that has fewer
  // than eight places has the last ones.
  template <class Visit>
  TAMIS_INLINE void for_each(Visit visit) const {
    for (unsigned which = 0; which * places_per_seed < k_; ++which) {
      const unsigned count = std::min(k_ - which * places_per_seed, places_per_seed);
      for (unsigned i = places_per_seed - count; i < places_per_seed; ++i) {
        const std::uint32_t u = seed(which) * place_multipliers[i] >> 16;
        const std::uint32_t fraction = u * (multipliers_[i] >> 16) & 0xffff;
        visit((fraction * (scale_ >> 16) >> (27 - lane_bits)) ^ 31);
      }
    }
  }

  TAMIS_INLINE bool all_set(const std::uint32_t* block) const {
    if constexpr (has_place_vectors) {
      if (k_ <= places_per_seed) return all_set_of(block, 0, k_);
      return (unsigned{all_set_of(block, 0, places_per_seed)} & unsigned{all_set_of(block, 1, k_ - places_per_seed)}) != 0;
    } else {
      std::uint32_t all = 1;
      for_each([&](unsigned bit) { all &= block[bit / 32] >> bit % 32; });
      return all & 1;
    }
  }
  // Requires: k <= 8.
  TAMIS_INLINE bool all_set_of_one_seed(const std::uint32_t* block) const {
    if constexpr (has_place_vectors) return all_set_of(block, 0, k_);
    return all_set(block);
  }

  TAMIS_INLINE void set_all(std::uint32_t* block) const {
    if constexpr (has_place_vectors) {
      block_mask<W> mask;
      for_each([&mask](unsigned bit) { mask.add(bit); });
      mask.set_in(block);
    } else {
      for_each([block](unsigned bit) { block[bit / 32] |= std::uint32_t{1} << bit % 32; });
    }
  }

 private:
  static constexpr int lane_bits = std::countr_zero(W / 32);

  TAMIS_INLINE std::uint32_t seed(unsigned which) const { return static_cast<std::uint32_t>(seeds_ >> (which == 0 ? 0 : 32)); }

  TAMIS_INLINE bool all_set_of(const std::uint32_t* block, unsigned which, unsigned count) const {
    return scaled_places<W>::all_set(block, seed(which), multipliers_, scale_, count);
  }

  std::uint64_t seeds_;
  const std::uint32_t* multipliers_;
  std::uint32_t scale_;
  unsigned k_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
