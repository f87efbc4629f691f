// ABF paper, figures 7 to 9 and table II: false-positive rate on packet traces.
//
// N = 8M, 12M, 16M random flows are stored in M = 1024 words of 64 bits (8, 5.3 and 4 bits per key) and every packet of the
// other flows is looked up; k = 1 … 6, S = 2, 4, 8, against bloom1 with the same fast memory. The paper's figures come from the
// blind switch; Algorithm 3 stands beside it.

#include <algorithm>
#include <array>

#include "lab/experiments/abf_filters.hpp"
#include "lab/experiments/abf_trace.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

constexpr unsigned set_counts[] = {2, 4, 8};
constexpr unsigned most_k = 6;
constexpr unsigned loads[] = {8, 12, 16};  // N / M

std::vector<double> rates(const trace_sample& sample, std::uint64_t n, unsigned k) {
  std::vector<double> all{after(plain_filter(n, k), sample).rate()};
  for (const abf_switch how : {abf_switch::blind, abf_switch::checked}) {
    for (const unsigned sets : set_counts) all.push_back(after(adaptive_filter(n, k, sets, how), sample).rate());
  }
  return all;
}

result<table> run(const experiment_options& options) {
  TAMIS_TRY(const std::vector<trace> traces, traces_for(options));
  table out({"trace", "keys_per_word", "k"},
            {"bloom1", "blind_2", "blind_4", "blind_8", "checked_2", "checked_4", "checked_8"});
  std::uint64_t done = 0;
  for (const trace& from : traces) {
    random_source random = options.random();
    for (const std::uint64_t n : loads) {
      if (n * abf_words >= from.flows.size()) continue;
      const trace_sample sample = sample_flows(from, n * abf_words, random.split());
      for (unsigned k = 1; k <= most_k; ++k) {
        out.add({from.name, n, k}, rates(sample, n, k));
        options.done(++done, traces.size() * std::size(loads) * most_k);
      }
    }
  }
  return out;
}

// The lowest rate over k, as table II has it.
table::row best_row(const row_list& rows, std::string_view column) {
  return *std::min_element(rows.begin(), rows.end(),
                           [&](const auto& a, const auto& b) { return a.value(column) < b.value(column); });
}
double best(const row_list& rows, std::string_view column) { return best_row(rows, column).value(column); }

// Table II of the paper: bloom1, S = 2, 4, 8 for traces 1 to 3 and N/M = 8, 12, 16.
using rates_printed = std::array<double, 4>;
constexpr rates_printed table_2[3][3] = {
    {{0.0331, 0.0109, 0.0082, 0.0079}, {0.0894, 0.0389, 0.0282, 0.0272}, {0.1557, 0.0777, 0.0582, 0.0563}},
    {{0.0328, 0.0079, 0.0052, 0.0044}, {0.0893, 0.0278, 0.0174, 0.0158}, {0.1533, 0.0608, 0.0386, 0.0352}},
    {{0.0330, 0.0093, 0.0063, 0.0059}, {0.0885, 0.0321, 0.0227, 0.0216}, {0.1553, 0.0680, 0.0481, 0.0458}}};
constexpr const char* columns[] = {"bloom1", "blind_2", "blind_4", "blind_8"};

verdict reduction(const table& seen, std::size_t column) {
  range ours;
  range theirs;
  for (const std::string& t : distinct(seen.rows(), "trace")) {
    for (const std::string& n : distinct(seen.rows(), "keys_per_word")) {
      const row_list rows = where(where(seen.rows(), "trace", t), "keys_per_word", n);
      if (!rows.empty()) ours.see(best(rows, "bloom1") / best(rows, columns[column]));
    }
  }
  for (const auto& of_trace : table_2) {
    for (const rates_printed& rates : of_trace) theirs.see(rates[0] / rates[column]);
  }
  return decide(
      ours.low() >= 0.95 * theirs.low(),
      "S = " + std::string(columns[column]).substr(6) + " lowers the rate of bloom1 by " + theirs.text("x"),
      ours.text("x") + " here, with the paper's blind switch and the best k of each filter" +
          (is_synthetic(seen) ? ". The traces are synthetic: about the most that can be gained is the number of packets "
                                "per flow, which is 4.5 to 8.6 in ours"
                              : ""));
}

