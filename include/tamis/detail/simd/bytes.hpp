#pragma once

// Rows of bytes: 64 are compared in one step, and ranges move by one place. What detail/bits/byte_column.hpp is made of.

#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>

#include "tamis/detail/simd/word_instructions.hpp"

#if TAMIS_HAS_AVX2 || defined(__SSE2__)
#include <immintrin.h>
#endif

namespace tamis::detail::inline TAMIS_LEVEL {

namespace plain {

// Bit i of the answer: is byte i of the 64 at `bytes` equal to `value`?
inline std::uint64_t equal_bytes(const std::uint8_t* bytes, std::uint8_t value) {
  std::uint64_t equal = 0;
  for (unsigned i = 0; i < 8; ++i) {
    std::uint64_t word;
    std::memcpy(&word, bytes + std::size_t{8} * i, sizeof word);
    word ^= value * every_byte;
    // The high bit of every byte that is zero, exactly; the product gathers the eight of them in its top byte.
    const std::uint64_t zero = ~(((word & ~every_high_bit) + ~every_high_bit) | word) & every_high_bit;
    equal |= (((zero >> 7) * 0x0102040810204080u) >> 56) << (8 * i);
  }
  return equal;
}

// Bit i of the answer: the highest bit of byte i of the 64 at `bytes`.
inline std::uint64_t top_bits(const std::uint8_t* bytes) {
  std::uint64_t tops = 0;
  for (unsigned i = 0; i < 8; ++i) {
    std::uint64_t word;
    std::memcpy(&word, bytes + std::size_t{8} * i, sizeof word);
    tops |= (((word & every_high_bit) >> 7) * 0x0102040810204080u) >> 56 << (8 * i);
  }
  return tops;
}

// The same as equal_bytes for the low seven bits of the bytes.
inline std::uint64_t equal_below_top(const std::uint8_t* bytes, std::uint8_t value) {
  return equal_bytes(bytes, value) | equal_bytes(bytes, value | 0x80);
}

template <unsigned Bytes = 64>
std::uint64_t agree_above_last_one(const std::uint8_t* bytes, std::uint8_t asked) {
  std::uint64_t agree = 0;
  for (unsigned i = 0; i < Bytes; ++i) {
    const unsigned ignored = bytes[i] ^ (bytes[i] - 1u);
    agree |= static_cast<std::uint64_t>(((bytes[i] ^ asked) & ~ignored & 0xffu) == 0) << i;
  }
  return agree;
}

}  // namespace plain

TAMIS_INLINE std::uint64_t equal_bytes(const std::uint8_t* bytes, std::uint8_t value) {
#if TAMIS_HAS_AVX512
  return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(bytes), _mm512_set1_epi8(static_cast<char>(value)));
#elif TAMIS_HAS_AVX2
  const __m256i wanted = _mm256_set1_epi8(static_cast<char>(value));
  const auto half = [&](unsigned i) -> std::uint64_t {
    const __m256i here = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes) + i);
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(here, wanted)));
  };
  return half(0) | half(1) << 32;
#elif defined(__SSE2__)
  const __m128i wanted = _mm_set1_epi8(static_cast<char>(value));
  const auto quarter = [&](unsigned i) -> std::uint64_t {
    const __m128i here = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes) + i);
    return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(here, wanted)));
  };
  return quarter(0) | quarter(1) << 16 | quarter(2) << 32 | quarter(3) << 48;
#else
  return plain::equal_bytes(bytes, value);
#endif
}

// Of 65 values in a row, bit i: is value i not greater than the one behind it? Is it equal to that?
struct neighbour_order {
  std::uint64_t ascends;
  std::uint64_t equal;

  friend bool operator==(const neighbour_order&, const neighbour_order&) = default;
};
template <class Word>
TAMIS_INLINE neighbour_order order_of_neighbours(const Word* values) {
#if TAMIS_HAS_AVX2
  if constexpr (sizeof(Word) <= 2) {
    const auto load = [values](unsigned i) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values + i)); };
    neighbour_order all{0, 0};
    for (unsigned i = 0; i < word_bits; i += 32) {
      __m256i ascends;
      __m256i equal;
      if constexpr (sizeof(Word) == 1) {
        ascends = _mm256_cmpeq_epi8(_mm256_min_epu8(load(i), load(i + 1)), load(i));
        equal = _mm256_cmpeq_epi8(load(i), load(i + 1));
      } else {
        const auto ascends_at = [load](unsigned j) {
          return _mm256_cmpeq_epi16(_mm256_min_epu16(load(j), load(j + 1)), load(j));
        };
        const auto equal_at = [load](unsigned j) { return _mm256_cmpeq_epi16(load(j), load(j + 1)); };
        const auto as_bytes = [](__m256i low, __m256i high) {
          return _mm256_permute4x64_epi64(_mm256_packs_epi16(low, high), 0xd8);
        };
        ascends = as_bytes(ascends_at(i), ascends_at(i + 16));
        equal = as_bytes(equal_at(i), equal_at(i + 16));
      }
      all.ascends |= std::uint64_t{static_cast<std::uint32_t>(_mm256_movemask_epi8(ascends))} << i;
      all.equal |= std::uint64_t{static_cast<std::uint32_t>(_mm256_movemask_epi8(equal))} << i;
    }
    return all;
  }
