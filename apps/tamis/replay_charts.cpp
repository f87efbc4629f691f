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

// For scales, where space is short: 30,000 and 1.5 million.
std::string brief(double number) {
  if (number >= 1e9) return fmt::format("{:g} billion", number / 1e9);
  if (number >= 1e6) return fmt::format("{:g} million", number / 1e6);
  return number < 1000 ? fmt::format("{:g}", number) : grouped(static_cast<std::uint64_t>(number));
}

// A round step that divides 0 to `top` into two to five parts.  Requires: top >= 1.
double scale_step(double top) {
  const double power = std::pow(10, std::floor(std::log10(top)));
  for (const double step : {0.2, 0.5, 1.0, 2.0}) {
    if (top <= 5 * step * power) return std::max(1.0, step * power);
  }
  return 2 * power;
}

// What a filter has at points from the beginning of the log to its end.
struct curve {
  const contestant* whose;
  std::vector<double> values;
};

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

std::string line_of(const curve& c, double top) {
  std::string points;
  for (std::size_t i = 0; i < c.values.size(); ++i) {
    points += fmt::format("{:.1f},{:.2f} ", per_cent_of(static_cast<double>(i), static_cast<double>(c.values.size() - 1)),
                          100 - per_cent_of(c.values[i], top));
  }
  return fmt::format(R"(<polyline class="line {}" points="{}"><title>{}</title></polyline>)", kind_of(*c.whose), points,
                     escaped(c.whose->name()));
}

