#pragma once

// Compiler glue: inlining, prefetching, 128-bit products, and the CPU level that this translation unit is compiled for.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#if defined(__GNUC__) || defined(__clang__)
#define TAMIS_INLINE inline __attribute__((always_inline))
#define TAMIS_INLINE_LAMBDA __attribute__((always_inline))  // stands behind its parameters
#define TAMIS_NOINLINE __attribute__((noinline))
#define TAMIS_COLD __attribute__((cold, noinline))
#else
#error "tamis needs GCC or Clang: it multiplies 64 x 64 into 128 bits and uses their built-ins"
#endif

// Code whose instructions depend on the CPU level lives in `namespace tamis::inline TAMIS_LEVEL`. Two translation units built
// with different flags then never share a function by accident: the linker cannot hand AVX2 code to a caller that has no AVX2.
#if defined(__AVX2__) && defined(__BMI2__)
#define TAMIS_HAS_AVX2 1
#else
#define TAMIS_HAS_AVX2 0
#endif
// What Ice Lake and Zen 4 brought, and all that such processors have had since.
#if TAMIS_HAS_AVX2 && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && defined(__AVX512VBMI__) && \
    defined(__AVX512BITALG__)
#define TAMIS_HAS_AVX512 1
#define TAMIS_LEVEL avx512
#elif TAMIS_HAS_AVX2
#define TAMIS_HAS_AVX512 0
#define TAMIS_LEVEL avx2
#else
#define TAMIS_HAS_AVX512 0
#define TAMIS_LEVEL portable
#endif

namespace tamis::detail {

__extension__ using uint128 = unsigned __int128;

inline constexpr unsigned cache_line_bytes = 64;

struct wide_product {
  std::uint64_t high;
  std::uint64_t low;
};

TAMIS_INLINE constexpr wide_product multiply_wide(std::uint64_t a, std::uint64_t b) {
  const uint128 product = static_cast<uint128>(a) * b;
  return {static_cast<std::uint64_t>(product >> 64), static_cast<std::uint64_t>(product)};
}

TAMIS_INLINE void prefetch_read(const void* address) { __builtin_prefetch(address, 0, 3); }
// All lines of `bytes` bytes, `offset` behind `address`. Nothing needs to be there: an address that is not in memory is not
// asked for.
TAMIS_INLINE void prefetch_read(const void* address, std::size_t offset, std::size_t bytes) {
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(address) + offset;
  for (std::size_t i = 0; i < bytes; i += cache_line_bytes) prefetch_read(reinterpret_cast<const void*>(first + i));
}
TAMIS_INLINE void prefetch_write(const void* address) { __builtin_prefetch(address, 1, 3); }

// The value, in a general register. GCC likes to move two neighbouring words as one vector; if they were stored one by one just
// before, as a struct that is passed by value is, the processor then waits for both stores (20 ns a lookup in some filters).
TAMIS_INLINE constexpr std::uint64_t in_register(std::uint64_t value) {
  if (!std::is_constant_evaluated()) asm("" : "+r"(value));
  return value;
}

// Tells the optimiser that `value` is used and may have changed: keeps measured work alive.
template <class T>
TAMIS_INLINE void keep_alive(T& value) {
  asm volatile("" : "+m"(value) : : "memory");
}

}  // namespace tamis::detail
