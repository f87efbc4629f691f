#pragma once

// The files of tests/golden/refused by the check that needs them, while more are looked for.

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "tests/checks/numbers.hpp"
#include "tests/checks/refused_files.hpp"

namespace tamis::test {

class collection {
 public:
  static collection& of_tree();

  // Keeps the file if a check refuses it that no file needs yet, or only a longer one. `id`: the first word of its name, `kind`
  // the ending.
  void look_at(const std::string& id, const std::string& kind, const byte_vector& bytes);

 private:
  collection();
  void note(std::size_t number, const std::filesystem::path& path, const byte_vector& bytes) {
    files_[number] = {path, bytes.size()};
  }

  std::map<std::size_t, std::pair<std::filesystem::path, std::size_t>> files_;
};

}  // namespace tamis::test
