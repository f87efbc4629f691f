#pragma once

// The folder that `tamis reproduce` fills. It belongs to one scale, seed, log, folder of data and version, which reproduce.json
// names; results of others are never mixed in. Every finished run is a file in runs/, written whole, so a command that was
// ended goes on where it was.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "lab/experiment.hpp"

namespace tamis::cli {

using json = nlohmann::ordered_json;

struct conditions {
  lab::scale scale;
  std::uint64_t seed;
  std::string log;  // the file's path, or nothing
  std::uint64_t log_bytes;
  std::string data = "";  // the folder's path, or nothing

  json described() const;
};
std::string_view word_of(lab::scale s);

struct finished_run {
  lab::table table;
  double seconds = 0;
  json machine;
  std::string revision;   // the commit of the code
  std::string date = "";  // on which it ended, UTC: "2026-11-18"
};

class results_folder {
 public:
  // Makes the folder, or takes one that was made under the same conditions; fails with a message otherwise, or if another
  // command is at work in it.
  results_folder(std::string path, conditions made_under);
  ~results_folder();
  results_folder(const results_folder&) = delete;
  results_folder& operator=(const results_folder&) = delete;

  // What an earlier command finished. A file that is damaged, or of other columns, counts as nothing, and that is said.
  std::optional<finished_run> load(const lab::experiment& of, unsigned run) const;
  void save(const lab::experiment& of, unsigned run, const finished_run& done) const;

  void write(const std::string& name, const std::string& text) const;
  std::string path(const std::string& name) const { return path_ + "/" + name; }
  const conditions& made_under() const { return conditions_; }

 private:
  void lock();
  void take_or_make_manifest() const;

  std::string path_;
  conditions conditions_;
  int lock_ = -1;
};

// What is worth knowing about where numbers come from.
std::string this_revision();
std::string this_date();
json this_machine_json();
json versions_json();

}  // namespace tamis::cli
