#include "tests/checks/numbers.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <new>
#include <stdexcept>
#include <tuple>

#include "tamis/detail/base/numbered_check.hpp"
#include "tests/checks/refused_files.hpp"

namespace tamis::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view call = "is_wrong(";
constexpr unsigned most_seconds = 10;

bool continues_a_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// What stands between a parenthesis and its partner.
std::string between(const std::string& text, std::size_t open) {
  std::string inside;
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return inside;
    const bool is_space = std::isspace(static_cast<unsigned char>(text[i])) != 0;
    if (i != open && !(is_space && (inside.empty() || inside.back() == ' '))) inside += is_space ? ' ' : text[i];
  }
  throw std::runtime_error("a parenthesis without a partner");
}

void find_in(const fs::path& root, const fs::path& file, std::vector<numbered_check>& found) {
  const byte_vector bytes = file_bytes(file);
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (std::size_t at = text.find(call); at != std::string::npos; at = text.find(call, at + 1)) {
    if (at != 0 && continues_a_name(text[at - 1])) continue;
    const std::size_t begin = text.rfind('\n', at) + 1;
    if (text.find("//", begin) < at) continue;
    const std::size_t open = at + call.size() - 1;
    const auto line = static_cast<unsigned>(1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    found.push_back(
        {file.lexically_relative(root).string(), line, static_cast<unsigned>(open - begin + 1), between(text, open)});
  }
}

std::vector<numbered_check> find_all() {
  const fs::path root(TAMIS_SOURCE_DIR);
  std::vector<fs::path> files;
  for (const char* folder : {"include/tamis", "src"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string name = entry.path().filename().string();
      if (entry.is_regular_file() && !name.starts_with("numbered_check")) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<numbered_check> found;
  for (const fs::path& file : files) find_in(root, file, found);
  return found;
}

std::size_t number_of(const std::source_location& at) {
  using place = std::tuple<std::string, unsigned, unsigned>;
  static const std::map<place, std::size_t> numbers = [] {
    std::map<place, std::size_t> made;
    const std::vector<numbered_check>& all = numbered_checks();
    for (std::size_t i = 0; i < all.size(); ++i) made[{all[i].file, all[i].line, all[i].column}] = i;
    return made;
  }();
  static std::map<std::pair<const char*, std::uint64_t>, std::size_t> known;
  const std::pair key(at.file_name(), std::uint64_t{at.line()} << 32 | at.column());
  if (const auto found = known.find(key); found != known.end()) return found->second;
  std::string file = at.file_name();  // may be relative to the folder of the build
  const std::size_t begin = std::min(file.rfind("include/tamis/"), file.rfind("src/"));
  if (begin != std::string::npos) file.erase(0, begin);
  const auto found = numbers.find({file, at.line(), at.column()});
  if (found == numbers.end())
    throw std::logic_error("a check without a number: " + file + ":" + std::to_string(at.line()) + ":" +
                           std::to_string(at.column()));
  return known[key] = found->second;
}

checked_load now;
std::optional<std::size_t> now_off;

bool observe(bool condition, const std::source_location& at) {
  const std::size_t number = number_of(at);
  now.asked.insert(number);
  if (!condition || number == now_off) return false;
  if (!now.refused_by) now.refused_by = number;
  return true;
}

}  // namespace

const std::vector<numbered_check>& numbered_checks() {
  static const std::vector<numbered_check> found = find_all();
  return found;
}

checked_load load_checked(const std::string& kind, const byte_vector& bytes, std::optional<std::size_t> off) {
  now = {};
  now_off = off;
  detail::observe_checks(observe);
  const status loaded = load_as(kind, bytes);
  detail::observe_checks(nullptr);
  now.is_refused = !loaded.ok();
  if (!loaded.ok()) now.message = loaded.message();
  return std::move(now);
}

load_end end_of_load(const std::string& kind, const byte_vector& bytes, std::optional<std::size_t> off) {
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) {
    ::alarm(most_seconds);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    try {
      ::_exit(load_checked(kind, bytes, off).is_refused ? 1 : 0);
    } catch (const std::bad_alloc&) {
      ::_exit(1);  // refused, for want of memory
    } catch (...) {
      ::_exit(2);
    }
  }
  int end = 0;
  ::waitpid(child, &end, 0);
  if (!WIFEXITED(end) || WEXITSTATUS(end) > 1) return load_end::crashed;
  return WEXITSTATUS(end) == 1 ? load_end::refused : load_end::accepted;
}

}  // namespace tamis::test
