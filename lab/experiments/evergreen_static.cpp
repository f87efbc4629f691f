// evergreen against the other adaptive filters where nothing grows: false positives on skewed streams, all filters in the same
// space. The stored set holds keys that the stream never sends.

#include <unordered_set>

#include "lab/experiments/abf_trace.hpp"
#include "lab/experiments/evergreen_common.hpp"
#include "lab/workload.hpp"
#include "tamis/hash/hasher.hpp"

namespace tamis::lab {
namespace {

constexpr double ratios[] = {1, 5, 20, 80};  // unique queries per stored key
constexpr std::size_t queries = 10'000'000;
constexpr std::size_t least_stored = 2000;  // below, what a filter needs besides its slots would decide

const std::vector<contestant>& contestants() {
  static const std::vector<contestant> all = {{"evergreen", "evergreen", {{"fingerprint", "8"}}},
                                              {"taf", "taf"},
                                              {"exaf", "exaf"},
                                              {"abf", "abf"},
                                              {"acf_cuckooing", "acf-cuckooing"},
                                              {"acf_cyclic", "acf-cyclic"},
                                              {"acf_swapping", "acf-swapping"},
                                              {"rsqf", "rsqf"}};
  return all;
}

status race(std::string_view stream, double ratio, const std::vector<digest>& members, std::span<const digest> asked,
            std::ostream& csv) {
  memory_remote stored;
  TAMIS_TRY(std::vector<contest_filter> all, contest(contestants(), members.size()));
  for (const digest d : members) {
    stored.insert(d);
    for (contest_filter& f : all) {
      if (!f.insert(d, stored)) return error{f.name() + " was full before its capacity"};
    }
  }
  for (contest_filter& f : all) {
    const double bits = f.bits_per_key();
    for (const digest d : asked) f.ask(d, stored);
    csv << stream << ',' << ratio << ',' << members.size() << ',' << f.name() << ',' << bits << ',' << f.bits_per_key() << ','
        << f.take_rate() << std::endl;
  }
  return {};
}

status run_firehose(std::string_view stream, const experiment_options& options, std::ostream& csv) {
  const hasher hash;
  TAMIS_TRY(const auto source, make_workload(stream, {}, options.seed));
  std::vector<std::uint64_t> ids(queries);
  ids.resize(source->next(ids));
  const std::size_t distinct = std::unordered_set<std::uint64_t>(ids.begin(), ids.end()).size();
  std::vector<digest> asked;
  asked.reserve(ids.size());
  for (const std::uint64_t id : ids) asked.push_back(hash(id));
  for (const double ratio : ratios) {
    std::vector<digest> members(static_cast<std::size_t>(static_cast<double>(distinct) / ratio));
    if (members.size() < least_stored) continue;
    for (std::size_t i = 0; i < members.size(); ++i) members[i] = hash(source->outsider(i));
    TAMIS_CHECK(race(stream, ratio, members, asked, csv));
  }
  return {};
}

status run(const experiment_options& options, std::ostream& csv) {
  csv << "stream,a_over_s,stored,filter,bits_before,bits_after,rate\n";
  for (const std::string_view stream : {"firehose-activeset", "firehose-powerlaw"}) {
    TAMIS_CHECK(run_firehose(stream, options, csv));
  }
  TAMIS_TRY(const std::vector<trace> traces, traces_for(options));
  const trace& flows = traces.front();
  for (const double ratio : ratios) {
    const auto stored = static_cast<std::uint64_t>(static_cast<double>(flows.flows.size()) / (1 + ratio));
    const trace_sample sample = sample_flows(flows, stored, random_source(options.seed));
    const auto asked = std::span(sample.queries).first(std::min(sample.queries.size(), queries));
    TAMIS_CHECK(race(flows.name, ratio, sample.members, asked, csv));
  }
  return {};
}

}  // namespace

extern const experiment evergreen_static{
    "evergreen-static", "evergreen, skewed queries",
    "Where nothing grows, evergreen has at most twice the false positives of taf on skewed streams, and they do not rise.",
    "evergreen is within 2 times of taf and exaf up to A/S = 20, and ahead of them at 80 on the active set", run};

}  // namespace tamis::lab
