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
  if (!c.is_timed()) return "-";
  return fmt::format("{:.1f}", static_cast<double>(queries) / c.seconds() / 1e6);
}

table mistake_table(const replay_result& result, bool with_sparklines) {
  double top = 0;
  for (const contestant& c : result.contestants) {
    if (c.filters()) top = std::max(top, largest(rates_over_time(result, c)));
  }
  table shown;
  shown.column("filter", align::left);
  shown.column("false pos.\nfirst-time");
  shown.column("false pos.\nrepeated");
  shown.column("false\nneg.");
  shown.column("in vain, of\nall reads");
  shown.column("bits\nper key");
  shown.column("slow\nbits");
  if (with_sparklines) shown.column("rate\nover time", align::left);
  for (const contestant& c : result.contestants) {
    std::vector<std::string> row = {c.name(),
                                    grouped(c.first_time()),
                                    grouped(c.repeated()),
                                    grouped(c.false_negatives()),
                                    percent(vain_share(c)),
                                    fmt::format("{:.2f}", share(c.bits().fast, result.members)),
                                    fmt::format("{:.0f}", share(c.bits().slow, result.members))};
    if (with_sparklines) row.push_back(c.filters() ? sparkline(rates_over_time(result, c), top) : "");
    shown.row(std::move(row));
  }
  return shown;
}

void print_mistakes(const replay_result& result, unsigned columns, output& out) {
  const table full = mistake_table(result, unicode());
  (full.width() <= columns ? full : mistake_table(result, false)).print(out);
}

std::string speed_range_text(const contestant& c) {
  if (!c.is_timed()) return "-";
  const auto [slowest, fastest] = c.speed_range();
  return fmt::format("{:.1f} to {:.1f}", slowest / 1e6, fastest / 1e6);
}

void print_costs(const replay_result& result, output& out) {
  out.write('\n');
  table costs;
  costs.column("filter", align::left);
  costs.column("reads\navoided");
  costs.column("range\nscans");
  costs.column("time\nsaved");
  if (result.costs.price_per_million) costs.column("money\nsaved");
  costs.column("million\nper s");
  costs.column("from\nto");
  for (const contestant& c : result.contestants) {
    std::vector<std::string> row = {c.name(), grouped(c.store_reads_avoided()), grouped(c.range_scans()),
                                    duration_text(saved_seconds(result, c))};
    if (result.costs.price_per_million) row.push_back(fmt::format("{:.2f}", saved_money(result, c)));
    row.push_back(queries_per_second(c, result.log.queries()));
    row.push_back(speed_range_text(c));
    costs.row(std::move(row));
  }
  costs.print(out);
}

// The power of ten that makes whole numbers of up to four digits of the rates.
double readable_unit(const replay_result& result) {
  double top = 0;
  for (const contestant& c : result.contestants) {
    if (c.filters()) top = std::max(top, largest(rates_over_time(result, c)));
  }
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
    if (!c.filters()) continue;
    std::vector<std::string> row = {c.name(), cell(false_positive_rate(result, c))};
    for (const double rate : rates_over_time(result, c)) row.push_back(cell(rate));
    rates.row(std::move(row));
  }
  rates.print(out);
}

}  // namespace

std::vector<std::uint64_t> mistakes_by_seed(const replay_result& result, const contestant& c) {
  std::vector<std::uint64_t> all = {c.false_positives()};
  for (const auto& contestants : result.other_seeds) {
    for (const contestant& other : contestants) {
      if (other.name() == c.name()) all.push_back(other.false_positives());
    }
  }
  return all;
}

std::string left_out_text(const replay_result& result) {
  std::string text;
  for (const auto& [name, reason] : result.others) text += (text.empty() ? "Left out: " : "; ") + name + ": " + reason;
  return text.empty() ? "" : text + ".";
}

std::string costs_text(const replay_result& result) {
  std::string text = fmt::format("Saved against no filter: each read or range scan of the store takes {:g} us{}",
                                 result.costs.us, result.costs.assumed ? " (an assumption: --read-us says better)" : "");
  if (result.costs.price_per_million) text += fmt::format(" and costs {:g} per million", *result.costs.price_per_million);
  return text + "; the filter's own time is taken off. Speeds: mean, and slowest to fastest turn.";
}

