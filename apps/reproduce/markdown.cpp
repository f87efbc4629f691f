#include "markdown.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "failure.hpp"
#include "table.hpp"
#include "tamis/detail/io/checksum.hpp"
#include "tamis/detail/io/file.hpp"

namespace tamis::cli {

using namespace detail;

namespace {

constexpr unsigned page_columns = 100;
constexpr std::size_t most_rows = 80;  // of a table that the experiment has not shortened

std::string paragraph(const std::string& text) { return wrapped(text, page_columns, 0) + "\n\n"; }

std::string cell(std::string_view text) {
  std::string safe;
  for (const char c : text) safe += c == '|' ? "\\|" : std::string(1, c);
  return safe;
}

std::string row(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& c : cells) text += " " + cell(c) + " |";
  return text + "\n";
}

std::string table_text(const lab::page_table& t) {
  std::string text = t.caption.empty() ? "" : paragraph(t.caption + ":");
  text += row(t.head) + row(std::vector<std::string>(t.head.size(), "---"));
  for (const auto& r : t.rows) text += row(r);
  return text + "\n";
}

// Every row as it was measured, if there are few.
std::vector<lab::page_table> whole_table(const lab::table& of) {
  lab::page_table all{"", of.settings(), {}};
  all.head.insert(all.head.end(), of.values().begin(), of.values().end());
  const lab::row_list rows = of.rows();
  if (rows.size() > most_rows) return {};
  for (const lab::table::row& r : rows) {
    std::vector<std::string> cells;
    for (const std::string& name : of.settings()) cells.push_back(r.text(name));
    for (const std::string& name : of.values()) cells.push_back(lab::brief(r.value(name)));
    all.rows.push_back(std::move(cells));
  }
  return {all};
}

// "a, b and c": what the runs have in this field.
template <class Field>
std::string each_of(const job& of, Field field) {
  std::set<std::string> seen;
  for (const auto& run : of.finished) seen.insert(field(*run));
  std::string text;
  for (const std::string& s : seen) text += (text.empty() ? "" : ", ") + s;
  return text;
}

std::string command(const judged& done, const conditions& under) {
  const std::string data = under.data.empty() ? "" : " --data DATA";
  const std::string log = under.log.empty() ? "" : " --log LOG";
  return fmt::format("./run reproduce {} --scale {} --seed {} --runs {}{}{} --out DIR --pages docs/results", done.of->of->name,
                     word_of(under.scale), under.seed, done.of->runs, data, log);
}

std::string origin(const judged& done) {
  const auto machine = [](const finished_run& r) {
    return fmt::format("{}, {} cores", r.machine.value("cpu", "an unknown machine"), r.machine.value("cores", 0u));
  };
  return fmt::format("{} in {}; {}; commit {}; {}.", done.of->runs == 1 ? "One run" : fmt::format("{} runs", done.of->runs),
                     duration(done.of->seconds()), each_of(*done.of, machine),
                     each_of(*done.of, [](const finished_run& r) { return r.revision; }),
                     each_of(*done.of, [](const finished_run& r) { return r.date; }));
}

void write_file(const std::string& path, const std::string& text) { must(replace_file(path, text)); }

std::string sum_of(std::string_view text) { return fmt::format("{:016x}", checksum::of(std::as_bytes(std::span(text)))); }

std::string begin_mark(const std::string& name) {
  return fmt::format("<!-- begin {}: written by tamis reproduce, not by hand -->\n", name);
}
std::string end_mark_word(const std::string& name) { return fmt::format("<!-- end {}:", name); }

// What stands outside the marks of a page that is there already: remarks, before and behind.
struct remarks {
  std::string before;
  std::string behind;
};
remarks remarks_of(const std::string& path, const std::string& name) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t begin = text.find(begin_mark(name));
  const std::size_t end = text.find(end_mark_word(name), begin == std::string::npos ? 0 : begin);
  const std::size_t line_end = end == std::string::npos ? end : text.find('\n', end);
  if (begin == std::string::npos || line_end == std::string::npos) {
    fail(path, "is there, but has no page of " + name + " between marks; nothing is overwritten");
  }
  return {text.substr(0, begin), text.substr(line_end + 1)};
}

// A page between its marks. The last one has the sums of the text and of the files that it shows: tests/repo/pages_test.py
// compares them, so that nobody mends a number by hand.
std::string marked(const std::string& name, const std::string& text,
                   const std::vector<std::pair<std::string, std::string>>& files) {
  std::string end = fmt::format("{} text {}", end_mark_word(name), sum_of(text));
  for (const auto& [file, content] : files) end += fmt::format("; {} {}", file, sum_of(content));
  return begin_mark(name) + text + end + " -->\n";
}

}  // namespace

std::string markdown_page(const judged& done, const conditions& under) {
  const lab::experiment& e = *done.of->of;
  std::string text = fmt::format("# {}: {}\n\n", e.name, e.figures);
  text += paragraph("*Claim: " + e.claim + "*");
  text += paragraph("What ran: " + e.parameters);
  text += paragraph("Agreeing means: " + e.agrees + ".");
  text += "| verdict | claim | found |\n| --- | --- | --- |\n";
  for (const lab::verdict& v : done.verdicts) text += row({"**" + std::string(lab::word_of(v.is)) + "**", v.claim, v.found});
  text += "\n";
  for (const lab::chart& c : done.charts) text += fmt::format("![{0}]({1}/{1}-{2}.svg)\n\n", c.title, e.name, c.name);
  const auto tables = e.tabulate == nullptr ? whole_table(done.table) : e.tabulate(done.table);
  for (const lab::page_table& t : tables) text += table_text(t);
  text += paragraph(fmt::format("All rows: [{0}.csv]({0}/{0}.csv). {1} This page was written by:", e.name, origin(done)));
  return text + "```\n" + command(done, under) + "\n```\n";
}

void write_markdown(const judged& done, const conditions& under, const std::string& pages) {
  const std::string& name = done.of->of->name;
  const remarks kept = remarks_of(pages + "/" + name + ".md", name);
  std::error_code failed;
  std::filesystem::create_directories(pages + "/" + name, failed);
  if (failed) fail(pages + "/" + name, "cannot be made: " + failed.message());
  std::vector<std::pair<std::string, std::string>> files = {{name + "/" + name + ".csv", done.table.csv()}};
  for (const lab::chart& c : done.charts) files.emplace_back(name + "/" + name + "-" + c.name + ".svg", lab::svg(c));
  for (const auto& [file, content] : files) write_file(pages + "/" + file, content);
  write_file(pages + "/" + name + ".md", kept.before + marked(name, markdown_page(done, under), files) + kept.behind);
}

}  // namespace tamis::cli
