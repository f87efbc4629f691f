#pragma once

// Settings of the small measuring programs: NAME=VALUE on the command line.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tamis::lab {

template <class T>
using named_settings = std::initializer_list<std::pair<std::string_view, T*>>;

// False, with a message, for a word that is no setting or a number that is none.
inline bool read_settings(int argc, char** argv, named_settings<std::uint64_t> counts, named_settings<double> reals,
                          named_settings<std::string> texts) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::string_view name = word.substr(0, word.find('='));
    const std::string value(word.substr(std::min(word.size(), name.size() + 1)));
    char* end = nullptr;
    bool known = false;
    for (const auto& [setting, to] : counts) {
      if (setting == name) *to = std::strtoull(value.c_str(), &end, 10), known = *end == '\0' && !value.empty();
    }
    for (const auto& [setting, to] : reals) {
      if (setting == name) *to = std::strtod(value.c_str(), &end), known = *end == '\0' && !value.empty();
    }
    for (const auto& [setting, to] : texts) {
      if (setting == name) *to = value, known = !value.empty();
    }
    if (known) continue;
    std::fprintf(stderr, "'%s' is no setting\n", argv[i]);
    return false;
  }
  return true;
}

inline std::vector<std::string> listed(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    if (end != at) words.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

}  // namespace tamis::lab
