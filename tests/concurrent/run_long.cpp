// threads_long [CHECKED [TOTALS [SEED]]]: sixteen threads on one filter of every kind in turn, until so many operations have
// been checked, a thousand million unless told otherwise. With a file of TOTALS it goes on where the last run stopped, and adds
// to it. Prints a line per round of all kinds; the exit code is 1 if anything was wrong, ever.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>

#include "stress.hpp"

namespace tamis::test {
namespace {

struct totals {
  std::map<std::string, stress_report> of_kind;
  std::uint64_t rounds = 0;

  stress_report all() const {
    stress_report sum;
    for (const auto& [kind, report] : of_kind) sum.checked += report.checked, sum.wrong += report.wrong;
    return sum;
  }
};

totals read_totals(const char* path) {
  totals found;
  std::FILE* const file = path != nullptr ? std::fopen(path, "r") : nullptr;
  if (file == nullptr) return found;
  char kind[64];
  unsigned long long checked = 0, wrong = 0;
  while (std::fscanf(file, "%63s %llu %llu", kind, &checked, &wrong) == 3) {
    if (std::string_view(kind) == "rounds") {
      found.rounds = checked;
    } else {
      found.of_kind[kind] = {checked, wrong};
    }
  }
  std::fclose(file);
  return found;
}

// Another file takes the place of the old one: a run may be stopped at any time.
bool write_totals(const char* path, const totals& now) {
  if (path == nullptr) return true;
  const std::string next = std::string(path) + ".new";
  std::FILE* const file = std::fopen(next.c_str(), "w");
  if (file == nullptr) return false;
  for (const auto& [kind, report] : now.of_kind) {
    std::fprintf(file, "%s %llu %llu\n", kind.c_str(), static_cast<unsigned long long>(report.checked),
                 static_cast<unsigned long long>(report.wrong));
  }
  std::fprintf(file, "rounds %llu 0\n", static_cast<unsigned long long>(now.rounds));
  return std::fclose(file) == 0 && std::rename(next.c_str(), path) == 0;
}

int run(std::uint64_t wanted, const char* path, std::optional<std::uint64_t> seed) {
  constexpr unsigned threads = 16;
  constexpr std::uint64_t operations = 50'000;
  totals now = read_totals(path);
  const auto began = std::chrono::steady_clock::now();
  while (now.all().checked < wanted && now.all().wrong == 0) {
    const std::uint64_t round_seed = seed.value_or(0) + 1000 * now.rounds;
    for (const std::string& kind : all_kinds()) {
      for (const auto& stress : {&stress_beside_saves, &stress_among_mistakes}) {
        const stress_report report = stress(kind, threads, operations, round_seed);
        stress_report& sum = now.of_kind[kind];
        sum.checked += report.checked;
        sum.wrong += report.wrong;
        if (report.wrong != 0) {
          std::printf("%s: %llu wrong, seed %llu\n", kind.c_str(), static_cast<unsigned long long>(report.wrong),
                      static_cast<unsigned long long>(round_seed));
        }
      }
      if (!write_totals(path, now)) return std::printf("%s: cannot be written\n", path), 1;
    }
    ++now.rounds;
    const stress_report all = now.all();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - began).count();
    std::printf("%llu rounds, %llu operations checked, %llu wrong, %lld s\n", static_cast<unsigned long long>(now.rounds),
                static_cast<unsigned long long>(all.checked), static_cast<unsigned long long>(all.wrong),
                static_cast<long long>(seconds));
    std::fflush(stdout);
  }
  return now.all().wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tamis::test

int main(int argc, char** argv) {
  const std::uint64_t wanted = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000'000;
  const std::optional<std::uint64_t> seed = argc > 3 ? std::optional(std::strtoull(argv[3], nullptr, 10)) : std::nullopt;
  return tamis::test::run(wanted, argc > 2 ? argv[2] : nullptr, seed);
}
