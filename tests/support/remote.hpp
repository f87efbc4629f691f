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

}  // namespace tamis::test
