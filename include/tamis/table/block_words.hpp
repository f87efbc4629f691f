#pragma once

// The table of one-memory-access Bloom filters: blocks of W = 32, 64, 128, 256 or 512 bits that never cross a cache line, in
// which a key owns k bits drawn with replacement.
//
//   digest.high ── reduce ──► block        digest.low ── two 32-bit seeds, eight odd multipliers each ──► k places x in it
//
//   x (32 bits):  bbbbb lll h …            bit 31 - b of 32-bit lane (h·8 + l) mod W/32
//
// The fields stand where AVX2 wants them: the lane index in the low bits of x >> 24 for a permutation, the bit in x >> 27 for a
// shift that moves it into the sign, so that eight places are tested by one multiply, one permute, one shift and one movemask.
// The portable code computes the same places, so files move freely between machines.

#include <bit>
#include <cmath>
#include <cstdint>

#include "tamis/base/memory.hpp"
#include "tamis/hash/place.hpp"

#if TAMIS_HAS_AVX2
#include <immintrin.h>
#endif

namespace tamis::inline TAMIS_LEVEL {

inline constexpr unsigned places_per_seed = 8;
alignas(32) inline constexpr std::uint32_t place_multipliers[places_per_seed] = {
    0xe220a839u, 0x6e789e6bu, 0x06c45d19u, 0xf88bb8a9u, 0x1b39896bu, 0x53cb9f0du, 0x2c829abfu, 0xc584133bu};

// The k places of one key inside its block.  Requires: k <= 16.
class block_places {
 public:
  TAMIS_INLINE block_places(digest d, unsigned k) : seeds_(d.low), k_(k) {}

  template <unsigned W, class Visit>
  TAMIS_INLINE void for_each(Visit visit) const {
    for (unsigned i = 0; i < k_; ++i) {
      const std::uint32_t x = seed(i / places_per_seed) * place_multipliers[i % places_per_seed];
      visit(lane<W>(x), 31 - (x >> 27));
    }
  }

#if TAMIS_HAS_AVX2
  // Are all places set in the block of W bits at `block`?
  template <unsigned W>
  TAMIS_INLINE bool all_set(const std::uint32_t* block) const {
    if (k_ <= places_per_seed) return missing<W>(block, 0, k_) == 0;
    return (missing<W>(block, 0, places_per_seed) | missing<W>(block, 1, k_ - places_per_seed)) == 0;
  }
#else
  template <unsigned W>
  TAMIS_INLINE bool all_set(const std::uint32_t* block) const {
    std::uint32_t all = 1;
    for_each<W>([&](unsigned lane, unsigned bit) { all &= block[lane] >> bit; });
    return all & 1;
  }
#endif

 private:
  TAMIS_INLINE std::uint32_t seed(unsigned i) const { return static_cast<std::uint32_t>(seeds_ >> (i == 0 ? 32 : 0)); }

  template <unsigned W>
  TAMIS_INLINE static unsigned lane(std::uint32_t x) {
    if constexpr (W == 512) return (x >> 24 & 7) | (x >> 23 & 1) << 3;
    return x >> 24 & (W / 32 - 1);
  }

#if TAMIS_HAS_AVX2
  template <unsigned W>
  TAMIS_INLINE unsigned missing(const std::uint32_t* block, unsigned which, unsigned count) const {
    const __m256i multipliers = _mm256_load_si256(reinterpret_cast<const __m256i*>(place_multipliers));
    const __m256i x = _mm256_mullo_epi32(_mm256_set1_epi32(static_cast<int>(seed(which))), multipliers);
    const __m256i lanes = _mm256_srli_epi32(x, 24);
    __m256i words;
    if constexpr (W == 32) {
      words = _mm256_set1_epi32(static_cast<int>(*block));
    } else if constexpr (W == 64) {
      words = _mm256_permutevar8x32_epi32(_mm256_set1_epi64x(load<long long>(block)), lanes);
    } else if constexpr (W == 128) {
      words = _mm256_permutevar8x32_epi32(_mm256_broadcastsi128_si256(load<__m128i>(block)), lanes);
    } else {
      words = _mm256_permutevar8x32_epi32(load<__m256i>(block), lanes);
      if constexpr (W == 512) {
        const __m256i upper = _mm256_permutevar8x32_epi32(load<__m256i>(block + 8), lanes);
        const __m256 half = _mm256_castsi256_ps(_mm256_slli_epi32(x, 8));
        words = _mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(words), _mm256_castsi256_ps(upper), half));
      }
    }
    const __m256i bits = _mm256_sllv_epi32(words, _mm256_srli_epi32(x, 27));
    const auto set = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(bits)));
    return ~set & ((1u << count) - 1);
  }

  template <class T>
  TAMIS_INLINE static T load(const std::uint32_t* from) {
    T value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
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
    if (!lanes) return error{"a table of " + std::to_string(blocks) + " words cannot be addressed"};
    TAMIS_TRY(made.lanes_, zeroed_array<std::uint32_t>::make(*lanes));
    made.width_ = width;
    made.blocks_ = blocks;
    return made;
  }

  static constexpr bool is_width(std::uint64_t width) { return std::has_single_bit(width) && width >= 32 && width <= 512; }

  std::uint64_t blocks() const { return blocks_; }
  unsigned width() const { return width_; }
  std::uint64_t bits() const { return lanes_.size() * 32; }

  TAMIS_INLINE std::uint64_t block_of(digest d) const { return reduce(d.high, blocks_); }
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
    switch (width_) {
      case 32: return use(std::integral_constant<unsigned, 32>());
      case 64: return use(std::integral_constant<unsigned, 64>());
      case 128: return use(std::integral_constant<unsigned, 128>());
      case 256: return use(std::integral_constant<unsigned, 256>());
      default: return use(std::integral_constant<unsigned, 512>());
    }
  }

  // Sets every bit that is set in `other`.  Requires: same width and number of blocks.
  void unite(const block_words& other) {
    assert(width_ == other.width_ && blocks_ == other.blocks_);
    for (std::uint64_t i = 0; i < lanes_.size(); ++i) lanes_[i] |= other.lanes_[i];
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

  friend bool operator==(const block_words&, const block_words&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.width_, self.blocks_, self.lanes_);
  }
  status validate() const {
    if (!is_width(width_)) return error{"words of " + std::to_string(width_) + " bits do not exist"};
    const auto lanes = checked_multiply(blocks_, width_ / 32);
    if (blocks_ == 0 || !lanes || *lanes != lanes_.size()) return error{"the number of words does not fit their table"};
    return {};
  }

 private:
  unsigned width_ = 0;
  std::uint64_t blocks_ = 0;
  zeroed_array<std::uint32_t> lanes_;
};

}  // namespace tamis::inline TAMIS_LEVEL
