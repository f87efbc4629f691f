#pragma once

// A remote in memory: an ordered multiset of digests. Digests are evenly spread, so their first bits find the bucket, and a
// bucket is a short sorted list. With more than eight digests a bucket on average, one bucket is split, and the next one at the
// next insert, as in linear hashing (Litwin, VLDB 1980): no insert has to wait until all have moved.
//
//   first bits  | 000 | 001 | 01 | 100 | 101 | 11 |      split so far: the buckets 0 and 1 of four; 01 and 11 are next
//   bucket         0     4    2     1     5    3         the first bits read backwards, so that an upper half is a new bucket

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "tamis/digest.hpp"
#include "tamis/remote.hpp"

namespace tamis {

class memory_remote {
 public:
  // One copy more.
  void insert(digest d) {
    if (size_ >= 8 * buckets_.size()) split_next();
    std::vector<digest>& bucket = buckets_[place_of(d.high).bucket];
    bucket.insert(std::upper_bound(bucket.begin(), bucket.end(), d), d);
    ++size_;
  }

  // Takes one copy out, if there is one.
  bool erase(digest d) {
    std::vector<digest>& bucket = buckets_[place_of(d.high).bucket];
    const auto at = std::lower_bound(bucket.begin(), bucket.end(), d);
    if (at == bucket.end() || *at != d) return false;
    bucket.erase(at);
    --size_;
    return true;
  }

  // Is a copy in?
  bool contains(digest d) const {
    const std::vector<digest>& bucket = buckets_[place_of(d.high).bucket];
    return std::binary_search(bucket.begin(), bucket.end(), d);
  }

  // The digests of the range, in order, each as often as it is stored, until a visit answers false.
  template <class Visit>
  void for_each_in(digest_range range, Visit&& visit) const {
    if (range.last < range.first) return;
    for (std::uint64_t high = range.first.high;;) {
      const place here = place_of(high);
      const std::vector<digest>& bucket = buckets_[here.bucket];
      for (auto at = std::lower_bound(bucket.begin(), bucket.end(), range.first); at != bucket.end() && *at <= range.last;
           ++at) {
        if (!wants_more_after(visit, *at)) return;
      }
      if (here.last >= range.last.high) return;
      high = here.last + 1;
    }
  }

  // How many are in, each copy counted.
  std::uint64_t size() const { return size_; }

 private:
  struct place {
    std::size_t bucket;
    std::uint64_t last;  // word that a digest of this bucket can begin with
  };
  place place_of(std::uint64_t high) const {
    const std::uint64_t backwards = reversed(high);
    const std::uint64_t bucket = backwards & ~(~std::uint64_t{0} << bits_);
    const bool is_split = bucket + (std::uint64_t{1} << bits_) < buckets_.size();
    const unsigned bits = bits_ + (is_split ? 1 : 0);
    return {static_cast<std::size_t>(backwards & ~(~std::uint64_t{0} << bits)), high | ~std::uint64_t{0} >> bits};
  }
  static std::uint64_t reversed(std::uint64_t word) {
    const auto swap = [&word](unsigned by, std::uint64_t low) { word = (word >> by & low) | (word & low) << by; };
    swap(1, 0x5555555555555555);
    swap(2, 0x3333333333333333);
    swap(4, 0x0f0f0f0f0f0f0f0f);
    return __builtin_bswap64(word);
  }

  void split_next() {
    const std::size_t lower = buckets_.size() - (std::size_t{1} << bits_);
    std::vector<digest>& bucket = buckets_[lower];
    const std::uint64_t next_bit = std::uint64_t{1} << (63 - bits_);
    const auto half = std::partition_point(bucket.begin(), bucket.end(), [&](digest d) { return (d.high & next_bit) == 0; });
    buckets_.emplace_back(half, bucket.end());
    bucket.erase(half, bucket.end());
    if (buckets_.size() == std::size_t{2} << bits_) ++bits_;
  }

  std::deque<std::vector<digest>> buckets_ = std::deque<std::vector<digest>>(1);  // 2^bits_ and those that were split off
  unsigned bits_ = 0;
  std::uint64_t size_ = 0;
};

static_assert(remote<memory_remote>);

}  // namespace tamis
