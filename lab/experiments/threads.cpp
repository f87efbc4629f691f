// Filters that many threads share: what readers alone, readers beside one writer, and writers do together, for one thread to
// twice as many as there are cores; and how long single lookups take while another thread makes a filter grow. Each beside one
// shared_mutex around the same filter, and the second beside a loop that only reads the clock.

#include <algorithm>
#include <span>
#include <thread>

#include "lab/experiment.hpp"
#include "lab/thread_measure.hpp"

namespace tamis::lab {

namespace {

constexpr const char* whose = "Comparisons (our own)";
constexpr double asked_rate = 0.01;
constexpr double wanted_of_two = 1.9;  // of one thread's throughput
constexpr double slowest_tail_ns = 50'000;
constexpr const char* shared_filters[] = {"bloom1", "evergreen", "cuckoo", "taf"};
constexpr const char* growing_filters[] = {"evergreen", "infini", "chain-geometric"};

// At the quick scale the first ones.
std::vector<contender> contenders_of(std::span<const char* const> ids, std::size_t many, std::uint64_t keys) {
  std::vector<contender> all;
  for (const char* id : ids.first(many)) all.push_back({id, {.capacity = keys, .fpr = asked_rate}});
  return all;
}

double per_second(const std::optional<rate>& of) { return of ? of->per_second : 0; }

// ── throughput ──

result<table> run(const experiment_options& options) {
  table out({"filter", "shared_by", "threads"},
            {"lookups", "lookups_many", "inserts", "lookups_beside", "inserts_beside", "cores"}, summary::median);
  const std::uint64_t keys = options.at(std::uint64_t{1} << 12, std::uint64_t{1} << 22);
  const thread_options how{.keys = keys,
                           .queries = options.at(std::size_t{1} << 15, std::size_t{1} << 24),
                           .threads = 2 * std::max(1u, std::thread::hardware_concurrency()),
                           .repeats = options.at(1u, 3u),
                           .seed = options.random()(),
                           .seconds_beside = options.at(0.25, 10.0),
                           .progress = options.told};
  TAMIS_TRY(const thread_report report,
            bench_threads(contenders_of(shared_filters, options.at(std::size_t{2}, std::size(shared_filters)), keys), how));
  for (const thread_row& row : report.rows) {
    out.add({row.id, to_string(row.how), row.threads},
            {row.lookups.per_second, row.lookups_many.per_second, per_second(row.inserts), per_second(row.beside_lookups),
             per_second(row.beside_insert), row.lookups.cores});
  }
  return out;
}

row_list shared_rows(const table& seen, std::string_view filter, sharing how) {
  return where(where(seen.rows(), "filter", filter), "shared_by", to_string(how));
}

std::vector<verdict> judge(const table& seen) {
  const std::string of_two = "two readers of a concurrent_filter do at least 1.9 times what one does";
  tally two(of_two);
  tally lock("at twice as many threads as cores, readers of a concurrent_filter do more than behind one shared_mutex");
  tally beside("and so do readers beside one writer");
  double fewest_cores = 2;
  for (const std::string& filter : distinct(seen.rows(), "filter")) {
    const row_list ours = shared_rows(seen, filter, sharing::concurrent);
    const row_list behind = shared_rows(seen, filter, sharing::shared_mutex);
    const table::row one = row_of(ours, "threads", "1");
    const table::row both = row_of(ours, "threads", "2");
    fewest_cores = std::min(fewest_cores, both.value("cores"));
    two.at_least(filter, both.value("lookups") / one.value("lookups"), wanted_of_two);
    lock.at_least(filter, ours.back().value("lookups") / behind.back().value("lookups"), 1);
    beside.at_least(filter, ours.back().value("lookups_beside") / behind.back().value("lookups_beside"), 1);
  }
  const bool had_two = fewest_cores >= wanted_of_two;
  return {
      had_two ? two.judge() : untested(of_two, "the two readers had " + brief(fewest_cores) + " cores: the machine was busy"),
      lock.judge(), beside.judge()};
}

struct way {
  sharing how;
  const char* label;
  const char* colour;
};
constexpr way ways[] = {{sharing::nothing, "bare", "grey"},
                        {sharing::shared_mutex, "one shared_mutex", "three"},
                        {sharing::concurrent, "concurrent_filter", "one"}};

chart chart_of(const table& seen, const char* name, const char* title, std::string_view column) {
  chart c{.name = name,
          .title = title,
          .x = {.label = "threads"},
          .y = {.label = "millions a second, of all threads", .factor = 1e-6, .low = 0},
          .note = "The bare filter has many readers or one writer, never both."};
  for (const std::string& filter : distinct(seen.rows(), "filter")) {
    panel p{filter, {}};
    for (const way& w : ways) {
      line drawn{w.label, w.colour, mark::line, {}};
      for (const table::row& r : shared_rows(seen, filter, w.how)) {
        if (r.value(column) > 0) drawn.points.push_back({r.number("threads"), r.value(column)});
      }
      if (!drawn.points.empty()) p.lines.push_back(std::move(drawn));
    }
    c.panels.push_back(std::move(p));
  }
  return c;
}

std::vector<chart> draw(const table& seen) {
  return {chart_of(seen, "readers", "Lookups of readers alone", "lookups"),
          chart_of(seen, "beside", "Lookups of all threads but one, which inserts", "lookups_beside"),
          chart_of(seen, "writers", "Inserts of writers alone", "inserts")};
}

std::vector<page_table> tabulate(const table& seen) {
  page_table t{"Millions a second of all threads together",
               {"filter", "shared by", "threads", "lookups", "lookups, batched", "inserts", "lookups beside a writer",
                "inserts beside readers", "cores had"},
               {}};
  for (const table::row& r : seen.rows()) {
    std::vector<std::string> cells = {r.text("filter"), r.text("shared_by"), r.text("threads")};
    for (const char* column : {"lookups", "lookups_many", "inserts", "lookups_beside", "inserts_beside"})
      cells.push_back(r.value(column) > 0 ? brief(r.value(column) / 1e6) : "-");
    cells.push_back(brief(r.value("cores")));
    t.rows.push_back(std::move(cells));
  }
  return {t};
}

const registered throughput(
    {.name = "threads",
     .paper = whose,
     .figures = "throughput of threads that share a filter",
     .claim = "Readers of a concurrent_filter do not slow each other down, and a writer beside them hardly does.",
     .parameters = "Four filters (quick: two) with 2^22 keys (quick: 2^12) at a rate of 0.01; 1, 2, 4 … threads, up to two for "
                   "each core; single lookups of "
                   "absent keys, inserts into an empty filter, and both at once with one writer. The median of three "
                   "repeats (quick: one). Cores had: processor time of the lookups over the time they took. Needs a quiet "
                   "machine.",
     .agrees = "two readers at least 1.9 times one, if they had two cores; more than behind one shared_mutex at twice as many "
               "threads as cores, with and without a writer",
     .runs = {1, 1},
     .seconds = {2, 240},
     .timed = true,
     .run = run,
     .judge = judge,
     .draw = draw,
     .tabulate = tabulate});

// ── tails ──

constexpr std::pair<const char*, double tail::*> percentiles[] = {{"median", &tail::median},
                                                                  {"percent_99", &tail::percent_99},
                                                                  {"percent_99_9", &tail::percent_99_9},
                                                                  {"percent_99_99", &tail::percent_99_99},
                                                                  {"longest", &tail::longest}};

result<table> run_tails(const experiment_options& options) {
  table out({"filter", "shared_by", "what"}, {"median", "percent_99", "percent_99_9", "percent_99_99", "longest", "lookups"},
            summary::median);
  const thread_options how{.keys = options.at(std::uint64_t{1} << 14, std::uint64_t{1} << 22),
                           .queries = std::size_t{1} << 12,  // the rates are not looked at
                           .threads = 2,
                           .repeats = 1,
                           .seed = options.random()(),
                           .seconds_beside = options.at(0.25, 10.0),
                           .progress = options.told};
  TAMIS_TRY(
      const thread_report report,
      bench_threads(contenders_of(growing_filters, options.at(std::size_t{1}, std::size(growing_filters)), how.keys), how));
  for (const tail_row& row : report.tails) {
    for (const auto& [what, measured] : {std::pair{"lookup", &row.lookup}, std::pair{"clock", &row.clock}}) {
      std::vector<double> values;
      for (const auto& [name, of] : percentiles) values.push_back(measured->*of);
      values.push_back(static_cast<double>(row.lookups));
      out.add({row.id, to_string(row.how), what}, values);
    }
  }
  return out;
}

std::vector<verdict> judge_tails(const table& seen) {
  const std::string claim =
      "99.99 % of lookups in a concurrent_filter that grows take at most 50 µs, where the clock alone does";
  tally short_enough(claim);
  std::string unfit;
  for (const std::string& filter : distinct(seen.rows(), "filter")) {
    const row_list rows = shared_rows(seen, filter, sharing::concurrent);
    const table::row clock = row_of(rows, "what", "clock");
    if (clock.value("lookups") < 10'000 || clock.value("percent_99_99") > slowest_tail_ns) {
      unfit += (unfit.empty() ? "" : ", ") + filter;
    } else {
      short_enough.at_most(filter, row_of(rows, "what", "lookup").value("percent_99_99"), slowest_tail_ns);
    }
  }
  if (!unfit.empty()) return {untested(claim, "too few lookups, or the clock alone took longer: " + unfit)};
  return {short_enough.judge()};
}

std::vector<chart> draw_tails(const table& seen) {
  chart c{.name = "tails",
          .title = "How long a lookup takes while another thread makes the filter grow",
          .x = {.label = "", .names = {"median", "99 %", "99.9 %", "99.99 %", "longest"}},
          .y = {.label = "microseconds", .log = true, .factor = 1e-3},
          .note = "Two readings of the clock included. Grey: the same loop without a lookup."};
  for (const std::string& filter : distinct(seen.rows(), "filter")) {
    panel p{filter, {}};
    const auto add = [&](const char* label, const char* colour, sharing how, const char* what) {
      line drawn{label, colour, mark::line, {}};
      const table::row r = row_of(shared_rows(seen, filter, how), "what", what);
      for (const auto& [name, of] : percentiles)
        drawn.points.push_back({static_cast<double>(drawn.points.size() + 1), r.value(name)});
      p.lines.push_back(std::move(drawn));
    };
    add("one shared_mutex", "three", sharing::shared_mutex, "lookup");
    add("concurrent_filter", "one", sharing::concurrent, "lookup");
    add("only the clock", "grey", sharing::concurrent, "clock");
    c.panels.push_back(std::move(p));
  }
  return {c};
}

std::vector<page_table> tabulate_tails(const table& seen) {
  page_table t{"Microseconds, two readings of the clock included",
               {"filter", "shared by", "measured", "lookups", "median", "99 %", "99.9 %", "99.99 %", "longest"},
               {}};
  for (const table::row& r : seen.rows()) {
    std::vector<std::string> cells = {r.text("filter"), r.text("shared_by"), r.text("what"), brief(r.value("lookups"))};
    for (const auto& [name, of] : percentiles) cells.push_back(brief(r.value(name) / 1e3));
    t.rows.push_back(std::move(cells));
  }
  return {t};
}

const registered waiting({.name = "threads-tails",
                          .paper = whose,
                          .figures = "tail latencies of lookups while a filter grows",
                          .claim = "Nobody who looks up in a concurrent_filter waits for its growth.",
                          .parameters = "Three filters (quick: one). One thread inserts 2^22 keys (quick: 2^14) into one made "
                                        "for 1,000, another looks up and reads the "
                                        "clock before and after; in the same loop the clock alone. Needs two free cores.",
                          .agrees = "the 99.99th percentile of each filter at most 50 µs, where that of the clock alone is",
                          .runs = {1, 3},
                          .seconds = {2, 60},
                          .timed = true,
                          .run = run_tails,
                          .judge = judge_tails,
                          .draw = draw_tails,
                          .tabulate = tabulate_tails});

}  // namespace
}  // namespace tamis::lab
