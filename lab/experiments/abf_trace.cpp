#include "lab/experiments/abf_trace.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "lab/key_file.hpp"
#include "lab/workload.hpp"
#include "tamis/hasher.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

constexpr std::string_view synthetic_name = "pareto-";  // and alpha
constexpr std::uint64_t synthetic_flows = 500000;
constexpr std::size_t fewest_flows = 1000;  // in a log

result<trace> synthetic(const std::string& alpha, std::uint64_t seed) {
  const std::pair<std::string, std::string> options[] = {{"flows", std::to_string(synthetic_flows)}, {"alpha", alpha}};
  TAMIS_TRY(const auto stream, make_workload("packets", options, seed));
  trace made{std::string(synthetic_name) + alpha, {}, {}};
  std::vector<std::uint64_t> ids(4096);
  while (const std::size_t count = stream->next(ids)) {
    for (std::size_t i = 0; i < count; ++i) made.packets.push_back(static_cast<std::uint32_t>(ids[i]));
  }
  const hasher hash = hasher::fast(seed);
  for (std::uint64_t id = 0; id < synthetic_flows; ++id) made.flows.push_back(hash(id));
  return made;
}

result<trace> from_log(const std::string& path, std::uint64_t seed) {
  trace made{path.substr(path.rfind('/') + 1), {}, {}};
  std::unordered_map<std::string, std::uint32_t> numbers;
  const hasher hash = hasher::fast(seed);
  TAMIS_CHECK(for_each_line(path, [&](std::string_view line) {
    const auto [place, is_new] = numbers.try_emplace(std::string(line), static_cast<std::uint32_t>(numbers.size()));
    if (is_new) made.flows.push_back(hash(line));
    made.packets.push_back(place->second);
  }));
  if (made.flows.size() < fewest_flows) {
    return failure{path + ": has " + std::to_string(made.flows.size()) +
                   " different keys, too few for an experiment: " + std::to_string(fewest_flows) + " are needed"};
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

bool is_synthetic(const table& seen) {
  const auto by_us = [](const auto& r) { return r.text("trace").starts_with(synthetic_name); };
  return std::ranges::all_of(seen.rows(), by_us);
}
std::string traces_named(const table& seen) { return is_synthetic(seen) ? "synthetic packet traces" : "a given trace"; }

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
