#include "json_target.hpp"

#include <cmath>
#include <fstream>
#include <string_view>

#include "failure.hpp"

namespace tamis::cli {
namespace {

// A slip in the command line must not cost the user a filter.
bool is_filter(const std::string& path) {
  char start[5] = {};
  std::ifstream(path, std::ios::binary).read(start, sizeof start);
  return std::string_view(start, sizeof start) == "TAMIS";
}

}  // namespace

void add_json_flag(CLI::App& command, std::string& where) {
  command.add_option("--json", where, "write the result as JSON to this file, or to standard output (-) in place of the text")
      ->type_name("FILE|-");
}

json_target::json_target(const std::string& where) : on_stdout_(where == "-") {
  if (where.empty() || on_stdout_) return;
  if (is_filter(where)) fail(where, "is a filter, which the JSON would replace");
  file_.emplace(must(file_replacement::create(where)));
}

void json_target::write(const json& value, output& out) {
  const std::string text = value.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
  if (on_stdout_) out.write(text);
  if (file_) {
    must(file_->write(std::as_bytes(std::span(text))));
    must(file_->commit());
  }
}

json number_or_null(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

}  // namespace tamis::cli
