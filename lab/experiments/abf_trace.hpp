#pragma once

// Packet traces for the ABF experiments. The paper's (CAIDA 2014) are not public: three synthetic ones with flow sizes of
// different skew stand in for them, and any log with one key per line, compressed or not, and any capture can be used instead.

#include <string>
#include <vector>

#include "lab/experiment.hpp"
#include "tamis/detail/base/random.hpp"
#include "tamis/digest.hpp"

namespace tamis::lab {

struct trace {
  std::string name;
  std::vector<std::uint32_t> packets;  // flow numbers
  std::vector<digest> flows;           // the digest of each flow
};

// The log that the options name, or the three synthetic traces (the first `most` of them).
result<std::vector<trace>> traces_for(const experiment_options& options, std::size_t most = 3);

// What a table with a column "trace" was made of: "synthetic packet traces", or "a given trace".
bool is_synthetic(const table& seen);
std::string traces_named(const table& seen);

// N flows, chosen at random, are stored; the packets of all others are asked for.
struct trace_sample {
  std::vector<digest> members;
  std::vector<digest> queries;
};
// Requires: members < flows.
trace_sample sample_flows(const trace& from, std::uint64_t members, detail::random_source random);

}  // namespace tamis::lab
