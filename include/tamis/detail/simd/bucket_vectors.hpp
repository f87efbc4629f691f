#pragma once

// Both buckets of a key, of four slots each, in one vector: compared at once. An answer is a mask of eight bits: bits 0 to 3
// are the slots of the first bucket, bits 4 to 7 those of the second. `marks` is the same as `equal`, but with marks_per_slot
// bits for each slot where that is cheaper.
//
//   f = 12:   both buckets in one register    | s0 s1 s2 s3 ... | s0 s1 s2 s3 ... |
//             spread to lanes of 16 bits      | s0 | s1 | s2 | s3 | s0 | s1 | s2 | s3 |       one comparison
//
// Other widths up to 25 bits are spread to lanes of 32 bits, by constants that depend on the width and on whether the bucket
// begins in the middle of a byte. Without AVX2 there are no such vectors: detail/cuckoo/bucket_pair.hpp has words then.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tamis/detail/base/compiler.hpp"

#if TAMIS_HAS_AVX2
#include <immintrin.h>
#endif

namespace tamis::detail::inline TAMIS_LEVEL {

inline constexpr bool has_bucket_vectors = TAMIS_HAS_AVX2 != 0;
inline constexpr unsigned most_spread_bits = 25;  // up to here a slot and the bits before it in its first byte fit 32 bits

template <unsigned Width>
class bucket_vector;
template <unsigned WordBytes>
class wide_bucket_vector;

#if TAMIS_HAS_AVX2

inline constexpr unsigned slots_together = 4;

template <class T>
TAMIS_INLINE T load_as(const void* from) {
  T loaded;
  std::memcpy(&loaded, from, sizeof loaded);
  return loaded;
}

// Not _mm_loadh_pd: GCC takes it for a write, and would read a filter's fields again after every lookup of a loop. Nor two
// words joined: that instruction counts twice.
TAMIS_INLINE __m128i load_two_words(const void* low, const void* high) {
  struct [[gnu::packed, gnu::may_alias]] word {
    std::uint64_t value;
  };
  __m128i both = _mm_cvtsi64_si128(load_as<long long>(low));
  asm("vmovhps %1, %0, %0" : "+x"(both) : "m"(*static_cast<const word*>(high)));
  return both;
}

// Lanes of 8 or 16 bits.
template <unsigned Width>
class bucket_vector {
  static_assert(Width == 8 || Width == 12 || Width == 16);

 public:
  // Of two buckets that begin there.
  TAMIS_INLINE bucket_vector(const std::byte* first, const std::byte* second) : slots_(spread(first, second)) {}

  // Requires: the fingerprint is not 0 (the lanes above eight slots of 8 bits are).
#if TAMIS_HAS_AVX512
  TAMIS_INLINE bool any_equal(std::uint64_t fingerprint) const { return compare(fingerprint) != 0; }
  TAMIS_INLINE unsigned equal(std::uint64_t fingerprint) const { return compare(fingerprint); }
  static constexpr unsigned marks_per_slot = 1;
  TAMIS_INLINE unsigned marks(std::uint64_t fingerprint) const { return compare(fingerprint); }
  TAMIS_INLINE unsigned empty() const {
    if constexpr (Width == 8) return _mm_testn_epi8_mask(slots_, slots_) & 0xffu;
    return _mm_testn_epi16_mask(slots_, slots_);
  }
#else
  TAMIS_INLINE bool any_equal(std::uint64_t fingerprint) const {
    const __m128i same = compare(everywhere(fingerprint));
    return _mm_testz_si128(same, same) == 0;
  }
  TAMIS_INLINE unsigned equal(std::uint64_t fingerprint) const { return mask(compare(everywhere(fingerprint))); }
  static constexpr unsigned marks_per_slot = Width == 8 ? 1 : 2;
  TAMIS_INLINE unsigned marks(std::uint64_t fingerprint) const {
    return static_cast<unsigned>(_mm_movemask_epi8(compare(everywhere(fingerprint))));
  }
  TAMIS_INLINE unsigned empty() const { return mask(compare(_mm_setzero_si128())); }
#endif

