#pragma once

// The well-known contender: a split-block Bloom filter as in Parquet, Impala and RocksDB's ancestors. Blocks of 256 bits, one
// bit in each of their eight 32-bit lanes. Straightforward, no batches; only here to be compared with.

#include <cstdint>

#include "tamis/detail/base/zeroed_array.hpp"
#include "tamis/detail/hash/place.hpp"

#if TAMIS_HAS_AVX2
#include <immintrin.h>
#endif

namespace tamis::benchmarks {

class split_block {
 public:
  split_block(std::uint64_t capacity, double bits_per_key)
      : blocks_(static_cast<std::uint64_t>(static_cast<double>(capacity) * bits_per_key / 256) + 1),
        lanes_(detail::zeroed_array<std::uint32_t>::make(blocks_ * 8).value()) {}

  std::uint64_t bits() const { return blocks_ * 256; }

#if TAMIS_HAS_AVX2
  TAMIS_INLINE void insert(digest d) {
    auto* block = reinterpret_cast<__m256i*>(lanes_.data() + detail::reduce(d.high, blocks_) * 8);
    _mm256_store_si256(block, _mm256_or_si256(_mm256_load_si256(block), mask(d)));
  }
  TAMIS_INLINE bool may_contain(digest d) const {
    const auto* block = reinterpret_cast<const __m256i*>(lanes_.data() + detail::reduce(d.high, blocks_) * 8);
    return _mm256_testc_si256(_mm256_load_si256(block), mask(d)) != 0;
  }
#else
  TAMIS_INLINE void insert(digest d) {
    std::uint32_t* block = lanes_.data() + detail::reduce(d.high, blocks_) * 8;
    for (unsigned i = 0; i < 8; ++i) block[i] |= bit(d, i);
  }
  TAMIS_INLINE bool may_contain(digest d) const {
    const std::uint32_t* block = lanes_.data() + detail::reduce(d.high, blocks_) * 8;
    std::uint32_t missing = 0;
    for (unsigned i = 0; i < 8; ++i) missing |= bit(d, i) & ~block[i];
    return missing == 0;
  }
#endif

 private:
  alignas(32) static constexpr std::uint32_t salts[8] = {0x47b6137bu, 0x44974d91u, 0x8824ad5bu, 0xa2b7289du,
                                                         0x705495c7u, 0x2df1424bu, 0x9efc4947u, 0x5c6bfb31u};
#if TAMIS_HAS_AVX2
  TAMIS_INLINE static __m256i mask(digest d) {
    const __m256i product = _mm256_mullo_epi32(_mm256_set1_epi32(static_cast<int>(d.low)),
                                               _mm256_load_si256(reinterpret_cast<const __m256i*>(salts)));
    return _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32(product, 27));
  }
#else
  TAMIS_INLINE static std::uint32_t bit(digest d, unsigned i) {
    return std::uint32_t{1} << (static_cast<std::uint32_t>(d.low) * salts[i] >> 27);
  }
#endif

  std::uint64_t blocks_;
  detail::zeroed_array<std::uint32_t> lanes_;
};

}  // namespace tamis::benchmarks
