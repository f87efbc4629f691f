#include "replay_charts.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "html.hpp"
#include "numbers.hpp"

namespace tamis::cli {
namespace {

constexpr std::size_t growth_points = 50;

double per_cent_of(double part, double whole) { return whole == 0 ? 0 : 100 * part / whole; }

std::string_view kind_of(const contestant& c) { return c.adapts() ? "adaptive" : "static"; }

// 12,345 → 12.3 k: for scales, where space is short.
std::string brief(double number) {
  if (number >= 1e9) return fmt::format("{:g} G", number / 1e9);
  if (number >= 1e6) return fmt::format("{:g} M", number / 1e6);
  if (number >= 1e3) return fmt::format("{:g} k", number / 1e3);
  return fmt::format("{:g}", number);
}

// A round step that divides 0 to `top` into two to five parts.
double scale_step(double top) {
  const double power = std::pow(10, std::floor(std::log10(std::max(top, 1.0))));
  for (const double step : {0.2, 0.5, 1.0, 2.0}) {
    if (top <= 5 * step * power) return std::max(1.0, step * power);
  }
  return 2 * power;
}

struct label {
  double wanted;  // place from the top, in per cent
  double place;
  const contestant* whose;
};

// Moves labels apart until none covers another; they stay in order and as near to their places as that allows.
void spread(std::vector<label>& labels, double distance) {
  std::stable_sort(labels.begin(), labels.end(), [](const label& a, const label& b) { return a.wanted < b.wanted; });
  double least = 0;
  for (label& l : labels) {
    l.place = std::max(l.wanted, least);
    least = l.place + distance;
  }
  double most = 100;
  for (auto l = labels.rbegin(); l != labels.rend(); ++l) {
    l->place = std::min(l->place, most);
    most = l->place - distance;
  }
}

std::string growth_curve(const contestant& c, double top) {
  std::string points = "0,100 ";
  double sum = 0;
  const auto parts = c.false_positives_in_parts(growth_points);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    sum += static_cast<double>(parts[i]);
    points +=
        fmt::format("{:.1f},{:.2f} ", per_cent_of(static_cast<double>(i + 1), growth_points), 100 - per_cent_of(sum, top));
  }
  return fmt::format(R"(<polyline class="line {}" points="{}"><title>{}</title></polyline>)", kind_of(c), points,
                     escaped(c.name()));
}

// Names at the ends of the curves, joined to them by thin lines.
std::string growth_names(const replay_result& result, double top, double distance) {
  std::vector<label> labels;
  for (const contestant* c : report_order(result)) {
    labels.push_back({100 - per_cent_of(static_cast<double>(c->false_positives()), top), 0, c});
  }
  spread(labels, distance);
  std::string joints;
  std::string names;
  for (const label& l : labels) {
    joints += fmt::format(R"(<line class="joint {}" y1="{:.2f}" x2="100" y2="{:.2f}"/>)", kind_of(*l.whose), l.wanted, l.place);
    names +=
        fmt::format(R"(<span class="{}" style="top:{:.2f}%">{}</span>)", kind_of(*l.whose), l.place, escaped(l.whose->name()));
  }
  return fmt::format(R"(<svg class="joints" viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">{}</svg>)"
                     R"(<div class="names">{}</div>)",
                     joints, names);
}

// First-time and repeated mistakes, end to end; all filters on one scale.
std::string mistakes_bar(const contestant& c, std::uint64_t most) {
  const double first = per_cent_of(static_cast<double>(c.first_time()), static_cast<double>(most));
  const double again = per_cent_of(static_cast<double>(c.repeated()), static_cast<double>(most));
  return fmt::format(R"(<svg class="bar" role="img" aria-label="{} first-time and {} repeated mistakes">)"
                     R"(<rect class="first" width="{:.3f}%" height="100%"/>)"
                     R"(<rect class="again" x="{:.3f}%" width="{:.3f}%" height="100%"/></svg>)",
                     grouped(c.first_time()), grouped(c.repeated()), first, first, again);
}

// The rate in each tenth of the log, on a scale that all filters share.
std::string rate_curve(const std::array<double, timeline::parts>& rates, double top, std::string_view kind) {
  std::string points;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const double rate = std::isfinite(rates[i]) ? rates[i] : 0;
    points += fmt::format("{:.1f},{:.2f} ", per_cent_of(static_cast<double>(i), timeline::parts - 1),
                          98 - 0.96 * per_cent_of(rate, top));
  }
  return fmt::format(R"(<svg class="time {}" viewBox="0 0 100 100" preserveAspectRatio="none" role="img" )"
                     R"(aria-label="rate over time"><polygon class="area" points="0,100 {}100,100"/>)"
                     R"(<polyline class="curve" points="{}"/></svg>)",
                     kind, points, points);
}

