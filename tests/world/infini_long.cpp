// infini_long [DOUBLINGS [F [MODE [PLACES]]]]: an InfiniFilter grows from PLACES (64) by so many doublings (25: 2^31 slots,
// some 1.7 billion keys and, with F = 5, 3.3 GB of memory), loses and rejuvenates keys on the way, and contracts again. All
// keys are asked for after every doubling and halving. Prints a line for each; the exit code is 1 if a key is lost.

#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>

#include "tests/world/infini_tide.hpp"

int main(int argc, char** argv) {
  using namespace tamis;
  const auto doublings = static_cast<unsigned>(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 25);
  const std::string fingerprint = argc > 2 ? argv[2] : "5";
  const std::string mode = argc > 3 ? argv[3] : "chained";
  const std::uint64_t places = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 64;
  auto made =
      infini::create({.capacity = places * 80 / 100, .fpr = 0.5, .options = {{"fingerprint", fingerprint}, {"mode", mode}}});
  if (!made) {
    std::fprintf(stderr, "%s\n", made.message().c_str());
    return 1;
  }
  test::infini_tide tide(*std::move(made), 1);
  const auto line = [&] {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto keys = static_cast<double>(tide.keys());
    std::printf("%2u expansions  %10.0f keys  %u tables  %5.2f bits a key  longest pause %8.3f ms  peak memory %7.1f MiB\n",
                tide.filter().expansions(), keys, tide.filter().tables(),
                keys == 0 ? 0.0 : static_cast<double>(tide.filter().bits().fast) / keys,
                static_cast<double>(tide.longest_pause().count()) / 1e6, static_cast<double>(used.ru_maxrss) / 1024);
    std::fflush(stdout);
  };
  std::string wrong = tide.rise(doublings, line);
  if (wrong.empty()) wrong = tide.fall(line);
  std::printf("%s\n", wrong.empty() ? "no key was lost" : wrong.c_str());
  return wrong.empty() ? 0 : 1;
}
