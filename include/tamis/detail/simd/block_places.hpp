#pragma once

// The places of a key in a block of a Bloom filter, tested and set at once:
//
//   digest.high ── reduce ──► block        digest.low ── two 32-bit seeds, eight odd multipliers each ──► k places x in it
//
//   x (32 bits):  bbbbb lll h …            bit 31 - b of 32-bit lane (h·8 + l) mod W/32
//
// The fields stand where AVX2 wants them: the lane index in the low bits of x >> 24 for a permutation, the bit in x >> 27 for a
// shift that moves it into the sign, so that eight places are tested by one multiply, one permute, one shift and one test.
// The portable code computes the same places, so files move freely between machines.
//
// A *split* block of 256 or 512 bits has exactly eight places, the i-th with l = i: one in each eighth. That saves the permute,
// and the even spread costs little accuracy (detail/math/bloom.hpp).

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "tamis/detail/base/access.hpp"
#include "tamis/detail/simd/lanes.hpp"
#include "tamis/digest.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

inline constexpr unsigned places_per_seed = 8;

struct block_shape {
  unsigned width = 0;  // bits
  bool split = false;
  bool one_seed = false;  // at most eight places, as in split blocks

  static constexpr bool exists(std::uint64_t width, bool split) {
    return std::has_single_bit(width) && width >= (split ? 256 : 32) && width <= 512;
  }
  friend bool operator==(const block_shape&, const block_shape&) = default;
};
alignas(32) inline constexpr std::uint32_t place_multipliers[places_per_seed] = {
    0xe220a839u, 0x6e789e6bu, 0x06c45d19u, 0xf88bb8a9u, 0x1b39896bu, 0x53cb9f0du, 0x2c829abfu, 0xc584133bu};

inline constexpr bool has_place_vectors = TAMIS_HAS_AVX2 != 0;

template <unsigned W>
class block_mask;

#if TAMIS_HAS_AVX2
// The sign bits of the first `count` of eight lanes.
TAMIS_INLINE __m256i first_signs(unsigned count) {
  constexpr std::uint32_t top = 0x80000000u;
  alignas(64) static constexpr std::uint32_t signs[2 * places_per_seed] = {top, top, top, top, top, top, top, top};
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(signs + places_per_seed - count));
}

// Bits of a block of W bits, gathered in registers.
template <unsigned W>
class block_mask {
 public:
  // Bit p of the block is bit p - 32 l of lane l; a shift by anything else, negative or 32 and more, gives no bit.
  TAMIS_INLINE void add(std::uint32_t p) {
    const __m256i one = _mm256_set1_epi32(1);
    const __m256i shifts =
        _mm256_sub_epi32(_mm256_set1_epi32(static_cast<int>(p)), _mm256_setr_epi32(0, 32, 64, 96, 128, 160, 192, 224));
    lower_ = _mm256_or_si256(lower_, _mm256_sllv_epi32(one, shifts));
    if constexpr (W == 512) {
      upper_ = _mm256_or_si256(upper_, _mm256_sllv_epi32(one, _mm256_sub_epi32(shifts, _mm256_set1_epi32(256))));
    }
  }

  TAMIS_INLINE void set_in(std::uint32_t* block) const {
    if constexpr (W >= 256) {
      set_in<__m256i>(block, lower_);
      if constexpr (W == 512) set_in<__m256i>(block + 8, upper_);
    } else {
      using word = std::conditional_t<W == 128, uint128, std::conditional_t<W == 64, std::uint64_t, std::uint32_t>>;
      set_in<word>(block, lower_);
    }
  }

 private:
  template <class Word>
  TAMIS_INLINE static void set_in(std::uint32_t* block, __m256i bits) {
    Word mask;
    Word word;
    __builtin_memcpy(&mask, &bits, sizeof mask);
    __builtin_memcpy(&word, block, sizeof word);
    word |= mask;
    __builtin_memcpy(block, &word, sizeof word);
  }

  __m256i lower_ = _mm256_setzero_si256();
  __m256i upper_ = _mm256_setzero_si256();
};
#endif

// The k places of one key inside its block.  Requires: k <= 16.
class block_places {
 public:
  TAMIS_INLINE block_places(digest d, unsigned k) : seeds_(d.low), k_(k) {}

  template <block_shape S, class Visit>
  TAMIS_INLINE void for_each(Visit visit) const {
    for (unsigned i = 0; i < count<S>(); ++i) {
      const std::uint32_t x = seed<S>(i / places_per_seed) * place_multipliers[i % places_per_seed];
      visit(lane<S>(i, x), 31 - (x >> 27));
    }
  }

