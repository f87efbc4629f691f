// tamis filters: what there is to choose from. Everything comes from the registry.

#include <unistd.h>

#include <memory>

#include "command_files.hpp"
#include "commands.hpp"
#include "filter_flags.hpp"
#include "json.hpp"
#include "terminal.hpp"

namespace tamis::cli {
namespace {

struct filters_flags {
  std::string filters;
  created_file json;
  command_files files;
};

std::vector<std::string> names_of(const capabilities& can) {
  std::vector<std::string> names;
  if (can.erase) names.emplace_back("delete");
  if (can.count) names.emplace_back("count");
  if (can.adapt) names.emplace_back("adapt");
  if (can.expand) names.emplace_back("expand");
  if (can.merge) names.emplace_back("merge");
  if (can.rejuvenate) names.emplace_back("rejuvenate");
  return names;
}

json to_json(const registry_entry& entry) {
  json options = json::array();
  for (const option_info& option : entry.info->options) {
    options.push_back(
        {{"name", option.name}, {"values", option.values}, {"default", option.fallback}, {"meaning", option.meaning}});
  }
  return {{"filter", entry.info->id},
          {"summary", entry.info->summary},
          {"paper", entry.info->paper},
          {"can", names_of(entry.can)},
          {"options", std::move(options)}};
}

void print(const registry_entry& entry, unsigned columns, output& out) {
  const auto line = [&](const std::string& text, unsigned indent) { out.print("  {}\n", wrapped(text, columns - 2, indent)); };
  out.print("{}\n", bold(entry.info->id));
  line(std::string(entry.info->summary), 2);
  line(std::string(entry.info->paper), 2);
  std::string can;
  for (const std::string& name : names_of(entry.can)) can += (can.empty() ? "" : ", ") + name;
  line("can: " + (can.empty() ? "insert and look up only" : can), 2);
  for (const option_info& option : entry.info->options) {
    line(fmt::format("--option {}=VALUE: {}; {} (default: {})", option.name, option.meaning, option.values, option.fallback),
         6);
  }
}

void run_filters(filters_flags& given) {
  output out;
  const auto chosen = parse_filter_list(given.filters);
  if (given.files.text_wanted()) {
    const unsigned columns = text_columns();
    for (const registry_entry* entry : chosen) {
      if (entry != chosen.front()) out.write('\n');
      print(*entry, columns, out);
    }
  }
  json list = json::array();
  for (const registry_entry* entry : chosen) list.push_back(to_json(*entry));
  write_json(given.json, list);
  out.flush();
}

}  // namespace

void add_filters(CLI::App& tool) {
  auto given = std::make_shared<filters_flags>();
  CLI::App* command = tool.add_subcommand("filters", "every filter: its paper, what it can do, its options");
  command->add_option("FILTER", given->filters, "only these, separated by commas");
  given->files.creates_json(*command, given->json);
  command->footer("Example:\n  tamis filters bloom");
  given->files.run(*command, [given] { run_filters(*given); });
}

}  // namespace tamis::cli
