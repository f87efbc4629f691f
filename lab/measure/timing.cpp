#include "lab/measure/timing.hpp"

#include <algorithm>
#include <cassert>

namespace tamis::lab {

timing summarize(std::vector<double> ns) {
  assert(!ns.empty());
  std::sort(ns.begin(), ns.end());
  const std::size_t half = ns.size() / 2;
  return {ns.size() % 2 == 1 ? ns[half] : (ns[half - 1] + ns[half]) / 2, ns.front(), ns.back()};
}

}  // namespace tamis::lab
