// How long single inserts take while a filter grows from 2^10 keys. Every run inserts the same keys, and of each insert the
// shortest time is kept as well: a pause of the filter's own comes in every run at the same key, one that the machine made (a
// neighbour, a host that looks for memory) hardly ever twice. To be run on a quiet machine.

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "lab/experiments/evergreen_common.hpp"

namespace tamis::lab {
namespace {

constexpr double shares[] = {0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999, 1.0};

std::vector<contestant> contestants() {
  return {{"evergreen_store", "evergreen", {{"fingerprint", "8"}}},
          {"evergreen_growing", "evergreen", {{"fingerprint", "8"}, {"fingerprints", "growing"}}, false},
          {"infini_growing", "infini", {{"fingerprint", "8"}, {"mode", "growing"}}, false}};
}

long page_faults() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_minflt;
}

double cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

struct insert_time {
  float wall = 0;  // of the first run
  float cpu = 0;
  float least = 0;  // CPU time, of all runs
};

double at_share(std::vector<insert_time>& times, double share, float insert_time::*field) {
  const std::size_t at = std::min(times.size() - 1, static_cast<std::size_t>(share * static_cast<double>(times.size())));
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(at), times.end(),
                   [field](const insert_time& a, const insert_time& b) { return a.*field < b.*field; });
  return times[at].*field;
}

// Answers how many inserts of this run met a page fault.
result<std::uint64_t> insert_all(contest_filter f, bool has_remote, bool is_first, std::uint64_t seed,
                                 std::vector<insert_time>& times) {
  random_source random(seed);
  memory_remote stored;
  std::uint64_t faulted = 0;
  for (insert_time& t : times) {
    const digest d = any_digest(random);
    if (has_remote) stored.insert(d);
    const long faults = page_faults();
    const double cpu = cpu_ns();
    const auto start = std::chrono::steady_clock::now();
    const bool inserted = f.insert(d, stored);
    const auto wall = std::chrono::duration<float, std::nano>(std::chrono::steady_clock::now() - start).count();
    const auto took = static_cast<float>(cpu_ns() - cpu);
    if (!inserted) return error{f.name() + " refused a key"};
    faulted += page_faults() != faults;
    t = is_first ? insert_time{wall, took, took} : insert_time{t.wall, t.cpu, std::min(t.least, took)};
  }
  return faulted;
}

template <unsigned LogKeys>
status run(const experiment_options& options, std::ostream& csv) {
  csv << "filter,keys,share,first_run_wall_ns,first_run_cpu_ns,least_cpu_ns,first_run_page_faults\n";
  for (const contestant& who : contestants()) {
    if (!registry::builtin().find(who.id)) continue;
    std::vector<insert_time> times(std::size_t{1} << LogKeys, insert_time{1, 1, 1});  // written, so that it has its pages
    std::uint64_t faults = 0;
    for (unsigned i = 0; i < options.runs; ++i) {
      TAMIS_TRY(contest_filter f, beginner(who, 1024));
      TAMIS_TRY(const std::uint64_t faulted, insert_all(std::move(f), who.has_remote, i == 0, options.seed, times));
      if (i == 0) faults = faulted;
    }
    for (const double share : shares) {
      csv << who.name << ',' << times.size() << ',' << share << ',' << at_share(times, share, &insert_time::wall) << ','
          << at_share(times, share, &insert_time::cpu) << ',' << at_share(times, share, &insert_time::least) << ',' << faults
          << std::endl;
    }
  }
  return {};
}

constexpr std::string_view claim =
    "No insert of a growing evergreen takes longer than a millisecond: segments grow one by one.";
constexpr std::string_view agrees = "the longest insert, of each key's shortest in several runs, is below 1 ms";

}  // namespace

extern const experiment evergreen_pauses_22{"evergreen-pauses-22", "evergreen, pauses to 2^22 keys", claim, agrees, run<22>};
extern const experiment evergreen_pauses_24{"evergreen-pauses-24", "evergreen, pauses to 2^24 keys", claim, agrees, run<24>};

}  // namespace tamis::lab
