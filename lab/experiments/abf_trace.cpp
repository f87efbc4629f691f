#include "lab/experiments/abf_trace.hpp"

#include <algorithm>
#include <fstream>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>

#include "lab/workload.hpp"
#include "readers/key_input.hpp"
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

class file_bytes final : public readers::input {
 public:
  explicit file_bytes(const std::string& path) : file_(path, std::ios::binary) {}

  result<std::size_t> read(std::span<char> room) override {
    if (!file_.is_open() || file_.bad()) return failure{"cannot be read"};
    file_.read(room.data(), static_cast<std::streamsize>(room.size()));
    return static_cast<std::size_t>(file_.gcount());
  }

 private:
  std::ifstream file_;
};

// Calls use(line) for every line of a file, which may be compressed or a capture of packets.
template <class Use>
status for_each_line(const std::string& path, Use use) {
  readers::key_input keys(std::make_unique<file_bytes>(path), '\n');
  std::vector<char> room(std::size_t{1} << 20);
  std::string begun;  // a line whose end has not been read yet
  while (true) {
    const result<std::size_t> got = keys.read(room);
    if (!got) return failure{path + ": " + got.message()};
    if (*got == 0) break;
    std::string_view left(room.data(), *got);
    for (std::size_t end; (end = left.find('\n')) != std::string_view::npos; left.remove_prefix(end + 1)) {
      begun += left.substr(0, end);
      use(begun);
      begun.clear();
    }
    begun += left;
  }
  if (!begun.empty()) use(begun);
  return {};
}

result<trace> from_log(const std::string& path, std::uint64_t seed) {
  trace made{path.substr(path.rfind('/') + 1), {}, {}};
  std::unordered_map<std::string, std::uint32_t> numbers;
  const hasher hash = hasher::fast(seed);
  TAMIS_CHECK(for_each_line(path, [&](const std::string& line) {
    const auto [place, is_new] = numbers.try_emplace(line, static_cast<std::uint32_t>(numbers.size()));
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
