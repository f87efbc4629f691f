#include "command_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "empty_values.hpp"
#include "failure.hpp"
#include "file_identity.hpp"

namespace tamis::cli {

// One path of the command line and what becomes of it.
struct command_files::use {
  role does;
  std::string name;  // of the flag
  std::string path;  // as it was typed; `-` for standard output that nobody has named
  file_identity identity;
  std::optional<int> descriptor = {};  // that the path stands for
  created_file* file = nullptr;

  bool is_created() const { return does == role::created || does == role::created_filter; }
  bool is_folder() const { return does == role::filled_folder || does == role::read_folder; }
  bool is_filter() const { return does == role::filter || does == role::changed_filter; }
};

namespace {

// A slip in the command line must not cost the user a filter. Patches and checksums, which are framed like filters, are made
// anew easily.
bool holds_filter(const std::string& path) {
  char start[64] = {};
  std::ifstream(path, std::ios::binary).read(start, sizeof start);
  const std::string_view text(start, sizeof start);
  constexpr std::size_t kind = 43;  // docs/format.md
  const auto holds = [&](std::string_view name) {
    return static_cast<unsigned char>(text[kind - 1]) == name.size() && text.substr(kind).starts_with(name);
  };
  return text.starts_with("TAMIS") && !holds("difference") && !holds("checksums");
}

}  // namespace

CLI::Option* command_files::add(CLI::App& command, role does, const std::string& name, std::string& path,
                                const std::string& help) {
  CLI::Option* option = command.add_option(name, path, help);
  if (name.starts_with("--")) option->type_name("FILE");
  flags_.push_back({does, name, option});
  return option;
}

CLI::Option* command_files::reads_keys(CLI::App& command, const std::string& name, std::string& path, const std::string& help,
                                       missing means) {
  CLI::Option* option = add(command, role::keys, name, path, help);
  flags_.back().means = means;
  return option;
}

CLI::Option* command_files::reads_filter(CLI::App& command, const std::string& name, std::string& path,
                                         const std::string& help) {
  return add(command, role::filter, name, path, help);
}

CLI::Option* command_files::reads_filters(CLI::App& command, const std::string& name, std::vector<std::string>& paths,
                                          const std::string& help) {
  CLI::Option* option = command.add_option(name, paths, help);
  flags_.push_back({role::filter, name, option});
  return option;
}

CLI::Option* command_files::changes_filter(CLI::App& command, const std::string& name, std::string& path,
                                           const std::string& help) {
  return add(command, role::changed_filter, name, path, help);
}

CLI::Option* command_files::add_created(CLI::App& command, role does, const std::string& name, created_file& file,
                                        const std::string& help) {
  CLI::Option* option = add(command, does, name, file.path_, help);
  flags_.back().file = &file;
  if (command.get_option_no_throw("--force") == nullptr) command.add_flag("--force", force_, "replace files that exist");
  return option;
}

CLI::Option* command_files::creates(CLI::App& command, const std::string& name, created_file& file, const std::string& help) {
  return add_created(command, role::created, name, file, help);
}

CLI::Option* command_files::creates_filter(CLI::App& command, const std::string& name, created_file& file,
                                           const std::string& help) {
  return add_created(command, role::created_filter, name, file, help);
}

void command_files::creates_json(CLI::App& command, created_file& file) {
  creates(command, "--json", file, "write the result as JSON to this file, or to standard output (-) in place of the text")
      ->type_name("FILE|-");
}

CLI::Option* command_files::fills(CLI::App& command, const std::string& name, std::string& text, const std::string& help,
                                  std::function<std::string(const std::string&)> folder_of) {
  CLI::Option* option = add(command, role::filled_folder, name, text, help)->type_name("DIR");
  flags_.back().folder_of = std::move(folder_of);
  return option;
}

CLI::Option* command_files::reads_folder(CLI::App& command, const std::string& name, std::string& path,
                                         const std::string& help) {
  return add(command, role::read_folder, name, path, help)->type_name("DIR");
}

std::vector<command_files::use> command_files::uses() const {
  std::vector<use> all;
  for (const flag& f : flags_) {
    std::vector<std::string> paths = f.option->results();
    if (paths.empty() && f.means == missing::standard_input) paths.emplace_back("-");
    for (std::string& path : paths) {
      if (f.folder_of) path = f.folder_of(path);
      if (path.empty()) continue;
      use made{f.does, f.name, path, {}, named_descriptor(path), f.file};
      if (path == "-" && f.does == role::keys) made.descriptor = STDIN_FILENO;
      if (path == "-" && made.is_created()) made.descriptor = STDOUT_FILENO;
      made.identity = made.descriptor ? identify(*made.descriptor) : identify(path);
      all.push_back(std::move(made));
    }
  }
  // Text goes there, if nothing else does; a shell's redirection is a path of the command line, too.
  const file_identity standard = identify(STDOUT_FILENO);
  if (text_wanted() && standard.is_regular()) {
    all.push_back({role::created, "standard output", "-", standard, STDOUT_FILENO, nullptr});
  }
  return all;
}

void command_files::check_pair(const use& made, const use& other) {
  if (other.is_folder()) {
    if (!made.descriptor && lies_in(made.path, other.path)) {
      const char* does = other.does == role::filled_folder ? " fills" : " reads";
      fail(made.path, made.name + " lies in the folder that " + other.name + does);
    }
    return;
  }
  const bool one_stream = made.descriptor && made.descriptor == other.descriptor;
  const bool one_file = made.identity.is_exclusive() && same_file(made.identity, other.identity);
  if (!one_stream && !one_file) return;
  // All filters are read before the union takes the place of one.
  if (made.does == role::created_filter && other.does == role::filter && !made.descriptor) return;
  const use& named = made.name == "standard output" ? other : made;
  if (other.is_created()) fail(named.path, "is wanted by both " + other.name + " and " + made.name);
  const char* doing = other.does == role::changed_filter ? "changed" : "read";
  fail(named.path, "is " + std::string(doing) + " as " + other.name + ", and " + made.name + " would write over it");
}

void command_files::check_created(const use& made) const {
  if (made.file == nullptr) return;
  if (made.does == role::created_filter && made.file->on_stdout() && ::isatty(STDOUT_FILENO) == 1) {
    fail(made.path, "standard output is a terminal; a filter is not for reading");
  }
  if (made.descriptor) return;  // whoever opened it has decided
  if (made.identity.is_directory()) fail(made.path, "is a directory");
  if (S_ISBLK(made.identity.mode)) fail(made.path, "is a disk");
  // A symbolic link to nothing counts, too: it is somebody's.
  std::error_code ignored;
  const bool is_link = std::filesystem::is_symlink(made.path, ignored);
  if (made.identity.exists() ? !made.identity.is_regular() : !is_link) return;
  if (!force_) fail(made.path, "exists already; --force replaces it");
  if (made.does != role::created_filter && holds_filter(made.path)) {
    fail(made.path, "is a filter, which " + made.name + " would replace");
  }
}

void command_files::refuse_read_only(const use& changed) {
  // Renaming asks for the folder's mode only, and root for none at all; but the owner has said what should be.
  if ((changed.identity.mode & S_IWUSR) == 0) fail(changed.path, "is read-only; `chmod u+w` allows changes");
  if (::faccessat(AT_FDCWD, changed.path.c_str(), W_OK, AT_EACCESS) != 0) {
    fail(changed.path, std::string("cannot be changed: ") + std::strerror(errno));
  }
}

void command_files::open(const CLI::App& command) {
  refuse_empty_values(command);
  const std::vector<use> all = uses();
  const use* from_stdin = nullptr;
  for (const use& u : all) {
    if (u.does == role::keys && u.descriptor == STDIN_FILENO) {
      if (from_stdin != nullptr) fail("-", from_stdin->name + " and " + u.name + " cannot both be standard input");
      from_stdin = &u;
    }
    for (const use& other : all) {
      if (&u == &other) continue;
      if (u.is_created() && (!other.is_created() || &other < &u)) check_pair(u, other);  // two created ones once
      if (u.does == role::changed_filter && other.does == role::keys) check_pair(u, other);
      if (u.does == role::filled_folder && other.does == role::read_folder) check_pair(u, other);
    }
  }
  for (const use& u : all) {
    if (u.is_created()) check_created(u);
    if (u.is_filter() && u.identity.is_directory()) fail(u.path, "is a directory");
    if (u.is_filter() && u.identity.exists() && !u.identity.is_regular()) fail(u.path, "is not a regular file");
  }
  for (const use& u : all) {
    const bool replaced = u.does == role::created_filter && u.identity.is_regular() && !u.descriptor;
    if (replaced || u.does == role::changed_filter) locks_.emplace_back(u.path);
    if (u.does == role::changed_filter) refuse_read_only(u);
  }
  for (const use& u : all) {
    if (u.file != nullptr) u.file->open();
  }
}

void command_files::run(CLI::App& command, std::function<void()> work) {
  command.callback([this, &command, work = std::move(work)] {
    open(command);
    work();
  });
}

bool command_files::text_wanted() const {
  for (const flag& f : flags_) {
    if (f.file != nullptr && f.file->wanted() && f.file->on_stdout()) return false;
  }
  return true;
}

}  // namespace tamis::cli
