// TAF paper, figure 5: throughput of inserts and queries against load, 2^24 slots, on the FireHose active set. Queries are
// answered, and the adaptive filters told of what was wrong, as they would be in use; the time of the remote counts too.

#include <ctime>

#include "lab/experiment.hpp"
#include "lab/workload.hpp"
#include "tamis/any/any_filter.hpp"
#include "tamis/remote/memory_remote.hpp"

namespace tamis::lab {
namespace {

constexpr const char* filters[] = {"rsqf", "taf", "taf/quarters", "exaf", "utaf", "vacuum"};
constexpr double loads[] = {0.5, 0.6, 0.7, 0.8, 0.9, 0.95};
constexpr std::uint64_t slots = std::uint64_t{1} << 24;
constexpr std::uint64_t queries = 10'000'000;

double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

result<any_filter> make(std::string_view name) {
  const std::string_view id = name.substr(0, name.find('/'));
  filter_params params{.capacity = slots * 95 / 100, .fpr = 0.4, .options = {}};
  params.options.emplace_back(id == "vacuum" ? "fingerprint" : "remainder", id == "vacuum" ? "11" : "8");
  if (id != name) params.options.emplace_back("code", std::string(name.substr(id.size() + 1)));
  return any_filter::create(id, params);
}

struct speeds {
  double insert[std::size(loads)] = {};
  double query[std::size(loads)] = {};
};

// Fills one filter up, load by load, and asks all queries at each of them.
status add_run(std::string_view name, const experiment_options& options, speeds& sum) {
  TAMIS_TRY(any_filter f, make(name));
  TAMIS_TRY(const auto stream, make_workload("firehose-activeset", {}, options.seed));
  std::vector<std::uint64_t> ids(queries);
  stream->next(ids);
  std::vector<digest> asked(queries);
  for (std::size_t i = 0; i < queries; ++i) asked[i] = f.hash()(ids[i]);
  memory_remote stored;
  std::uint64_t in = 0;
  for (std::size_t l = 0; l < std::size(loads); ++l) {
    const auto target = static_cast<std::uint64_t>(loads[l] * static_cast<double>(slots));
    std::vector<digest> more;
    for (; in < target; ++in) more.push_back(f.hash()(stream->outsider(in)));
    for (const digest d : more) stored.insert(d);
    const remote_ref remote(stored);
    double start = seconds();
    for (const digest d : more) {
      if (f.insert(d, remote) == insert_result::full) return error{std::string(name) + " is full before its capacity"};
    }
    sum.insert[l] += static_cast<double>(more.size()) / 1e6 / (seconds() - start);
    start = seconds();
    for (const digest d : asked) {
      if (f.contains(d) && f.can().adapt) f.adapt(d, remote);
    }
    sum.query[l] += static_cast<double>(queries) / 1e6 / (seconds() - start);
  }
  return {};
}

status run(const experiment_options& options, std::ostream& csv) {
  csv << "filter,load,insert_mops,query_mops\n";
  speeds sums[std::size(filters)];
  for (unsigned i = 0; i < options.runs; ++i) {
    for (std::size_t f = 0; f < std::size(filters); ++f) TAMIS_CHECK(add_run(filters[f], options, sums[f]));
  }
  for (std::size_t f = 0; f < std::size(filters); ++f) {
    for (std::size_t l = 0; l < std::size(loads); ++l) {
      csv << filters[f] << ',' << loads[l] << ',' << sums[f].insert[l] / options.runs << ',' << sums[f].query[l] / options.runs
          << '\n';
    }
  }
  return {};
}

}  // namespace

extern const experiment taf_throughput{
    "taf-throughput", "Telescoping filter, figure 5",
    "TAF inserts are like the others'; its queries lag behind; exAF and uTAF queries are faster than TAF's.",
    "exaf and utaf queries are not slower than taf's, and taf's are within 1.5 times of rsqf's", run};

}  // namespace tamis::lab
