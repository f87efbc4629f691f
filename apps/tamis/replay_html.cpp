#include "replay_html.hpp"

#include <algorithm>
#include <vector>

#include "html.hpp"
#include "numbers.hpp"
#include "printable.hpp"
#include "replay_charts.hpp"

namespace tamis::cli {
namespace {

constexpr std::string_view replay_style = R"(
:root { --first: #8fb0c9; --again: var(--bad); --static: var(--bad); --adaptive: var(--good); }
@media (prefers-color-scheme: dark) { :root { --first: #5d88ab; } }
.key { display: inline-block; width: .8rem; height: .8rem; border-radius: 2px; vertical-align: -1px; margin: 0 .35rem 0 0; }
.key.static, .key.adaptive { height: 3px; vertical-align: 4px; width: 1.2rem; }
.key.static { background: var(--static); } .key.adaptive { background: var(--adaptive); }
.key.first { background: var(--first); } .key.again { background: var(--again); } .key.fast { background: var(--soft); height: .3rem; vertical-align: 3px; }
figcaption > span { margin-right: 1.25rem; white-space: nowrap; }

.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); gap: 1rem; margin: 1.25rem 0; }
.card { border-left: 5px solid; padding: .25rem 0 .25rem 1rem; }
.card strong { font-size: 2rem; line-height: 1.1; }
.card em { font-style: normal; font-weight: 600; }
.card.static { border-color: var(--static); } .card.static strong { color: var(--static); }
.card.adaptive { border-color: var(--adaptive); } .card.adaptive strong { color: var(--adaptive); }

.growth { display: grid; grid-template: var(--height) 1.5rem / 4.5rem 1fr 1rem 8.5rem; font-size: .8125rem; color: var(--soft);
          margin-top: 1rem; }
.scale, .names { position: relative; }
.scale span, .names span { position: absolute; line-height: 1; transform: translateY(-50%); white-space: nowrap; }
.scale span { right: .5rem; font-variant-numeric: tabular-nums; }
.names span { left: .25rem; font-weight: 600; }
.names .static { color: var(--static); } .names .adaptive { color: var(--adaptive); }
.plot, .joints { height: 100%; overflow: visible; }
.grid { stroke: var(--line); vector-effect: non-scaling-stroke; }
.line, .curve { fill: none; stroke-width: 2; stroke-linejoin: round; vector-effect: non-scaling-stroke; }
.joint { opacity: .5; vector-effect: non-scaling-stroke; }
.line.static, .joint.static, .static .curve { stroke: var(--static); }
.line.adaptive, .joint.adaptive, .adaptive .curve { stroke: var(--adaptive); }
.along { grid-column: 2; display: flex; justify-content: space-between; padding-top: .25rem; }

.row { display: grid; grid-template-columns: 10.5rem 1fr 10rem; gap: .25rem 1.25rem; align-items: center; padding: .4rem 0;
       border-top: 1px solid var(--line); }
.head { font-size: .8125rem; color: var(--soft); border: 0; align-items: end; }
.kind { font-size: .875rem; font-weight: 600; padding: .75rem 0 .25rem; }
.kind.static { color: var(--static); } .kind.adaptive { color: var(--adaptive); }
.name { font-weight: 600; }
.count { font-size: .8125rem; color: var(--soft); font-variant-numeric: tabular-nums; }
.bar { height: 1.1rem; } .time { height: 2.4rem; } .memory { height: .3rem; margin-top: .2rem; }
.fast { fill: var(--soft); }
.first { fill: var(--first); } .again { fill: var(--again); }
.static .area { fill: var(--static); opacity: .2; } .adaptive .area { fill: var(--adaptive); opacity: .2; }

.figures { font-size: .8125rem; } .figures th { white-space: normal; overflow-wrap: normal; }
.figures th:not(:first-child), .figures td:not(:first-child) { padding-left: .4rem; padding-right: .4rem; }

@media (max-width: 40rem) {
  body { padding-top: 1.25rem; }
  .growth { grid-template-columns: 3.25rem 1fr .75rem 7.5rem; font-size: .75rem; }
  .row { grid-template-columns: 1fr 8rem; }
  .row .wasted { grid-column: 1 / -1; grid-row: 2; }
  .head .wasted { display: none; }
  figcaption > span { display: block; white-space: normal; }
  table.figures, .figures tbody { display: block; white-space: normal; }
  .figures thead { display: none; }
  .figures tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  .figures td { display: flex; justify-content: space-between; gap: .5rem; padding: .1rem 0; border: 0; white-space: nowrap; }
  .figures td:first-child { font-weight: 600; }
  .figures td:not(:first-child)::before { content: attr(data-title); color: var(--soft); }
}
)";

std::string key(std::string_view kind, std::string_view text) {
  return fmt::format("<span><i class=\"key {}\"></i>{}</span>", kind, text);
}

// A table that becomes a block of lines per row on a narrow screen; so each cell knows its title.
class figure_table {
 public:
  explicit figure_table(std::vector<std::string> titles) : titles_(std::move(titles)) {}

  // Requires: as many cells as there are titles.
  void row(const std::vector<std::string>& cells) {
    rows_ += "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      rows_ += fmt::format("<td data-title=\"{}\">{}", titles_[i], escaped(cells[i]));
    }
    rows_ += "</tr>\n";
  }
  std::string text() const {
    std::string head;
    for (const std::string& title : titles_) head += "<th>" + title;
    return "<div class=\"wide\"><table class=\"figures\"><thead><tr>" + head + "</tr></thead><tbody>\n" + rows_ +
           "</tbody></table></div>\n";
  }

