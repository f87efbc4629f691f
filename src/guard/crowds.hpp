#pragma once

// Ranges of digests that are too crowded for a filter: it refuses another key there, or would have to look at too many to
// adapt. Keys of an honest hash never crowd; keys of somebody who knows the hash do. The list is short, and the newest pushes
// out the oldest: what was forgotten is found again, at a price that is bounded too.

#include <array>
#include <cstddef>

#include "tamis/digest.hpp"

namespace tamis {

class crowds {
 public:
  bool contains(digest d) const { return find(d) != most; }
  void remember(digest_range range) {
    for (const digest_range& known : ranges_) {
      if (known.contains(range.first) && known.contains(range.last)) return;
    }
    ranges_[next_] = range;
    next_ = (next_ + 1) % most;
  }
  // A key went, so that there may be room.
  void forget(digest d) {
    for (std::size_t at = find(d); at != most; at = find(d)) ranges_[at] = none;
  }

 private:
  static constexpr std::size_t most = 16;
  static constexpr digest_range none{{1, 0}, {0, 0}};  // contains nothing

  std::size_t find(digest d) const {
    std::size_t at = 0;
    while (at < most && !ranges_[at].contains(d)) ++at;
    return at;
  }

  std::array<digest_range, most> ranges_ = [] {
    std::array<digest_range, most> made{};
    made.fill(none);
    return made;
  }();
  std::size_t next_ = 0;
};

}  // namespace tamis