std::string mistake_row(const replay_result& result, const contestant& c, std::uint64_t most, double top) {
  return fmt::format(R"(<div class="row"><div class="name">{}</div><div class="wasted">{}<div class="count">{} in vain = )"
                     R"({} first-time + {} repeated</div></div><div class="rate">{}</div></div>)"
                     "\n",
                     escaped(c.name()), mistakes_bar(c, most), grouped(c.false_positives()), grouped(c.first_time()),
                     grouped(c.repeated()), rate_curve(rates_over_time(result, c), top, kind_of(c)));
}

std::string card(const replay_result& result, bool adaptive) {
  std::uint64_t filters = 0;
  std::uint64_t wrong = 0;
  std::uint64_t again = 0;
  for (const contestant& c : result.contestants) {
    if (!c.filters() || c.adapts() != adaptive) continue;
    ++filters;
    wrong += c.false_positives();
    again += c.repeated();
  }
  if (filters == 0) return "";
  const double share = wrong == 0 ? 0 : static_cast<double>(again) / static_cast<double>(wrong);
  const std::string who = fmt::format("{}, {}", counted(filters, adaptive ? "adaptive filter" : "static filter"),
                                      adaptive ? "told of each mistake" : "never told of a mistake");
  return fmt::format(R"(<div class="card {}"><strong>{}</strong> of the reads in vain were <em>repeats</em><br>)"
                     R"(<span class="soft">{}: {} reads in vain on average</span></div>)",
                     adaptive ? "adaptive" : "static", percent(share), who, grouped(wrong / filters));
}

}  // namespace

std::vector<const contestant*> report_order(const replay_result& result) {
  std::vector<const contestant*> order;
  for (const contestant& c : result.contestants) {
    if (c.filters()) order.push_back(&c);
  }
  std::stable_sort(order.begin(), order.end(), [](const contestant* a, const contestant* b) {
    return a->adapts() != b->adapts() ? b->adapts() : a->false_positives() > b->false_positives();
  });
  return order;
}

std::string summary_cards(const replay_result& result) {
  return "<div class=\"cards\">" + card(result, false) + card(result, true) + "</div>\n";
}

std::string growth_chart(const replay_result& result) {
  double most = 1;
  for (const contestant* c : report_order(result)) most = std::max(most, static_cast<double>(c->false_positives()));
  const double step = scale_step(most);
  const double top = step * std::ceil(most / step);
  std::string grid;
  std::string scale;
  for (double mark = 0; mark <= top; mark += step) {
    const double y = 100 - per_cent_of(mark, top);
    grid += fmt::format(R"(<line class="grid" y1="{0:.2f}" x2="100" y2="{0:.2f}"/>)", y);
    scale += fmt::format(R"(<span style="top:{:.2f}%">{}</span>)", y, brief(mark));
  }
  std::string curves;
  for (const contestant* c : report_order(result)) curves += growth_curve(*c, top);
  constexpr double line_height = 17;
  const double height = std::max(300.0, line_height * static_cast<double>(result.contestants.size()) + 20);
  const auto queries = static_cast<double>(result.log.queries());
  return fmt::format(
      R"(<div class="growth" style="--height:{}px"><div class="scale">{}</div>)"
      R"(<svg class="plot" viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label="reads in vain along the log">{}{}</svg>{})"
      R"(<div class="along"><span>0</span><span>{} queries</span></div></div>)"
      "\n",
      height, scale, grid, curves, growth_names(result, top, 100 * line_height / height), brief(queries));
}

std::string mistake_rows(const replay_result& result) {
  std::uint64_t most = 0;
  double top = 0;
  for (const contestant* c : report_order(result)) {
    most = std::max(most, c->false_positives());
    for (const double rate : rates_over_time(result, *c)) top = std::isfinite(rate) ? std::max(top, rate) : top;
  }
  std::string rows = fmt::format(
      R"(<div class="row head"><div>filter</div><div class="wasted">store reads in vain</div><div class="rate">rate over the log, 0 to {}</div></div>)"
      "\n",
      percent(top));
  std::string_view kind;
  for (const contestant* c : report_order(result)) {
    if (kind != kind_of(*c)) {
      kind = kind_of(*c);
      rows += fmt::format(R"(<div class="kind {}">{}</div>)"
                          "\n",
                          kind, c->adapts() ? "adaptive: told of each mistake" : "static: makes the same mistakes again");
    }
    rows += mistake_row(result, *c, most, top);
  }
  return rows;
}

}  // namespace tamis::cli
