#pragma once

// Time per operation: medians of repeats, with the spread beside them.

#include <chrono>
#include <cstddef>
#include <vector>

#include "tamis/base/compiler.hpp"

namespace tamis::lab {

// Nanoseconds per operation over all repeats.
struct timing {
  double median = 0.0;
  double low = 0.0;   // the fastest repeat
  double high = 0.0;  // the slowest
};

// Requires: not empty. The median of an even number is the mean of the middle two.
timing summarize(std::vector<double> ns);

// Runs `work`, which does `operations` operations, and says how long each took.
template <class Work>
double ns_per_operation(std::size_t operations, Work work) {
  using clock = std::chrono::steady_clock;
  const auto start = clock::now();
  work();
  const std::chrono::duration<double, std::nano> taken = clock::now() - start;
  return taken.count() / static_cast<double>(operations);
}

// The answer is wanted now, one by one: without this the compiler may answer several keys of a loop in one vector and show a
// speed that no caller of single lookups gets. It costs no instruction.
template <class T>
TAMIS_INLINE void use_alone(T value) {
  asm volatile("" : : "r"(value));
}

}  // namespace tamis::lab
