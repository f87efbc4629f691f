#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "html.hpp"
#include "printable.hpp"

namespace tamis::cli {
namespace {

constexpr std::string_view report_style = R"(
h3 { font-size: 1rem; margin: 2rem 0 .25rem; padding-top: 1rem; border-top: 1px solid var(--line); }
.counts { display: flex; flex-wrap: wrap; gap: .5rem 2.5rem; margin: 1rem 0; }
.counts strong { font-size: 2rem; line-height: 1.1; margin-right: .4rem; }
.agrees { color: var(--good); } .differs { color: var(--bad); } .untested { color: var(--soft); }
.verdicts { list-style: none; padding: 0; margin: .75rem 0; }
.verdicts li { padding: .3rem 0 .3rem .9rem; border-left: 4px solid; margin: .35rem 0; max-width: 60rem; }
.verdicts b { margin-right: .5rem; }
.verdicts span { color: var(--ink); display: block; } .verdicts .found { color: var(--soft); font-size: .875rem; }
figure { overflow-x: auto; margin: 1rem 0; }
figure svg { min-width: 44rem; max-width: 60rem; }
th.left, td.left { text-align: left; white-space: normal; }
a { color: inherit; }
)";

std::string_view class_of(lab::outcome is) {
  return is == lab::outcome::agrees ? "agrees" : is == lab::outcome::differs ? "differs" : "untested";
}

std::size_t count(const judged& of, lab::outcome is) {
  return static_cast<std::size_t>(
      std::count_if(of.verdicts.begin(), of.verdicts.end(), [is](const lab::verdict& v) { return v.is == is; }));
}

std::string chart_file(const judged& of, const lab::chart& c) { return of.of->of->name + "-" + c.name + ".svg"; }

json table_json(const lab::table& t) {
  json rows = json::array();
  for (const lab::table::row& r : t.rows()) {
    json row;
    for (const std::string& name : t.settings()) row[name] = r.text(name);
    for (const std::string& name : t.values()) {
      row[name] = {{"value", r.value(name)}, {"error", r.error(name)}, {"samples", r.samples(name)}};
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

json runs_json(const job& of) {
  json runs = json::array();
  for (unsigned r = 0; r < of.runs; ++r) {
    runs.push_back({{"run", r},
                    {"seconds", of.finished[r]->seconds},
                    {"machine", of.finished[r]->machine},
                    {"revision", of.finished[r]->revision},
                    {"date", of.finished[r]->date}});
  }
  return runs;
}

// "4f2a91c03b", or several if the code has changed between runs.
std::string revisions(const std::vector<judged>& all) {
  std::set<std::string> seen;
  for (const judged& j : all) {
    for (const auto& run : j.of->finished) seen.insert(run->revision);
  }
  std::string text;
  for (const std::string& revision : seen) text += (text.empty() ? "" : " and ") + revision;
  return text;
}

std::string summary_row(const judged& j) {
  const lab::outcome is = lab::overall(j.verdicts);
  std::string counts;
  for (const lab::outcome o : {lab::outcome::agrees, lab::outcome::differs, lab::outcome::untested}) {
    counts += fmt::format("<td>{}", count(j, o) == 0 ? "" : std::to_string(count(j, o)));
  }
  return fmt::format("<tr><td><a href=\"#{0}\">{0}</a><td class=\"left\">{1}<td class=\"{2}\">{3}{4}<td>{5}</tr>\n",
                     j.of->of->name, escaped(j.of->of->figures), class_of(is), lab::word_of(is), counts,
                     duration(j.of->seconds()));
}

std::string section(const judged& j) {
  const lab::experiment& e = *j.of->of;
  std::string text =
      fmt::format("<h3 id=\"{}\">{}: {}</h3>\n<p>{}</p>\n", e.name, e.name, escaped(e.figures), escaped(e.claim));
  text += fmt::format("<p class=\"soft\">What ran: {} {} took {}. Agreeing means: {}.</p>\n<ul class=\"verdicts\">\n",
                      escaped(e.parameters), j.of->runs == 1 ? "One run" : fmt::format("{} runs", j.of->runs),
                      duration(j.of->seconds()), escaped(e.agrees));
  for (const lab::verdict& v : j.verdicts) {
    text += fmt::format("<li class=\"{}\"><b>{}</b><span>{}</span><span class=\"found\">{}</span></li>\n", class_of(v.is),
                        lab::word_of(v.is), escaped(v.claim), escaped(v.found));
  }
  text += "</ul>\n";
  for (const lab::chart& c : j.charts) text += "<figure>" + lab::svg(c) + "</figure>\n";
  text += fmt::format(
      "<p class=\"soft\">Data: <a href=\"{0}.csv\">{0}.csv</a>, <a href=\"{0}.json\">{0}.json</a> with every run.", e.name);
  for (const lab::chart& c : j.charts) text += fmt::format(" <a href=\"{0}\">{0}</a>", chart_file(j, c));
  return text + "</p>\n";
}

std::string heading_counts(const std::vector<judged>& all) {
  std::array<std::size_t, 3> sums{};
  for (const judged& j : all) {
    for (const lab::outcome o : {lab::outcome::agrees, lab::outcome::differs, lab::outcome::untested}) {
      sums[static_cast<std::size_t>(o)] += count(j, o);
    }
  }
  std::string text = "<div class=\"counts\">";
  for (const lab::outcome o : {lab::outcome::agrees, lab::outcome::differs, lab::outcome::untested}) {
    const char* words = o == lab::outcome::agrees    ? "claims agree"
                        : o == lab::outcome::differs ? "differ"
                                                     : "cannot be tested here";
    text += fmt::format("<div class=\"{}\"><strong>{}</strong>{}</div>", class_of(o), sums[static_cast<std::size_t>(o)], words);
  }
  return text + "</div>\n";
}

}  // namespace

judged judge(const job& done) {
  lab::table t = done.joined();
  std::vector<lab::verdict> verdicts = done.of->judge(t);
  std::vector<lab::chart> charts = done.of->draw == nullptr ? std::vector<lab::chart>() : done.of->draw(t);
  return {&done, std::move(t), std::move(verdicts), std::move(charts)};
}

json verdict_json(const judged& done) {
  const lab::experiment& e = *done.of->of;
  json verdicts = json::array();
  for (const lab::verdict& v : done.verdicts) {
    verdicts.push_back({{"outcome", lab::word_of(v.is)}, {"claim", v.claim}, {"found", v.found}});
  }
  json charts = json::array();
  for (const lab::chart& c : done.charts) charts.push_back(chart_file(done, c));
  return {{"experiment", e.name},
          {"paper", e.paper},
          {"figures", e.figures},
          {"claim", e.claim},
          {"parameters", e.parameters},
          {"agrees", e.agrees},
          {"verdict", lab::word_of(lab::overall(done.verdicts))},
          {"verdicts", std::move(verdicts)},
          {"runs", done.of->runs},
          {"seconds", done.of->seconds()},
          {"charts", std::move(charts)}};
}

void write_files(const judged& done, const results_folder& folder) {
  const std::string& name = done.of->of->name;
  folder.write(name + ".csv", done.table.csv());
  json all = verdict_json(done);
  all["conditions"] = folder.made_under().described();
  all["versions"] = versions_json();
  all["each_run"] = runs_json(*done.of);
  all["rows"] = table_json(done.table);
  folder.write(name + ".json", all.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
  for (const lab::chart& c : done.charts) folder.write(chart_file(done, c), lab::svg(c));
}

void write_page(const std::vector<judged>& all, const std::vector<failed_experiment>& failed, const results_folder& folder) {
  std::string page = page_start("tamis reproduce", "What the papers say, and what was measured", report_style);
  page += heading_counts(all);
  const json machine = this_machine_json();
  const conditions& under = folder.made_under();
  page += fmt::format("<p class=\"soft\">{} scale, seed {}, tamis {} ({}), {} with {} cores.{}{}</p>\n",
                      under.scale == lab::scale::quick ? "Quick" : "Paper", under.seed, TAMIS_VERSION, escaped(revisions(all)),
                      escaped(machine["cpu"].get<std::string>()), machine["cores"].get<unsigned>(),
                      under.log.empty() ? " Packet traces are synthetic: the papers' are not public."
                                        : " Packet trace: " + escaped(printable(under.log, true)) + ".",
                      under.scale == lab::scale::quick
                          ? " Quick means smaller sets and fewer runs than the papers': each experiment says how."
                          : "");
  for (const failed_experiment& f : failed) {
    page += fmt::format("<p class=\"differs\">{} could not be run: {}</p>\n", f.name, escaped(f.reason));
  }
  page +=
      "<div class=\"wide\"><table><thead><tr><th>experiment<th class=\"left\">of the "
      "paper<th>verdict<th>agree<th>differ<th>untested<th>time</tr></thead><tbody>\n";
  for (const judged& j : all) page += summary_row(j);
  page += "</tbody></table></div>\n";
  std::vector<std::string> papers;
  for (const judged& j : all) {
    if (std::find(papers.begin(), papers.end(), j.of->of->paper) == papers.end()) papers.push_back(j.of->of->paper);
  }
  for (const std::string& paper : papers) {
    page += "<h2>" + escaped(paper) + "</h2>\n";
    for (const judged& j : all) {
      if (j.of->of->paper == paper) page += section(j);
    }
  }
  folder.write("index.html", page + std::string(page_end));
}

}  // namespace tamis::cli
