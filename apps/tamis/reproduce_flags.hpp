#pragma once

// What `tamis reproduce` takes. tamis-reproduce parses it; the tool describes it, in completions and man pages.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "command_files.hpp"

namespace tamis::cli {

struct reproduce_flags {
  std::vector<std::string> names;
  bool list = false;
  std::string scale = "quick";
  std::string out;
  std::string runs;
  std::string seed = "1";
  std::string log;
  std::string data;
  std::string pages;
  std::string jobs;
  created_file json;
  command_files files;

  void add_to(CLI::App& command);
};

}  // namespace tamis::cli