  // Are all places set in the block at `block`?
  template <block_shape S, class Access = plain_access>
  TAMIS_INLINE bool all_set(const std::uint32_t* block) const {
#if TAMIS_HAS_AVX2
    if (S.one_seed || k_ <= places_per_seed) return all_set<S, Access>(block, 0, count<S>());
    return (unsigned{all_set<S, Access>(block, 0, places_per_seed)} &
            unsigned{all_set<S, Access>(block, 1, k_ - places_per_seed)}) != 0;
#else
    std::uint32_t all = 1;
    for_each<S>([&](unsigned lane, unsigned bit) { all &= Access::load(block[lane]) >> bit; });
    return all & 1;
#endif
  }

  // Sets them. The bits are gathered in registers first: bit by bit in memory, a store to a lane that the next place reads
  // again stalls the processor, and it cannot foresee when that happens.
  template <block_shape S>
  TAMIS_INLINE void set(std::uint32_t* block) const {
#if TAMIS_HAS_AVX2
    if constexpr (S.split) {
      set_own_lanes<S>(block);
    } else {
      alignas(32) std::uint32_t places[2 * places_per_seed];
      _mm256_store_si256(reinterpret_cast<__m256i*>(places), positions<S>(0));
      if (k_ > places_per_seed) _mm256_store_si256(reinterpret_cast<__m256i*>(places + places_per_seed), positions<S>(1));
      block_mask<S.width> mask;
      for (unsigned i = 0; i < k_; ++i) mask.add(places[i]);
      mask.set_in(block);
    }
#else
    if constexpr (S.width <= 64) {
      std::uint64_t mask = 0;
      for_each<S>([&](unsigned lane, unsigned bit) { mask |= std::uint64_t{1} << (lane * 32 + bit); });
      block[0] |= static_cast<std::uint32_t>(mask);
      if constexpr (S.width == 64) block[1] |= static_cast<std::uint32_t>(mask >> 32);
    } else {
      for_each<S>([block](unsigned lane, unsigned bit) { block[lane] |= std::uint32_t{1} << bit; });
    }
#endif
  }

  // The same while others read and set bits of the block: one by one, since each is an atomic write unless it is there.
  template <block_shape S>
  TAMIS_INLINE void set_atomically(std::uint32_t* block) const {
    for_each<S>([block](unsigned lane, unsigned bit) { atomic_access::add_bits(block[lane], std::uint32_t{1} << bit); });
  }

 private:
  // The upper half of digest.low first, then the lower; the lower for split blocks, which need one only and no shift for it.
  template <block_shape S>
  TAMIS_INLINE std::uint32_t seed(unsigned i) const {
    return static_cast<std::uint32_t>(seeds_ >> (i == 0 && !S.split ? 32 : 0));
  }

  template <block_shape S>
  TAMIS_INLINE unsigned count() const {
    return S.split ? places_per_seed : k_;
  }

  template <block_shape S>
  TAMIS_INLINE static unsigned lane(unsigned i, std::uint32_t x) {
    const unsigned in_half = S.split ? i : x >> 24 & 7;
    if constexpr (S.width == 512) return in_half | (x >> 23 & 1) << 3;
    return in_half & (S.width / 32 - 1);
  }

#if TAMIS_HAS_AVX2
  // The eight x of a seed.
  template <block_shape S>
  TAMIS_INLINE __m256i products(unsigned which) const {
    return _mm256_mullo_epi32(_mm256_set1_epi32(static_cast<int>(seed<S>(which))),
                              _mm256_load_si256(reinterpret_cast<const __m256i*>(place_multipliers)));
  }

  template <block_shape S, class Access>
  TAMIS_INLINE bool all_set(const std::uint32_t* block, unsigned which, unsigned count) const {
    const __m256i x = products<S>(which);
    const __m256i upper = _mm256_slli_epi32(x, 8);
    __m256i words;
    if constexpr (S.split)
      words = own_lanes<S.width, Access>(block, upper);
    else
      words = pick_lanes<S.width, Access>(block, _mm256_srli_epi32(x, 24), upper);
    const __m256i bits = _mm256_sllv_epi32(words, _mm256_srli_epi32(x, 27));
    return _mm256_testc_ps(_mm256_castsi256_ps(bits), _mm256_castsi256_ps(first_signs(count))) != 0;
  }

