// checks_off: switches off every check of every validator, one at a time. With each one off a file of tests/golden/refused has
// to be accepted (or to do harm): then the tree would notice if the check went. Those that nothing notices are listed in
// docs/internals/checks.md, with the reason; the exit code is 1 if the list is not true.

#include <cstdio>
#include <map>

#include "tests/checks/numbers.hpp"
#include "tests/checks/refused_files.hpp"

namespace tamis::test {
namespace {

struct verdict {
  bool made = false;     // a file gets as far as the check
  bool refuses = false;  // and is refused by it
  std::string noticed;   // the file that is accepted without it
};

std::vector<verdict> judge(int& faults) {
  std::vector<verdict> verdicts(numbered_checks().size());
  for (const auto& path : refused_files()) {
    const byte_vector bytes = file_bytes(path);
    const std::string kind = path.extension().string();
    const checked_load first = load_checked(kind, bytes);
    for (const std::size_t number : first.asked) verdicts[number].made = true;
    if (!first.is_refused) {
      std::printf("%s: is accepted\n", path.filename().c_str());
      ++faults;
    }
    if (!first.refused_by) continue;
    verdict& of = verdicts[*first.refused_by];
    of.refuses = true;
    if (!of.noticed.empty()) continue;
    const load_end end = end_of_load(kind, bytes, first.refused_by);
    if (end != load_end::refused) of.noticed = path.filename().string() + (end == load_end::crashed ? " (crash)" : "");
  }
  return verdicts;
}

// A row of a Markdown table has `\|` for `|`.
std::string as_cell(const numbered_check& check) {
  std::string condition;
  for (const char c : check.condition) condition += c == '|' ? std::string("\\|") : std::string(1, c);
  return "| `" + check.file + "` | `" + condition + "` |";
}

int run(bool all) {
  const byte_vector bytes = file_bytes(std::filesystem::path(TAMIS_SOURCE_DIR) / "docs/internals/checks.md");
  const std::string page(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  int faults = 0;
  int survivors = 0;
  const std::vector<verdict> verdicts = judge(faults);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    const numbered_check& check = numbered_checks()[i];
    const verdict& of = verdicts[i];
    const bool survives = of.noticed.empty();
    const bool listed = page.find(as_cell(check)) != std::string::npos;
    survivors += survives;
    if (all || survives != listed) {
      std::printf("%3zu %s:%u %s: %s\n", i, check.file.c_str(), check.line, check.condition.c_str(),
                  !survives    ? of.noticed.c_str()
                  : of.refuses ? "another check refuses the same files"
                  : of.made    ? "never refuses"
                               : "never made");
    }
    if (survives != listed) {
      std::printf("    %s\n", survives ? "nothing notices, and docs/internals/checks.md does not say why"
                                       : "is noticed, though docs/internals/checks.md says that nothing does");
      ++faults;
    }
  }
  std::printf("%zu checks, %zu files; without its check a file is accepted or does harm: %zu; nothing notices: %d\n",
              verdicts.size(), refused_files().size(), verdicts.size() - static_cast<std::size_t>(survivors), survivors);
  return faults == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tamis::test

int main(int count, char** given) { return tamis::test::run(count > 1 && std::string(given[1]) == "all"); }