#endif
  neighbour_order all{0, 0};
  for (unsigned i = 0; i < word_bits; ++i) {
    all.ascends |= static_cast<std::uint64_t>(values[i] <= values[i + 1]) << i;
    all.equal |= static_cast<std::uint64_t>(values[i] == values[i + 1]) << i;
  }
  return all;
}

// Of 66 bytes in a row, bit i: is byte i equal to the second one behind it?
TAMIS_INLINE std::uint64_t equal_to_second_next(const std::uint8_t* bytes) {
#if TAMIS_HAS_AVX512
  return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(bytes), _mm512_loadu_si512(bytes + 2));
#elif TAMIS_HAS_AVX2
  const auto half = [&](unsigned i) -> std::uint64_t {
    const __m256i here = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + i));
    const __m256i next = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + i + 2));
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(here, next)));
  };
  return half(0) | half(32) << 32;
#else
  std::uint64_t equal = 0;
  for (unsigned i = 0; i < word_bits; ++i) equal |= static_cast<std::uint64_t>(bytes[i] == bytes[i + 2]) << i;
  return equal;
#endif
}

// Bit i: is byte i, without its highest bit, equal to `value`?  Requires: value < 128.
TAMIS_INLINE std::uint64_t equal_below_top(const std::uint8_t* bytes, std::uint8_t value) {
#if TAMIS_HAS_AVX512
  const __m512i differ = _mm512_xor_si512(_mm512_loadu_si512(bytes), _mm512_set1_epi8(static_cast<char>(value)));
  return _mm512_testn_epi8_mask(differ, _mm512_set1_epi8(0x7f));
#elif TAMIS_HAS_AVX2
  const __m256i wanted = _mm256_set1_epi8(static_cast<char>(value));
  const auto half = [&](unsigned i) -> std::uint64_t {
    const __m256i here = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes) + i);
    const __m256i low = _mm256_and_si256(here, _mm256_set1_epi8(0x7f));
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted)));
  };
  return half(0) | half(1) << 32;
#elif defined(__SSE2__)
  const __m128i wanted = _mm_set1_epi8(static_cast<char>(value));
  const auto quarter = [&](unsigned i) -> std::uint64_t {
    const __m128i here = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes) + i);
    const __m128i low = _mm_and_si128(here, _mm_set1_epi8(0x7f));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(low, wanted)));
  };
  return quarter(0) | quarter(1) << 16 | quarter(2) << 32 | quarter(3) << 48;
#else
  return plain::equal_below_top(bytes, value);
#endif
}

// The highest bits of 64 bytes.
TAMIS_INLINE std::uint64_t top_bits(const std::uint8_t* bytes) {
#if TAMIS_HAS_AVX512
  return _mm512_movepi8_mask(_mm512_loadu_si512(bytes));
#elif TAMIS_HAS_AVX2
  const auto half = [&](unsigned i) -> std::uint64_t {
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes) + i)));
  };
  return half(0) | half(1) << 32;
#elif defined(__SSE2__)
  const auto quarter = [&](unsigned i) -> std::uint64_t {
    return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes) + i)));
  };
  return quarter(0) | quarter(1) << 16 | quarter(2) << 32 | quarter(3) << 48;
#else
  return plain::top_bits(bytes);
#endif
}

// Bit i: bit k of byte i.  Requires: k <= 7.
TAMIS_INLINE std::uint64_t bit_of_bytes(const std::uint8_t* bytes, unsigned k) {
#if TAMIS_HAS_AVX512
  return _mm512_test_epi8_mask(_mm512_loadu_si512(bytes), _mm512_set1_epi8(static_cast<char>(1u << k)));
#elif TAMIS_HAS_AVX2
  const __m128i to_the_top = _mm_cvtsi32_si128(static_cast<int>(7 - k));
  const auto half = [&](unsigned i) -> std::uint64_t {
    const __m256i here = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes) + i);
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_sll_epi16(here, to_the_top)));
  };
  return half(0) | half(1) << 32;
