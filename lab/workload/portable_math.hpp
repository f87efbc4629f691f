#pragma once

// Elementary functions that give the same bits on every machine. The system's log and exp differ in the last place between
// libraries, and compilers for machines with fused multiply-add may round a * b + c once instead of twice; either would let a
// seeded stream differ in a key here and there. Built from IEEE + - * / only, errors of a few units in the last place.

#include <cstdint>

#include "tamis/detail/base/compiler.hpp"
#include "tamis/detail/base/random.hpp"

namespace tamis::lab::portable {

// a * b, rounded by itself: the compiler cannot fuse it into an addition that follows.
TAMIS_INLINE double product(double a, double b) {
  double rounded = a * b;
#if defined(__x86_64__)
  asm("" : "+x"(rounded));
#elif defined(__aarch64__)
  asm("" : "+w"(rounded));
#else
  asm("" : "+m"(rounded));
#endif
  return rounded;
}

double log(double x);                      // Requires: x > 0, finite, not subnormal.
double log1p(double x);                    // log(1 + x), exact for small x. Requires: x > -1, finite.
double exp(double x);                      // 0 or infinity where the result does not fit.
double expm1(double x);                    // exp(x) - 1, exact for small x.
double pow(double base, double exponent);  // Requires: base > 0.

// Uniform in (0, 1), 52 random bits: never 0, so it has a logarithm, and never 1.
inline double open_unit(detail::random_source& random) { return (static_cast<double>(random() >> 12) + 0.5) * 0x1p-52; }

}  // namespace tamis::lab::portable
