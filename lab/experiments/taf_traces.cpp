// TAF paper, figures 3 and 4 left: false-positive rate on packet traces. The paper's are not public; three synthetic ones stand
// in for them (lab/experiments/abf_trace.hpp), and log=FILE takes any other.

#include "lab/experiments/abf_trace.hpp"
#include "lab/experiments/taf_common.hpp"

namespace tamis::lab {
namespace {

constexpr double ratios[] = {1, 2, 5, 10, 20, 40};  // unique queries |A| / |S|
constexpr std::size_t most_packets = 5'000'000;

status run(const experiment_options& options, std::ostream& csv) {
  TAMIS_TRY(const std::vector<trace> traces, traces_for(options));
  csv << "trace,a_over_s,stored," << taf_contenders::names << '\n';
  for (const trace& from : traces) {
    for (const double ratio : ratios) {
      const auto stored = static_cast<std::uint64_t>(static_cast<double>(from.flows.size()) / (1 + ratio));
      taf_rates sums;
      random_source random(options.seed);
      for (unsigned i = 0; i < options.runs; ++i) {
        const trace_sample sample = sample_flows(from, stored, random.split());
        taf_contenders world(sample.members);
        if (world.refused != 0) return error{"a filter was full before its capacity"};
        const std::size_t packets = std::min(sample.queries.size(), most_packets);
        for (std::size_t p = 0; p < packets; ++p) world.ask(sample.queries[p]);
        sums.add(world);
      }
      csv << from.name << ',' << ratio << ',' << stored;
      sums.write(csv, options.runs);
    }
  }
  return {};
}

}  // namespace

extern const experiment taf_traces{
    "taf-traces", "Telescoping filter, figures 3 and 4 left",
    "On packet traces most filters fix equally well, and the rate of first-time queries decides; TAF and exAF are similar.",
    "taf, utaf and exaf are within 1.5 times of each other up to A/S = 10", run};

}  // namespace tamis::lab