#else
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < word_bits; ++i) bits |= static_cast<std::uint64_t>(bytes[i] >> k & 1) << i;
  return bits;
#endif
}

// equal_bytes for sixteen bytes.
TAMIS_INLINE std::uint64_t equal_sixteen_bytes(const std::uint8_t* bytes, std::uint8_t value) {
#if defined(__SSE2__)
  const __m128i here = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(here, _mm_set1_epi8(static_cast<char>(value)))));
#else
  std::uint64_t equal = 0;
  for (unsigned i = 0; i < 16; ++i) equal |= static_cast<std::uint64_t>(bytes[i] == value) << i;
  return equal;
#endif
}

// Eight bytes against eight values: not 0 if a byte i with bit i of `among` is equal to one of them; bit i or 8 + i or 16 + i
// or 24 + i of the answer then says which byte.  Requires: among < 2^8.
TAMIS_INLINE std::uint32_t equal_any(const std::uint8_t* bytes, std::uint64_t values, std::uint32_t among) {
  assert(among < 256);
#if TAMIS_HAS_AVX2
  long long eight;
  std::memcpy(&eight, bytes, sizeof eight);
  const __m256i here = _mm256_set1_epi64x(eight);
  const __m256i all = _mm256_set1_epi64x(static_cast<long long>(values));
  const auto four = [&](char first) {
    const auto eight_of = [first](int i) { return 0x0101010101010101 * (first + i); };
    const __m256i which = _mm256_setr_epi64x(eight_of(0), eight_of(1), eight_of(2), eight_of(3));
    return _mm256_cmpeq_epi8(here, _mm256_shuffle_epi8(all, which));
  };
  const auto equal = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_or_si256(four(0), four(4))));
  return equal & among * 0x01010101u;
#else
  std::uint32_t equal = 0;
  for (; among != 0; among &= among - 1) {
    const std::uint64_t differ = values ^ bytes[std::countr_zero(among)] * plain::every_byte;
    const bool any = ((differ - plain::every_byte) & ~differ & plain::every_high_bit) != 0;
    equal |= any ? lowest_bit(among) : 0;
  }
  return equal;
#endif
}

// Eight bytes against eight values, each byte i against byte which[i] of `values`, where `which` has a number below eight in
// every byte: bit i of the answer says whether they are equal.
TAMIS_INLINE std::uint32_t equal_chosen(const std::uint8_t* bytes, std::uint64_t values, std::uint64_t which) {
#if TAMIS_HAS_AVX2
  const __m128i here = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes));
  const __m128i wanted =
      _mm_shuffle_epi8(_mm_cvtsi64_si128(static_cast<long long>(values)), _mm_cvtsi64_si128(static_cast<long long>(which)));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(here, wanted))) & 0xff;
#else
  std::uint32_t equal = 0;
  for (unsigned i = 0; i < 8; ++i) {
    const auto value = static_cast<std::uint8_t>(values >> (which >> (8 * i) & 7) * 8);
    equal |= static_cast<std::uint32_t>(bytes[i] == value) << i;
  }
  return equal;
#endif
}

// Bit i of the answer: do byte i of the sixteen at `bytes` and `asked` agree above the byte's lowest one? A byte of zeros
// always does.
TAMIS_INLINE std::uint64_t sixteen_agree_above_last_one(const std::uint8_t* bytes, std::uint8_t asked) {
#if defined(__SSE2__)
  const __m128i here = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  const __m128i ignored = _mm_xor_si128(here, _mm_add_epi8(here, _mm_set1_epi8(-1)));
  // Nowhere but in `ignored`, whose ones are its last bits: at most that.
  const __m128i differ = _mm_xor_si128(here, _mm_set1_epi8(static_cast<char>(asked)));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(differ, ignored), ignored)));
#else
  return plain::agree_above_last_one<16>(bytes, asked);
#endif
}

