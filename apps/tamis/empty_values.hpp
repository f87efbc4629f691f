#pragma once

// An empty value is nearly always a shell variable that was not set. Taken for "not given" it would change what a command
// does, and a message about it would name nothing: it is refused by the name of its flag.

#include <CLI/CLI.hpp>

namespace tamis::cli {

// `--json ''`, and '' for FILE.  Requires: the command line is parsed.
void refuse_empty_values(const CLI::App& command);
// `--json=`, for which CLI11 would take the next word.
void refuse_empty_values(int argc, const char* const* argv);

}  // namespace tamis::cli
