// Assembles the commands, and turns wrong usage into messages and exit code 2.

#include <algorithm>
#include <memory>

#include "commands.hpp"
#include "empty_values.hpp"
#include "help.hpp"
#include "output.hpp"
#include "process.hpp"

namespace tamis::cli {
namespace {

void add_commands(CLI::App& tool) {
  add_filters(tool);
  add_create(tool);
  add_add(tool);
  add_check(tool);
  add_remove(tool);
  add_merge(tool);
  add_fold(tool);
  add_sums(tool);
  add_diff(tool);
  add_patch(tool);
  add_info(tool);
  add_replay(tool);
  add_advise(tool);
  add_generate(tool);
  add_bench(tool);
  add_reproduce(tool);
#ifdef TAMIS_HAS_HIREDIS
  add_remote(tool);
#endif
  add_completion(tool);
  add_man_page(tool);
}

int wrong_usage(const CLI::App& tool, const CLI::ParseError& wrong) {
  const auto chosen = tool.get_subcommands();
  const std::string command = chosen.empty() ? "" : chosen.front()->get_name();
  const auto unexpected = chosen.empty() ? std::vector<std::string>() : chosen.front()->remaining();
  const std::string reason = unexpected.empty() ? wrong.what() : "'" + unexpected.front() + "' was not expected";
  say(command.empty() ? reason : fmt::format("{}: {}", command, reason));
  say(fmt::format("see `tamis {}{}--help`", command, command.empty() ? "" : " "));
  return 2;
}

// CLI11 would only say that a command is missing.
bool is_unknown_command(const CLI::App& tool, const std::string& word) {
  const auto known = tool.get_subcommands([](const CLI::App*) { return true; });
  return word.rfind('-', 0) != 0 &&
         std::none_of(known.begin(), known.end(), [&](const CLI::App* command) { return command->get_name() == word; });
}

int run(int argc, char** argv) {
  CLI::App tool("tamis: filters that say \"certainly not\" or \"maybe\" and learn from mistakes", "tamis");
  tool.set_version_flag("--version", "tamis " TAMIS_VERSION);
  tool.require_subcommand(1);
  tool.formatter(std::make_shared<help_format>());
  tool.footer("Each command explains itself: `tamis COMMAND --help`.");
  add_commands(tool);
  if (argc > 1 && is_unknown_command(tool, argv[1])) {
    say(fmt::format("{}: no such command; `tamis --help` lists them", *argv[1] == '\0' ? "''" : argv[1]));
    return 2;
  }
  refuse_empty_values(argc, argv);
  try {
    tool.parse(argc, argv);
    return 0;
  } catch (const CLI::CallForHelp&) {
    return show(tool.help());
  } catch (const CLI::CallForVersion&) {
    return show(tool.version() + "\n");
  } catch (const CLI::ParseError& wrong) {
    return wrong_usage(tool, wrong);
  }
}

}  // namespace
}  // namespace tamis::cli

int main(int argc, char** argv) { return tamis::cli::run_process(tamis::cli::run, argc, argv); }
