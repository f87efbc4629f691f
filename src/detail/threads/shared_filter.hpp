#pragma once

// A filter that many threads ask and one at a time changes: what a stripe is made of, in concurrent_filter and in
// guarded_store.
//
//   writing   held by whoever changes the filter, also between its steps: a store's answer may be waited for
//   gate      passed by readers, closed only for the moments in which the filter itself changes
//   version   of the filter; guarded by `writing`
//
// Only holders of `writing` close the gate, so they may read the filter without passing it.

#include <mutex>
#include <optional>
#include <utility>

#include "tamis/any_filter.hpp"
#include "tamis/detail/remote/fetched_digests.hpp"
#include "tamis/detail/threads/reader_gate.hpp"

namespace tamis::detail {

// Further steps of tests.
enum class filter_step : std::uint8_t { lock, unlock, compare_versions };

struct no_filter_steps : no_steps {
  using no_steps::at;
  using no_steps::skips;
  static void at(filter_step) {}
  static constexpr bool skips(filter_step) { return false; }
  static void lock(std::mutex& m) { m.lock(); }
};

template <class Steps = no_filter_steps>
class shared_filter {
 public:
  std::optional<any_filter> filter;
  alignas(cache_line_bytes) mutable std::mutex writing;

  // `read` is given the const filter, if there is one.
  template <class Read>
  TAMIS_INLINE auto read(Read read) const {
    const typename reader_gate<Steps>::passage in(gate_);
    return read(filter);
  }

  // The right to change it.
  class turn {
   public:
    explicit turn(shared_filter& of) : of_(&of) {
      Steps::at(filter_step::lock);
      if (Steps::skips(filter_step::lock)) return;
      Steps::lock(of.writing);
      holds_ = true;
    }
    turn(shared_filter& of, std::try_to_lock_t) : of_(&of), holds_(of.writing.try_lock()) {}
    turn(turn&& other) noexcept : of_(other.of_), holds_(std::exchange(other.holds_, false)) {}
    turn& operator=(turn&&) = delete;
    ~turn() { release(); }

    explicit operator bool() const { return holds_; }
    shared_filter& operator*() const { return *of_; }
    shared_filter* operator->() const { return of_; }
    void release() {
      if (!std::exchange(holds_, false)) return;
      Steps::at(filter_step::unlock);
      of_->writing.unlock();
    }

   private:
    shared_filter* of_;
    bool holds_ = false;
  };

  // What follows:  Requires: the calling thread has the turn.

  std::uint64_t version() const { return version_; }

  // Counts as a change, of whatever belongs to the filter.
  void touch() { ++version_; }
  // `change` is given the std::optional<any_filter>& while nobody reads.
  template <class Change>
  auto change(Change change) {
    ++version_;  // first: what throws may have changed something
    const typename reader_gate<Steps>::closure alone(gate_);
    return change(filter);
  }
  // The same for what changes nothing if it throws.
  template <class Change>
  auto try_change(Change change) {
    const typename reader_gate<Steps>::closure alone(gate_);
    auto answer = change(filter);
    ++version_;
    return answer;
  }
  // Another filter takes the place of this one, which goes when nobody waits any more.
  void replace(std::optional<any_filter> next) {
    change([&](std::optional<any_filter>& now) { now.swap(next); });
  }

 private:
  std::uint64_t version_ = 0;
  reader_gate<Steps> gate_;
};

// A change that may have to ask a remote: `attempt(filter, remote_ref)`, which changes nothing if the remote throws. The remote
// is asked while nobody waits for it; what it said counts if the filter has not changed since, or is asked for again. A filter
// that changes all the time is changed by nobody else in the end, while readers go on.
template <class Steps, class Remote, class Attempt>
auto change_with_remote(shared_filter<Steps>& where, const Remote& stored, Attempt attempt) {
  constexpr unsigned most_losses = 3;
  using missing = fetched_digests::missing;
  fetched_digests have;
  const auto once = [&](missing& lacks) {
    using answer = decltype(where.try_change([&](auto& filter) { return attempt(*filter, remote_ref(have)); }));
    try {
      return std::optional<answer>(where.try_change([&](auto& filter) { return attempt(*filter, remote_ref(have)); }));
    } catch (const missing& what) {
      lacks = what;
      return std::optional<answer>();
    }
  };
  missing lacks{};
  std::uint64_t version = 0;
  bool is_first = true;
  for (unsigned losses = 0;;) {
    typename shared_filter<Steps>::turn mine(where);
    if (!is_first && version != where.version() && !Steps::skips(filter_step::compare_versions)) {
      have.clear();
      ++losses;
    }
    is_first = false;
    for (;;) {
      if (auto answer = once(lacks)) return *answer;
      if (losses < most_losses) break;
      have.fetch(stored, lacks);
    }
    version = where.version();
    mine.release();
    have.fetch(stored, lacks);
  }
}

}  // namespace tamis::detail
