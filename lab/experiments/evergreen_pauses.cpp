// How long single inserts take while a filter grows from 2^10 keys: alone, with a store in memory that it asks, and behind the
// guard, where every insert also writes to RocksDB. The same keys are inserted several times, each time into a new filter and a
// new store, and of each insert the shortest time is kept as well: a pause of the filter's own comes every time at the same
// key, one that the machine made (a neighbour, a host that looks for memory) hardly ever twice. No other thread finds memory
// ahead.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <functional>
#include <list>

#include "lab/experiments/evergreen_common.hpp"
#ifdef TAMIS_ROCKSDB
#include "tamis/guard/guarded_store.hpp"
#include "tamis/guard/rocksdb_store.hpp"
#endif

namespace tamis::lab {

using namespace detail;

namespace {

constexpr double shares[] = {0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999, 1.0};
constexpr unsigned repeats = 3;
constexpr std::uint64_t first_keys = 1024;
constexpr double asked_rate = 0.01;
constexpr double most_us = 1000;
constexpr double most_us_guarded = 2000;

double cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

struct insert_time {
  float wall = 0;  // of the first time
  float cpu = 0;
  float least = 0;  // CPU time, of all times
};

double at_share(std::vector<insert_time>& times, double share, float insert_time::*field) {
  const std::size_t at = std::min(times.size() - 1, static_cast<std::size_t>(share * static_cast<double>(times.size())));
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(at), times.end(),
                   [field](const insert_time& a, const insert_time& b) { return a.*field < b.*field; });
  return times[at].*field;
}

// `insert(digest)` is what is timed; `prepare(digest)` comes before it.
status time_inserts(const std::function<void(digest)>& prepare, const std::function<bool(digest)>& insert, bool is_first,
                    std::uint64_t seed, std::span<insert_time> times) {
  random_source random(seed);
  for (insert_time& t : times) {
    const digest d = any_digest(random);
    prepare(d);
    const double cpu = cpu_ns();
    const auto start = std::chrono::steady_clock::now();
    const bool inserted = insert(d);
    const auto wall = std::chrono::duration<float, std::nano>(std::chrono::steady_clock::now() - start).count();
    const auto took = static_cast<float>(cpu_ns() - cpu);
    if (!inserted) return failure{"a key was refused"};
    t = is_first ? insert_time{wall, took, took} : insert_time{t.wall, t.cpu, std::min(t.least, took)};
  }
  return {};
}

// What single inserts are made into, and a run of it: made anew each time.
struct inserter {
  std::string name;
  std::uint64_t keys;
  std::function<status(bool is_first, std::uint64_t seed, std::span<insert_time> times)> run;
};

// Kept to the end: where a store is freed, one insert at each doubling takes milliseconds, up to 17; where it is kept, hardly
// any does. Probably it is malloc, which goes through all the small blocks that were freed.
using kept_stores = std::list<memory_remote>;

inserter alone(const contestant& who, std::uint64_t keys, kept_stores& stores) {
  return {who.name, keys, [who, &stores](bool is_first, std::uint64_t seed, std::span<insert_time> times) -> status {
            TAMIS_TRY(any_filter made, any_filter::create(who.id, {.capacity = first_keys, .fpr = asked_rate}));
            contest_filter f(who, std::move(made));
            memory_remote& stored = stores.emplace_back();
            return time_inserts(
                [&](digest d) {
                  if (who.has_remote) stored.insert(d);
                },
                [&](digest d) { return f.insert(d, stored); }, is_first, seed, times);
          }};
}

#ifdef TAMIS_ROCKSDB
class scratch_folder {
 public:
  scratch_folder()
      : path_((std::filesystem::temp_directory_path() / ("tamis_pauses_" + std::to_string(::getpid()))).string()) {}
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Snapshots are off: they are taken by single puts, whatever the filter is, and are not what this is about.
inserter guarded(std::string name, const std::string& filter, std::uint64_t capacity, std::uint64_t keys) {
  return {std::move(name), keys, [=](bool is_first, std::uint64_t seed, std::span<insert_time> times) -> status {
            const scratch_folder folder;
            TAMIS_TRY(std::shared_ptr<store> disk, rocksdb_store::open(folder.path()));
            guard_options how;
            how.filter = filter;
            how.params = {.capacity = capacity, .fpr = asked_rate};
            how.snapshots = false;
            TAMIS_TRY(guarded_store behind, guarded_store::open(std::move(disk), how));
            return time_inserts([](digest) {},
                                [&](digest d) { return behind.put(std::as_bytes(std::span(&d, 1)), std::string_view()).ok(); },
                                is_first, seed, times);
          }};
}
#endif

std::vector<inserter> inserters(const experiment_options& options, kept_stores& stores) {
  const std::uint64_t keys = std::uint64_t{1} << options.at(17, 21);
  std::vector<inserter> all = {alone({"evergreen_store", "evergreen"}, keys, stores),
                               alone({"evergreen_growing", "evergreen", {}, false}, keys, stores),
                               alone({"infini_growing", "infini", {}, false}, keys, stores)};
#ifdef TAMIS_ROCKSDB
  const std::uint64_t written = std::uint64_t{1} << options.at(14, 19);
  all.push_back(guarded("evergreen_guarded", "evergreen", first_keys, written));
  all.push_back(guarded("bloom1_guarded", "bloom1+mistakes", written, written));
#endif
  return all;
}

result<table> run(const experiment_options& options) {
  table out({"filter", "share"}, {"first_wall_us", "first_cpu_us", "least_cpu_us"}, summary::median);
  const std::uint64_t seed = options.random()();
  kept_stores stores;
  const std::vector<inserter> all = inserters(options, stores);
  for (std::size_t c = 0; c < all.size(); ++c) {
    std::vector<insert_time> times(all[c].keys, insert_time{1, 1, 1});  // written: it has its pages
    for (unsigned i = 0; i < repeats; ++i) {
      const status done = all[c].run(i == 0, seed, times);
      if (!done) return failure{all[c].name + ": " + done.message()};
      options.done(repeats * c + i + 1, repeats * all.size());
    }
    for (const double share : shares) {
      const auto us = [&](float insert_time::*field) { return at_share(times, share, field) / 1000; };
      out.add({all[c].name, share}, {us(&insert_time::wall), us(&insert_time::cpu), us(&insert_time::least)});
    }
  }
  return out;
}

verdict longest(const table& seen, const char* name, double most, std::string claim) {
  tally below(std::move(claim));
  for (const table::row& r : where(where(seen.rows(), "filter", name), "share", "1")) {
    below.at_most(r, r.value("least_cpu_us"), most);
  }
  return below.judge(
      "The longest are renewals: a segment's keys, up to 16,384, are read from the store and paired with its "
      "entries. To grow the same segment without a store takes a quarter of that.");
}

std::vector<verdict> judge(const table& seen) {
  return {longest(seen, "evergreen_store", most_us, "with a store in memory, no insert takes longer than a millisecond"),
          longest(seen, "evergreen_growing", most_us, "without a store, no insert takes longer than a millisecond"),
          longest(seen, "evergreen_guarded", most_us_guarded,
                  "behind the guard, with RocksDB, no put takes longer than two milliseconds")};
}

constexpr contest_line lines[] = {{"evergreen_store", "evergreen, store in memory", "evergreen"},
                                  {"evergreen_growing", "evergreen, no store", "evergreen/2"},
                                  {"evergreen_guarded", "evergreen, guard and RocksDB", "evergreen/3"},
                                  {"bloom1_guarded", "bloom1 made for the end, guard and RocksDB", "bloom1"},
                                  {"infini_growing", "infini", "infini"}};

std::vector<chart> draw(const table& seen) {
  chart c{.name = "inserts",
          .title = "How long single inserts take while a filter grows",
          .x = {.label = "share of inserts that took at most this long",
                .names = {"50 %", "90 %", "99 %", "3 nines", "4", "5", "6", "all"}},
          .y = {.label = "CPU time, us", .log = true},
          .note =
              "The same keys were inserted three times; a pause of the filter's own comes every time, one of the machine's "
              "hardly ever twice."};
  for (const auto& [title, column] :
       {std::pair{"shortest of three", "least_cpu_us"}, std::pair{"first time", "first_cpu_us"}}) {
    panel p{title, {}};
    for (const contest_line& l : lines) {
      line of{l.label, l.colour, l.as, {}};
      for (const table::row& r : where(seen.rows(), "filter", l.name)) {
        of.points.push_back({static_cast<double>(of.points.size() + 1), r.value(column)});
      }
      if (!of.points.empty()) p.lines.push_back(std::move(of));
    }
    c.panels.push_back(std::move(p));
  }
  return {c};
}

std::vector<page_table> tabulate(const table& seen) {
  page_table t{"Microseconds of CPU time, shortest of three times",
               {"inserts into", "median", "99.9 %", "99.999 %", "longest", "longest, first time", "by the clock"},
               {}};
  for (const contest_line& l : lines) {
    const row_list of = where(seen.rows(), "filter", l.name);
    if (of.empty()) continue;
    std::vector<std::string> cells = {l.label};
    for (const char* share : {"0.5", "0.999", "0.99999", "1"}) {
      cells.push_back(brief(row_of(of, "share", share).value("least_cpu_us")));
    }
    const table::row all = of.back();
    cells.push_back(brief(all.value("first_cpu_us")));
    cells.push_back(brief(all.value("first_wall_us")));
    t.rows.push_back(std::move(cells));
  }
  return {t};
}

const registered it(
    {.name = "evergreen-pauses",
     .paper = evergreen_paper,
     .figures = "pauses",
     .claim = "No insert takes longer than a millisecond, because segments grow one by one.",
     .parameters =
         "From 2^10 to 2^21 keys (quick: 2^17), behind the guard to 2^19 (2^14), 1 % asked; the same keys three times, "
         "and of every insert the shortest time counts. The guard takes no snapshots. bloom1 shows what RocksDB and "
         "the guard take by themselves. No thread finds memory ahead.",
     .agrees =
         "evergreen's longest insert takes at most 1 ms of CPU time, with and without a store in memory, and 2 ms with the "
         "guard and RocksDB",
     .runs = {1, 1},
     .seconds = {3, 80},
     .timed = true,
     .run = run,
     .judge = judge,
     .draw = draw,
     .tabulate = tabulate});

}  // namespace
}  // namespace tamis::lab