namespace {

void print_luck(const replay_result& result, output& out) {
  if (const std::string text = luck_text(result); !text.empty()) out.print("\n{}\n", wrapped(text, text_columns(), 0));
  if (result.other_seeds.empty()) return;
  out.print("\n{}\n",
            wrapped(fmt::format("False positives under {} hash seeds:", result.other_seeds.size() + 1), text_columns(), 0));
  table luck;
  luck.column("filter", align::left);
  luck.column("least");
  luck.column("median");
  luck.column("most");
  for (const contestant& c : result.contestants) {
    if (!c.filters()) continue;
    std::vector<std::uint64_t> all = mistakes_by_seed(result, c);
    std::sort(all.begin(), all.end());
    luck.row({c.name(), grouped(all.front()), grouped(all[all.size() / 2]), grouped(all.back())});
  }
  luck.print(out);
}

std::string keys_cell(std::uint64_t keys) {
  if (keys < 10000) return std::to_string(keys);
  return keys < 10'000'000 ? fmt::format("{}k", keys / 1000) : fmt::format("{}M", keys / 1'000'000);
}

// Four characters.
std::string short_number(double number) {
  if (number < 99.95) return fmt::format("{:.1f}", number);
  return number < 9999.5 ? fmt::format("{:.0f}", number) : fmt::format("{:.0g}", number);
}

void print_memory(const replay_result& result, output& out) {
  if (result.changes == nullptr) return;
  out.print(
      "\n{}\n",
      wrapped("Bits per key at the end of each tenth of the log. Per key of the most keys: peak, the most fast memory between "
              "two events; copy, the most that was taken at all, with slow memory and with what growing copies.",
              text_columns(), 0));
  table memory(1);
  memory.column("filter", align::left);
  memory.column("peak");
  memory.column("copy");
  for (std::size_t i = 1; i <= timeline::parts; ++i) memory.column(fmt::format("{:>4}", i));
  std::vector<std::string> keys = {"keys in the store", keys_cell(result.members), ""};
  for (const auto& moment : result.contestants.front().moments()) keys.push_back(keys_cell(moment.keys));
  memory.row(std::move(keys));
  for (const contestant& c : result.contestants) {
    if (!c.filters()) continue;
    std::vector<std::string> row = {c.name(), short_number(share(c.peak_bits(), result.members)), "-"};
    if (const auto taken = c.most_taken_bits()) row.back() = short_number(share(*taken, result.members));
    for (const auto& moment : c.moments()) {
      row.push_back(moment.keys == 0 ? "-" : short_number(share(moment.bits, moment.keys)));
    }
    memory.row(std::move(row));
  }
  memory.print(out);
}

// [] where keys do not come and go.
json moments_json(const contestant& c, bool bits) {
  json all = json::array();
  for (const auto& moment : c.moments()) {
    all.push_back(bits ? number_or_null(share(moment.bits, moment.keys)) : json(moment.keys));
  }
  return all;
}

json timed(const contestant& c, double figure) { return c.is_timed() ? number_or_null(figure) : json(nullptr); }

json taken_json(const replay_result& result, const contestant& c) {
  const auto bits = c.most_taken_bits();
  return bits ? number_or_null(share(*bits, result.members)) : json(nullptr);
}

double luck_of(const replay_result& result, const contestant& c) {
  if (c.adapts() || !c.expected_rate()) return std::numeric_limits<double>::quiet_NaN();
  return result.log.luck(*c.expected_rate());
}

}  // namespace

