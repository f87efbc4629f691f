// TAF paper, figure 5: throughput of inserts and queries against load, 2^24 slots, on the FireHose active set. Queries are
// answered, and the adaptive filters told of what was wrong, as they would be in use; the time of the remote counts too.

#include <cmath>
#include <ctime>

#include "lab/experiment.hpp"
#include "lab/workload.hpp"
#include "tamis/any_filter.hpp"
#include "tamis/memory_remote.hpp"

namespace tamis::lab {
namespace {

constexpr const char* filters[] = {"rsqf", "taf", "taf/quarters", "exaf", "utaf", "vacuum"};
constexpr double loads[] = {0.5, 0.6, 0.7, 0.8, 0.9, 0.95};

double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

result<any_filter> make(std::string_view name, std::uint64_t slots) {
  const std::string_view id = name.substr(0, name.find('/'));
  filter_params params{.capacity = slots * 95 / 100, .fpr = 0.4, .options = {}};
  params.options.emplace_back(id == "vacuum" ? "fingerprint" : "remainder", id == "vacuum" ? "11" : "8");
  if (id != name) params.options.emplace_back("code", std::string(name.substr(id.size() + 1)));
  return any_filter::create(id, params);
}

// Fills one filter up, load by load, and asks all queries at each of them.
status add_filter(std::string_view name, const experiment_options& options, table& out) {
  const std::uint64_t slots = options.at(std::uint64_t{1} << 20, std::uint64_t{1} << 24);
  const std::uint64_t queries = options.at<std::uint64_t>(2'000'000, 10'000'000);
  TAMIS_TRY(any_filter f, make(name, slots));
  TAMIS_TRY(const auto stream, make_workload("firehose-activeset", {}, options.seed + options.run));
  std::vector<std::uint64_t> ids(queries);
  stream->next(ids);
  std::vector<digest> asked(queries);
  for (std::size_t i = 0; i < queries; ++i) asked[i] = f.hash()(ids[i]);
  memory_remote stored;
  std::uint64_t in = 0;
  for (const double load : loads) {
    const auto target = static_cast<std::uint64_t>(load * static_cast<double>(slots));
    std::vector<digest> more;
    for (; in < target; ++in) more.push_back(f.hash()(stream->outsider(in)));
    for (const digest d : more) stored.insert(d);
    const remote_ref remote(stored);
    double start = seconds();
    for (const digest d : more) {
      if (f.insert(d, remote) == insert_result::full) return failure{std::string(name) + " is full before its capacity"};
    }
    const double insert = static_cast<double>(more.size()) / 1e6 / (seconds() - start);
    start = seconds();
    for (const digest d : asked) {
      if (f.may_contain(d) && f.can().adapt) f.adapt(d, remote);
    }
    out.add({std::string(name), load}, {insert, static_cast<double>(queries) / 1e6 / (seconds() - start)});
    options.done(out.rows().size(), std::size(filters) * std::size(loads));
  }
  return {};
}

result<table> run(const experiment_options& options) {
  table out({"filter", "load"}, {"insert_mops", "query_mops"}, summary::median);
  for (const char* name : filters) TAMIS_CHECK(add_filter(name, options, out));
  return out;
}

// The geometric mean over the loads of how fast one filter is beside another.
double beside(const table& seen, std::string_view filter, std::string_view other, std::string_view column) {
  double logs = 0;
  const row_list rows = where(seen.rows(), "filter", filter);
  for (const table::row& r : rows) {
    logs += std::log(r.value(column) / row_of(where(seen.rows(), "filter", other), "load", r.text("load")).value(column));
  }
  return std::exp(logs / static_cast<double>(rows.size()));
}

std::vector<verdict> judge(const table& seen) {
  const auto ratio = [&seen](std::string_view filter, std::string_view other, std::string_view column, double least,
                             std::string claim) {
    const double r = beside(seen, filter, other, column);
    return decide(r >= least, std::move(claim),
                  std::string(filter) + " has " + brief(r) + " times the speed of " + std::string(other) +
                      ", geometric mean over the loads");
  };
  const double queries = beside(seen, "taf", "rsqf", "query_mops");
  return {ratio("taf", "rsqf", "insert_mops", 0.5, "TAF inserts are like the others': at least half as fast as the RSQF's"),
          decide(queries < 1, "TAF queries lag behind the RSQF's", brief(queries) + " times their speed"),
          ratio("taf", "rsqf", "query_mops", 1 / 1.5,
                "decoding stops short of dominating: queries are within 1.5 times of the RSQF's"),
          ratio("exaf", "taf", "query_mops", 1, "exAF queries are faster than the TAF's"),
          ratio("utaf", "taf", "query_mops", 1, "uTAF queries are faster than the TAF's")};
}

std::vector<chart> draw(const table& seen) {
  chart c{.name = "figure-5",
          .title = "Figure 5: throughput on the FireHose active set",
          .x = {.label = "load", .low = 0.5},
          .y = {.label = "million operations a second", .low = 0.0}};
  for (const char* column : {"insert_mops", "query_mops"}) {
    panel p{column == std::string_view("insert_mops") ? "inserts" : "queries, with adapting", {}};
    for (const char* name : filters) {
      const std::string_view id = name;
      p.lines.push_back({id == "taf/quarters" ? "taf, quarter blocks" : name, id == "taf/quarters" ? "taf/2" : name, mark::line,
                         points_of(where(seen.rows(), "filter", name), "load", column)});
    }
    c.panels.push_back(std::move(p));
  }
  return {c};
}

const registered it(
    {.name = "taf-throughput",
     .paper = "Telescoping filter",
     .figures = "figure 5",
     .claim = "TAF inserts are like the others'; its queries lag behind; exAF and uTAF queries are faster than TAF's.",
     .parameters = "2^24 slots (quick: 2^20), 10 million queries (quick: 2 million) of the FireHose active set at loads from "
                   "0.5 to 0.95; the "
                   "remote set lies in memory.",
     .agrees = "exaf and utaf queries are not slower than taf's, and taf's are within 1.5 times of rsqf's",
     .runs = {3, 10},
     .seconds = {5, 100},
     .timed = true,
     .run = run,
     .judge = judge,
     .draw = draw});

}  // namespace
}  // namespace tamis::lab
