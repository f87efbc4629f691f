#pragma once

// Speed of filters, all contenders in one run: what `tamis bench` shows.
//
// First correctness: a filter that loses a member, or whose false positives are more than chance allows, ends the run with an
// error. Then time: every repeat measures every operation of every contender, one contender after the other, so that a slow
// moment of the machine hits all of them; a figure is the median over the repeats, and figures are to be compared within a run.
//
// Times are of the erased interface: a single operation is one any_filter::insert, may_contain or erase per key, with its
// virtual call, which users of the templates do not pay (the Google Benchmark binary measures those); calls are independent of
// each other, so a processor overlaps them. They include the hash of a 64-bit key, which is also shown on its own. Inserts and
// erases work on fresh tables in every repeat, lookups on a table that an untimed pass has brought to where it stays.
//
// A list of known mistakes is full while lookups and erases are timed: of strangers who are asked for no more, so that the rate
// is that of new ones.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lab/measure/timing.hpp"
#include "tamis/detail/any/known_mistakes.hpp"
#include "tamis/params.hpp"
#include "tamis/registry.hpp"

namespace tamis::lab {

struct contender {
  std::string id;
  filter_params params;  // the capacity is the number of keys
};

struct bench_options {
  std::uint64_t keys = 1 << 20;
  std::size_t queries = 1 << 20;  // negative, and as many positive, lookups per repeat
  unsigned repeats = 5;
  std::uint64_t seed = 1;
  const registry* known = nullptr;            // nullptr: the registry that tamis comes with
  std::function<void(double)> progress = {};  // called with the share that is done
};

struct bench_row {
  std::string id;
  option_list settings;  // the options in force
  double fpr = 0.0;
  double fpr_expected = 0.0;
  double bits_per_key = 0.0;
  timing insert, insert_many, negative, negative_many, positive, positive_many;
  std::optional<timing> erase;             // where the filter can
  std::optional<detail::list_use> list;    // as full as it was while lookups were timed
  timing line_prefetched, line_dependent;  // random cache lines of a table of the same size
};

struct bench_report {
  std::vector<bench_row> rows;  // as the contenders
  timing hash;                  // of one 64-bit key
};

// Requires: keys, queries and repeats are not 0.
result<bench_report> bench(const std::vector<contender>& contenders, const bench_options& options);

// "AMD EPYC, 2 cores, L2 512 KiB, L3 32.0 MiB", as far as the system tells.
struct machine_info {
  std::string cpu;
  unsigned cores = 0;
  std::uint64_t l2_bytes = 0;
  std::uint64_t l3_bytes = 0;
};
machine_info this_machine();

// False if the counts cannot be chance (less than once in 10^9 runs) or a member was lost; the message says which.
status check_answers(std::uint64_t members_lost, std::uint64_t false_positives, std::uint64_t negatives, double expected_fpr);

}  // namespace tamis::lab
