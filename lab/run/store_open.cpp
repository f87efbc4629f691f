// tamis_store_open DIRECTORY [keys=N] [filter=ID]: how long a guarded store takes to answer after it was closed, and after it
// was killed just before a snapshot was due, so that its log is full. RocksDB's own time to open is printed apart. The store in
// DIRECTORY is made if it is not there. Times of the processor (all threads of this process) and of the wall, in milliseconds.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>

#include "lab/run/settings.hpp"
#include "tamis/guard/guarded_store.hpp"
#include "tamis/guard/rocksdb_store.hpp"

namespace {

using namespace tamis;

constexpr const char* dies_variable = "TAMIS_STORE_OPEN_DIES";

struct taken {
  double wall;
  double cpu;
};

taken time_of(const std::function<void()>& work) {
  const auto cpu = [] {
    std::timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
  };
  const auto start = std::chrono::steady_clock::now();
  const double begin = cpu();
  work();
  return {std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count(), cpu() - begin};
}

std::string key_of(std::uint64_t i) { return "key " + std::to_string(i); }

guard_options options_for(std::uint64_t keys, const std::string& filter) {
  guard_options options;
  options.filter = filter;
  options.params = {.capacity = keys * 13 / 10, .fpr = 0.01};
  options.hash = hasher();
  return options;
}

guarded_store opened(const std::string& directory, const guard_options& options) {
  return guarded_store::open(std::shared_ptr<store>(rocksdb_store::open(directory).value()), options).value();
}

void fill(const std::string& directory, const guard_options& options, std::uint64_t keys) {
  guarded_store guarded = opened(directory, options);
  constexpr std::uint64_t batch_keys = 1'000'000;
  for (std::uint64_t first = 0; first < keys; first += batch_keys) {
    write_batch batch;
    for (std::uint64_t i = first; i < std::min(keys, first + batch_keys); ++i) batch.put(key_of(i), "value");
    guarded.load(batch).value();
  }
  guarded.close().value();
}

void show(const char* what, const std::string& directory, const guard_options& options) {
  std::shared_ptr<store> behind;
  const taken database = time_of([&] { behind = rocksdb_store::open(directory).value(); });
  std::uint64_t found = 0;
  std::optional<guarded_store> guarded;
  const taken guard = time_of([&] {
    guarded.emplace(guarded_store::open(behind, options).value());
    found += guarded->contains(key_of(1)).value() ? 1 : 0;
  });
  std::printf("%-22s RocksDB %8.1f wall %8.1f cpu   guard and first answer %8.1f wall %8.1f cpu   by %s, %llu records%s\n",
              what, database.wall, database.cpu, guard.wall, guard.cpu,
              std::string(to_string(guarded->recovered().way)).c_str(),
              static_cast<unsigned long long>(guarded->recovered().replayed), found == 1 ? "" : ", and a key is lost");
  std::fflush(stdout);
  guarded->close().value();
}

// A process that ends in the middle of its work.
[[noreturn]] void write_and_die(const std::string& directory, const guard_options& options, std::uint64_t keys) {
  guarded_store guarded = opened(directory, options);
  const auto records = static_cast<std::uint64_t>(options.snapshot_share * static_cast<double>(keys)) - 1000;
  for (std::uint64_t i = 0; i < records; i += 100) {
    write_batch batch;
    for (std::uint64_t j = i; j < i + 100; ++j) batch.put(key_of(keys + j), "value");
    guarded.write(batch).value();
  }
  ::kill(::getpid(), SIGKILL);
  std::abort();
}
// Does that in this program, started anew: a fork alone would be without the threads that RocksDB waits for.
void let_another_die(char** arguments) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv(dies_variable, "1", 1);
    ::execv("/proc/self/exe", arguments);
    ::_exit(127);
  }
  int how = 0;
  ::waitpid(child, &how, 0);
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t keys = 10'000'000;
  std::string filter = "bloom1";
  if (argc < 2 || !lab::read_settings(argc - 1, argv + 1, {{"keys", &keys}}, {}, {{"filter", &filter}})) return 2;
  const std::string directory = argv[1];
  const guard_options options = options_for(keys, filter);
  if (std::getenv(dies_variable) != nullptr) write_and_die(directory, options, keys);
  if (!std::filesystem::exists(directory)) fill(directory, options, keys);
  for (int i = 0; i < 3; ++i) show("after a clean close", directory, options);
  let_another_die(argv);
  show("after a kill, full log", directory, options);
}
