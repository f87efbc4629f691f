#pragma once

// Which filter for a job: what `tamis advise` computes. docs/advise.md has the definitions and what was measured.
//
// Every filter of the registry is judged by what it says about itself (its capabilities, its create(), its expected rate) and
// by a trial on a sample of the log (lab/advise/trial.hpp), never by its name.
//
//   non-adaptive    false positives = rate × negatives: rate × D the first time, rate × (N - D) again
//                   (N queries for absent keys, D different ones; the rate is expected_fpr() of a full filter, by tamis/math)
//   adaptive        rate × D the first time, and of each mistake so many repeats, both corrected by the trial. Without enough
//                   mistakes in the trial: no repeats if its fixes last, as many as without adapting if they do not
//   cost per query  time of the filter + time of a store read × (false positives + range scans to adapt) per query
//
// Filters are compared at the same memory by their cost (memory_bytes), or by their memory, slow memory at its price, at the
// same rate (fpr). That rate bounds what keys meet that are asked for the first time; trust_log bounds the rate over the log.
// With growth, memory is the mean over the growth: a filter that cannot grow has to be made for the end.
//
// A log that may repeat also has the best filters that do not adapt tried with a list of their known mistakes, whose size is
// searched for: at the same memory, which pays for the list, or where the log is trusted. A list does nothing for keys that are
// asked for the first time, so where those bound the rate, it cannot save memory.

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/advise/query_sample.hpp"
#include "tamis/registry.hpp"

namespace tamis::lab {

struct advice_wish {
  std::uint64_t capacity = 0;                                // keys at the beginning
  double growth = 1;                                         // at the end, so many times as many
  std::optional<double> fpr = std::nullopt;                  // share of the negatives that may read the store ...
  std::optional<std::uint64_t> memory_bytes = std::nullopt;  // ... and fast memory at the end. At least one of them
  bool trust_log = false;  // the rate may be kept over the log only: keys asked for the first time may meet a higher one
  bool deletes = false;
  bool slow_memory = true;       // may a filter have some?
  double read_ns = 100'000;      // a store read, or a range scan
  double slow_bit_price = 0.05;  // of a bit of slow memory, in bits of fast memory
  const registry* known = nullptr;
  std::function<void(double)> progress = {};  // called with the share that is done

  std::uint64_t final_keys() const { return static_cast<std::uint64_t>(std::ceil(static_cast<double>(capacity) * growth)); }
};

struct estimate {
  const registry_entry* entry = nullptr;
  std::string refusal;   // why it does not fit; empty: it does, and the rest is set
  filter_params params;  // what to create it with
  memory_bits at_start{}, at_end{};
  double mean_fast_bits = 0;  // over the growth
  double first_rate = 0;      // of a key that was never asked before
  double first_time = 0;      // false positives over the log, or over a million new keys without one
  double repeated = 0;
  double rate = 0;             // both, per negative query
  double reads_per_query = 0;  // both, per query
  double scans_per_query = 0;  // of ranges of the store, to adapt
  double lookup_ns = 0;
  double cost_ns = 0;      // per query
  double priced_bits = 0;  // mean_fast_bits, and what slow memory costs in such bits

  bool fits() const { return refusal.empty(); }
  bool has_list() const;     // of known mistakes
  std::string name() const;  // of the filter, or ID+mistakes
  bool adapts() const { return entry->can.adapt || has_list(); }
};

struct advice {
  std::vector<estimate> ranked;  // those that fit, the best first
  std::vector<estimate> others;  // those that do not, in the registry's order; lists are never among them
  std::uint64_t final_keys = 0;
  std::string would_fit;   // where none fits: what would, in words; empty: nothing that was tried
  bool by_memory = false;  // compared by memory at the same rate, not by cost at the same memory
  double figure(const estimate& e) const { return by_memory ? e.priced_bits : e.cost_ns; }
};

// `members`: digests of members, if there are some. `log`: nothing if there is none; its keys are then taken to be all new.
// Requires: a sensible wish (capacity and final number of keys within largest_capacity, growth >= 1, 0 < fpr < 1).
advice advise(const advice_wish& wish, std::span<const digest> members, const query_sample* log);

}  // namespace tamis::lab
