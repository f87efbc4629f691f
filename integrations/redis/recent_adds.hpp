#pragma once

// The last adds of a value, so that a report of a mistake never hides a member.
//
// Who reports a mistake has asked the filter at time c and then the database. A key that was added before c - grace was in the
// database by then (a writer commits within the grace time after its ADD, or adds again after the commit), so the database's
// "no" counts. A report is therefore safe if the ring knows all adds since c - grace and the key is not among them.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "tamis/digest.hpp"

namespace tamis::redis {

class recent_adds {
 public:
  static constexpr std::int64_t always = std::numeric_limits<std::int64_t>::min();

  // Times are milliseconds of one clock. The ring knows all adds since `since`: always for a new value.
  explicit recent_adds(std::int64_t since = always) : since_(since) {}

  // Remembers an add, and forgets the oldest where there are `most` already.
  void note(digest d, std::int64_t now, std::size_t most) {
    if (most == 0) {
      since_ = now;
      return;
    }
    if (entries_.size() < most && !wrapped_) {
      entries_.push_back({d, now});
      return;
    }
    wrapped_ = true;
    since_ = std::max(since_, entries_[next_].time);
    entries_[next_] = {d, now};
    next_ = next_ + 1 < entries_.size() ? next_ + 1 : 0;
  }
  // Members came that the ring has not seen.
  void forget(std::int64_t now) {
    entries_.clear();
    next_ = 0;
    wrapped_ = false;
    since_ = now;
  }

  bool knows_all_since(std::int64_t time) const { return since_ == always || since_ < time; }
  bool contains(digest d) const {
    return std::any_of(entries_.begin(), entries_.end(), [d](const entry& e) { return e.key == d; });
  }

 private:
  struct entry {
    digest key;
    std::int64_t time;
  };

  std::vector<entry> entries_;
  std::size_t next_ = 0;  // the oldest, once the ring is full
  bool wrapped_ = false;
  std::int64_t since_;
};

}  // namespace tamis::redis