std::string rivals_text(const replay_result& result) {
  const auto any = [&](auto is_of) { return std::any_of(result.contestants.begin(), result.contestants.end(), is_of); };
  std::string text;
  if (any([](const contestant& c) { return !c.can_change(); })) {
    text +=
        "fuse-model is a model of a binary fuse filter, the smallest static set: 1.14 bits for each bit of fingerprint. tamis "
        "has none; every key that comes or goes rebuilds it; it is not timed. ";
  }
  if (any([](const contestant& c) { return c.name().ends_with("+lru"); })) {
    text +=
        "+lru: an LRU cache of 64-bit tags of the mistakes, out of the same memory; tamis has none, as it may deny a key that "
        "is there (a chance of 2^-61 for each pair of key and tag). ";
  }
  if (any([](const contestant& c) { return c.name().ends_with("+mistakes"); })) {
    text += "+mistakes: tamis's exact list of known mistakes, out of the same memory. ";
  }
  if (!text.empty()) text.pop_back();
  return text;
}

std::string refusals_text(const replay_result& result) {
  std::string full, stays;
  const auto add = [](std::string& list, const contestant& c, std::uint64_t count) {
    if (count != 0) list += (list.empty() ? "" : ", ") + c.name() + " (" + grouped(count) + ")";
  };
  for (const contestant& c : result.contestants) {
    add(full, c, c.refused());
    add(stays, c, c.ignored_erases());
  }
  std::string text;
  if (!full.empty()) text += "Refused, and kept beside the filter for 128 bits each: keys of " + full + ". ";
  if (!stays.empty()) text += "Cannot delete, so that deleted keys stay in: " + stays + ". ";
  if (!text.empty()) text.pop_back();
  return text;
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
                    {"seconds", timed(c, c.seconds())},
                    {"queries_per_second", timed(c, static_cast<double>(result.log.queries()) / c.seconds())},
                    {"fpr_over_time", std::move(rates)},
                    {"adapts", c.adapts()},
                    {"range_scans", c.range_scans()},
                    {"false_positives_by_seed", mistakes_by_seed(result, c)},
                    {"vain_share_of_reads", vain_share(c)},
                    {"saved_seconds", number_or_null(saved_seconds(result, c))},
                    {"saved_money", result.costs.price_per_million ? json(saved_money(result, c)) : json(nullptr)},
                    {"slowest_queries_per_second", timed(c, c.speed_range().slowest)},
                    {"fastest_queries_per_second", timed(c, c.speed_range().fastest)},
                    {"inserts", result.changes == nullptr ? 0 : result.changes->inserts},
                    {"erases", result.changes == nullptr ? 0 : result.changes->erases},
                    {"refused_inserts", c.refused()},
                    {"ignored_erases", c.ignored_erases()},
                    {"peak_bits_per_key", number_or_null(share(c.peak_bits(), result.members))},
                    {"keys_over_time", moments_json(c, false)},
                    {"bits_per_key_over_time", moments_json(c, true)},
                    {"most_taken_bits_per_key", taken_json(result, c)},
                    {"changeable", c.can_change()},
                    {"luck", number_or_null(luck_of(result, c))}});
  }
  return list;
}

void print_replay(const replay_result& result, output& out) {
  const unsigned columns = text_columns();
  const auto paragraph = [&](const std::string& text) { out.print("{}\n", wrapped(text, columns, 0)); };
  const auto if_any = [&](const std::string& text) {
    if (text.empty()) return;
    out.write('\n');
    paragraph(text);
  };
  paragraph(replay_verdict(result));
  out.write('\n');
  paragraph(fmt::format("{} in the store{}; {}, {} of them for {} that are not in it.", counted(result.members, "key"),
                        result.changes == nullptr ? "" : " at most",
                        result.log.queries() == 1 ? "1 query" : grouped(result.log.queries()) + " queries",
                        grouped(result.log.negatives()), counted(result.log.distinct_negatives(), "different key")));
  paragraph(printable(result.source + (result.store.empty() ? "" : " " + result.store) + " " + result.memory));
  out.write('\n');
  print_mistakes(result, columns, out);
  print_rates(result, out);
  print_memory(result, out);
  print_luck(result, out);
  print_costs(result, out);
  if_any(costs_text(result));
  if_any(needs_of_adapting(result));
  if_any(rivals_text(result));
  if_any(refusals_text(result));
  if_any(left_out_text(result));
}

}  // namespace tamis::cli
