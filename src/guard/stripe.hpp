#pragma once

// A stripe (tamis/detail/threads/stripe_map.hpp): its filter, which many threads share, and what the guard knows of it.

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>

#include "../detail/threads/shared_filter.hpp"
#include "crowds.hpp"
#include "tamis/any_filter.hpp"
#include "tamis/detail/threads/stripe_map.hpp"
#include "tamis/guard/store.hpp"

namespace tamis {

using detail::stripe_map;

struct stripe_counts {
  std::atomic<std::uint64_t> left_behind, rebuilds;
};

// Nobody waits for a count, and none orders anything.
inline void bump(std::atomic<std::uint64_t>& counter, std::uint64_t by = 1) {
  counter.fetch_add(by, std::memory_order_relaxed);
}

// Locking rules: `writing` is taken first, by everything that changes the stripe, and held until the store has answered;
// several stripes are locked in the order of their indices. Lookups pass the gate of the filter, which is closed only for the
// moment of a change. Only holders of `writing` close it, so they may read the filter without passing. Without a filter every
// answer is "maybe".
struct stripe : detail::shared_filter<> {
  std::uint64_t number = 0;                // of the last record; guarded by `writing`
  std::uint64_t trimmed = 0;               // records before this one were trimmed; guarded by the lock of snapshots
  std::atomic<std::uint64_t> inserts = 0;  // tells whether a key may have come between a lookup and a lock
  std::atomic<std::uint64_t> erases = 0;   // the same for a key that may have gone
  crowds refusing;                         // where no filter takes another key; guarded by `writing`
  crowds unfixable;                        // where the filter cannot adapt; guarded by `writing`
  mutable stripe_counts counts{};

  enum class answer { no, maybe, unknown };
  answer ask(digest local) const {
    return read([high = local.high, low = local.low](const auto& now) {
      if (!now) return answer::unknown;
      return now->may_contain({high, low}) ? answer::maybe : answer::no;
    });
  }
  // What a true in `out` means: `maybe`, or `unknown` for all.
  answer ask_many(std::span<const digest> locals, std::span<bool> out) const {
    return read([&](const auto& now) {
      if (now) {
        now->may_contain_many(locals, out);
      } else {
        std::fill(out.begin(), out.end(), true);
      }
      return now ? answer::maybe : answer::unknown;
    });
  }
};

// Thrown through a filter that asks for more digests than it should need. It has changed nothing (concepts.hpp).
struct too_crowded {
  digest_range range;  // local
};

// What a stripe's filter may ask of the store: the stored digests of a range, in their local form. Throws std::runtime_error if
// the store cannot be read, since the answer would be incomplete and the filter would believe it; and too_crowded after `most`
// digests, since somebody waits for the answer.
class stripe_remote {
 public:
  stripe_remote(const store& behind, stripe_map map, std::uint32_t index, std::uint64_t most = ~std::uint64_t{0})
      : behind_(behind), map_(map), index_(index), most_(most) {}

  template <class Visit>
  void for_each_in(digest_range range, Visit visit) const {
    behind_
        .scan(map_.global_range(index_, range), scan_size::few,
              [&](digest d) {
                if (++scanned_ > most_) return false;
                const digest local = map_.local(d);
                return !range.contains(local) || wants_more_after(visit, local);
              })
        .value();
    if (scanned_ > most_) throw too_crowded{range};
  }
  std::uint64_t scanned() const { return scanned_; }

 private:
  const store& behind_;
  stripe_map map_;
  std::uint32_t index_;
  std::uint64_t most_;
  mutable std::uint64_t scanned_ = 0;
};

}  // namespace tamis