  // Split blocks: every lane, or pair of lanes in two halves, gets its own bit.
  template <block_shape S>
  TAMIS_INLINE void set_own_lanes(std::uint32_t* block) const {
    const __m256i x = products<S>(0);
    const __m256i bits = _mm256_srlv_epi32(_mm256_set1_epi32(static_cast<int>(0x80000000u)), _mm256_srli_epi32(x, 27));
    const auto add = [](std::uint32_t* to, __m256i mask) {
      auto* half = reinterpret_cast<__m256i*>(to);
      _mm256_store_si256(half, _mm256_or_si256(_mm256_load_si256(half), mask));
    };
    if constexpr (S.width == 256) {
      add(block, bits);
    } else {
      const __m256i upper = _mm256_srai_epi32(_mm256_slli_epi32(x, 8), 31);
      add(block, _mm256_andnot_si256(upper, bits));
      add(block + 8, _mm256_and_si256(upper, bits));
    }
  }

  // The places of a seed as bit numbers in the block: 32 lane + 31 - b.
  template <block_shape S>
  TAMIS_INLINE __m256i positions(unsigned which) const {
    const __m256i x = products<S>(which);
    const __m256i lane = _mm256_and_si256(_mm256_srli_epi32(x, 19), _mm256_set1_epi32(std::min(S.width / 32 - 1, 7u) << 5));
    const __m256i bit = _mm256_andnot_si256(_mm256_srli_epi32(x, 27), _mm256_set1_epi32(31));
    const __m256i place = _mm256_or_si256(lane, bit);
    if constexpr (S.width != 512) return place;
    return _mm256_or_si256(place, _mm256_and_si256(_mm256_srli_epi32(x, 15), _mm256_set1_epi32(256)));
  }
#endif

  std::uint64_t seeds_;
  unsigned k_;
};

// The same for places that are a fraction of W - s bits, with multipliers of their own (detail/bloom/hash_sets.hpp), of which a
// seed with fewer than eight has the last ones. The scale is the share of 2^32.
template <unsigned W>
class scaled_places;

#if TAMIS_HAS_AVX2
// The sign bits of the last `count` of eight lanes.
TAMIS_INLINE __m256 last_signs(unsigned count) {
  constexpr std::uint32_t top = 0x80000000u;
  alignas(64) static constexpr std::uint32_t signs[2 * places_per_seed] = {0,   0,   0,   0,   0,   0,   0,   0,
                                                                           top, top, top, top, top, top, top, top};
  return _mm256_castsi256_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(signs + count)));
}

template <unsigned W>
class scaled_places {
 public:
  TAMIS_INLINE static bool all_set(const std::uint32_t* block, std::uint32_t seed, const std::uint32_t* set_multipliers,
                                   std::uint32_t scale, unsigned count) {
    const __m256i multipliers = _mm256_load_si256(reinterpret_cast<const __m256i*>(place_multipliers));
    const __m256i x = _mm256_mullo_epi32(_mm256_set1_epi32(static_cast<int>(seed)), multipliers);
    const __m256i fraction = _mm256_mullo_epi16(x, _mm256_load_si256(reinterpret_cast<const __m256i*>(set_multipliers)));
    // The lower half of each lane is zero since the multipliers have zeros there.
    const __m256i place = _mm256_mulhi_epu16(fraction, _mm256_set1_epi32(static_cast<int>(scale)));
    const __m256i shift = _mm256_srli_epi32(_mm256_slli_epi32(place, lane_bits), 27);
    const __m256i bits = _mm256_sllv_epi32(lanes_of(block, place), shift);
    return _mm256_testc_ps(_mm256_castsi256_ps(bits), last_signs(count)) != 0;
  }

 private:
  static constexpr int lane_bits = std::countr_zero(W / 32);

  // The lane of each place.
  TAMIS_INLINE static __m256i lanes_of(const std::uint32_t* block, __m256i place) {
    if constexpr (W == 64) {
      // Written so that each lane is broadcast by its load, which costs nothing after it.
      const __m256 first = _mm256_broadcast_ss(reinterpret_cast<const float*>(block));
      const __m256 second = _mm256_broadcast_ss(reinterpret_cast<const float*>(block + 1));
      return _mm256_castps_si256(_mm256_blendv_ps(first, second, _mm256_castsi256_ps(place)));
    } else {
      return pick_lanes<W>(block, _mm256_srli_epi32(place, 32 - lane_bits), place);
    }
  }
};
#endif

}  // namespace tamis::detail::inline TAMIS_LEVEL
