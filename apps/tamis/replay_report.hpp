#pragma once

// A replay's result, for people and for machines.

#include <span>
#include <string>
#include <vector>

#include "json.hpp"
#include "replay_costs.hpp"
#include "replay_lineup.hpp"
#include "replay_run.hpp"

namespace tamis::cli {

struct replay_result {
  std::string source;
  std::string store;  // what stands behind the filters, in words
  std::uint64_t members;
  const query_log& log;
  std::span<const contestant> contestants;
  std::span<const left_out> others;
  std::string memory;   // what all of them have, in words
  double bits_per_key;  // the same; 0 if it differs
  read_costs costs;
  std::span<const std::vector<contestant>> other_seeds;  // the same log under other hash seeds
  const change_log* changes = nullptr;                   // of a log in which keys come and go; members: the most at a time
};

// Reads in vain under each hash seed, this one first; seeds under which the filter was left out are not in it.
std::vector<std::uint64_t> mistakes_by_seed(const replay_result& result, const contestant& c);

// False positives among the negative queries in each tenth of the log; not a number where there were none.
std::array<double, timeline::parts> rates_over_time(const replay_result& result, const contestant& c);
double false_positive_rate(const replay_result& result, const contestant& c);
// Which filters were left out, and why; empty if none was.
std::string left_out_text(const replay_result& result);
// Of a log in which keys come and go: which filters refused keys or could not delete them; empty if none.
std::string refusals_text(const replay_result& result);
// Which rows are rivals that tamis does not have; empty if none is.
std::string rivals_text(const replay_result& result);
// What the saved time and money assume.
std::string costs_text(const replay_result& result);

json replay_json(const replay_result& result);
void print_replay(const replay_result& result, output& out);

}  // namespace tamis::cli
