#include "remote_report.hpp"

#include <algorithm>
#include <array>

#include "numbers.hpp"
#include "output.hpp"
#include "printable.hpp"
#include "table.hpp"
#include "tamis/detail/base/zeroed_array.hpp"

namespace tamis::cli {

using detail::format_bytes;

void shard_sums::add(const shard_info& one) {
  rate = (rate * static_cast<double>(shards) + one.real("rate expected")) / static_cast<double>(shards + 1);
  ++shards;
  keys += one.number("keys");
  capacity += one.number("capacity");
  bytes += one.number("bytes");
  largest = std::max(largest, one.number("bytes"));
  checks += one.number("checks seen");
  maybes += one.number("maybes seen");
  reports += one.number("reports seen");
  refused += one.number("reports refused");
  mistakes += one.number("known mistakes");
}

remote_report::remote_report(const remote_filter& filter, const std::vector<shard_info>& shards)
    : described(filter.description()), name(filter.name()) {
  for (const shard_info& one : shards) {
    all.add(one);
    by_node[one.node].add(one);
  }
}

json remote_report::as_json() const {
  json nodes = json::array();
  for (const auto& [node, sums] : by_node) {
    nodes.push_back({{"node", node.text()}, {"shards", sums.shards}, {"keys", sums.keys}, {"bytes", sums.bytes}});
  }
  return {{"name", name},
          {"filter", described.filter},
          {"mode", described.mode},
          {"hash", described.hash},
          {"fpr", number_or_null(std::strtod(described.rate.c_str(), nullptr))},
          {"expected_fpr", number_or_null(all.rate)},
          {"capacity", described.capacity},
          {"keys", all.keys},
          {"bytes", all.bytes},
          {"shards", all.shards},
          {"largest_shard_bytes", all.largest},
          {"checks", all.checks},
          {"maybes", all.maybes},
          {"mistakes_reported", all.reports},
          {"mistakes_refused", all.refused},
          {"known_mistakes", all.mistakes},
          {"nodes", nodes}};
}

void remote_report::print() const {
  output out;
  const auto line = [&](const char* title, const std::string& text) { out.print("{:<16} {}\n", title, text); };
  line("filter", described.filter + ", mode " + described.mode + ", hash " + described.hash);
  line("keys", grouped(all.keys) + " of " + grouped(described.capacity) + " that it was made for");
  line("shards", grouped(all.shards) + ", the largest " + format_bytes(all.largest));
  line("memory",
       format_bytes(all.bytes) + (all.keys == 0 ? ""
                                                : fmt::format(", {:.2f} bytes per key",
                                                              static_cast<double>(all.bytes) / static_cast<double>(all.keys))));
  line("expected rate", percent(all.rate));
  line("asked", counted(all.checks, "time") + ", maybe " + grouped(all.maybes) + ", since the nodes began to count");
  line("mistakes",
       grouped(all.mistakes) + " known, " + grouped(all.reports) + " reported, " + grouped(all.refused) + " refused");
  out.print("\n");
  table nodes;
  nodes.column("node", align::left);
  nodes.column("shards");
  nodes.column("keys");
  nodes.column("memory");
  for (const auto& [node, sums] : by_node)
    nodes.row({printable(node.text()), grouped(sums.shards), grouped(sums.keys), format_bytes(sums.bytes)});
  nodes.print(out);
  out.flush();
}

namespace {

// In a label, backslash, quote and line end are escaped.
std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\\' || c == '"') safe += '\\';
    safe += c;
  }
  return safe;
}

struct metric {
  const char* name;
  const char* type;
  const char* help;
  std::uint64_t shard_sums::*field;
};
constexpr std::array metrics_of_nodes{
    metric{"shards", "gauge", "Shards of the filter on the node.", &shard_sums::shards},
    metric{"keys", "gauge", "Keys that were added and not deleted.", &shard_sums::keys},
    metric{"capacity_keys", "gauge", "Keys that the shards take before they grow or refuse.", &shard_sums::capacity},
    metric{"bytes", "gauge", "Memory of the shards.", &shard_sums::bytes},
    metric{"largest_shard_bytes", "gauge", "Memory of the largest shard.", &shard_sums::largest},
    metric{"known_mistakes", "gauge", "False positives that are known by now.", &shard_sums::mistakes},
    metric{"checks_total", "counter", "Items that were asked for.", &shard_sums::checks},
    metric{"maybes_total", "counter", "Items that may be in.", &shard_sums::maybes},
    metric{"mistakes_reported_total", "counter", "Reports of false positives.", &shard_sums::reports},
    metric{"mistakes_refused_total", "counter", "Reports that came too soon after an add.", &shard_sums::refused},
};

}  // namespace

std::string remote_report::metrics() const {
  std::string page;
  const auto to = std::back_inserter(page);
  const std::string label = escaped(name);
  for (const metric& one : metrics_of_nodes) {
    fmt::format_to(to, "# HELP tamis_remote_{} {}\n# TYPE tamis_remote_{} {}\n", one.name, one.help, one.name, one.type);
    for (const auto& [node, sums] : by_node) {
      fmt::format_to(to, "tamis_remote_{}{{filter=\"{}\",node=\"{}\"}} {}\n", one.name, label, escaped(node.text()),
                     sums.*one.field);
    }
  }
  fmt::format_to(to,
                 "# HELP tamis_remote_expected_fpr False-positive rate to expect, the mean of the shards.\n"
                 "# TYPE tamis_remote_expected_fpr gauge\n"
                 "tamis_remote_expected_fpr{{filter=\"{}\"}} {}\n",
                 label, all.rate);
  return page;
}

}  // namespace tamis::cli
