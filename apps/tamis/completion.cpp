// tamis completion: a script with which a shell completes commands, options, filters and files.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "command_tree.hpp"
#include "commands.hpp"
#include "failure.hpp"
#include "output.hpp"

namespace tamis::cli {
namespace {

using commands = std::vector<described_command>;

std::string joined(const std::vector<std::string>& words, std::string_view between = " ") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(between)) + word;
  return text;
}

// In single quotes, as a shell takes it. fish knows \' in them, the others do not.
std::string in_quotes(std::string_view text, bool is_fish = false) {
  std::string made = "'";
  for (const char c : text) {
    if (c == '\'') {
      made += is_fish ? "\\'" : "'\\''";
    } else if (c == '\\' && is_fish) {
      made += "\\\\";
    } else {
      made += c;
    }
  }
  return made + "'";
}

std::string names_of(const commands& all) {
  std::vector<std::string> names;
  for (const described_command& command : all) names.push_back(command.name);
  return joined(names);
}

// ---- bash ----

std::string bash_values(const described_option& option) {
  const auto values = option.values();
  if (!values.empty()) {
    return fmt::format("{} {}", option.takes_list() ? "_tamis_list" : "_tamis_words", in_quotes(joined(values)));
  }
  return option.takes_file() ? "_tamis_files" : ":";
}

std::string bash_command(const described_command& command) {
  std::string values;
  std::vector<std::string> names;
  std::string arguments;
  for (const described_option& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
    if (option.is_argument()) {
      arguments += fmt::format("          {}\n", bash_values(option));
    } else if (!option.value.empty()) {
      values += fmt::format("        {}) {}; return ;;\n", joined(option.names, "|"), bash_values(option));
    }
  }
  return fmt::format(
      "    {})\n      case $previous in\n{}      esac\n      case $word in\n        -*) _tamis_words {} ;;\n        *)\n       "
      "   :\n"
      "{}          ;;\n      esac\n      ;;\n",
      command.name, values, in_quotes(joined(names)), arguments);
}

std::string bash_script(const commands& all) {
  std::string script =
      R"sh(# Completion of tamis for bash, made by `tamis completion bash`.

_tamis_words() {
  local found
  mapfile -t found < <(compgen -W "$1" -- "$word")
  COMPREPLY+=("${found[@]}")
}

# One of several words with commas between them.
_tamis_list() {
  local before= found
  if [[ $word == *,* ]]; then before=${word%,*},; fi
  mapfile -t found < <(compgen -P "$before" -W "$1" -- "${word##*,}")
  COMPREPLY+=("${found[@]}")
  compopt -o nospace
}

_tamis_files() {
  local found
  compopt -o filenames
  mapfile -t found < <(compgen -f -- "$word")
  COMPREPLY+=("${found[@]}")
}

_tamis() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
)sh";
  script += fmt::format("    _tamis_words {}\n    return\n  fi\n", in_quotes(names_of(all) + " --help --version"));
  script += R"sh(  # --name=value comes in three words.
  if [[ $word == "=" ]]; then
    word=
  elif [[ $previous == "=" ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case ${COMP_WORDS[1]} in
)sh";
  for (const described_command& command : all) script += bash_command(command);
  return script + "  esac\n}\n\ncomplete -F _tamis tamis\n";
}

// ---- zsh ----

// A description in a spec of _arguments: brackets and colons end it.
std::string zsh_text(std::string_view text) {
  std::string made;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') made += '\\';
    made += c;
  }
  return made;
}

std::string zsh_action(const described_option& option) {
  const auto values = option.values();
  if (option.takes_list()) return "_sequence compadd - " + joined(values);
  if (!values.empty()) return "(" + joined(values) + ")";
  return option.takes_file() ? "_files" : " ";
}

std::string zsh_option(const described_option& option) {
  const std::string value = option.value.empty() ? "" : fmt::format(":{}:{}", zsh_text(option.value), zsh_action(option));
  if (option.is_argument()) return "        " + in_quotes((option.repeats ? "*" : "") + value) + " \\\n";
  const std::string exclusions = option.repeats ? "*" : option.names.size() > 1 ? "(" + joined(option.names) + ")" : "";
  std::string lines;
  for (const std::string& name : option.names) {
    lines += fmt::format("        {} \\\n",
                         in_quotes(fmt::format("{}{}{}[{}]{}", exclusions, name, value.empty() || name[1] != '-' ? "" : "=",
                                               zsh_text(option.help), value)));
  }
  return lines;
}

