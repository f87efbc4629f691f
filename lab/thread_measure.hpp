#pragma once

// Filters that many threads share, all ways and kinds in one run: what `tamis bench --threads` shows.
//
// Lookups are of keys that are not in, in filters that are full; inserts fill an empty filter, and nothing is timed that loses
// a key. Threads take pieces of the work until it is done, so a thread that the machine lets wait holds nobody up. A rate is
// operations by the clock on the wall, since who waits for a lock uses no processor; so what else runs on the machine counts,
// and each rate says how many cores the run has had. Figures are to be compared within a run.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lab/measure.hpp"

namespace tamis::lab {

struct thread_options {
  std::uint64_t keys = 1 << 20;
  std::size_t queries = 1 << 20;  // lookups of a measurement
  unsigned threads = 2;           // 1, 2, 4, … and so many
  unsigned repeats = 3;
  std::uint64_t seed = 1;
  double seconds_beside = 5;                  // that a writer beside readers may take: then what it has done counts
  std::function<void(double)> progress = {};  // called with the share that is done
};

struct rate {
  double per_second = 0.0;
  double cores = 0.0;  // that the run has had, of the threads' time on processors
};

// Who may share it, and by what.
enum class sharing : std::uint8_t {
  nothing,       // the bare filter: many readers or one writer
  shared_mutex,  // one around the filter
  concurrent     // concurrent_filter
};
inline constexpr std::array all_sharings = {sharing::nothing, sharing::shared_mutex, sharing::concurrent};
const char* to_string(sharing how);

struct thread_row {
  std::string id;
  sharing how = sharing::nothing;
  unsigned threads = 1;
  rate lookups, lookups_many;
  std::optional<rate> inserts;                        // of all threads together
  std::optional<rate> beside_lookups, beside_insert;  // all threads but one look up while that one inserts
};

// Nanoseconds.
struct tail {
  double median = 0, percent_99 = 0, percent_99_9 = 0, percent_99_99 = 0, longest = 0;
};
// One thread looks up while another grows a small filter to `keys` keys.
struct tail_row {
  std::string id;
  sharing how = sharing::concurrent;
  std::uint64_t lookups = 0;
  tail lookup;  // clock read before and after
  tail clock;   // the same without a lookup between, in the same loop
};

struct thread_report {
  std::vector<thread_row> rows;  // by contender, way, threads
  std::vector<tail_row> tails;   // of the kinds that grow
};

// Requires: keys, queries, threads and repeats are not 0.
result<thread_report> bench_threads(const std::vector<contender>& contenders, const thread_options& options);

// Counts of nanoseconds in buckets an eighth of a power of two wide.
class nanosecond_histogram {
 public:
  void add(std::uint64_t ns);
  // Of the bucket its upper end; of the longest itself. Requires: something was added; 0 < share <= 1.
  double quantile(double share) const;
  std::uint64_t count() const { return count_; }
  tail summary() const;

 private:
  static constexpr unsigned eighths = 8;
  static unsigned bucket(std::uint64_t ns);
  static std::uint64_t end_of(unsigned bucket);

  std::array<std::uint64_t, 64 * eighths> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t longest_ = 0;
};

}  // namespace tamis::lab
