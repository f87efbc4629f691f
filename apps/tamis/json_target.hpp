#pragma once

// `--json FILE|-`: the result for machines. With `-` it takes the place of the text on standard output. A file is opened when
// the command begins, so that a wrong path is noticed before any work is done, and replaced when it has ended.

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "output.hpp"
#include "tamis/detail/io/file.hpp"

namespace tamis::cli {

using json = nlohmann::ordered_json;  // fields in the order in which they are documented

void add_json_flag(CLI::App& command, std::string& where);

class json_target {
 public:
  explicit json_target(const std::string& where);

  bool on_stdout() const { return on_stdout_; }
  void write(const json& value, output& out);

 private:
  bool on_stdout_;
  std::optional<file_replacement> file_;
};

// Numbers that may not be there: an infinite or undefined one is null.
json number_or_null(double value);

}  // namespace tamis::cli
