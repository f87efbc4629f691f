#include "bench_threads.hpp"

#include <algorithm>

#include "bench_report.hpp"
#include "numbers.hpp"
#include "table.hpp"
#include "terminal.hpp"

namespace tamis::cli {
namespace {

using lab::rate;
using lab::tail;
using lab::tail_row;
using lab::thread_report;
using lab::thread_row;

// The bare filter in one thread, which the others are compared with.
const thread_row& alone(const thread_report& report, const thread_row& row) {
  return *std::find_if(report.rows.begin(), report.rows.end(), [&](const thread_row& other) {
    return other.id == row.id && other.how == lab::sharing::nothing && other.threads == 1;
  });
}

// "12.3 (1.94)": millions a second, and ratio to the bare filter in one thread.
std::string cell(const std::optional<rate>& of, const std::optional<rate>& base) {
  if (!of) return "-       ";
  return fmt::format("{:.1f} ({:.2f})", of->per_second / 1e6, of->per_second / base->per_second);
}

void print_rates(const thread_report& report, output& out) {
  table shown;
  shown.column("filter", align::left);
  shown.column("shared by", align::left);
  for (const char* title : {"threads", "lookups\nsingle", "lookups\nbatched", "inserts\nsingle", "lookups\nbeside a writer",
                            "inserts\nbeside readers", "cores\nhad"}) {
    shown.column(title);
  }
  for (const thread_row& row : report.rows) {
    const thread_row& base = alone(report, row);
    shown.row({row.id, to_string(row.how), std::to_string(row.threads), cell(row.lookups, base.lookups),
               cell(row.lookups_many, base.lookups_many), cell(row.inserts, base.inserts),
               cell(row.beside_lookups, base.lookups), cell(row.beside_insert, base.inserts),
               fmt::format("{:.1f}", row.lookups.cores)});
  }
  shown.print(out);
}

void print_tails(const thread_report& report, output& out) {
  table shown;
  shown.column("filter", align::left);
  shown.column("shared by", align::left);
  for (const char* title : {"lookups", "median", "99 %", "99.9 %", "99.99 %", "longest"}) shown.column(title);
  const auto line = [&](const std::string& id, const std::string& how, std::uint64_t lookups, const tail& t) {
    std::vector<std::string> cells = {id, how, grouped(lookups)};
    for (const double ns : {t.median, t.percent_99, t.percent_99_9, t.percent_99_99, t.longest})
      cells.push_back(fmt::format("{:.2f}", ns / 1e3));
    shown.row(std::move(cells));
  };
  for (const tail_row& row : report.tails) {
    line(row.id, to_string(row.how), row.lookups, row.lookup);
    line("", "only the clock", row.lookups, row.clock);
  }
  shown.print(out);
}

json rate_json(const std::optional<rate>& of) {
  if (!of) return nullptr;
  return {{"per_second", of->per_second}, {"cores", of->cores}};
}

json tail_json(const tail& t) {
  return {{"median_ns", t.median},
          {"percent_99_ns", t.percent_99},
          {"percent_99_9_ns", t.percent_99_9},
          {"percent_99_99_ns", t.percent_99_99},
          {"longest_ns", t.longest}};
}

}  // namespace

void print_threads(const thread_report& report, const lab::thread_options& options, output& out) {
  const auto columns = static_cast<unsigned>(std::min<std::size_t>(line_columns(), 1000));
  const auto paragraph = [&out, columns](const std::string& text) { out.print("{}\n", wrapped(text, columns, 0)); };
  paragraph(machine_line());
  paragraph(
      fmt::format("{}, median of {}; millions a second of all threads together, in brackets the ratio to the bare filter "
                  "in one thread\n",
                  counted(options.keys, "key"), counted(options.repeats, "repeat")));
  print_rates(report, out);
  out.write('\n');
  paragraph(
      "cores had: processor time of the single lookups' threads over the time they took. Where it is less than the "
      "threads, up to the cores there are, other programs had the rest, or the threads waited for each other.");
  if (report.tails.empty()) return;
  out.write('\n');
  paragraph("one thread looks up while another grows the filter; microseconds, two readings of the clock included:\n");
  print_tails(report, out);
}

json threads_json(const thread_report& report, const lab::thread_options& options) {
  json rows = json::array();
  for (const thread_row& row : report.rows) {
    rows.push_back({{"filter", row.id},
                    {"shared_by", to_string(row.how)},
                    {"threads", row.threads},
                    {"keys", options.keys},
                    {"lookups", rate_json(row.lookups)},
                    {"lookups_many", rate_json(row.lookups_many)},
                    {"inserts", rate_json(row.inserts)},
                    {"lookups_beside_a_writer", rate_json(row.beside_lookups)},
                    {"inserts_beside_readers", rate_json(row.beside_insert)}});
  }
  json tails = json::array();
  for (const tail_row& row : report.tails) {
    tails.push_back({{"filter", row.id},
                     {"shared_by", to_string(row.how)},
                     {"lookups", row.lookups},
                     {"lookup", tail_json(row.lookup)},
                     {"clock", tail_json(row.clock)}});
  }
  return {{"machine", machine_json()}, {"repeats", options.repeats}, {"results", std::move(rows)}, {"tails", std::move(tails)}};
}

}  // namespace tamis::cli
