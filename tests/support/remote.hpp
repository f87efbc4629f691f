#pragma once

// The truth beside a filter under test: a plain ordered multiset of digests.

#include <cstdint>
#include <set>

#include "tamis/remote.hpp"

namespace tamis::test {

class multiset_remote {
 public:
  multiset_remote() = default;
  template <class Digests>
  explicit multiset_remote(const Digests& digests) : stored_(digests.begin(), digests.end()) {}

  void insert(digest d) { stored_.insert(d); }
  void erase_one(digest d) { stored_.erase(stored_.find(d)); }
  bool contains(digest d) const { return stored_.contains(d); }
  std::uint64_t count(digest d) const { return stored_.count(d); }
  std::uint64_t size() const { return stored_.size(); }
  auto begin() const { return stored_.begin(); }
  auto end() const { return stored_.end(); }

  template <class Visit>
  void for_each_in(digest_range range, Visit visit) const {
    for (auto it = stored_.lower_bound(range.first); it != stored_.end() && *it <= range.last; ++it) {
      if (!wants_more_after(visit, *it)) return;
    }
  }

 private:
  std::multiset<digest> stored_;
};

// The same, counting what is read from it.
template <class Remote>
class counting_remote {
 public:
  explicit counting_remote(const Remote& behind) : behind_(behind) {}

  std::uint64_t digests() const { return digests_; }

  template <class Visit>
  void for_each_in(digest_range range, Visit&& visit) const {
    behind_.for_each_in(range, [&](digest d) {
      ++digests_;
      return wants_more_after(visit, d);
    });
  }

 private:
  const Remote& behind_;
  mutable std::uint64_t digests_ = 0;
};

}  // namespace tamis::test
