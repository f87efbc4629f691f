#pragma once

// tests/golden/refused: files with right checksums whose content no filter, patch or store can have. Each is there because one
// check refuses it that no other check stands in for.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "src/difference/patch.hpp"
#include "src/guard/snapshot.hpp"
#include "tamis/any_filter.hpp"
#include "tamis/concurrent.hpp"
#include "tests/support/bytes.hpp"

namespace tamis::test {

inline std::filesystem::path refused_folder() { return std::filesystem::path(TAMIS_SOURCE_DIR) / "tests/golden/refused"; }

inline std::vector<std::filesystem::path> refused_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(refused_folder())) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

inline byte_vector file_bytes(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return bytes_of(std::string((std::istreambuf_iterator<char>(stream)), {}));
}

// The way in that such a file has: `kind` is the ending of its name.
template <class Answer>
status status_of(const Answer& answer) {
  return answer.ok() ? status() : status(failure{answer.message(), answer.code()});
}
inline status load_as(const std::string& kind, const byte_vector& bytes) {
  if (kind == ".tamis") return status_of(load_bytes(bytes));
  if (kind == ".concurrent") return status_of(concurrent_filter::load_bytes(bytes));
  if (kind == ".patch") return status_of(difference::read_patch(bytes));
  if (kind == ".config") {
    return status_of(parse_row<store_config>({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  }
  throw std::invalid_argument("no file of ours ends in " + kind);
}

}  // namespace tamis::test
