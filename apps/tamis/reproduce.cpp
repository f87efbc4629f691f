// tamis reproduce: the papers' experiments. They are a program of their own, tamis-reproduce, which is built on demand and lies
// beside this one: compiling every experiment takes as long as half of the tool, and few users need them.

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "commands.hpp"
#include "failure.hpp"
#include "process.hpp"

namespace tamis::cli {
namespace {

[[noreturn]] void become(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
  const std::string path = program.string();
  std::vector<char*> words{const_cast<char*>(path.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  restore_signals();
  ::execv(path.c_str(), words.data());
  if (errno != ENOENT) fail(path, std::string("cannot be started: ") + std::strerror(errno));
  fail(path, "is not built; `./run reproduce` or `cmake --build build/app --target tamis_reproduce` builds it");
}

}  // namespace

void add_reproduce(CLI::App& tool) {
  CLI::App* command = tool.add_subcommand("reproduce", "the papers' figures and tables, with verdicts");
  command->set_help_flag();  // everything, also --help, is for the other program
  command->prefix_command();
  command->callback([command] {
    become(std::filesystem::read_symlink("/proc/self/exe").replace_filename("tamis-reproduce"), command->remaining());
  });
}

}  // namespace tamis::cli
