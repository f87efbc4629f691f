// tamis man-page: a page for `man`, from what --help says. Not listed: packages write the pages when they are built.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "command_tree.hpp"
#include "commands.hpp"
#include "failure.hpp"
#include "output.hpp"

namespace tamis::cli {
namespace {

std::string escaped(std::string_view text) {
  std::string made;
  for (const char c : text) {
    if (c == '\\') {
      made += "\\e";
    } else if (c == '-') {
      made += "\\-";  // a hyphen-minus that can be copied
    } else if (c == '`' || c == '\'' || c == '^' || c == '~' || c == '"') {
      made += c == '`' ? "\\(ga" : c == '\'' ? "\\(aq" : c == '^' ? "\\(ha" : c == '~' ? "\\(ti" : "\\(dq";
    } else {
      made += c;
    }
  }
  return made;
}

// A line of text. One that begins with a full stop would be taken for a request.
std::string line_of(std::string_view text) {
  const std::string made = escaped(text);
  return (made.starts_with('.') ? "\\&" : "") + made + "\n";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

struct footer_parts {
  std::vector<std::string> text;
  std::vector<std::string> examples;
};

footer_parts parts_of(const std::string& footer) {
  footer_parts parts;
  bool in_examples = false;
  for (const std::string& line : lines_of(footer)) {
    if (line == "Example:" || line == "Examples:") {
      in_examples = true;
    } else {
      (in_examples ? parts.examples : parts.text).push_back(line);
    }
  }
  return parts;
}

// Paragraphs, whose lines stay where they are if one of them is set in columns.
std::string paragraphs(const std::vector<std::string>& lines) {
  std::string made;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    std::size_t end = i;
    bool is_table = false;
    for (; end < lines.size() && !lines[end].empty(); ++end) {
      is_table |= lines[end].starts_with(' ') || lines[end].find("  ") != std::string::npos;
    }
    made += is_table ? ".PP\n.nf\n" : ".PP\n";
    for (; i < end; ++i) made += line_of(lines[i]);
    if (is_table) made += ".fi\n";
  }
  return made;
}

std::string value_of(const described_option& option) {
  return option.value.empty() ? "" : " \\fI" + escaped(option.value) + "\\fR";
}

std::string synopsis_of(const described_command& command) {
  std::string made = fmt::format(".B tamis {}\n[\\fIOPTIONS\\fR]\n", command.name);
  for (const described_option& option : command.options) {
    if (!option.is_argument()) continue;
    const std::string name = "\\fI" + escaped(option.value) + "\\fR" + (option.repeats ? "..." : "");
    made += option.required ? name + "\n" : "[" + name + "]\n";
  }
  return made;
}

std::string entry_of(const described_option& option) {
  std::string names;
  for (const std::string& name : option.names) names += (names.empty() ? "\\fB" : ", \\fB") + escaped(name) + "\\fR";
  return ".TP\n" + (option.is_argument() ? "\\fI" + escaped(option.value) + "\\fR" : names + value_of(option)) + "\n" +
         line_of(option.help);
}

std::string heading(const std::string& name, const std::string& summary) {
  std::string title = name;
  for (char& c : title) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return fmt::format(".\\\" Made by `tamis man-page`.\n.TH {} 1 \"\" \"tamis {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n",
                     escaped(title), TAMIS_VERSION, escaped(name), escaped(summary));
}

constexpr const char* exit_status =
    ".SH EXIT STATUS\n0: done. 1: something failed; a message says what and why. 2: wrong usage.\n";

std::string page_of(const described_command& command) {
  const footer_parts footer = parts_of(command.footer);
  std::string page = heading("tamis-" + command.name, command.summary);
  page += ".SH SYNOPSIS\n" + synopsis_of(command) + ".SH OPTIONS\n";
  for (const described_option& option : command.options) page += entry_of(option);
  const std::string description = paragraphs(footer.text);
  if (!description.empty()) page += ".SH DESCRIPTION\n" + description;
  page += exit_status;
  if (!footer.examples.empty()) {
    page += ".SH EXAMPLES\n.nf\n";
    for (const std::string& line : footer.examples) page += line_of(line);
    page += ".fi\n";
  }
  return page + ".SH SEE ALSO\n.BR tamis (1)\n";
}

std::string page_of_tool(const CLI::App& tool) {
  const auto commands = described_commands(tool);
  std::string page = heading("tamis", "filters that answer \"certainly not\" or \"maybe\"");
  page +=
      ".SH SYNOPSIS\n.B tamis\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]\n.br\n.B tamis\n\\fB\\-\\-help\\fR | "
      "\\fB\\-\\-version\\fR\n.SH DESCRIPTION\nMakes filters for approximate membership, fills them and asks them, and finds "
      "out "
      "which one fits.\nEach command has a page of its own.\n.SH COMMANDS\n";
  for (const described_command& command : commands) {
    page += fmt::format(".TP\n.B {}\n{}", escaped(command.name), line_of(command.summary));
  }
  page += exit_status;
  page +=
      ".SH ENVIRONMENT\n.TP\n.B TAMIS_SEED\nThe secret of a keyed filter, 32 hexadecimal digits.\n.TP\n.B TAMIS_CPU\nportable, "
      "avx2 "
      "or avx512: which code is used.\n.TP\n.B NO_COLOR\nIf set, there are no colours.\n.SH SEE ALSO\n";
  for (std::size_t i = 0; i < commands.size(); ++i) {
    page += fmt::format(".BR {} (1){}\n", escaped("tamis-" + commands[i].name), i + 1 < commands.size() ? "," : "");
  }
  return page;
}

void run_man_page(const CLI::App& tool, const std::string& name) {
  output out;
  if (name.empty()) {
    out.write(page_of_tool(tool));
  } else {
    const auto commands = described_commands(tool);
    const auto at = std::find_if(commands.begin(), commands.end(), [&](const auto& command) { return command.name == name; });
    if (at == commands.end()) fail("command '" + name + "'", "unknown; `tamis --help` lists them");
    out.write(page_of(*at));
  }
  out.flush();
}

}  // namespace

void add_man_page(CLI::App& tool) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = tool.add_subcommand("man-page", "the page of a command for man, or of the tool");
  command->group("");
  command->add_option("COMMAND", *name, "the command");
  command->footer("Example:\n  tamis man-page create");
  command->callback([&tool, name] { run_man_page(tool, *name); });
}

}  // namespace tamis::cli
