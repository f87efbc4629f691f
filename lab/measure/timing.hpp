#pragma once

// Time per operation: medians of repeats, with the spread beside them.

#include <cstddef>
#include <ctime>
#include <vector>

#include "tamis/detail/base/compiler.hpp"

namespace tamis::lab {

// Nanoseconds per operation over all repeats.
struct timing {
  double median = 0.0;
  double low = 0.0;   // the fastest repeat
  double high = 0.0;  // the slowest
};

// Requires: not empty. The median of an even number is the mean of the middle two.
timing summarize(std::vector<double> ns);

// Runs `work`, which does `operations` operations, and says how long each took: time of this thread on a processor, so that
// programs that take turns with it do not count.
template <class Work>
double ns_per_operation(std::size_t operations, Work work) {
  const auto now = [] {
    std::timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
  };
  const double start = now();
  work();
  return (now() - start) / static_cast<double>(operations);
}

// The answer is wanted now, one by one: without this the compiler may answer several keys of a loop in one vector and show a
// speed that no caller of single lookups gets. It costs no instruction.
template <class T>
TAMIS_INLINE void use_alone(T value) {
  asm volatile("" : : "r"(value));
}

}  // namespace tamis::lab
