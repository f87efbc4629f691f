#include "replay_report.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "numbers.hpp"
#include "printable.hpp"
#include "table.hpp"
#include "terminal.hpp"

namespace tamis::cli {
namespace {

double share(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double false_positive_rate(const replay_result& result, const contestant& c) {
  return share(c.false_positives(), result.log.negatives());
}

std::array<double, timeline::parts> rates_over_time(const replay_result& result, const contestant& c) {
  const auto negatives = result.log.negatives_over_time();
  const auto wrong = c.false_positives_over_time();
  std::array<double, timeline::parts> rates{};
  for (std::size_t i = 0; i < rates.size(); ++i) rates[i] = share(wrong[i], negatives[i]);
  return rates;
}

namespace {

double largest(const std::array<double, timeline::parts>& rates) {
  double most = 0;
  for (const double rate : rates) {
    if (rate > most) most = rate;
  }
  return most;
}

// All filters on one scale, so that the lines can be compared.
std::string sparkline(const std::array<double, timeline::parts>& rates, double top) {
  static constexpr std::array blocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string line;
  for (const double rate : rates) {
    const double height = std::isfinite(rate) && top > 0 ? rate / top * (blocks.size() - 1) : 0;
    line += std::isfinite(rate) ? blocks[static_cast<std::size_t>(std::lround(height))] : " ";
  }
  return line;
}

std::string queries_per_second(const contestant& c, std::uint64_t queries) {
  return fmt::format("{:.1f}", static_cast<double>(queries) / c.seconds() / 1e6);
}

table cost_table(const replay_result& result, bool with_sparklines) {
  double top = 0;
  for (const contestant& c : result.contestants) top = std::max(top, largest(rates_over_time(result, c)));
  table costs;
  costs.column("filter", align::left);
  costs.column("false pos.\nfirst-time");
  costs.column("false pos.\nrepeated");
  costs.column("reads\navoided");
  costs.column("bits\nper key");
  costs.column("million\nper s");
  if (with_sparklines) costs.column("rate\nover time", align::left);
  for (const contestant& c : result.contestants) {
    std::vector<std::string> row = {c.name(),
                                    grouped(c.first_time()),
                                    grouped(c.repeated()),
                                    grouped(c.store_reads_avoided()),
                                    fmt::format("{:.2f}", share(c.bits().fast, result.members)),
                                    queries_per_second(c, result.log.queries())};
    if (with_sparklines) row.push_back(sparkline(rates_over_time(result, c), top));
    costs.row(std::move(row));
  }
  return costs;
}

void print_costs(const replay_result& result, unsigned columns, output& out) {
  const table full = cost_table(result, unicode());
  (full.width() <= columns ? full : cost_table(result, false)).print(out);
}

// The power of ten that makes whole numbers of up to four digits of the rates.
double readable_unit(const replay_result& result) {
  double top = 0;
  for (const contestant& c : result.contestants) top = std::max(top, largest(rates_over_time(result, c)));
  double unit = 100;
  while (unit < 1e9 && top * unit * 10 < 9999) unit *= 10;
  return unit;
}

void print_rates(const replay_result& result, output& out) {
  const double unit = readable_unit(result);
  out.print("\n{}\n", wrapped(fmt::format("False positives per {} negative queries, in each tenth of the log:",
                                          grouped(static_cast<std::uint64_t>(unit))),
                              text_columns(), 0));
  table rates(1);
  rates.column("filter", align::left);
  rates.column("  all");
  for (std::size_t i = 1; i <= timeline::parts; ++i) rates.column(fmt::format("{:>4}", i));
  const auto cell = [unit](double rate) {
    if (!std::isfinite(rate)) return std::string("-");
    const bool tiny = rate > 0 && unit * rate < 0.5;  // beside others that are not
    return tiny ? fmt::format("{:.1g}", unit * rate) : fmt::format("{:.0f}", unit * rate);
  };
  for (const contestant& c : result.contestants) {
    std::vector<std::string> row = {c.name(), cell(false_positive_rate(result, c))};
    for (const double rate : rates_over_time(result, c)) row.push_back(cell(rate));
    rates.row(std::move(row));
  }
  rates.print(out);
}

std::string in_vain(const contestant& c) {
  return fmt::format("{} asked the store {} in vain", c.name(), counted(c.false_positives(), "time"));
}

}  // namespace

// What the numbers say, in words: the worst filter, what its mistakes were, and the best beside it.
std::string replay_reading(const replay_result& result) {
  const auto fewer = [](const contestant& a, const contestant& b) { return a.false_positives() < b.false_positives(); };
  const auto [best, worst] = std::minmax_element(result.contestants.begin(), result.contestants.end(), fewer);
  if (result.log.negatives() == 0) return "Every query asked for a member: a filter has nothing to keep from the store.";
  if (worst->false_positives() == 0) return "No filter asked the store in vain.";
  std::string text = in_vain(*worst) + "; " + percent(share(worst->repeated(), worst->false_positives())) +
                     " of that were repeats of a mistake it had made before.";
  if (best->false_positives() == worst->false_positives()) return text;
  text += " " + in_vain(*best);
  if (best->adaptations() != 0) text += fmt::format(", as it learnt from {}", counted(best->adaptations(), "mistake"));
  return text + fmt::format(", at {:.2f} against {:.2f} bits per key.", share(best->bits().fast, result.members),
                            share(worst->bits().fast, result.members));
}

json replay_json(const replay_result& result) {
  json list = json::array();
  for (const contestant& c : result.contestants) {
    const memory_bits bits = c.bits();
    json rates = json::array();
    for (const double rate : rates_over_time(result, c)) rates.push_back(number_or_null(rate));
    list.push_back({{"filter", c.name()},
                    {"members", result.members},
                    {"queries", result.log.queries()},
                    {"negatives", result.log.negatives()},
                    {"distinct_negatives", result.log.distinct_negatives()},
                    {"false_positives", c.false_positives()},
                    {"first_time_false_positives", c.first_time()},
                    {"repeated_false_positives", c.repeated()},
                    {"false_negatives", c.false_negatives()},
                    {"store_reads", c.store_reads()},
                    {"store_reads_avoided", c.store_reads_avoided()},
                    {"adaptations", c.adaptations()},
                    {"bits_per_key", number_or_null(share(bits.fast, result.members))},
                    {"slow_bits_per_key", number_or_null(share(bits.slow, result.members))},
                    {"fpr", number_or_null(false_positive_rate(result, c))},
                    {"seconds", c.seconds()},
                    {"queries_per_second", number_or_null(static_cast<double>(result.log.queries()) / c.seconds())},
                    {"fpr_over_time", std::move(rates)}});
  }
  return list;
}

void print_replay(const replay_result& result, output& out) {
  const unsigned columns = text_columns();
  const auto paragraph = [&](const std::string& text) { out.print("{}\n", wrapped(text, columns, 0)); };
  paragraph(fmt::format("{} in the store; {}, {} of them for {} that are not in it.", counted(result.members, "key"),
                        result.log.queries() == 1 ? "1 query" : grouped(result.log.queries()) + " queries",
                        grouped(result.log.negatives()), counted(result.log.distinct_negatives(), "different key")));
  paragraph(printable(result.source + (result.store.empty() ? "" : " " + result.store)));
  out.write('\n');
  print_costs(result, columns, out);
  print_rates(result, out);
  out.write('\n');
  paragraph(replay_reading(result));
}

}  // namespace tamis::cli
