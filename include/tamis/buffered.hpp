#pragma once

// An inserter in front of a filter, for keys that come one by one. It collects them and inserts them in batches, whose memory
// is fetched ahead (batch.hpp):
//
//   buffered_inserter into(filter);              // a filter type, an any_filter or a key_filter<digest>
//   for (const digest d : arriving) {
//     if (into.insert(d) == insert_result::full) …
//   }
//   if (status done = into.flush(); !done.ok()) …
//
//   insert ──► | d0 | d1 | … | d31 | ──► insert_many(filter)
//                └── waiting: in the inserter's answers, not yet in the filter's
//
// It pays for tables out of cache, whose single inserts wait for memory (infini with 6 million keys: 49 to 52 ns of CPU time
// one by one, 14 through here). In cache single inserts are the cheaper ones.
//
// The filter itself does not know of the keys that wait. flush() before it is saved, compared, erased from or adapted.

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <span>
#include <string>

#include "tamis/batch.hpp"
#include "tamis/concepts.hpp"
#include "tamis/digest.hpp"
#include "tamis/result.hpp"

namespace tamis::inline TAMIS_LEVEL {

// For one thread. The filter must outlive it, and nobody else may change the filter meanwhile.
template <class Filter>
class buffered_inserter {
 public:
  static constexpr std::size_t most = detail::batch_group;  // keys that wait

  // In front of this filter, which outlives it.
  explicit buffered_inserter(Filter& filter) : filter_(filter) {}
  buffered_inserter(const buffered_inserter&) = delete;
  buffered_inserter& operator=(const buffered_inserter&) = delete;
  // Flushes. Nobody can be told here that a key found no room, or no memory, and is lost: flush() before, where that may be.
  ~buffered_inserter() {
    try {
      static_cast<void>(flush());
    } catch (const std::exception&) {
    }
  }

  // The key is in the answers of the inserter from now on. `full`, and nothing has changed, if as many wait as can and the
  // filter refuses them all. What it throws for want of memory loses no key: all that were accepted are in or wait.
  [[nodiscard]] insert_result insert(digest d) {
    if (size_ == most) [[unlikely]] {
      enter();
      if (size_ == most) return insert_result::full;
    }
    waiting_[size_++] = d;
    return insert_result::inserted;
  }

  // What the filter answers, and true for the keys that wait.
  bool may_contain(digest d) const {
    return filter_.may_contain(d) || std::find(waiting_.begin(), waiting_.begin() + size_, d) != waiting_.begin() + size_;
  }

  // How many keys were accepted and are not in the filter yet.
  std::size_t waiting() const { return size_; }

  // All that wait go into the filter. Those that it refuses go on waiting, and are tried again by the next flush.
  status flush() {
    enter();
    if (size_ == 0) return {};
    return failure{std::to_string(size_) + " keys that were accepted find no room in the filter", error_code::full};
  }

 private:
  // Keeps those that are not in, in their order, also if an insert throws.
  TAMIS_NOINLINE void enter() {
    struct keeper {
      buffered_inserter& self;
      std::array<bool, most> entered = {};

      ~keeper() {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < self.size_; ++i) {
          if (!entered[i]) self.waiting_[kept++] = self.waiting_[i];
        }
        self.size_ = kept;
      }
    } keep{*this};
    const std::span<const digest> all(waiting_.data(), size_);
    const std::span<bool> entered(keep.entered.data(), size_);
    if constexpr (filter_type<Filter>) {
      static_cast<void>(insert_many(filter_, all, entered));
    } else {
      static_cast<void>(filter_.insert_many(all, entered));
    }
  }

  Filter& filter_;
  std::size_t size_ = 0;
  std::array<digest, most> waiting_;
};

}  // namespace tamis::inline TAMIS_LEVEL
