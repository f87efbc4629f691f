#include "empty_values.hpp"

#include <algorithm>
#include <string_view>

#include "failure.hpp"

namespace tamis::cli {
namespace {

[[noreturn]] void refuse(std::string_view flag) { fail(std::string(flag) + " ''", "must not be empty"); }

}  // namespace

void refuse_empty_values(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    const auto& values = option->results();
    if (std::any_of(values.begin(), values.end(), [](const std::string& value) { return value.empty(); })) {
      refuse(option->get_name());
    }
  }
}

void refuse_empty_values(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--") return;
    if (word.starts_with("--") && word.find('=') == word.size() - 1) refuse(word.substr(0, word.size() - 1));
  }
}

}  // namespace tamis::cli