// Names at the ends of the curves, joined to them by thin lines.
std::string names_of(const std::vector<curve>& curves, double top, double distance) {
  std::vector<label> labels;
  for (const curve& c : curves) labels.push_back({100 - per_cent_of(c.values.back(), top), 0, c.whose});
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

std::string line_chart(const std::vector<curve>& curves, std::string_view title, const std::string& end_of_log) {
  double most = 1;
  for (const curve& c : curves) most = std::max(most, *std::max_element(c.values.begin(), c.values.end()));
  const double step = scale_step(most);
  const double top = step * std::ceil(most / step);
  std::string grid;
  std::string scale;
  for (double mark = 0; mark <= top; mark += step) {
    const double y = 100 - per_cent_of(mark, top);
    grid += fmt::format(R"(<line class="grid" y1="{0:.2f}" x2="100" y2="{0:.2f}"/>)", y);
    scale += fmt::format(R"(<span style="top:{:.2f}%">{}</span>)", y, brief(mark));
  }
  std::string lines;
  for (const curve& c : curves) lines += line_of(c, top);
  constexpr double line_height = 17;
  const double height = std::max(300.0, line_height * static_cast<double>(curves.size() + 1) + 20);
  return fmt::format(
      R"(<div class="growth" style="--height:{}px"><div class="scale">{}</div>)"
      R"(<svg class="plot" viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label="{}">{}{}</svg>{})"
      R"(<div class="along"><span>0</span><span>{}</span></div></div>)"
      "\n",
      height, scale, title, grid, lines, names_of(curves, top, 100 * line_height / height), end_of_log);
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

double per_key(std::uint64_t bits, const replay_result& result) {
  return static_cast<double>(bits) / static_cast<double>(std::max<std::uint64_t>(1, result.members));
}

double peak_per_key(const replay_result& result, const contestant& c) { return per_key(c.peak_bits(), result); }

std::string memory_text(const replay_result& result, const contestant& c) {
  std::string text = fmt::format("{:.1f} bits per key", per_key(c.bits().fast, result));
  if (c.bits().slow != 0) text += fmt::format(", {:.0f} slow ones", per_key(c.bits().slow, result));
  if (result.changes != nullptr) text += fmt::format(", {:.1f} at most", peak_per_key(result, c));
  if (const auto taken = c.most_taken_bits(); taken && result.changes != nullptr) {
    text += fmt::format(", {:.1f} with copies", per_key(*taken, result));
  }
  return text;
}

std::string end_of_log(const replay_result& result) {
  const auto events = static_cast<double>(result.log.queries());
  return result.changes == nullptr ? brief(events) + " queries"
                                   : brief(static_cast<double>(result.changes->size())) + " events";
}

std::string memory_bar(double bits, double most) {
  return fmt::format(
      R"(<svg class="memory" role="img" aria-label="memory"><rect class="fast" width="{:.3f}%" height="100%"/></svg>)",
      per_cent_of(bits, most));
}

struct row_scales {
  std::uint64_t mistakes = 0;
  double rate = 0;
  double bits_per_key = 0;
};

std::string mistake_row(const replay_result& result, const contestant& c, const row_scales& most) {
  return fmt::format(R"(<div class="row"><div class="name">{}</div><div class="wasted">{}<div class="count">{} in vain = )"
                     R"({} first-time + {} repeated</div>{}<div class="count">{}</div></div><div class="rate">{}</div></div>)"
                     "\n",
                     escaped(c.name()), mistakes_bar(c, most.mistakes), grouped(c.false_positives()), grouped(c.first_time()),
                     grouped(c.repeated()), memory_bar(peak_per_key(result, c), most.bits_per_key), memory_text(result, c),
                     rate_curve(rates_over_time(result, c), most.rate, kind_of(c)));
}

// Of one kind of filters, together.
struct kind_sums {
  std::uint64_t filters = 0;
  std::uint64_t wrong = 0;
  std::uint64_t repeated = 0;

  kind_sums(const replay_result& result, bool adaptive) {
    for (const contestant& c : result.contestants) {
      if (!c.filters() || c.adapts() != adaptive) continue;
      ++filters;
      wrong += c.false_positives();
      repeated += c.repeated();
    }
  }
  double repeated_share() const { return wrong == 0 ? 0 : static_cast<double>(repeated) / static_cast<double>(wrong); }
  std::string count_text(bool adaptive) const { return counted(filters, adaptive ? "adaptive filter" : "static filter"); }
};

std::string card(const replay_result& result, bool adaptive) {
  const kind_sums sums(result, adaptive);
  if (sums.filters == 0) return "";
  const std::string who = sums.count_text(adaptive) + (adaptive ? ", told of each mistake" : ", never told of a mistake");
  return fmt::format(R"(<div class="card {}"><strong>{}</strong> of the reads in vain were <em>repeats</em><br>)"
                     R"(<span class="soft">{}: {} reads in vain on average</span></div>)",
                     adaptive ? "adaptive" : "static", percent(sums.repeated_share()), who, grouped(sums.wrong / sums.filters));
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

std::string kind_text(const replay_result& result, bool adaptive) {
  const kind_sums sums(result, adaptive);
  if (sums.filters == 0) return "";
  if (sums.wrong == 0) return sums.count_text(adaptive) + ": no read in vain";
  return fmt::format("{}: {} of the reads in vain were repeats", sums.count_text(adaptive), percent(sums.repeated_share()));
}

std::string growth_chart(const replay_result& result) {
  std::vector<curve> curves;
  for (const contestant* c : report_order(result)) {
    curve sums{c, {0}};
    for (const std::uint64_t part : c->false_positives_in_parts(growth_points)) {
      sums.values.push_back(sums.values.back() + static_cast<double>(part));
    }
    curves.push_back(std::move(sums));
  }
  return line_chart(curves, "reads in vain along the log", end_of_log(result));
}

std::string memory_chart(const replay_result& result) {
  std::vector<curve> curves;
  for (const contestant* c : report_order(result)) {
    curve memory{c, {}};
    for (const auto& moment : c->moments()) {
      memory.values.push_back(static_cast<double>(moment.bits) /
                              static_cast<double>(std::max<std::uint64_t>(1, result.members)));
    }
    curves.push_back(std::move(memory));
  }
  return line_chart(curves, "memory along the log", end_of_log(result));
}

std::string mistake_rows(const replay_result& result) {
  row_scales most;
  for (const contestant* c : report_order(result)) {
    most.mistakes = std::max(most.mistakes, c->false_positives());
    most.bits_per_key = std::max(most.bits_per_key, peak_per_key(result, *c));
    for (const double rate : rates_over_time(result, *c))
      most.rate = std::isfinite(rate) ? std::max(most.rate, rate) : most.rate;
  }
  std::string rows = fmt::format(
      R"(<div class="row head"><div>filter</div><div class="wasted">store reads in vain; memory</div><div class="rate">rate over the log, 0 to {}</div></div>)"
      "\n",
      percent(most.rate));
  std::string_view kind;
  for (const contestant* c : report_order(result)) {
    if (kind != kind_of(*c)) {
      kind = kind_of(*c);
      rows += fmt::format(R"(<div class="kind {}">{}</div>)"
                          "\n",
                          kind, kind_text(result, c->adapts()));
    }
    rows += mistake_row(result, *c, most);
  }
  return rows;
}

}  // namespace tamis::cli
