#pragma once

// The commands of the tool, one file each. A command adds itself: its flags, its help, which ends with an example that a test
// runs, and the callback that does the work. A callback reports what goes wrong by throwing (failure.hpp); wrong usage is a
// CLI::ParseError. main.cpp turns both into messages and exit codes, so nothing else prints errors or exits.

#include <CLI/CLI.hpp>

namespace tamis::cli {

void add_add(CLI::App& tool);
void add_advise(CLI::App& tool);
void add_bench(CLI::App& tool);
void add_check(CLI::App& tool);
void add_completion(CLI::App& tool);
void add_create(CLI::App& tool);
void add_diff(CLI::App& tool);
void add_filters(CLI::App& tool);
void add_fold(CLI::App& tool);
void add_generate(CLI::App& tool);
void add_info(CLI::App& tool);
void add_man_page(CLI::App& tool);
void add_merge(CLI::App& tool);
void add_patch(CLI::App& tool);
void add_remote(CLI::App& tool);  // where the tool is built with hiredis
void add_remove(CLI::App& tool);
void add_replay(CLI::App& tool);
void add_reproduce(CLI::App& tool);
void add_sums(CLI::App& tool);

}  // namespace tamis::cli
