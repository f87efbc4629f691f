// How long single inserts take while a filter grows from 2^10 keys: on the wall's clock, where others may have been in the way,
// and on the processor's. To be run on a quiet machine.

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <iterator>

#include "lab/experiments/evergreen_common.hpp"
#include "tamis/base/prepared_memory.hpp"

namespace tamis::lab {
namespace {

constexpr double shares[] = {0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999, 1.0};

std::vector<contestant> contestants() {
  return {{"evergreen_store", "evergreen", {{"fingerprint", "8"}}},
          {"evergreen_prepared", "evergreen", {{"fingerprint", "8"}}},  // with memory that the system has found before
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
  float ns;
  float cpu_ns;
  bool faulted;  // the system had to find memory meanwhile
};

template <class Times, class Field>
double at_share(Times& times, double share, Field field) {
  const std::size_t at = std::min(times.size() - 1, static_cast<std::size_t>(share * static_cast<double>(times.size())));
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(at), times.end(),
                   [field](const insert_time& a, const insert_time& b) { return a.*field < b.*field; });
  return times[at].*field;
}

template <unsigned LogKeys>
status run(const experiment_options& options, std::ostream& csv) {
  csv << "filter,keys,share,wall_ns,cpu_ns,cpu_ns_without_page_faults,inserts_with_page_faults\n";
  for (const contestant& who : contestants()) {
    if (!registry::builtin().find(who.id)) continue;
    TAMIS_TRY(contest_filter f, beginner(who, 1024));
    random_source random(options.seed);
    memory_remote stored;
    std::vector<insert_time> times(std::size_t{1} << LogKeys, insert_time{1, 1, true});  // written, so that it has its pages
    if (who.name == "evergreen_prepared") prepare_small_tables(times.size() * 4);
    for (insert_time& t : times) {
      const digest d = any_digest(random);
      if (who.has_remote) stored.insert(d);
      const long faults = page_faults();
      const double cpu = cpu_ns();
      const auto start = std::chrono::steady_clock::now();
      const bool inserted = f.insert(d, stored);
      t.ns = std::chrono::duration<float, std::nano>(std::chrono::steady_clock::now() - start).count();
      t.cpu_ns = static_cast<float>(cpu_ns() - cpu);
      t.faulted = page_faults() != faults;
      if (!inserted) return error{f.name() + " refused a key"};
    }
    std::vector<insert_time> calm;
    std::copy_if(times.begin(), times.end(), std::back_inserter(calm), [](const insert_time& t) { return !t.faulted; });
    for (const double share : shares) {
      csv << f.name() << ',' << times.size() << ',' << share << ',' << at_share(times, share, &insert_time::ns) << ','
          << at_share(times, share, &insert_time::cpu_ns) << ',' << at_share(calm, share, &insert_time::cpu_ns) << ','
          << times.size() - calm.size() << std::endl;
    }
  }
  return {};
}

constexpr std::string_view claim =
    "No insert of a growing evergreen takes longer than a millisecond: segments grow one by one.";
constexpr std::string_view agrees = "the longest insert is below 1 ms";

}  // namespace

extern const experiment evergreen_pauses_22{"evergreen-pauses-22", "evergreen, pauses to 2^22 keys", claim, agrees, run<22>};
extern const experiment evergreen_pauses_24{"evergreen-pauses-24", "evergreen, pauses to 2^24 keys", claim, agrees, run<24>};

}  // namespace tamis::lab
