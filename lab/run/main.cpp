// Runs an experiment of the papers and writes its table:
//
//   tamis_lab_run                                  lists the experiments
//   tamis_lab_run NAME [runs=10] [seed=1] [log=FILE] > table.csv

#include <algorithm>
#include <charconv>
#include <iostream>

#include "lab/experiment.hpp"

namespace {

using namespace tamis;
using namespace tamis::lab;

status read_option(std::string_view text, experiment_options& options) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string_view name = text.substr(0, equals);
  const std::string_view value = text.substr(std::min(equals + 1, text.size()));
  const auto number = [&](auto& target) -> status {
    const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), target);
    if (failed == std::errc() && end == value.data() + value.size() && target != 0) return {};
    return error{"'" + std::string(text) + "': a whole number above 0 is needed"};
  };
  if (name == "runs") return number(options.runs);
  if (name == "seed") return number(options.seed);
  if (name == "log") {
    options.log = value;
    return {};
  }
  return error{"'" + std::string(text) + "': options are runs=, seed= and log="};
}

void list() {
  for (const experiment* e : experiments()) {
    std::cout << e->name << "\n  " << e->figures << "\n  claim: " << e->claim << "\n  agrees: " << e->agrees << "\n";
  }
}

status run(std::span<char*> arguments) {
  const auto all = experiments();
  const auto found = std::find_if(all.begin(), all.end(), [&](const experiment* e) { return e->name == arguments[0]; });
  if (found == all.end())
    return error{"experiment '" + std::string(arguments[0]) + "': unknown, call without arguments for a list"};
  experiment_options options;
  for (const char* argument : arguments.subspan(1)) TAMIS_CHECK(read_option(argument, options));
  return (*found)->run(options, std::cout);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    list();
    return 0;
  }
  const status done = run(std::span(arguments, static_cast<std::size_t>(count)).subspan(1));
  if (!done) std::cerr << "tamis_lab_run: " << done.message() << "\n";
  return done ? 0 : 1;
}