// The same for 64 bytes.
TAMIS_INLINE std::uint64_t agree_above_last_one(const std::uint8_t* bytes, std::uint8_t asked) {
#if TAMIS_HAS_AVX512
  const __m512i here = _mm512_loadu_si512(bytes);
  const __m512i below = _mm512_add_epi8(here, _mm512_set1_epi8(-1));
  const __m512i counts =
      _mm512_ternarylogic_epi64(here, below, below, 0xc3);  // neither is changed by taking one away: ~(here ^ below)
  return _mm512_testn_epi8_mask(_mm512_xor_si512(here, _mm512_set1_epi8(static_cast<char>(asked))), counts);
#elif TAMIS_HAS_AVX2
  const __m256i wanted = _mm256_set1_epi8(static_cast<char>(asked));
  const auto half = [&](unsigned i) -> std::uint64_t {
    const __m256i here = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes) + i);
    const __m256i ignored = _mm256_xor_si256(here, _mm256_add_epi8(here, _mm256_set1_epi8(-1)));
    const __m256i differ = _mm256_xor_si256(here, wanted);
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(differ, ignored), ignored)));
  };
  return half(0) | half(1) << 32;
#else
  std::uint64_t agree = 0;
  for (unsigned i = 0; i < 64; i += 16) agree |= sixteen_agree_above_last_one(bytes + i, asked) << i;
  return agree;
#endif
}

#if TAMIS_HAS_AVX512
// 0, 1, … 63.
TAMIS_INLINE __m512i byte_numbers() {
  const auto eight_from = [](long long first) { return 0x0706050403020100 + 0x0808080808080808 * first; };
  return _mm512_setr_epi64(eight_from(0), eight_from(1), eight_from(2), eight_from(3), eight_from(4), eight_from(5),
                           eight_from(6), eight_from(7));
}
#endif

// Bytes [from, from + size) go up by one place.  Requires: 33 bytes may be read and written from `from` on.
TAMIS_INLINE void move_bytes_up(std::uint8_t* from, std::uint64_t size) {
#if TAMIS_HAS_AVX2
  const auto load = [](const std::uint8_t* at) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)); };
  const auto store = [](std::uint8_t* at, __m256i value) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), value); };
  const __m256i bottom = load(from);  // before anything is stored: a load across a fresh store would wait for it
  if (size >= 32) {
    for (; size > 32; size -= 32) store(from + size - 31, load(from + size - 32));
    store(from + 1, bottom);
  } else {
    alignas(32) static constexpr std::uint8_t lanes[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                                           16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    const __m256i moves = _mm256_cmpgt_epi8(_mm256_set1_epi8(static_cast<char>(size)), load(lanes));
    store(from + 1, _mm256_blendv_epi8(load(from + 1), bottom, moves));
  }
#else
  std::memmove(from + 1, from, size);
#endif
}

// Bytes [from, from + size) go down by one place.  Requires: 32 bytes may be read and written from `from` on.
TAMIS_INLINE void move_bytes_down(std::uint8_t* from, std::uint64_t size) {
#if TAMIS_HAS_AVX2
  const auto load = [](const std::uint8_t* at) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)); };
  const auto store = [](std::uint8_t* at, __m256i value) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), value); };
  if (size >= 32) {
    const __m256i top = load(from + size - 32);
    std::uint8_t* const last = from + size - 33;
    for (; size > 32; size -= 32, from += 32) store(from - 1, load(from));
    store(last, top);
  } else {
    alignas(32) static constexpr std::uint8_t lanes[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                                           16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    const __m256i moves = _mm256_cmpgt_epi8(_mm256_set1_epi8(static_cast<char>(size)), load(lanes));
    store(from - 1, _mm256_blendv_epi8(load(from - 1), load(from), moves));
  }
#else
  std::memmove(from - 1, from, size);
#endif
}

// Of 64 bytes, those in [at, last) go up by one place, over what byte `last` was, and byte `at` becomes `value`.
// Requires: at <= last < 64; aligned to 64, and 33 bytes behind them may be read and written.
TAMIS_INLINE void insert_byte(std::uint8_t* bytes, unsigned at, unsigned last, std::uint8_t value) {
#if TAMIS_HAS_AVX512
  // One permutation: nothing but these 64 bytes, which are one cache line, is touched. (Masked: GCC 12 warns of the other
  // form.)
  const __m512i from =
      _mm512_mask_sub_epi8(byte_numbers(), bmi2::low_mask(last + 1) & ~bmi2::low_mask(at), byte_numbers(), _mm512_set1_epi8(1));
  const __m512i moved = _mm512_maskz_permutexvar_epi8(~std::uint64_t{0}, from, _mm512_load_si512(bytes));
  _mm512_store_si512(bytes, _mm512_mask_set1_epi8(moved, std::uint64_t{1} << at, static_cast<char>(value)));
#else
  move_bytes_up(bytes + at, last - at);
  bytes[at] = value;
#endif
}
// Of 64 bytes, those in (at, end) go down by one place, over what byte `at` was, and byte end - 1 becomes 0.
// Requires: at < end <= 64; as above.
TAMIS_INLINE void remove_byte(std::uint8_t* bytes, unsigned at, unsigned end) {
#if TAMIS_HAS_AVX512
  const __m512i from =
      _mm512_mask_add_epi8(byte_numbers(), bmi2::low_mask(end) & ~bmi2::low_mask(at), byte_numbers(), _mm512_set1_epi8(1));
  const std::uint64_t all_but_last = ~(std::uint64_t{1} << (end - 1));
  _mm512_store_si512(bytes, _mm512_maskz_permutexvar_epi8(all_but_last, from, _mm512_load_si512(bytes)));
#else
  move_bytes_down(bytes + at + 1, end - at - 1);
  bytes[end - 1] = 0;
#endif
}

