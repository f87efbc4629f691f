// TAF paper, figures 3 and 4 left: false-positive rate on packet traces. The paper's are not public; three synthetic ones stand
// in for them (lab/experiments/abf_trace.hpp), and a log takes any other.

#include <algorithm>

#include "lab/experiments/abf_trace.hpp"
#include "lab/experiments/taf_common.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

const std::vector<double> paper_ratios = {1, 2, 5, 10, 20, 40};  // unique queries |A| / |S|
const std::vector<double> quick_ratios = {1, 5, 20, 40};

result<table> run(const experiment_options& options) {
  TAMIS_TRY(const std::vector<trace> traces, traces_for(options, options.at<std::size_t>(1, 3)));
  table out({"trace", "a_over_s", "stored"}, taf_columns());
  const std::vector<double>& ratios = options.at(quick_ratios, paper_ratios);
  const std::size_t most_packets = options.at<std::size_t>(1'000'000, 5'000'000);
  for (const trace& from : traces) {
    random_source random = options.random();
    for (const double ratio : ratios) {
      const auto stored = static_cast<std::uint64_t>(static_cast<double>(from.flows.size()) / (1 + ratio));
      const trace_sample sample = sample_flows(from, stored, random.split());
      taf_contenders world(sample.members);
      if (world.refused != 0) return failure{"a filter was full before its capacity"};
      const std::size_t packets = std::min(sample.queries.size(), most_packets);
      for (std::size_t p = 0; p < packets; ++p) world.ask(sample.queries[p]);
      out.add({from.name, ratio, stored}, world.rates());
      options.done(out.rows().size(), traces.size() * ratios.size());
    }
  }
  return out;
}

std::vector<verdict> judge(const table& seen) {
  tally similar("TAF and exAF are similar: within 10 %");
  tally like_acf("they perform similarly to Swapping and to Cyclic with s = 1: within a factor of 1.5");
  tally ahead("Cuckooing has an advantage, as it uses no bits for adapting");
  for (const table::row& r : seen.rows()) {
    const auto apart = [&r](const char* a, const char* b) {
      return std::max(r.value(a) / r.value(b), r.value(b) / r.value(a));
    };
    similar.at_most(r, apart("taf", "exaf"), 1.1);
    for (const char* other : {"acf_swapping", "acf_cyclic_1"}) like_acf.at_most(r, apart("taf", other), 1.5);
    ahead.at_most(r, r.value("acf_cuckooing"), r.value("taf"));
  }
  return {similar.judge(), like_acf.judge(), ahead.judge()};
}

std::vector<chart> draw(const table& seen) {
  chart c{.name = "figures-3-4",
          .title = "Figures 3 and 4 left: false-positive rate on " + traces_named(seen),
          .x = {.label = "A/S: flows asked for per flow stored", .log = true},
          .y = {.label = "false positives, %", .log = true, .factor = 100}};
  for (const std::string& t : distinct(seen.rows(), "trace"))
    c.panels.push_back(taf_panel(t, where(seen.rows(), "trace", t), "a_over_s"));
  return {c};
}

const registered it(
    {.name = "taf-traces",
     .paper = taf_paper,
     .figures = "figures 3 and 4 left",
     .claim = "On packet traces most filters fix equally well, and the rate of first-time queries decides; TAF and exAF are "
              "similar.",
     .parameters = "three synthetic traces of 500,000 flows, at most 5 million packets each (quick: one trace, 1 million "
                   "packets; --log takes a "
                   "real one); A/S = 1 to 40; 8-bit remainders, 11-bit fingerprints; load 0.95.",
     .agrees =
         "taf and exaf are within 10 %, Swapping and Cyclic with s = 1 within a factor of 1.5 of taf, and Cuckooing below it",
     .runs = {2, 10},
     .seconds = {4.5, 55},
     .run = run,
     .judge = judge,
     .draw = draw});

}  // namespace
}  // namespace tamis::lab
