#include "advise_report.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "numbers.hpp"
#include "table.hpp"
#include "terminal.hpp"

namespace tamis::cli {
namespace {

using lab::estimate;

std::string megabytes(double bits) {
  if (bits > 0 && bits < 8e4) return fmt::format("{:.2g}", bits / 8e6);
  return fmt::format("{:.{}f}", bits / 8e6, bits < 8e7 ? 3 : bits < 8e9 ? 1 : 0);
}
// "1.30 times", "4 % more"
std::string more(double figure, double best) {
  const double ratio = figure / best;
  return ratio < 2 ? fmt::format("{:.0f} % more", 100 * (ratio - 1)) : fmt::format("{:.1f} times as much", ratio);
}

void print_table(const advise_result& result, output& out) {
  const bool grows = result.found.final_keys > result.wish.capacity;
  const auto keys = static_cast<double>(result.found.final_keys);
  table shown;
  shown.column("filter", align::left);
  shown.column("memory\nMB");
  if (grows) shown.column("at the\nstart");
  if (grows) shown.column("on\naverage");
  shown.column("bits\nper key");
  shown.column("slow\nbits");
  shown.column("first-time\nrate");
  shown.column("false pos.\nfirst-time");
  shown.column("false pos.\nrepeated");
  shown.column("filter\nns");
  shown.column("cost, ns\nper query");
  for (const estimate& e : result.found.ranked) {
    std::vector<std::string> row = {e.name(), megabytes(static_cast<double>(e.at_end.fast))};
    if (grows) {
      row.push_back(megabytes(static_cast<double>(e.at_start.fast)));
      row.push_back(megabytes(e.mean_fast_bits));
    }
    for (std::string& cell : std::vector<std::string>{fmt::format("{:.2f}", static_cast<double>(e.at_end.fast) / keys),
                                                      fmt::format("{:.0f}", static_cast<double>(e.at_end.slow) / keys),
                                                      percent(e.first_rate), about(e.first_time), about(e.repeated),
                                                      fmt::format("{:.0f}", e.lookup_ns), fmt::format("{:.1f}", e.cost_ns)}) {
      row.push_back(std::move(cell));
    }
    shown.row(std::move(row));
  }
  shown.print(out);
}

std::string log_text(const lab::query_sample& log) {
  const double distinct = log.distinct_negatives();
  return fmt::format(
      "The log has {} queries, {} of them for {}{} different keys that are not members: {:.1f} for each, and {} of them "
      "for the most frequent hundredth.",
      grouped(log.queries()), grouped(log.negatives()), log.shift() == 0 ? "" : "about ", about(distinct),
      distinct > 0 ? static_cast<double>(log.negatives()) / distinct : 0, percent(log.top_share()));
}

std::string wish_text(const advise_result& result) {
  const auto& wish = result.wish;
  std::string text = counted(wish.capacity, "key");
  if (wish.growth > 1) text += fmt::format(", growing to {}", grouped(result.found.final_keys));
  if (wish.deletes) text += ", with deletes";
  if (!wish.slow_memory) text += ", without slow memory";
  if (wish.fpr)
    text += fmt::format("; at most {} of the queries for absent keys may read the store{}", percent(*wish.fpr),
                        wish.trust_log ? ", over this log" : ", also of those for new ones");
  if (wish.memory_bytes) text += fmt::format("; {} bytes of fast memory", grouped(*wish.memory_bytes));
  text += fmt::format("; a store read takes {:g} us. ", wish.read_ns / 1000);
  text += result.log != nullptr
              ? log_text(*result.log)
              : "Without a log every query is for a new key that is not a member; false positives are per million.";
  return text;
}

// What adapting asks of a store.
std::string needs(const estimate& best, std::uint64_t keys) {
  if (!best.adapts()) return "";
  if (best.scans_per_query > 0)
    return " Adapting reads a range of stored digests for each mistake: the store must have them in order.";
  if (best.at_end.slow != 0) {
    const auto bits = static_cast<double>(best.at_end.slow);
    return fmt::format(" Adapting needs slow memory beside the store: {} MB, {:.0f} bits per key.", megabytes(bits),
                       bits / static_cast<double>(keys));
  }
  return best.has_list() ? " Its list of known mistakes asks nothing of the store." : "";
}

// Why the first is the first.
std::string reason(const advise_result& result) {
  const lab::advice& found = result.found;
  const estimate& best = found.ranked.front();
  std::string text =
      fmt::format("{} {}", best.name(), found.by_memory ? "keeps the rate in the least memory" : "costs least at this memory");
  if (found.ranked.size() > 1 && found.figure(found.ranked[1]) < found.figure(best)) text += ", within 2 %";
  if (found.by_memory && found.final_keys > result.wish.capacity) text += ", on average over the growth";
  text += ".";
  const bool repeats =
      result.log != nullptr && result.log->distinct_negatives() < 0.9 * static_cast<double>(result.log->negatives());
  if (best.adapts() && repeats) {
    text +=
        fmt::format(" It adapts: {} of its mistakes are repeats.", percent(best.repeated / (best.first_time + best.repeated)));
  } else if (!repeats) {
    text += " Keys that are not members are hardly asked for twice, so that adapting gains little.";
  }
  const auto other = std::find_if(found.ranked.begin() + 1, found.ranked.end(),
                                  [&](const estimate& e) { return e.adapts() != best.adapts(); });
  if (other != found.ranked.end() && repeats) {
    text += fmt::format(" The best that {}, {}, {} {}.", best.adapts() ? "does not" : "does", other->name(),
                        found.by_memory ? "takes" : "costs", more(found.figure(*other), found.figure(best)));
  }
  if (result.wish.trust_log && best.first_rate > 1.1 * result.wish.fpr.value_or(1)) {
    text += fmt::format(" Take care: the rate is kept because this log repeats its keys; new keys meet {}.",
                        percent(best.first_rate));
  }
  text += needs(best, found.final_keys);
  if (found.ranked.size() > 1) {
    const estimate& second = found.ranked[1];
    const double ratio = found.figure(second) / found.figure(best);
    text += fmt::format(" Runner-up: {}, {}.", second.name(),
                        ratio < 1.02 ? "as good as equal" : more(found.figure(second), found.figure(best)));
  }
  return text;
}

json to_json(const estimate& e, std::uint64_t final_keys) {
  json row = {{"filter", e.name()}, {"fits", e.fits()}};
  if (!e.refusal.empty()) row["reason"] = e.refusal;
  if (e.params.capacity == 0) return row;
  row["capacity"] = e.params.capacity;
  if (e.params.fpr) row["fpr"] = *e.params.fpr;
  if (e.params.bits_per_key) row["bits_per_key"] = *e.params.bits_per_key;
  for (const auto& [option, value] : e.params.options) row["options"][option] = value;
  row["memory_bytes"] = e.at_end.fast / 8;
  row["memory_bytes_at_start"] = e.at_start.fast / 8;
  row["mean_memory_bytes"] = e.mean_fast_bits / 8;
  row["slow_memory_bytes"] = e.at_end.slow / 8;
  row["memory_bits_per_key"] = static_cast<double>(e.at_end.fast) / static_cast<double>(final_keys);
  row["first_time_rate"] = e.first_rate;
  row["first_time_false_positives"] = e.first_time;
  row["repeated_false_positives"] = e.repeated;
  row["expected_fpr"] = e.rate;
  row["store_reads_per_query"] = e.reads_per_query;
  row["range_scans_per_query"] = e.scans_per_query;
  row["lookup_ns"] = e.lookup_ns;
  row["cost_ns"] = e.cost_ns;
  return row;
}

}  // namespace

std::string create_arguments(const estimate& e) {
  std::string text = fmt::format(
      "--filter {} --capacity {} {}", e.entry->info->id, e.params.capacity,
      e.params.fpr ? fmt::format("--fpr {:.4g}", *e.params.fpr) : fmt::format("--bits-per-key {:.6g}", *e.params.bits_per_key));
  for (const auto& [option, value] : e.params.options) text += " --option " + option + "=" + value;
  return text;
}

json advice_json(const advise_result& result) {
  const auto& [wish, found, log] = result;
  json filters = json::array();
  for (const auto* list : {&found.ranked, &found.others}) {
    for (const estimate& e : *list) filters.push_back(to_json(e, found.final_keys));
  }
  json described = nullptr;
  if (log != nullptr) {
    described = {{"queries", log->queries()},
                 {"negatives", log->negatives()},
                 {"distinct_negatives", log->distinct_negatives()},
                 {"top_share", log->top_share()},
                 {"sampled_queries", log->sampled().size()},
                 {"sampling", std::ldexp(1.0, -static_cast<int>(log->shift()))}};
  }
  json all = {{"keys", wish.capacity},          {"final_keys", found.final_keys},
              {"deletes", wish.deletes},        {"read_us", wish.read_ns / 1000},
              {"log", std::move(described)},    {"compared_by", found.by_memory ? "memory" : "cost"},
              {"trust_log", wish.trust_log},    {"slow_bit_price", wish.slow_bit_price},
              {"slow_memory", wish.slow_memory}};
  if (!found.would_fit.empty()) all["would_fit"] = found.would_fit;
  if (!found.ranked.empty()) {
    all["recommended"] = found.ranked.front().name();
    all["create"] = create_arguments(found.ranked.front());
  }
  all["filters"] = std::move(filters);
  return all;
}

void print_advice(const advise_result& result, output& out) {
  const unsigned columns = text_columns();
  const auto paragraph = [&](const std::string& text) { out.print("{}\n", wrapped(text, columns, 0)); };
  paragraph(wish_text(result));
  out.write('\n');
  if (!result.found.ranked.empty()) print_table(result, out);
  std::string others;
  for (const estimate& e : result.found.others) {
    others += (others.empty() ? "Do not fit: " : "; ") + e.name() + ": " + e.refusal;
  }
  if (!others.empty()) {
    out.write('\n');
    paragraph(others + ".");
  }
  if (result.found.ranked.empty()) return;
  const std::string command = "  tamis create FILE " + create_arguments(result.found.ranked.front());
  out.print("\n{}\n{}\n", bold("Recommended:"), wrapped_command(command, line_columns(), 4));
  paragraph(reason(result));
}

}  // namespace tamis::cli