// Of 64 bytes and the one behind them, those in (at, 64] go down by one place, over what byte `at` was; the one behind stays.
// Requires: at < 64; aligned to 64.
TAMIS_INLINE void pull_bytes(std::uint8_t* bytes, unsigned at) {
#if TAMIS_HAS_AVX512
  // The line behind is read along, instead of a permutation and a byte of its own.
  const __m512i moved = _mm512_loadu_si512(bytes + 1);
  _mm512_store_si512(bytes, _mm512_mask_mov_epi8(moved, bmi2::low_mask(at), _mm512_load_si512(bytes)));
#else
  move_bytes_down(bytes + at + 1, 64 - at);
#endif
}

// Of 64 words of two bytes, bit i: is word i under `mask` equal to `value`?  Requires: aligned to 16 bytes.
inline constexpr bool has_equal_under_mask = TAMIS_HAS_AVX2 != 0;
TAMIS_INLINE std::uint64_t equal_under_mask(const std::uint16_t* words, std::uint16_t mask, std::uint16_t value) {
  std::uint64_t equal = 0;
#if TAMIS_HAS_AVX2
  const __m128i masks = _mm_set1_epi16(static_cast<short>(mask));
  const __m128i wanted = _mm_set1_epi16(static_cast<short>(value));
  const auto eight = [&](unsigned i) {
    const __m128i here = _mm_load_si128(reinterpret_cast<const __m128i*>(words + i));
    return _mm_cmpeq_epi16(_mm_and_si128(here, masks), wanted);
  };
  for (unsigned i = 0; i < word_bits; i += 16) {
    const __m128i both = _mm_packs_epi16(eight(i), eight(i + 8));
    equal |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(both))) << i;
  }
#else
  for (unsigned i = 0; i < word_bits; ++i) equal |= static_cast<std::uint64_t>((words[i] & mask) == value) << i;
#endif
  return equal;
}

// Of 64 bytes those at the ones of `used`, gathered at `to`; what is written behind them does not matter.
// Requires: 127 bytes may be read, and 63 behind the gathered ones written.
inline void pack_bytes(std::uint8_t* to, const std::uint8_t* from, std::uint64_t used) {
#if TAMIS_HAS_AVX512
  alignas(64) std::uint8_t numbers[word_bits + 8];  // without VBMI2: eight bytes at a time
  unsigned count = 0;
  for (unsigned i = 0; i < word_bits; i += 8) {
    const std::uint64_t eight = used >> i & 0xff;
    const std::uint64_t mask = _pdep_u64(eight, 0x0101010101010101u) * 0xff;
    const std::uint64_t chosen = _pext_u64(0x0706050403020100u + 0x0101010101010101u * i, mask);
    std::memcpy(numbers + count, &chosen, sizeof chosen);
    count += static_cast<unsigned>(_mm_popcnt_u64(eight));
  }
  const __m512i packed = _mm512_maskz_permutexvar_epi8(~std::uint64_t{0}, _mm512_load_si512(numbers), _mm512_loadu_si512(from));
  _mm512_storeu_si512(to, packed);
#else
  // Stretches of bytes that stay together, 64 bytes each: what is too much is overwritten, or stands behind.
  for (unsigned at = 0; at < word_bits && used >> at != 0;) {
    at += static_cast<unsigned>(std::countr_zero(used >> at));
    const auto size = static_cast<unsigned>(std::countr_one(used >> at));
    std::memcpy(to, from + at, word_bits);
    to += size;
    at += size;
  }
#endif
}

}  // namespace tamis::detail::inline TAMIS_LEVEL
