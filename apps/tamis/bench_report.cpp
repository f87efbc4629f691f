#include "bench_report.hpp"

#include <array>

#include "filter_file.hpp"
#include "numbers.hpp"
#include "table.hpp"
#include "tamis/cpu.hpp"
#include "tamis/detail/base/zeroed_array.hpp"
#include "terminal.hpp"

namespace tamis::cli {

using namespace detail;

namespace {

using lab::bench_row;
using lab::timing;

// The timed operations, in the order in which they are shown.
struct operation {
  const char* title;
  const char* field;
  std::optional<timing> (*of)(const bench_row&);
};
constexpr std::array operations = {
    operation{"insert\nsingle", "insert_ns", [](const bench_row& r) { return std::optional(r.insert); }},
    operation{"insert\nbatched", "insert_many_ns", [](const bench_row& r) { return std::optional(r.insert_many); }},
    operation{"negative\nsingle", "negative_ns", [](const bench_row& r) { return std::optional(r.negative); }},
    operation{"negative\nbatched", "negative_many_ns", [](const bench_row& r) { return std::optional(r.negative_many); }},
    operation{"positive\nsingle", "positive_ns", [](const bench_row& r) { return std::optional(r.positive); }},
    operation{"positive\nbatched", "positive_many_ns", [](const bench_row& r) { return std::optional(r.positive_many); }},
    operation{"erase\nsingle", "erase_ns", [](const bench_row& r) { return r.erase; }},
};

std::string level_in_use() { return std::string(to_string(used_cpu_level())); }

// "5.2 (1.00)": time, and ratio to the baseline's.
std::string cell(const std::optional<timing>& time, const std::optional<timing>& base) {
  if (!time) return "-";
  if (!base) return fmt::format("{:.1f}       ", time->median);
  return fmt::format("{:.1f} ({:.2f})", time->median, time->median / base->median);
}

// How far the repeats lie apart, over all operations: the widest (slowest - fastest) / median.
double spread(const bench_row& row) {
  double widest = 0.0;
  for (const operation& o : operations) {
    if (const auto t = o.of(row)) widest = std::max(widest, (t->high - t->low) / t->median);
  }
  return widest;
}

json row_json(const bench_row& row, std::uint64_t keys) {
  json made = {{"filter", row.id},
               {"keys", keys},
               {"fpr", row.fpr},
               {"fpr_expected", number_or_null(row.fpr_expected)},
               {"bits_per_key", row.bits_per_key}};
  for (const operation& o : operations) {
    const auto time = o.of(row);
    made[o.field] = time ? json(time->median) : json(nullptr);
  }
  json spreads = json::object();
  for (const operation& o : operations) {
    if (const auto time = o.of(row)) spreads[o.field] = {time->low, time->high};
  }
  json options = json::object();
  for (const auto& [name, value] : row.settings) options[name] = value;
  made["lowest_highest"] = std::move(spreads);
  made["line_prefetched_ns"] = row.line_prefetched.median;
  made["line_dependent_ns"] = row.line_dependent.median;
  made["options"] = std::move(options);
  made["known_mistakes"] = mistakes_json(row.list);
  return made;
}

}  // namespace

std::string machine_line() {
  const lab::machine_info machine = lab::this_machine();
  return fmt::format("{}, {}, L2 {}, L3 {}, code for {}", machine.cpu, counted(machine.cores, "core"),
                     format_bytes(machine.l2_bytes), format_bytes(machine.l3_bytes), level_in_use());
}

json machine_json() {
  const lab::machine_info machine = lab::this_machine();
  return {{"cpu", machine.cpu},
          {"cores", machine.cores},
          {"l2_bytes", machine.l2_bytes},
          {"l3_bytes", machine.l3_bytes},
          {"cpu_level", level_in_use()}};
}

void print_bench(const bench_result& result, output& out) {
  const auto columns = static_cast<unsigned>(std::min<std::size_t>(line_columns(), 1000));
  const auto paragraph = [&out, columns](const std::string& text) { out.print("{}\n", wrapped(text, columns, 0)); };
  paragraph(machine_line());
  paragraph(fmt::format("{}, median of {}; ns per key, in brackets the ratio to {}; hashing a key takes {:.1f} ns of each\n",
                        counted(result.options.keys, "key"), counted(result.options.repeats, "repeat"),
                        result.report.rows[result.baseline].id, result.report.hash.median));
  table shown;
  shown.column("filter", align::left);
  for (const operation& o : operations) shown.column(o.title);
  for (const char* title :
       {"one line\nprefetched", "one line\ndependent", "spread", "bits\nper key", "false\npositives", "\nexpected"}) {
    shown.column(title);
  }
  const bench_row& base = result.report.rows[result.baseline];
  for (const bench_row& row : result.report.rows) {
    std::vector<std::string> cells = {row.id};
    for (const operation& o : operations) cells.push_back(cell(o.of(row), o.of(base)));
    cells.push_back(fmt::format("{:.1f}", row.line_prefetched.median));
    cells.push_back(fmt::format("{:.1f}", row.line_dependent.median));
    cells.push_back(fmt::format("{:.0f} %", spread(row) * 100));
    cells.push_back(fmt::format("{:.2f}", row.bits_per_key));
    cells.push_back(percent(row.fpr));
    cells.push_back(percent(row.fpr_expected));
    shown.row(std::move(cells));
  }
  shown.print(out);
  out.write('\n');
  paragraph("one line: reading one random cache line of a table of this size, asked for ahead or waited for.");
  paragraph("spread: slowest minus fastest repeat, over the median, of the least steady operation.");
}

json bench_json(const bench_result& result) {
  json rows = json::array();
  for (const bench_row& row : result.report.rows) rows.push_back(row_json(row, result.options.keys));
  json machine = machine_json();
  machine["hash_ns"] = result.report.hash.median;
  return {{"machine", std::move(machine)},
          {"baseline", result.report.rows[result.baseline].id},
          {"repeats", result.options.repeats},
          {"results", std::move(rows)}};
}

}  // namespace tamis::cli
