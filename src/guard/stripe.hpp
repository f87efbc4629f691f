#pragma once

// A stripe: all digests with the same first bits, the filter that covers them, and the locks.
//
// Inside a stripe the leading bits are the same for all, so a filter would use a fraction of its table. It therefore sees local
// digests: shifted to the left by the stripe's bits. That keeps order and difference; the places that become free at the end
// are filled with bits mixed from the rest, as random as the ones that went away.

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <shared_mutex>

#include "crowds.hpp"
#include "tamis/any_filter.hpp"
#include "tamis/detail/base/random.hpp"
#include "tamis/guard/store.hpp"

namespace tamis {

// Which stripe, and how its digests look inside it.  Requires: bits <= 8.
class stripe_map {
 public:
  explicit stripe_map(unsigned bits) : bits_(bits) {}

  std::uint32_t count() const { return std::uint32_t{1} << bits_; }
  std::uint32_t index(digest d) const { return static_cast<std::uint32_t>(d.bits(0, bits_)); }
  digest_range range(std::uint32_t index) const { return prefix_range(global(index, {0, 0}), bits_); }

  digest local(digest d) const {
    if (bits_ == 0) return d;
    const std::uint64_t filler = detail::mix64(d.high + detail::mix64(d.low)) >> (64 - bits_);
    return {d.high << bits_ | d.low >> (64 - bits_), d.low << bits_ | filler};
  }
  // The digest whose local form has the same first 128 - bits bits.
  digest global(std::uint32_t index, digest local) const {
    if (bits_ == 0) return local;
    return {std::uint64_t{index} << (64 - bits_) | local.high >> bits_, local.high << (64 - bits_) | local.low >> bits_};
  }

 private:
  unsigned bits_;
};

struct stripe_counts {
  std::atomic<std::uint64_t> queries, negatives, first_wrong, repeated_wrong, unguarded, store_reads;
  std::atomic<std::uint64_t> adaptations, unfixable, adaptations_left, rejuvenations, left_behind, rebuilds;
};

// Nobody waits for a count, and none orders anything.
inline void bump(std::atomic<std::uint64_t>& counter, std::uint64_t by = 1) {
  counter.fetch_add(by, std::memory_order_relaxed);
}

// Locking rules: `writing` is taken first, by everything that changes the stripe, and held until the store has answered;
// several stripes are locked in the order of their indices. `probing` guards the filter alone: shared for a lookup, exclusive
// for the moment of a change. Only holders of `writing` take `probing` exclusively, so they may read the filter without it.
struct alignas(64) stripe {
  std::mutex writing;
  mutable std::shared_mutex probing;
  std::optional<any_filter> filter;        // none: not there yet, every answer is "maybe"
  std::uint64_t number = 0;                // of the last record; guarded by `writing`
  std::uint64_t trimmed = 0;               // records before this one were trimmed; guarded by the lock of snapshots
  std::atomic<std::uint64_t> inserts = 0;  // tells whether a key may have come between a lookup and a lock
  std::atomic<std::uint64_t> erases = 0;   // the same for a key that may have gone
  crowds refusing;                         // where no filter takes another key; guarded by `writing`
  crowds unfixable;                        // where the filter cannot adapt; guarded by `writing`
  mutable stripe_counts counts{};

  enum class answer { no, maybe, unknown };
  answer ask(digest local) const {
    const std::shared_lock lock(probing);
    if (!filter) return answer::unknown;
    return filter->may_contain(local) ? answer::maybe : answer::no;
  }
  // What a true in `out` means: `maybe`, or `unknown` for all.
  answer ask_many(std::span<const digest> locals, std::span<bool> out) const {
    const std::shared_lock lock(probing);
    if (filter) {
      filter->may_contain_many(locals, out);
    } else {
      std::fill(out.begin(), out.end(), true);
    }
    return filter ? answer::maybe : answer::unknown;
  }
  template <class Change>
  auto change(Change change_it) {
    const std::lock_guard lock(probing);
    return change_it(filter);
  }
};

// Thrown through a filter that asks for more digests than it should need. It has changed nothing (concepts.hpp).
struct too_crowded {
  digest_range range;  // local
};

// What a stripe's filter may ask of the store: the stored digests of a range, in their local form. Throws std::runtime_error if
// the store cannot be read, since the answer would be incomplete and the filter would believe it; and too_crowded after `most`
// digests, since a lookup waits meanwhile.
class stripe_remote {
 public:
  stripe_remote(const store& behind, stripe_map map, std::uint32_t index, std::uint64_t most = ~std::uint64_t{0})
      : behind_(behind), map_(map), index_(index), most_(most) {}

  template <class Visit>
  void for_each_in(digest_range range, Visit visit) const {
    const digest_range wide = {map_.global(index_, range.first), map_.global(index_, range.last)};
    behind_
        .scan(wide, scan_size::few,
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
