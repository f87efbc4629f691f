#pragma once

// Which key stands behind which entry, where entries are prefixes of their keys' streams. Two prefixes are either nested or
// have no stream in common. So the longest entry may take any key that it matches: whoever could have used another of its keys
// is shorter, matches both, and does not mind. Giving keys to the longest entries first therefore pairs as many as possible.

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "tamis/detail/base/short_list.hpp"
#include "tamis/detail/growing/stream_places.hpp"

namespace tamis::detail {

inline constexpr std::size_t nobody = ~std::size_t{0};

struct prefix_matching {
  short_list<std::size_t, 24> owner;  // of every entry: its key, or nobody
  std::size_t keys_left = 0;          // keys without an entry
};

// Requires: all of one root; the streams ascend.
inline prefix_matching match_longest_first(std::span<const stream_prefix> entries, std::span<const uint128> streams) {
  short_list<std::size_t, 24> order;
  for (std::size_t e = 0; e < entries.size(); ++e) order.push_back(e);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return entries[a].length != entries[b].length ? entries[a].length > entries[b].length : a < b;
  });
  // free_from[i]: a way to the first free key at or after key i.
  short_list<std::size_t, 24> free_from;
  for (std::size_t i = 0; i <= streams.size(); ++i) free_from.push_back(i);
  const auto first_free = [&](std::size_t i) {
    std::size_t end = i;
    while (free_from[end] != end) end = free_from[end];
    while (free_from[i] != end) i = std::exchange(free_from[i], end);
    return end;
  };
  prefix_matching made;
  made.owner.append(entries.size(), nobody);
  made.keys_left = streams.size();
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

}  // namespace tamis::detail
