#pragma once

// The tool's commands as CLI11 knows them, for completions and man pages: what --help says and nothing else.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tamis::cli {

// A flag, an option with a value, or an argument without a name.
struct described_option {
  std::vector<std::string> names;  // "-v", "--absent"; none for an argument
  std::string value;               // "RATE", "fast|keyed", the argument's name; empty for a flag
  std::string help;
  bool required = false;
  bool repeats = false;

  bool is_argument() const { return names.empty(); }
  bool takes_file() const;
  bool takes_list() const;  // separated by commas
  // The values there are, if they can be listed.
  std::vector<std::string> values() const;
};

struct described_command {
  std::string name;
  std::string summary;
  std::string footer;
  std::vector<described_option> options;
};

described_command described(const CLI::App& command);
// All commands that --help lists; `reproduce` with the options of the program that it starts.
std::vector<described_command> described_commands(const CLI::App& tool);

}  // namespace tamis::cli
