#pragma once

// Measures the entrants of a group in turns, so that a slow moment of the machine hits all of them: fills and drains in
// eighths, lookups in rounds with other keys each time, churn in turns of 512 keys. Thread processor time, less what the clock
// takes. Correctness first: a member that is lost, a key that does not go in or a rate that cannot be chance ends the run.

#include <map>
#include <string>
#include <vector>

#include "benchmarks/peers/groups.hpp"

namespace tamis::benchmarks {

struct contest_options {
  std::uint64_t slots = std::uint64_t{1} << 20;
  unsigned fills = 3;
  unsigned rounds = 27;  // of lookups, spread over the fills
};

inline constexpr const char* operations[] = {"insert", "negative", "positive", "drain", "churn erase", "churn insert"};

struct standing {
  std::map<std::string, double> ns;  // medians, of operations that there are
  double bits_per_key = 0;
  double fpr = 0;
  std::uint64_t failures = 0;  // erases and, in churn, inserts, of filters that may fail
};

// As the entrants.
std::vector<standing> run_contest(const group& g, const contest_options& options);

}  // namespace tamis::benchmarks
