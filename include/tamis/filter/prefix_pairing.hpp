#pragma once

// Which key stands behind which entry, where entries are prefixes of their keys' streams. Two prefixes are either nested or
// have no stream in common. So the longest entry may take any key that it matches: whoever could have used another of its keys
// is shorter, matches both, and does not mind. Giving keys to the longest entries first therefore pairs as many as possible.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "tamis/filter/stream_places.hpp"

namespace tamis {

inline constexpr std::size_t nobody = ~std::size_t{0};

struct prefix_pairing {
  std::vector<std::size_t> owner;  // of every entry: its key, or nobody
  std::size_t keys_left = 0;       // keys without an entry
};

// Requires: all of one root; the streams ascend.
inline prefix_pairing pair_longest_first(const std::vector<stream_prefix>& entries, const std::vector<uint128>& streams) {
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return entries[a].length > entries[b].length; });
  // free_from[i]: a way to the first free key at or after key i.
  std::vector<std::size_t> free_from(streams.size() + 1);
  std::iota(free_from.begin(), free_from.end(), std::size_t{0});
  const auto first_free = [&](std::size_t i) {
    std::size_t end = i;
    while (free_from[end] != end) end = free_from[end];
    while (free_from[i] != end) i = std::exchange(free_from[i], end);
    return end;
  };
  prefix_pairing made{std::vector<std::size_t>(entries.size(), nobody), streams.size()};
  for (const std::size_t e : order) {
    const auto first = std::lower_bound(streams.begin(), streams.end(), entries[e].bits);
    const std::size_t key = first_free(static_cast<std::size_t>(first - streams.begin()));
    if (key == streams.size() || !entries[e].matches(streams[key])) continue;
    made.owner[e] = key;
    free_from[key] = key + 1;
    --made.keys_left;
  }
  return made;
}

}  // namespace tamis