std::string zsh_script(const commands& all) {
  std::string script =
      "#compdef tamis\n# Completion of tamis for zsh, made by `tamis completion zsh`.\n\n_tamis() {\n"
      "  local curcontext=$curcontext state line\n"
      "  _arguments -C '--help[show the commands]' '--version[show the version]' '1:command:->command' "
      "'*::argument:->argument'\n"
      "  case $state in\n  command)\n    local -a commands=(\n";
  for (const described_command& command : all) {
    script += "      " + in_quotes(command.name + ":" + zsh_text(command.summary)) + "\n";
  }
  script += "    )\n    _describe command commands\n    ;;\n  argument)\n    case $line[1] in\n";
  for (const described_command& command : all) {
    script += fmt::format("    {})\n      _arguments -s \\\n", command.name);
    for (const described_option& option : command.options) script += zsh_option(option);
    script += "        && return 0\n      ;;\n";
  }
  return script +
         "    esac\n    ;;\n  esac\n}\n\nif [[ $funcstack[1] == _tamis ]]; then _tamis \"$@\"; else compdef _tamis tamis; fi\n";
}

// ---- fish ----

std::string fish_values(const described_option& option) {
  const auto values = option.values();
  std::string made = option.value.empty() ? "" : option.takes_file() ? " -r -F" : " -x";
  if (option.takes_list()) return made + " -a " + in_quotes(fmt::format("(__fish_append , {})", joined(values)), true);
  if (!values.empty()) made += " -a " + in_quotes(joined(values), true);
  return made;
}

std::string fish_option(const std::string& condition, const described_option& option) {
  std::string line = "complete -c tamis -n " + in_quotes(condition, true);
  if (option.is_argument()) {
    if (option.takes_file()) return line + " -F\n";
    const auto values = option.values();
    return values.empty() ? "" : line + " -f -a " + in_quotes(joined(values), true) + "\n";
  }
  for (const std::string& name : option.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  return line + fish_values(option) + " -d " + in_quotes(option.help, true) + "\n";
}

std::string fish_script(const commands& all) {
  std::string script = "# Completion of tamis for fish, made by `tamis completion fish`.\n\ncomplete -c tamis -f\n";
  for (const described_command& command : all) {
    script +=
        fmt::format("complete -c tamis -n __fish_use_subcommand -a {} -d {}\n", command.name, in_quotes(command.summary, true));
  }
  script += "complete -c tamis -n __fish_use_subcommand -l help\ncomplete -c tamis -n __fish_use_subcommand -l version\n";
  for (const described_command& command : all) {
    const std::string condition = "__fish_seen_subcommand_from " + command.name;
    for (const described_option& option : command.options) script += fish_option(condition, option);
  }
  return script;
}

void run_completion(const CLI::App& tool, const std::string& shell) {
  const commands all = described_commands(tool);
  output out;
  if (shell == "bash") {
    out.write(bash_script(all));
  } else if (shell == "zsh") {
    out.write(zsh_script(all));
  } else if (shell == "fish") {
    out.write(fish_script(all));
  } else {
    fail("shell '" + shell + "'", "must be bash, zsh or fish");
  }
  out.flush();
}

}  // namespace

void add_completion(CLI::App& tool) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = tool.add_subcommand("completion", "a script that completes these commands in a shell");
  command->add_option("bash|zsh|fish", *shell, "the shell; the script goes to standard output")->required();
  command->footer(
      "For bash, in ~/.bashrc: source <(tamis completion bash). For zsh the same with\n"
      "zsh, in ~/.zshrc behind compinit. For fish, once: tamis completion fish >\n"
      "~/.config/fish/completions/tamis.fish. The Debian package has done it already.\n\n"
      "Example:\n"
      "  source <(tamis completion bash)");
  command->callback([&tool, shell] { run_completion(tool, *shell); });
}

}  // namespace tamis::cli
