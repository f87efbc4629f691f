#include "replay_html.hpp"

#include <algorithm>

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
.key.first { background: var(--first); } .key.again { background: var(--again); }
figcaption > span { margin-right: 1.25rem; white-space: nowrap; }

.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); gap: 1rem; margin: 1.25rem 0; }
.card { border-left: 5px solid; padding: .25rem 0 .25rem 1rem; }
.card strong { font-size: 2rem; line-height: 1.1; }
.card em { font-style: normal; font-weight: 600; }
.card.static { border-color: var(--static); } .card.static strong { color: var(--static); }
.card.adaptive { border-color: var(--adaptive); } .card.adaptive strong { color: var(--adaptive); }

.growth { display: grid; grid-template: var(--height) 1.5rem / 3rem 1fr 1rem 7.5rem; font-size: .8125rem; color: var(--soft);
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

.row { display: grid; grid-template-columns: 9rem 1fr 10rem; gap: .25rem 1.25rem; align-items: center; padding: .4rem 0;
       border-top: 1px solid var(--line); }
.head { font-size: .8125rem; color: var(--soft); border: 0; align-items: end; }
.kind { font-size: .875rem; font-weight: 600; padding: .75rem 0 .25rem; }
.kind.static { color: var(--static); } .kind.adaptive { color: var(--adaptive); }
.name { font-weight: 600; }
.count { font-size: .8125rem; color: var(--soft); font-variant-numeric: tabular-nums; }
.bar { height: 1.1rem; } .time { height: 2.4rem; }
.first { fill: var(--first); } .again { fill: var(--again); }
.static .area { fill: var(--static); opacity: .2; } .adaptive .area { fill: var(--adaptive); opacity: .2; }

@media (max-width: 40rem) {
  body { padding-top: 1.25rem; }
  .growth { grid-template-columns: 2.5rem 1fr .75rem 6.75rem; font-size: .75rem; }
  .row { grid-template-columns: 1fr 8rem; }
  .row .wasted { grid-column: 1 / -1; grid-row: 2; }
  .head .wasted { display: none; }
}
)";

std::string key(std::string_view kind, std::string_view text) {
  return fmt::format("<span><i class=\"key {}\"></i>{}</span>", kind, text);
}

std::string figures(const replay_result& result) {
  std::string rows;
  const double members = static_cast<double>(std::max<std::uint64_t>(1, result.members));
  for (const contestant* c : report_order(result)) {
    rows += fmt::format(
        "<tr><td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{:.2f}<td>{:.2f}<td>{:.2f}</tr>\n", escaped(c->name()),
        grouped(c->store_reads()), grouped(c->store_reads_avoided()), grouped(c->first_time()), grouped(c->repeated()),
        percent(false_positive_rate(result, *c)), grouped(c->adaptations()), static_cast<double>(c->bits().fast) / members,
        static_cast<double>(c->bits().slow) / members, static_cast<double>(result.log.queries()) / c->seconds() / 1e6);
  }
  return "<div class=\"wide\"><table><thead><tr><th>filter<th>store<br>reads<th>reads<br>avoided<th>first-time<br>mistakes"
         "<th>repeated<br>mistakes<th>false-positive<br>rate<th>adaptations<th>bits<br>per key<th>slow bits<br>per key"
         "<th>million<br>queries/s</tr></thead><tbody>\n" +
         rows + "</tbody></table></div>\n";
}

}  // namespace

std::string replay_html(const replay_result& result) {
  std::string page = page_start("tamis replay", "What each filter would have cost", replay_style);
  page += "<p>" + escaped(replay_verdict(result)) + "</p>\n";
  page += summary_cards(result);
  page += fmt::format("<p class=\"soft\">{} in the store; {} queries, {} of them for {} that are not in it. {} {}</p>\n",
                      counted(result.members, "key"), grouped(result.log.queries()), grouped(result.log.negatives()),
                      counted(result.log.distinct_negatives(), "different key"), escaped(printable(result.source, true)),
                      escaped(printable(result.store, true)));
  page += "<h2>Store reads in vain, added up along the log</h2>\n<figure><figcaption>" +
          key("static", "static: the same mistakes again and again") +
          key("adaptive", "adaptive: a mistake is fixed when it is seen") + "</figcaption>\n";
  page += growth_chart(result);
  page += "</figure>\n<h2>Mistakes made for the first time, and again</h2>\n<figure><figcaption>" +
          key("first", "a mistake made for the first time") + key("again", "the same mistake again") + "</figcaption>\n";
  page += mistake_rows(result);
  page += "</figure>\n<h2>All figures</h2>\n";
  page += figures(result);
  page +=
      "<p class=\"soft\">A query that the filter lets through reads the store; if the key is not there, the read was in vain "
      "and the "
      "filter is told so, if it can adapt. Bits per key is the memory of the filter, slow bits what it keeps beside the store. "
      "Queries per "
      "second include the store's reads and the adapting.</p>\n";
  return page + std::string(page_end);
}

}  // namespace tamis::cli
