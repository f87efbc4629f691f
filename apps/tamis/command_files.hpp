#pragma once

// The files of one command. A command adds its path flags here, each with what it does to the file, and gives its work to
// `run`. Before the work begins, all paths are checked together:
//
//   - no file is created twice, or over one that the command reads or changes, whatever names and links lead to it;
//   - a file that exists is replaced only with --force, and a filter by nothing but a filter;
//   - a filter is a regular file, and one that changes is not marked read-only.
//
// Only then are filters that will change locked and created files opened. Nobody else can open a created_file, so that a
// command cannot go around this.

#include <CLI/CLI.hpp>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "created_file.hpp"
#include "file_lock.hpp"

namespace tamis::cli {

class command_files {
 public:
  enum class missing { nothing, standard_input };

  CLI::Option* reads_keys(CLI::App& command, const std::string& name, std::string& path, const std::string& help,
                          missing means = missing::nothing);
  CLI::Option* reads_filter(CLI::App& command, const std::string& name, std::string& path, const std::string& help);
  CLI::Option* reads_filters(CLI::App& command, const std::string& name, std::vector<std::string>& paths,
                             const std::string& help);
  // In place: the file is read, and replaced by its next state.
  CLI::Option* changes_filter(CLI::App& command, const std::string& name, std::string& path, const std::string& help);
  CLI::Option* creates(CLI::App& command, const std::string& name, created_file& file, const std::string& help);
  // A filter that may, with --force, take the place of one that is read.
  CLI::Option* creates_filter(CLI::App& command, const std::string& name, created_file& file, const std::string& help);
  void creates_json(CLI::App& command, created_file& file);  // --json
  // A folder that the command itself fills: no created file may be in it. `folder_of` finds it in the flag's text, and is
  // empty if there is none.
  CLI::Option* fills(CLI::App& command, const std::string& name, std::string& text, const std::string& help,
                     std::function<std::string(const std::string&)> folder_of = nullptr);
  // A folder of inputs: nothing is created or filled in it.
  CLI::Option* reads_folder(CLI::App& command, const std::string& name, std::string& path, const std::string& help);

  // What the command does once its files are checked and open.  Requires: all flags are added.
  void run(CLI::App& command, std::function<void()> work);
  // The same for a program that is one command: then its work follows.  Requires: the command line is parsed.
  void open(const CLI::App& command);

  // Standard output is free for text: no created file goes there.
  bool text_wanted() const;

 private:
  enum class role { keys, filter, changed_filter, created, created_filter, filled_folder, read_folder };
  struct flag {
    role does;
    std::string name;
    CLI::Option* option;
    missing means = missing::nothing;
    created_file* file = nullptr;
    std::function<std::string(const std::string&)> folder_of = nullptr;
  };
  struct use;

  CLI::Option* add(CLI::App& command, role does, const std::string& name, std::string& path, const std::string& help);
  CLI::Option* add_created(CLI::App& command, role does, const std::string& name, created_file& file, const std::string& help);
  std::vector<use> uses() const;
  static void check_pair(const use& made, const use& other);
  void check_created(const use& made) const;
  static void refuse_read_only(const use& changed);

  std::vector<flag> flags_;
  bool force_ = false;
  std::deque<file_lock> locks_;
};

}  // namespace tamis::cli
