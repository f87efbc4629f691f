#pragma once

// What every program of the tool does around its work.

#include <string>

namespace tamis::cli {

// Calls `run` and turns what it throws into messages and exit code 1; a signal ends the process as the shell expects.
int run_process(int (*run)(int, char**), int argc, char** argv);

// Prints text, such as help: exit code 0.
int show(const std::string& text);

}  // namespace tamis::cli