 private:
  std::vector<std::string> titles_;
  std::string rows_;
};

std::string bits_text(std::uint64_t bits, const replay_result& result) {
  const double each = static_cast<double>(bits) / static_cast<double>(std::max<std::uint64_t>(1, result.members));
  return bits == 0 ? "0" : fmt::format("{:.{}f}", each, each < 99.95 ? 1 : 0);
}

std::string speed_text(const contestant& c, const replay_result& result) {
  if (!c.is_timed()) return "-";
  const auto [slowest, fastest] = c.speed_range();
  return fmt::format("{:.1f} ({:.1f} to {:.1f})", static_cast<double>(result.log.queries()) / c.seconds() / 1e6, slowest / 1e6,
                     fastest / 1e6);
}

std::string figures(const replay_result& result) {
  const bool priced = result.costs.price_per_million.has_value();
  std::vector<std::string> titles = {"filter",        "first-time",  "repeated",  "false negatives", "in vain, of all reads",
                                     "reads avoided", "range scans", "time saved"};
  if (priced) titles.emplace_back("money saved");
  for (const char* title : {"bits per key", "slow bits", "million per s"}) titles.emplace_back(title);
  figure_table all(titles);
  for (const contestant& c : result.contestants) {
    std::vector<std::string> row = {c.name(),
                                    grouped(c.first_time()),
                                    grouped(c.repeated()),
                                    grouped(c.false_negatives()),
                                    percent(vain_share(c)),
                                    grouped(c.store_reads_avoided()),
                                    grouped(c.range_scans()),
                                    duration_text(saved_seconds(result, c))};
    if (priced) row.push_back(fmt::format("{:.2f}", saved_money(result, c)));
    row.push_back(bits_text(c.bits().fast, result));
    row.push_back(bits_text(c.bits().slow, result));
    row.push_back(speed_text(c, result));
    all.row(row);
  }
  return all.text();
}

std::string paragraph(const std::string& text) { return text.empty() ? "" : "<p class=\"soft\">" + escaped(text) + "</p>\n"; }

std::string luck(const replay_result& result) {
  if (result.other_seeds.empty()) return paragraph(luck_text(result));
  figure_table all({"filter", "least", "median", "most"});
  for (const contestant* c : report_order(result)) {
    std::vector<std::uint64_t> seen = mistakes_by_seed(result, *c);
    std::sort(seen.begin(), seen.end());
    all.row({c->name(), grouped(seen.front()), grouped(seen[seen.size() / 2]), grouped(seen.back())});
  }
  return fmt::format("<h2>Luck: reads in vain under {} hash seeds</h2>\n", result.other_seeds.size() + 1) +
         paragraph(luck_text(result)) + all.text();
}

std::string kind_keys(const replay_result& result) {
  std::string keys;
  for (const bool adaptive : {false, true}) {
    const std::string text = kind_text(result, adaptive);
    if (!text.empty()) keys += key(adaptive ? "adaptive" : "static", text);
  }
  return keys;
}

std::string charts(const replay_result& result) {
  if (report_order(result).empty()) return "";
  std::string page = "<h2>Store reads in vain, added up along the log</h2>\n<figure><figcaption>" + kind_keys(result) +
                     "</figcaption>\n" + growth_chart(result);
  if (result.changes != nullptr) {
    page += fmt::format(
        "</figure>\n<h2>Memory along the log</h2>\n<figure><figcaption>bits per key of the most keys, {}; {} "
        "at the end</figcaption>\n",
        grouped(result.members), grouped(result.contestants.front().moments().back().keys));
    page += memory_chart(result);
  }
  page += "</figure>\n<h2>Mistakes made for the first time, and again</h2>\n<figure><figcaption>" +
          key("first", "for the first time") + key("again", "about the same key again") + key("fast", "memory") +
          "</figcaption>\n";
  return page + mistake_rows(result) + "</figure>\n";
}

}  // namespace

std::string replay_html(const replay_result& result) {
  std::string page = page_start("tamis replay", "What each filter would have cost", replay_style);
  page += "<p>" + escaped(replay_verdict(result)) + "</p>\n";
  page += summary_cards(result);
  page +=
      fmt::format("<p class=\"soft\">{} in the store{}; {} queries, {} of them for {} that are not in it. {} {} {}</p>\n",
                  counted(result.members, "key"), result.changes == nullptr ? "" : " at most", grouped(result.log.queries()),
                  grouped(result.log.negatives()), counted(result.log.distinct_negatives(), "different key"),
                  escaped(printable(result.source, true)), escaped(printable(result.store, true)), escaped(result.memory));
  page += charts(result);
  page += luck(result);
  page += "<h2>All figures</h2>\n";
  page += figures(result);
  page += paragraph(costs_text(result));
  page += paragraph(needs_of_adapting(result));
  page += paragraph(rivals_text(result));
  page += paragraph(refusals_text(result));
  page += paragraph(left_out_text(result));
  page += paragraph(
      "A query that the filter lets through reads the store; if the key is not there, the read was in vain and the filter is "
      "told so, if it can adapt. Bits per key is the memory of the filter, slow bits what it keeps beside the store. Speeds "
      "include the store's reads and the adapting.");
  return page + std::string(page_end);
}

}  // namespace tamis::cli
