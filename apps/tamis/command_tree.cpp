#include "command_tree.hpp"

#include <algorithm>
#include <cctype>

#include "lab/workload.hpp"
#include "reproduce_flags.hpp"
#include "tamis/registry.hpp"

namespace tamis::cli {
namespace {

std::vector<std::string> filter_ids() {
  std::vector<std::string> ids;
  for (const registry_entry& entry : registry::builtin().entries()) ids.emplace_back(entry.info->id);
  return ids;
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t end = std::min(text.find(at, first), text.size());
    parts.push_back(text.substr(first, end - first));
    first = end + 1;
  }
  return parts;
}

// "fast" is a value, "HEX" stands for one.
bool is_literal(const std::string& word) {
  return !word.empty() && word != "-" &&
         std::none_of(word.begin(), word.end(), [](unsigned char c) { return std::isupper(c) != 0; });
}

described_option described(const CLI::Option& option) {
  described_option made;
  for (const std::string& name : option.get_snames()) made.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) made.names.push_back("--" + name);
  const bool is_argument = option.get_positional() && made.names.empty();
  made.value = is_argument ? option.get_name(true) : option.get_items_expected_max() == 0 ? "" : option.get_type_name();
  made.help = option.get_description();
  made.required = option.get_required();
  made.repeats = option.get_items_expected_max() > 1;
  return made;
}

}  // namespace

bool described_option::takes_file() const {
  for (const std::string& word : split(value, '|')) {
    for (const char* kind : {"FILE", "KEYS", "OUT", "DIR"}) {
      if (word == kind) return true;
    }
  }
  return false;
}

bool described_option::takes_list() const { return value == "ID[,ID...]" || value == "FILTER"; }

std::vector<std::string> described_option::values() const {
  if (value == "ID" || takes_list()) return filter_ids();
  std::vector<std::string> known;
  if (value == "WORKLOAD") {
    for (const lab::workload_info& info : lab::workloads()) known.emplace_back(info.name);
    return known;
  }
  for (std::string& word : split(value, '|')) {
    if (is_literal(word)) known.push_back(std::move(word));
  }
  return known;
}

described_command described(const CLI::App& command) {
  described_command made{command.get_name(), command.get_description(), command.get_footer(), {}};
  for (const CLI::Option* option : command.get_options()) made.options.push_back(described(*option));
  return made;
}

std::vector<described_command> described_commands(const CLI::App& tool) {
  std::vector<described_command> all;
  for (const CLI::App* command : tool.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); })) {
    all.push_back(described(*command));
    if (all.back().name != "reproduce") continue;
    CLI::App other(command->get_description(), "reproduce");
    reproduce_flags given;
    given.add_to(other);
    all.back() = described(other);
  }
  return all;
}

}  // namespace tamis::cli
