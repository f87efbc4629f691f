// ABF paper, figure 10: adapting only to every fifth false positive (d = 5) on the first trace; otherwise as figures 7 to 9.

#include "lab/experiments/abf_filters.hpp"
#include "lab/experiments/abf_trace.hpp"

namespace tamis::lab {
namespace {

struct column {
  unsigned sets;
  unsigned decimate;
};
constexpr column columns[] = {{2, 1}, {2, 5}, {4, 1}, {4, 5}, {8, 1}, {8, 5}};
constexpr unsigned most_k = 6;

// Sums over the runs for one k.
struct row {
  double plain = 0.0;
  double adaptive[std::size(columns)] = {};

  void add(const trace_sample& sample, std::uint64_t n, unsigned k) {
    plain += rate_on<never_adapts>(plain_filter(n, k), sample);
    for (std::size_t i = 0; i < std::size(columns); ++i) {
      adaptive[i] += rate_on<adapts>(adaptive_filter(n, k, columns[i].sets, abf_switch::blind, columns[i].decimate), sample);
    }
  }
};

void run_one(const trace& from, std::uint64_t n, const experiment_options& options, std::ostream& csv) {
  row rows[most_k + 1];
  random_source random(options.seed);
  for (unsigned run = 0; run < options.runs; ++run) {
    const trace_sample sample = sample_flows(from, n * abf_words, random.split());
    for (unsigned k = 1; k <= most_k; ++k) rows[k].add(sample, n, k);
  }
  for (unsigned k = 1; k <= most_k; ++k) {
    csv << n << ',' << k << ',' << rows[k].plain / options.runs;
    for (const double sum : rows[k].adaptive) csv << ',' << sum / options.runs;
    csv << std::endl;
  }
}

status run(const experiment_options& options, std::ostream& csv) {
  TAMIS_TRY(const std::vector<trace> traces, traces_for(options));
  csv << "keys_per_word,k,bloom1";
  for (const column c : columns) csv << ",S" << c.sets << "_d" << c.decimate;
  csv << "\n";
  for (const std::uint64_t n : {8u, 12u, 16u}) {
    if (n * abf_words < traces[0].flows.size()) run_one(traces[0], n, options, csv);
  }
  return {};
}

}  // namespace

extern const experiment abf_decimation{"abf-decimation", "Adaptive one memory access Bloom filters, figure 10",
                                       "With d = 5 the rate rises, but stays well below that of bloom1.",
                                       "at the best k every rate with d = 5 lies between that with d = 1 and that of bloom1",
                                       run};

}  // namespace tamis::lab
