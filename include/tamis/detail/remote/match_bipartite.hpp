#pragma once

// Who stands behind which slot? A filter's entries and the digests that the remote holds are paired so that each digest gets an
// entry of its own that accepts it. True owners are one such pairing, so one always exists if filter and remote agree; any
// other is as good: what the filter must keep is only that some pairing exists.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace tamis::detail {

// answer[i] is the partner of left i among `right`, all different; fits(i, j) says who may go together. None if there is no
// such pairing, or if it takes more than `most` steps to find; `steps` counts on. (H. W. Kuhn's augmenting paths, breadth
// first: usually a few steps each, but left · left · right of them at worst.)
template <class Fits>
std::optional<std::vector<std::size_t>> match_bipartite(std::size_t left, std::size_t right, Fits fits, std::uint64_t most,
                                                        std::uint64_t& steps) {
  constexpr auto none = ~std::size_t{0};
  if (left > right) return std::nullopt;
  std::vector<std::size_t> partner(left, none);
  std::vector<std::size_t> taken_by(right, none);
  std::vector<std::size_t> reached_from(right);
  std::vector<std::size_t> queue;
  for (std::size_t start = 0; start < left; ++start) {
    std::vector<bool> seen(right, false);
    queue.assign(1, start);
    std::size_t end = none;
    for (std::size_t head = 0; head < queue.size() && end == none; ++head) {
      const std::size_t i = queue[head];
      // Starting at i itself makes equal neighbours find their partner at once.
      for (std::size_t step = 0; step < right; ++step) {
        if (++steps > most) return std::nullopt;
        const std::size_t j = (i + step) % right;
        if (seen[j] || !fits(i, j)) continue;
        seen[j] = true;
        reached_from[j] = i;
        if (taken_by[j] == none) {
          end = j;
          break;
        }
        queue.push_back(taken_by[j]);
      }
    }
    if (end == none) return std::nullopt;
    while (end != none) {  // everybody on the path moves on to the partner that was found for them
      const std::size_t i = reached_from[end];
      taken_by[end] = i;
      std::swap(partner[i], end);
    }
  }
  return partner;
}
template <class Fits>
std::optional<std::vector<std::size_t>> match_bipartite(std::size_t left, std::size_t right, Fits fits) {
  std::uint64_t steps = 0;
  return match_bipartite(left, right, std::move(fits), ~std::uint64_t{0}, steps);
}

}  // namespace tamis::detail
