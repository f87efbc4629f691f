#include "tests/checks/collection.hpp"

#include <cctype>
#include <fstream>
#include <iostream>

namespace tamis::test {
namespace {

// "cqf", "the table holds 3 keys" → cqf-the_table_holds_keys.tamis
std::filesystem::path path_for(const std::string& id, const std::string& message, const std::string& kind) {
  std::string name = id + "-";
  for (const char c : message) {
    const bool is_letter = std::isalpha(static_cast<unsigned char>(c)) != 0;
    if (is_letter) name += c;
    if (!is_letter && name.back() != '_' && name.back() != '-') name += '_';
    if (name.size() > 60) break;
  }
  while (name.back() == '_') name.pop_back();
  for (int i = 1;; ++i) {
    const auto path = refused_folder() / (name + (i == 1 ? "" : "_" + std::to_string(i)) + kind);
    if (!std::filesystem::exists(path)) return path;
  }
}

}  // namespace

collection& collection::of_tree() {
  static collection made;
  return made;
}

collection::collection() {
  for (const auto& path : refused_files()) {
    const byte_vector bytes = file_bytes(path);
    const std::string kind = path.extension().string();
    const checked_load first = load_checked(kind, bytes);
    if (first.refused_by && end_of_load(kind, bytes, first.refused_by) != load_end::refused)
      note(*first.refused_by, path, bytes);
  }
}

void collection::look_at(const std::string& id, const std::string& kind, const byte_vector& bytes) {
  const checked_load first = load_checked(kind, bytes);
  if (!first.is_refused || !first.refused_by) return;
  const std::size_t number = *first.refused_by;
  const auto old = files_.find(number);
  if (old != files_.end() && old->second.second <= bytes.size()) return;
  const load_end end = end_of_load(kind, bytes, number);
  if (end == load_end::refused || (old != files_.end() && end == load_end::crashed)) return;  // one that is accepted says more
  if (old != files_.end()) std::filesystem::remove(old->second.first);
  const auto path = path_for(id, first.message, kind);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (old == files_.end()) std::cout << number << ": " << path.filename().string() << std::endl;
  note(number, path, bytes);
}

}  // namespace tamis::test
