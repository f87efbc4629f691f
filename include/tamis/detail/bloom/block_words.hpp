#pragma once

// The table of one-memory-access Bloom filters: blocks of W = 32, 64, 128, 256 or 512 bits that never cross a cache line, in
// which a key owns k bits drawn with replacement.
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
#include <cmath>
#include <cstdint>

#include "tamis/detail/base/access.hpp"
#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/base/zeroed_array.hpp"
#include "tamis/detail/hash/place.hpp"
#include "tamis/detail/simd/lanes.hpp"
#include "tamis/detail/simd/short_reduce.hpp"

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

// A table of blocks whose width is chosen at run time.
class block_words {
 public:
  // Requires: width is one of 32, 64, 128, 256, 512.
  static result<block_words> make(std::uint64_t blocks, unsigned width) {
    block_words made;
    const auto lanes = checked_multiply(blocks, width / 32);
    if (!lanes) return failure{"a table of " + std::to_string(blocks) + " words cannot be addressed"};
    TAMIS_TRY(made.lanes_, zeroed_array<std::uint32_t>::make(*lanes));
    made.width_ = width;
    made.blocks_ = blocks;
    return made;
  }

  static constexpr bool is_width(std::uint64_t width) { return std::has_single_bit(width) && width >= 32 && width <= 512; }

  std::uint64_t blocks() const { return blocks_; }
  unsigned width() const { return width_; }
  std::uint64_t bits() const { return lanes_.size() * 32; }

  TAMIS_INLINE std::uint64_t block_of(digest d) const { return short_reduce(d.high, blocks_); }
  TAMIS_INLINE void prefetch_for_write(std::uint64_t i) const { prefetch_write(lanes_.data() + i * (width_ / 32)); }
  template <unsigned W>
  TAMIS_INLINE std::uint32_t* block(std::uint64_t i) {
    return lanes_.data() + i * (W / 32);
  }
  template <unsigned W>
  TAMIS_INLINE const std::uint32_t* block(std::uint64_t i) const {
    return lanes_.data() + i * (W / 32);
  }

  // Calls `use` with the width as a constant: one branch per call (or per batch) instead of a width in every shift.
  template <class Use>
  TAMIS_INLINE decltype(auto) with_width(Use use) const {
    if (width_ == 512) return use(std::integral_constant<unsigned, 512>());
    switch (width_) {
      case 32: return use(std::integral_constant<unsigned, 32>());
      case 64: return use(std::integral_constant<unsigned, 64>());
      case 128: return use(std::integral_constant<unsigned, 128>());
      default: return use(std::integral_constant<unsigned, 256>());
    }
  }

  // Sets every bit that is set in `other`.  Requires: same width and number of blocks.
  template <class Access = plain_access>
  void unite(const block_words& other) {
    assert(width_ == other.width_ && blocks_ == other.blocks_);
    for (std::uint64_t i = 0; i < lanes_.size(); ++i) Access::add_bits(lanes_[i], Access::load(other.lanes_[i]));
  }

  template <class Access>
  block_words copied() const {
    block_words copy;
    copy.width_ = width_;
    copy.blocks_ = blocks_;
    copy.lanes_ = lanes_.template copied<Access>();
    return copy;
  }

  // Every `by` blocks united to one.  Requires: by divides blocks().
  result<block_words> folded(std::uint64_t by) const {
    assert(blocks_ % by == 0);
    TAMIS_TRY(block_words smaller, make(blocks_ / by, width_));
    const unsigned each = width_ / 32;
    for (std::uint64_t i = 0; i < lanes_.size(); ++i) smaller.lanes_[i / each / by * each + i % each] |= lanes_[i];
    return smaller;
  }

  // The rate of the present content: a block with X of its W bits set passes k random places with (X / W)^k.
  double rate(unsigned k) const {
    if (blocks_ == 0) return 0.0;
    std::uint64_t with_ones[513] = {};
    const unsigned lanes_each = width_ / 32;
    for (std::uint64_t i = 0; i < lanes_.size(); i += lanes_each) {
      unsigned ones = 0;
      for (unsigned lane = 0; lane < lanes_each; ++lane) ones += static_cast<unsigned>(std::popcount(lanes_[i + lane]));
      ++with_ones[ones];
    }
    double sum = 0.0;
    for (unsigned ones = 1; ones <= width_; ++ones) {
      sum += static_cast<double>(with_ones[ones]) * std::pow(static_cast<double>(ones) / width_, k);
    }
    return sum / static_cast<double>(blocks_);
  }

  // The same if every key has one place in each eighth of its block: a block passes with the product of their shares.
  // Requires: blocks of 256 or 512 bits.
  double split_rate() const {
    const unsigned halves = width_ / 256;
    double sum = 0.0;
    for (std::uint64_t i = 0; i < lanes_.size(); i += std::uint64_t{halves} * places_per_seed) {
      double passes = 1.0;
      for (unsigned lane = 0; lane < places_per_seed; ++lane) {
        int ones = std::popcount(lanes_[i + lane]);
        if (halves == 2) ones += std::popcount(lanes_[i + places_per_seed + lane]);
        passes *= ones / (32.0 * halves);
      }
      sum += passes;
    }
    return blocks_ == 0 ? 0.0 : sum / static_cast<double>(blocks_);
  }

  friend bool operator==(const block_words&, const block_words&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.width_, self.blocks_, self.lanes_);
  }
  status validate() const {
    if (is_wrong(!is_width(width_))) return failure{"words of " + std::to_string(width_) + " bits do not exist"};
    const auto lanes = checked_multiply(blocks_, width_ / 32);
    if (is_wrong(blocks_ == 0) || is_wrong(lanes != lanes_.size()))
      return failure{"the number of words does not fit their table"};
    return {};
  }

 private:
  unsigned width_ = 0;
  std::uint64_t blocks_ = 0;
  zeroed_array<std::uint32_t> lanes_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