 private:
  TAMIS_INLINE static __m128i spread(const std::byte* first, const std::byte* second) {
    if constexpr (Width == 8) {
      return _mm_insert_epi32(_mm_cvtsi32_si128(load_as<int>(first)), load_as<int>(second), 1);
    } else {
      const __m128i both = load_two_words(first, second);
      if constexpr (Width == 16) return both;
#if TAMIS_HAS_AVX512
      // Each lane gets the lower and the upper eight bits of its slot; the four in the middle are in both.
      return pick_bytes(both, 0x2824'1c18'100c'0400);  // from bits 0 and 4, 12 and 16, 24 and 28, 36 and 40
#else
      // Each lane gets the two bytes that its slot is in; even slots begin at bit 0 of them, odd ones at bit 4, and stay there.
      const __m128i bytes = _mm_shuffle_epi8(both, _mm_setr_epi8(0, 1, 1, 2, 3, 4, 4, 5, 8, 9, 9, 10, 11, 12, 12, 13));
      return _mm_and_si128(bytes, _mm_set1_epi32(static_cast<int>(0xfff0'0fffu)));
#endif
    }
  }
#if TAMIS_HAS_AVX512
  // Byte i of either half: eight bits from the bit that byte i of `begins` says.
  TAMIS_INLINE static __m128i pick_bytes(__m128i from, long long begins) {
    return _mm_maskz_multishift_epi64_epi8(0xffff, _mm_set1_epi64x(begins), from);  // masked: GCC 12 warns of the other
  }
  TAMIS_INLINE unsigned compare(std::uint64_t fingerprint) const {
    if constexpr (Width == 8) return _mm_cmpeq_epi8_mask(slots_, _mm_set1_epi8(static_cast<char>(fingerprint))) & 0xffu;
    if constexpr (Width == 16) return _mm_cmpeq_epi16_mask(slots_, _mm_set1_epi16(static_cast<short>(fingerprint)));
    const __m128i wanted = pick_bytes(_mm_set1_epi64x(static_cast<long long>(fingerprint)), 0x0400'0400'0400'0400);
    return _mm_cmpeq_epi16_mask(slots_, wanted);
  }
#else
  TAMIS_INLINE static __m128i everywhere(std::uint64_t fingerprint) {
    if constexpr (Width == 12) return _mm_set1_epi32(static_cast<int>(fingerprint << 20 | fingerprint));
    const __m128i low = _mm_cvtsi32_si128(static_cast<int>(fingerprint));
    return Width == 8 ? _mm_broadcastb_epi8(low) : _mm_broadcastw_epi16(low);
  }
  TAMIS_INLINE __m128i compare(__m128i with) const {
    return Width == 8 ? _mm_cmpeq_epi8(slots_, with) : _mm_cmpeq_epi16(slots_, with);
  }
  TAMIS_INLINE static unsigned mask(__m128i lanes) {
    const __m128i bytes = Width == 8 ? lanes : _mm_packs_epi16(lanes, _mm_setzero_si128());
    return static_cast<unsigned>(_mm_movemask_epi8(bytes)) & 0xff;
  }
#endif

  __m128i slots_;
};

// How the slots of a bucket get into four lanes of 32 bits, if the bucket begins at bit 0 or 4 of a byte.
struct spread_constants {
  alignas(32) std::array<std::array<std::uint8_t, 16>, 2> bytes;
  std::array<std::array<std::uint32_t, 4>, 2> shifts;
};
inline constexpr auto spread_of_width = [] {
  std::array<spread_constants, most_spread_bits + 1> all{};
  for (unsigned width = 0; width <= most_spread_bits; ++width) {
    for (unsigned half = 0; half < 2; ++half) {
      for (unsigned slot = 0; slot < slots_together; ++slot) {
        const unsigned bit = 4 * half + slot * width;
        // Bytes beyond the bucket's are never looked at: for these, any byte will do.
        for (unsigned i = 0; i < 4; ++i) all[width].bytes[half][4 * slot + i] = static_cast<std::uint8_t>((bit / 8 + i) & 15);
        all[width].shifts[half][slot] = bit % 8;
      }
    }
  }
  return all;
}();

// Lanes of 32 bits, any width up to 25.
template <unsigned WordBytes>
class wide_bucket_vector {
 public:
  // Of two buckets that begin in the byte there, at bit 4 of it if `one` or `two` is 1, at bit 0 if it is 0.
  TAMIS_INLINE wide_bucket_vector(unsigned width, const std::byte* first, std::uint64_t one, const std::byte* second,
                                  std::uint64_t two) {
    const spread_constants& how = spread_of_width[width];
    const auto join = [](__m128i low, __m128i high) { return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1); };
    const auto constant = [&join](const auto& row_one, const auto& row_two) {
      return join(load_as<__m128i>(row_one.data()), load_as<__m128i>(row_two.data()));
    };
    const __m256i both = join(load(first), load(second));
    const __m256i bytes = _mm256_shuffle_epi8(both, constant(how.bytes[one], how.bytes[two]));
    slots_ = _mm256_and_si256(_mm256_srlv_epi32(bytes, constant(how.shifts[one], how.shifts[two])),
                              _mm256_set1_epi32(static_cast<int>((std::uint64_t{1} << width) - 1)));
  }

  TAMIS_INLINE bool any_equal(std::uint64_t fingerprint) const { return equal(fingerprint) != 0; }
  TAMIS_INLINE unsigned equal(std::uint64_t fingerprint) const {
    const __m256i same = _mm256_cmpeq_epi32(slots_, _mm256_set1_epi32(static_cast<int>(fingerprint)));
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(same)));
  }
  static constexpr unsigned marks_per_slot = 1;
  TAMIS_INLINE unsigned marks(std::uint64_t fingerprint) const { return equal(fingerprint); }
  TAMIS_INLINE unsigned empty() const { return equal(0); }

 private:
  TAMIS_INLINE static __m128i load(const std::byte* from) {
    if constexpr (WordBytes == 8) return _mm_cvtsi64_si128(load_as<long long>(from));
    return load_as<__m128i>(from);
  }

  __m256i slots_;
};

#endif

}  // namespace tamis::detail::inline TAMIS_LEVEL
