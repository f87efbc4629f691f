#pragma once

// A query log in little: exact totals, and all queries for a sample of its absent keys, in their order. A key is in the sample
// or not, whatever it is asked for (spatial sampling), so that the sample repeats its keys as the log does. The rate is
// 1 / 2^shift: it is halved whenever the sample gets too long. Memory is bounded, whatever the length of the log.
//
// A trial takes a part of the sample: 1 / 2^thinning of all keys, members at the same rate, so that a filter of the part's
// members meets as many absent keys per slot as the real one would. Of a short log before many members there are several parts,
// which make up the whole sample: no hot key is left out, or stands for many.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tamis/digest.hpp"

namespace tamis::lab {

class query_sample {
 public:
  static constexpr std::size_t longest = std::size_t{1} << 19;
  static constexpr std::uint64_t most_members = std::uint64_t{1} << 17;
  static constexpr std::uint64_t least_members = std::uint64_t{1} << 10;  // a smaller filter is no likeness any more

  // For a filter of so many members.
  explicit query_sample(std::uint64_t members);

  void add_member_query() { ++queries_; }
  void add_absent_query(digest d);

  std::uint64_t queries() const { return queries_; }
  std::uint64_t negatives() const { return negatives_; }  // queries for keys that are not members
  // Keys behind those: exact while shift() is 0, else with a relative error of about 1 / sqrt(sampled keys).
  double distinct_negatives() const;
  // The share of the negatives that ask for the most frequent hundredth of their keys (at least one key), within the sample.
  double top_share() const;

  unsigned shift() const { return shift_; }
  std::span<const digest> sampled() const { return sample_; }
  bool contains(digest d) const { return (sampling_hash(d) & mask(shift_)) == 0; }

  unsigned thinning() const { return std::max(shift_, members_shift_); }
  std::uint64_t parts() const { return std::uint64_t{1} << (thinning() - shift_); }
  bool part_contains(std::uint64_t part, digest d) const { return (sampling_hash(d) & mask(thinning())) == part << shift_; }

 private:
  // Other bits than a filter takes, mixed: the sample's digests must be as random as all.
  static std::uint64_t sampling_hash(digest d) { return detail::mix64(detail::mix64(d.low ^ 0x9ddfea08eb382d69u) + d.high); }
  static std::uint64_t mask(unsigned shift) { return (std::uint64_t{1} << shift) - 1; }
  std::vector<std::uint64_t> counts() const;  // of the sampled keys

  std::uint64_t members_;
  unsigned members_shift_ = 0;  // makes them few enough for a trial
  unsigned shift_ = 0;
  std::uint64_t queries_ = 0;
  std::uint64_t negatives_ = 0;
  std::uint64_t covered_ = 0;  // negatives up to where the sample reaches: all but of a long log before a tiny filter
  std::vector<digest> sample_;
};

}  // namespace tamis::lab
