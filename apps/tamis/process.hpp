#pragma once

// What every program of the tool does around its work.

#include <string>

namespace tamis::cli {

// Calls `run` and turns what it throws into messages and exit code 1; a signal ends the process as the shell expects.
int run_process(int (*run)(int, char**), int argc, char** argv);

// Whether a broken pipe ends the process as it ends other programs, by SIGPIPE and without a word. If whoever started it has
// SIGPIPE ignored, it is an error like others.
bool ends_by_broken_pipe();

// Gives signals back their meaning, before another program takes this one's place.
void restore_signals();

// Prints text, such as help: exit code 0.
int show(const std::string& text);

}  // namespace tamis::cli
