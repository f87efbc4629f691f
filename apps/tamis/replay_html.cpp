#include "replay_html.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "numbers.hpp"

namespace tamis::cli {
namespace {

constexpr std::string_view style = R"(
:root { color-scheme: light dark; --paper: #fcfcfa; --ink: #1d2327; --soft: #5c666d; --line: #d9dde0;
        --first: #7fa8c9; --again: #d1495b; --area: #d1495b33; --good: #2a7f62; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14181b; --ink: #e8ecee; --soft: #9aa5ac; --line: #313a40;
          --first: #5b8fb8; --again: #ef6f7f; --area: #ef6f7f40; --good: #5fc39d; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 3rem; max-width: 68rem; background: var(--paper); color: var(--ink);
       font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .75rem; }
h2 { font-size: 1.1rem; margin: 2.25rem 0 .5rem; }
p { margin: .5rem 0; max-width: 46rem; }
.soft, figcaption { color: var(--soft); font-size: .875rem; }
.lead { font-size: 1.125rem; }
figure { margin: 0; }
.key { display: inline-block; width: .8rem; height: .8rem; border-radius: 2px; vertical-align: -1px; margin: 0 .35rem 0 0; }
.row { display: grid; grid-template-columns: 9rem 1fr 9rem; gap: .25rem 1rem; align-items: center; padding: .5rem 0;
       border-top: 1px solid var(--line); }
.name { font-weight: 600; }
.learns { color: var(--good); font-size: .75rem; font-weight: 400; display: block; }
.count { font-size: .8125rem; color: var(--soft); font-variant-numeric: tabular-nums; }
svg { display: block; width: 100%; }
.bar { height: 1.1rem; }
.time { height: 2.6rem; }
.first { fill: var(--first); } .again { fill: var(--again); }
.axis { stroke: var(--line); } .area { fill: var(--area); }
.curve { fill: none; stroke: var(--again); stroke-width: 2; vector-effect: non-scaling-stroke; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; white-space: nowrap; }
th, td { text-align: right; padding: .3rem .75rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
th { font-weight: 600; color: var(--soft); }
@media (max-width: 40rem) {
  body { padding-top: 1.25rem; }
  .row { grid-template-columns: 1fr 6.5rem; }
  .row .wasted { grid-column: 1 / -1; grid-row: 2; }
}
)";

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '&': safe += "&amp;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += c;
    }
  }
  return safe;
}

std::vector<const contestant*> worst_first(const replay_result& result) {
  std::vector<const contestant*> order;
  for (const contestant& c : result.contestants) order.push_back(&c);
  std::stable_sort(order.begin(), order.end(),
                   [](const contestant* a, const contestant* b) { return a->false_positives() > b->false_positives(); });
  return order;
}

double per_cent_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

// First-time and repeated mistakes, end to end; all filters on one scale.
std::string mistakes_bar(const contestant& c, std::uint64_t most) {
  const double first = per_cent_of(c.first_time(), most);
  return fmt::format(R"(<svg class="bar" role="img" aria-label="{} first-time and {} repeated mistakes">)"
                     R"(<rect class="first" width="{:.3f}%" height="100%"/>)"
                     R"(<rect class="again" x="{:.3f}%" width="{:.3f}%" height="100%"/></svg>)",
                     grouped(c.first_time()), grouped(c.repeated()), first, first, per_cent_of(c.repeated(), most));
}

// The rate in each tenth of the log, on a scale that all filters share.
std::string rate_curve(const std::array<double, timeline::parts>& rates, double top) {
  constexpr double width = 100;
  constexpr double height = 40;
  std::string points;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const double rate = std::isfinite(rates[i]) && top > 0 ? rates[i] / top : 0;
    points +=
        fmt::format("{:.1f},{:.2f} ", width * static_cast<double>(i) / (timeline::parts - 1), height - 1 - (height - 2) * rate);
  }
  return fmt::format(R"(<svg class="time" viewBox="0 0 {0} {1}" preserveAspectRatio="none" role="img" )"
                     R"(aria-label="rate over time"><line class="axis" y1="{1}" x2="{0}" y2="{1}"/>)"
                     R"(<polygon class="area" points="0,{1} {2}{0},{1}"/><polyline class="curve" points="{2}"/></svg>)",
                     width, height, points);
}

std::string chart(const replay_result& result) {
  std::uint64_t most = 0;
  double top = 0;
  for (const contestant& c : result.contestants) {
    most = std::max(most, c.false_positives());
    for (const double rate : rates_over_time(result, c)) top = std::isfinite(rate) ? std::max(top, rate) : top;
  }
  std::string rows;
  for (const contestant* c : worst_first(result)) {
    rows += fmt::format(R"(<div class="row"><div class="name">{}{}</div><div class="wasted">{}<div class="count">{} in vain: )"
                        R"({} first-time, {} repeated</div></div><div>{}</div></div>)"
                        "\n",
                        escaped(c->name()), c->adapts() ? R"(<span class="learns">learns from mistakes</span>)" : "",
                        mistakes_bar(*c, most), grouped(c->false_positives()), grouped(c->first_time()), grouped(c->repeated()),
                        rate_curve(rates_over_time(result, *c), top));
  }
  return rows;
}

std::string figures(const replay_result& result) {
  std::string rows;
  for (const contestant* c : worst_first(result)) {
    const double members = static_cast<double>(std::max<std::uint64_t>(1, result.members));
    rows += fmt::format("<tr><td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{:.2f}<td>{:.2f}</tr>\n", escaped(c->name()),
                        grouped(c->store_reads()), grouped(c->store_reads_avoided()), grouped(c->first_time()),
                        grouped(c->repeated()), grouped(c->adaptations()), static_cast<double>(c->bits().fast) / members,
                        static_cast<double>(result.log.queries()) / c->seconds() / 1e6);
  }
  return "<div class=\"wide\"><table><thead><tr><th>filter<th>store reads<th>reads avoided<th>first-time<th>repeated"
         "<th>adaptations<th>bits per key<th>million queries per s</tr></thead><tbody>\n" +
         rows + "</tbody></table></div>\n";
}

}  // namespace

std::string replay_html(const replay_result& result) {
  std::string page =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>tamis replay</title>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<style>";
  page += style;
  page += "</style></head><body>\n<h1>What each filter would have cost</h1>\n";
  page += "<p class=\"lead\">" + escaped(replay_reading(result)) + "</p>\n";
  page += fmt::format("<p class=\"soft\">{} in the store; {} queries, {} of them for {} that are not in it. {}</p>\n",
                      counted(result.members, "key"), grouped(result.log.queries()), grouped(result.log.negatives()),
                      counted(result.log.distinct_negatives(), "different key"), escaped(result.source));
  page +=
      "<h2>Store reads in vain, and the rate from the first to the last tenth of the log</h2>\n<figure><figcaption>"
      "<span class=\"key\" style=\"background:var(--first)\"></span>a mistake made for the first time &ensp;"
      "<span class=\"key\" style=\"background:var(--again)\"></span>the same mistake again</figcaption>\n";
  page += chart(result);
  page += "</figure>\n<h2>All figures</h2>\n";
  page += figures(result);
  return page + "</body></html>\n";
}

}  // namespace tamis::cli
