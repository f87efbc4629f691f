#pragma once

// A remote's answers, fetched beforehand. A filter asks in the middle of a change, when nobody should wait for a store; so it
// is given this instead of the store. What has not been fetched is thrown as `missing`, which leaves the filter as it was
// (concepts.hpp); then that is fetched, with nobody waiting, and the change is tried again.

#include <cstdint>
#include <vector>

#include "tamis/digest.hpp"
#include "tamis/remote.hpp"

namespace tamis::detail {

class fetched_digests {
 public:
  struct missing {
    digest_range range;
    std::uint64_t digests;  // more than have been fetched of it
  };

  template <class Visit>
  void for_each_in(digest_range range, Visit&& visit) const {
    std::uint64_t seen = 0;
    const part* const known = find(range);
    if (known != nullptr) {
      for (const digest d : known->digests) {
        if (!range.contains(d)) continue;
        ++seen;
        if (!wants_more_after(visit, d)) return;
      }
      if (known->is_whole) return;
    }
    throw missing{range, seen};
  }

  // Asks for what was missing: a few digests first, since most filters have seen enough soon, then ever more. Of a single
  // digest one copy is nearly always enough. What the remote throws is passed on.
  void fetch(const remote auto& stored, const missing& what) {
    const std::uint64_t first = what.range.first == what.range.last ? 1 : 256;
    const std::uint64_t most = what.digests == 0 ? first : 8 * what.digests;
    part made{what.range, {}, true};
    stored.for_each_in(what.range, [&](digest d) {
      made.digests.push_back(d);
      made.is_whole = made.digests.size() < most;
      return made.is_whole;
    });
    parts_.push_back(std::move(made));
  }

  void clear() { parts_.clear(); }

 private:
  struct part {
    digest_range range;
    std::vector<digest> digests;
    bool is_whole;  // or are these the first of them?
  };

  // The one that was fetched last has most of it.
  const part* find(digest_range range) const {
    for (auto known = parts_.rbegin(); known != parts_.rend(); ++known) {
      if (known->range.first <= range.first && range.last <= known->range.last) return &*known;
    }
    return nullptr;
  }

  std::vector<part> parts_;
};

}  // namespace tamis::detail