std::vector<verdict> judge(const table& seen) {
  tally plain("bloom1 has the rates of table II, within 5 %");
  tally more_sets("S = 4 is better than S = 2");
  tally enough("S = 8 is little better than S = 4: by less than 15 %");
  tally scarce("the reduction is larger with more bits per key (S = 2)");
  for (const std::string& t : distinct(seen.rows(), "trace")) {
    double before = 0;
    for (std::size_t i = 0; i < std::size(loads); ++i) {
      const row_list rows = where(where(seen.rows(), "trace", t), "keys_per_word", std::to_string(loads[i]));
      if (rows.empty()) continue;
      const table::row lowest = best_row(rows, "bloom1");
      const double ratio = lowest.value("bloom1") / table_2[0][i][0];
      const std::string place = t + ", N = " + std::to_string(loads[i]) + "M";
      plain.at_most(place, std::max(ratio, 1 / ratio), 1.05, lowest.error("bloom1") / table_2[0][i][0]);
      more_sets.at_most(place, best(rows, "blind_4"), best(rows, "blind_2"));
      enough.at_least(place, best(rows, "blind_8"), 0.85 * best(rows, "blind_4"));
      const double reduced = best(rows, "bloom1") / best(rows, "blind_2");
      if (before != 0) scarce.at_most(place, reduced, before);
      before = reduced;
    }
  }
  return {reduction(seen, 1), reduction(seen, 2), reduction(seen, 3), plain.judge(),
          more_sets.judge(),  enough.judge(),     scarce.judge()};
}

chart against_k(const table& seen) {
  chart c{.name = "figures-7-9",
          .title = "Figures 7 to 9: false-positive rate against k on " + traces_named(seen) + ", blind switch",
          .x = {.label = "k: bits set per key"},
          .y = {.label = "false positives, %", .log = true, .factor = 100}};
  for (const std::string& n : distinct(seen.rows(), "keys_per_word")) {
    for (const std::string& t : distinct(seen.rows(), "trace")) {
      const row_list rows = where(where(seen.rows(), "trace", t), "keys_per_word", n);
      panel p{t + ", N = " + n + "M", {}};
      p.lines.push_back({"bloom1", "bloom1", mark::line, points_of(rows, "k", "bloom1")});
      p.lines.push_back({"abf, S = 2", "abf", mark::line, points_of(rows, "k", "blind_2")});
      p.lines.push_back({"abf, S = 4", "abf/2", mark::line, points_of(rows, "k", "blind_4")});
      p.lines.push_back({"abf, S = 8", "abf/3", mark::line, points_of(rows, "k", "blind_8")});
      c.panels.push_back(std::move(p));
    }
  }
  return c;
}

chart best_rates(const table& seen) {
  chart c{.name = "table-2",
          .title = "Table II: false-positive rate at the best k; traces by position, the paper's are not public",
          .x = {.label = "trace, N/M"},
          .y = {.label = "false positives, %", .log = true, .factor = 100}};
  const char* labels[] = {"bloom1", "abf, S = 2", "abf, S = 4", "abf, S = 8"};
  const char* colours[] = {"bloom1", "abf", "abf/2", "abf/3"};
  panel p{"", {}};
  for (std::size_t i = 0; i < 4; ++i) {
    line ours{labels[i], colours[i], mark::dots, {}};
    line theirs{"paper: " + std::string(labels[i]), colours[i], mark::paper, {}};
    double x = 0;
    std::size_t number = 0;
    for (const std::string& t : distinct(seen.rows(), "trace")) {
      const row_list of_trace = where(seen.rows(), "trace", t);
      for (std::size_t n = 0; n < std::size(loads); ++n) {
        const row_list rows = where(of_trace, "keys_per_word", std::to_string(loads[n]));
        if (rows.empty()) continue;
        x += 1;
        ours.points.push_back({x - 0.1, best(rows, columns[i])});
        if (number < 3) theirs.points.push_back({x + 0.1, table_2[number][n][i]});
        if (i == 0) c.x.names.push_back(std::to_string(number + 1) + ", " + std::to_string(loads[n]));
      }
      ++number;
    }
    p.lines.push_back(std::move(ours));
    p.lines.push_back(std::move(theirs));
  }
  c.panels.push_back(std::move(p));
  return c;
}

std::vector<chart> draw(const table& seen) { return {best_rates(seen), against_k(seen)}; }

const registered it(
    {.name = "abf-traces",
     .paper = "Adaptive one memory access Bloom filters",
     .figures = "figures 7 to 9 and table II",
     .claim = "On packet traces abf has a lower rate than bloom1 of the same fast memory: 2.0x to 4.2x with S = 2, 2.7x to "
              "6.3x with "
              "S = 4, little more with S = 8, and more at more bits per key.",
     .parameters =
         "three synthetic traces of 500,000 flows (--log takes a real one); M = 1024 words of 64 bits; N = 8M, 12M, 16M; "
         "k = 1 to 6; S = 2, 4, 8. Quick: fewer runs.",
     .agrees = "at the best k of each filter the reductions are in or above these ranges, ordered the same way",
     .runs = {2, 10},
     .seconds = {15, 15},
     .run = run,
     .judge = judge,
     .draw = draw});

}  // namespace
}  // namespace tamis::lab
