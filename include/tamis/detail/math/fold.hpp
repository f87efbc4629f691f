#pragma once

// Folding: a table of m cells whose places come from multiply-shift (detail/hash/place.hpp) becomes one of m / d cells, for any
// d that divides m. A key of place p among m has place floor(p / d) among m / d, so cells that become one are united, and no
// key is lost.

#include <cstdint>
#include <utility>

#include "tamis/result.hpp"

namespace tamis::detail {

// By how much a table of so many cells can be folded at least: 2 if their number is even; 0 if only by more than `most`.
constexpr std::uint64_t least_fold(std::uint64_t cells, std::uint64_t most = 64) {
  for (std::uint64_t by = 2; by <= most && by < cells; ++by) {
    if (cells % by == 0) return by;
  }
  return 0;
}

// Folds a filter, which has cells() and folded(by), as often as its rate stays within `fpr`; by how much in all.
template <class Filter>
result<std::uint64_t> fold_within(Filter& filter, double fpr) {
  std::uint64_t factor = 1;
  for (std::uint64_t by = least_fold(filter.cells()); by != 0; by = least_fold(filter.cells())) {
    TAMIS_TRY(Filter smaller, filter.folded(by));
    if (smaller.expected_fpr() > fpr) break;
    filter = std::move(smaller);
    factor *= by;
  }
  return factor;
}

}  // namespace tamis::detail
