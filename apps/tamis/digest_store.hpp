#pragma once

// The slow side of a replay, held in memory: the digests of all members, in order. 128-bit digests stand for the keys: that two
// of 2^40 keys share one has a chance of 2^-49. It answers like a store (is it there?) and like a remote (what lies in a
// range?).
//
//   start_:    0     2  2     5 ...     bucket b holds the digests d with floor(d.high * buckets / 2^64) = b
//   digests_:  d0 d1 | | d2 d3 d4 | ...

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "slow_side.hpp"
#include "tamis/detail/base/compiler.hpp"
#include "tamis/digest.hpp"

namespace tamis::cli {

class digest_store final : public slow_side {
 public:
  explicit digest_store(std::vector<digest> digests) : digests_(std::move(digests)) {
    std::sort(digests_.begin(), digests_.end());
    digests_.erase(std::unique(digests_.begin(), digests_.end()), digests_.end());
    start_.assign(std::max<std::size_t>(1, digests_.size()) + 1, 0);
    for (const digest d : digests_) ++start_[bucket(d) + 1];
    for (std::size_t b = 1; b < start_.size(); ++b) start_[b] += start_[b - 1];
  }

  std::uint64_t size() const { return digests_.size(); }
  bool contains(digest d) const override {
    const std::uint64_t at = lower_bound(d);
    return at != digests_.size() && digests_[at] == d;
  }
  // Position in digest order.  Requires: contains(d).
  std::uint64_t index(digest d) const { return lower_bound(d); }

  void for_each_in(digest_range range, const std::function<bool(digest)>& visit) const override {
    for (std::uint64_t at = lower_bound(range.first); at != digests_.size() && digests_[at] <= range.last; ++at) {
      if (!visit(digests_[at])) return;
    }
  }

 private:
  std::uint64_t bucket(digest d) const { return detail::multiply_wide(d.high, start_.size() - 1).high; }

  // One digest per bucket on average: a scan is shorter than a search.
  std::uint64_t lower_bound(digest d) const {
    const std::uint64_t b = bucket(d);
    std::uint64_t at = start_[b];
    while (at != start_[b + 1] && digests_[at] < d) ++at;
    return at;
  }

  std::vector<digest> digests_;
  std::vector<std::uint64_t> start_;
};

}  // namespace tamis::cli
