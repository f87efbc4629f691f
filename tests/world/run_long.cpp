// world_long [OPERATIONS [SEED]]: random operations in small worlds, ten million in all unless told otherwise, with the
// invariant checked after every one. Prints a line per kind of world; the exit code is 1 if anything was wrong.

#include <cstdio>
#include <cstdlib>

#include "tests/world/rules.hpp"

int main(int argc, char** argv) {
  using namespace tamis::test;
  const std::uint64_t operations = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000;
  std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  constexpr std::uint64_t per_world = 20'000;
  const auto& kinds = all_rules();
  std::uint64_t done = 0;
  std::map<std::string, std::uint64_t> tally;
  for (std::uint64_t round = 0; done < operations; ++round, ++seed) {
    const auto& [name, rules] = kinds[round % kinds.size()];
    world w(seed, rules);
    for (std::uint64_t i = 0; i < per_world && done < operations; ++i, ++done) {
      if (const auto wrong = w.step()) {
        std::printf("%s, seed %llu, operation %llu: %s\n", name.c_str(), static_cast<unsigned long long>(seed),
                    static_cast<unsigned long long>(w.operations()), wrong->c_str());
        return 1;
      }
    }
    for (const auto& [operation, times] : w.tally()) tally[operation] += times;
    if (round % kinds.size() == kinds.size() - 1) {
      std::printf("%llu operations, last seed %llu\n", static_cast<unsigned long long>(done),
                  static_cast<unsigned long long>(seed));
      std::fflush(stdout);
    }
  }
  for (const auto& [operation, times] : tally)
    std::printf("%-16s %llu\n", operation.c_str(), static_cast<unsigned long long>(times));
  return 0;
}
