#pragma once

// The place of a fraction among so many, as reduce() of detail/hash/place.hpp, by the cheapest instruction.

#include <cstdint>

#include "tamis/detail/simd/u64x8.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// GCC takes `mul` for a product and moves what is in its two registers out of the way and back; `mulx` needs one of them.
TAMIS_INLINE std::uint64_t short_reduce(std::uint64_t fraction, std::uint64_t places) {
#if TAMIS_HAS_AVX2
  std::uint64_t place;
  asm("mulx %1, %0, %0" : "=r"(place) : "rm"(fraction), "d"(places));
  return place;
#else
  return multiply_wide(fraction, places).high;
#endif
}

#if TAMIS_HAS_AVX512
TAMIS_INLINE u64x8 short_reduce(u64x8 fractions, std::uint64_t places) { return reduce_eight(fractions, places); }
#endif

}  // namespace tamis::detail::inline TAMIS_LEVEL
