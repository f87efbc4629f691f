#include "lab/experiments/abf_trace.hpp"

#include <fstream>
#include <unordered_map>

#include "lab/workload.hpp"
#include "tamis/hash/hasher.hpp"

namespace tamis::lab {
namespace {

constexpr std::uint64_t synthetic_flows = 500000;

result<trace> synthetic(const std::string& alpha, std::uint64_t seed) {
  const std::pair<std::string, std::string> options[] = {{"flows", std::to_string(synthetic_flows)}, {"alpha", alpha}};
  TAMIS_TRY(const auto stream, make_workload("packets", options, seed));
  trace made{"pareto-" + alpha, {}, {}};
  std::vector<std::uint64_t> ids(4096);
  while (const std::size_t count = stream->next(ids)) {
    for (std::size_t i = 0; i < count; ++i) made.packets.push_back(static_cast<std::uint32_t>(ids[i]));
  }
  const hasher hash = hasher::fast(seed);
  for (std::uint64_t id = 0; id < synthetic_flows; ++id) made.flows.push_back(hash(id));
  return made;
}

result<trace> from_log(const std::string& path, std::uint64_t seed) {
  std::ifstream in(path);
  if (!in) return error{path + ": cannot be read"};
  trace made{path.substr(path.rfind('/') + 1), {}, {}};
  std::unordered_map<std::string, std::uint32_t> numbers;
  const hasher hash = hasher::fast(seed);
  for (std::string line; std::getline(in, line);) {
    const auto [place, is_new] = numbers.try_emplace(line, static_cast<std::uint32_t>(numbers.size()));
    if (is_new) made.flows.push_back(hash(line));
    made.packets.push_back(place->second);
  }
  return made;
}

}  // namespace

result<std::vector<trace>> traces_for(const experiment_options& options, std::size_t most) {
  std::vector<trace> made;
  if (!options.log.empty()) {
    TAMIS_TRY(trace log, from_log(options.log, options.seed));
    made.push_back(std::move(log));
    return made;
  }
  for (const char* alpha : {"1.2", "1.1", "1.0"}) {
    if (made.size() == most) break;
    TAMIS_TRY(trace one, synthetic(alpha, options.seed));
    made.push_back(std::move(one));
  }
  return made;
}

trace_sample sample_flows(const trace& from, std::uint64_t members, random_source random) {
  std::vector<bool> is_member(from.flows.size());
  trace_sample sample;
  while (sample.members.size() < members) {
    const std::uint64_t flow = random.below(from.flows.size());
    if (is_member[flow]) continue;
    is_member[flow] = true;
    sample.members.push_back(from.flows[flow]);
  }
  for (const std::uint32_t flow : from.packets) {
    if (!is_member[flow]) sample.queries.push_back(from.flows[flow]);
  }
  return sample;
}

}  // namespace tamis::lab
