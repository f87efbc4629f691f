#pragma once

// How the words of a table are read and changed: as one thread's own, or as memory that other threads read and change at the
// same moment. Tables take one of the two as a template parameter, so that the code between is written once.
//
// Relaxed atomics are enough for tables whose words answer for themselves (bits that are only ever set, counters): what
// happened before a lookup, by whatever the threads use to tell each other, is seen by it, word by word.

#include "tamis/detail/base/compiler.hpp"

namespace tamis::detail {

struct plain_access {
  static constexpr bool is_atomic = false;

  template <class T>
  TAMIS_INLINE static T load(const T& from) {
    return from;
  }
  template <class T>
  TAMIS_INLINE static void add_bits(T& to, T bits) {
    to |= bits;
  }
  // `next` of what stands there takes its place.
  template <class T, class Next>
  TAMIS_INLINE static void update(T& to, Next next) {
    to = next(to);
  }
};

// By the compilers' own functions: libc++ 14 has no std::atomic_ref.
struct atomic_access {
  static constexpr bool is_atomic = true;

  template <class T>
  TAMIS_INLINE static T load(const T& from) {
    return __atomic_load_n(&from, __ATOMIC_RELAXED);
  }
  // Writes nothing if the bits are there: then the line stays where it is.
  template <class T>
  TAMIS_INLINE static void add_bits(T& to, T bits) {
    if ((load(to) & bits) != bits) __atomic_fetch_or(&to, bits, __ATOMIC_RELAXED);
  }
  template <class T, class Next>
  TAMIS_INLINE static void update(T& to, Next next) {
    T now = load(to);
    while (!__atomic_compare_exchange_n(&to, &now, next(now), true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
  }
};

}  // namespace tamis::detail
