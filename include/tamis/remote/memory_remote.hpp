#pragma once

// A remote in memory: an ordered multiset of digests. Digests are evenly spread, so their first bits find the bucket, and a
// bucket is a short sorted list; when it has grown to eight digests a bucket on average, the number of buckets doubles.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tamis/base/digest.hpp"
#include "tamis/hash/place.hpp"
#include "tamis/remote/remote.hpp"

namespace tamis {

class memory_remote {
 public:
  void insert(digest d) {
    if (size_ >= 8 * buckets_.size()) grow();
    std::vector<digest>& bucket = buckets_[bucket_of(d)];
    bucket.insert(std::upper_bound(bucket.begin(), bucket.end(), d), d);
    ++size_;
  }

  // Takes one copy out, if there is one.
  bool erase(digest d) {
    std::vector<digest>& bucket = buckets_[bucket_of(d)];
    const auto at = std::lower_bound(bucket.begin(), bucket.end(), d);
    if (at == bucket.end() || *at != d) return false;
    bucket.erase(at);
    --size_;
    return true;
  }

  bool contains(digest d) const {
    const std::vector<digest>& bucket = buckets_[bucket_of(d)];
    return std::binary_search(bucket.begin(), bucket.end(), d);
  }

  // All digests of the range, in order, each as often as it is stored.
  template <class Visit>
  void for_each_in(digest_range range, Visit&& visit) const {
    if (range.last < range.first) return;
    const std::size_t last = bucket_of(range.last);
    for (std::size_t b = bucket_of(range.first); b <= last; ++b) {
      const std::vector<digest>& bucket = buckets_[b];
      for (auto at = std::lower_bound(bucket.begin(), bucket.end(), range.first); at != bucket.end() && *at <= range.last;
           ++at) {
        visit(*at);
      }
    }
  }

  std::uint64_t size() const { return size_; }

 private:
  std::size_t bucket_of(digest d) const { return static_cast<std::size_t>(reduce(d.high, buckets_.size())); }

  void grow() {
    std::vector<std::vector<digest>> more(2 * buckets_.size());
    buckets_.swap(more);
    for (const std::vector<digest>& bucket : more) {
      for (const digest d : bucket) buckets_[bucket_of(d)].push_back(d);
    }
  }

  std::vector<std::vector<digest>> buckets_ = std::vector<std::vector<digest>>(1);
  std::uint64_t size_ = 0;
};

static_assert(remote<memory_remote>);

}  // namespace tamis
