#pragma once

// One filter in little: made for a sample of the keys, filled, and asked the sampled queries, with adaptation. What it shows
// holds for the whole filter because all of them work locally: keys, queries and table shrink by the same power of two, which
// also keeps the waste of tables whose size must be a power of two.

#include <cstdint>
#include <span>
#include <vector>

#include "lab/advise/query_sample.hpp"
#include "tamis/registry.hpp"

namespace tamis::lab {

// The same for all filters of a comparison.
class trial_setting {
 public:
  // `members`: digests of some members, in any number; made up if there are not enough. `capacity` keys at the beginning,
  // `final_keys` at the end.  Requires: 1 <= capacity <= final_keys.
  trial_setting(std::uint64_t capacity, std::uint64_t final_keys, std::span<const digest> members, const query_sample* log);

  std::uint64_t capacity() const { return capacity_; }
  std::uint64_t final_keys() const { return final_keys_; }
  unsigned shift() const { return shift_; }
  bool grows() const { return final_keys_ > capacity_; }
  bool has_log() const { return has_log_; }

  // A part of the keys and of the log.
  struct part {
    std::vector<digest> members;         // final_keys() / 2^shift() of them
    std::vector<digest> queries;         // for absent keys; made up, all different, without a log
    std::vector<std::uint32_t> numbers;  // of the keys behind them
    std::uint32_t distinct = 0;
  };
  // The first one has queries.
  const part& part_of_round(std::uint64_t round) const { return parts_[round % parts_.size()]; }

 private:
  void fill_up(part& p) const;

  std::uint64_t capacity_;
  std::uint64_t final_keys_;
  unsigned shift_;
  bool has_log_;
  std::vector<part> parts_;
};

struct trial_result {
  memory_bits at_start{}, at_end{};  // of the whole filter
  double mean_fast_bits = 0;         // over the growth, keys coming at an even rate
  double first_rate = 0;             // expected of a key never asked before, with all keys in
  double lookup_ns = 0;              // of the filter alone, adapting included; the table of the trial
  std::uint64_t first_time = 0;      // false positives of all rounds, by whether the filter was wrong about the key before
  std::uint64_t repeated = 0;
  std::uint64_t range_scans = 0;     // that adapting made in all rounds
  std::uint64_t distinct_asked = 0;  // keys asked, in all rounds
};

// What is tried: a filter of a registry. With the option `mistakes` it has a list of its known mistakes, and adapts.
struct tried_filter {
  const registry& known;
  const registry_entry& entry;

  static bool has_list(const filter_params& params);
};

// `params` without their capacity. An error says why the filter cannot be made or cannot hold the keys.
result<trial_result> run_trial(const tried_filter& filter, filter_params params, const trial_setting& setting);

}  // namespace tamis::lab
