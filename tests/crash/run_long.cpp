// crash_long [SEED]: every numbered file operation of a run, disturbed in every way, with every filter taking its turn, half of
// them with bulk loads. Prints a line per way; the exit code is 1 if anything was wrong.
//
// crash_long random SECONDS FILE: stores that are restarted with random options (random_lives.hpp), for so long. FILE keeps the
// total of all calls, and each goes on with stores that the ones before have not tried.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "harness.hpp"
#include "random_lives.hpp"
#include "tamis/registry.hpp"

namespace tamis::crash {

using namespace detail;

namespace {

constexpr std::size_t base_steps = 300;
constexpr std::size_t steps = 120;
constexpr int random_kills = 400;

struct tally {
  std::uint64_t runs = 0;
  std::uint64_t undisturbed = 0;  // ended before the operation or the moment came
  std::uint64_t wrong = 0;
  std::map<std::string, std::uint64_t> ways;
};

// A store that has lived a while, one per filter.
std::vector<site> make_bases(const scratch& place, std::uint64_t seed) {
  std::vector<site> bases;
  for (const registry_entry& entry : known_filters().entries()) {
    const std::string id(entry.info->id);
    site base(place / ("base-" + id), {.filter = id, .sync = bases.size() % 2 == 0, .loads = bases.size() % 4 >= 2});
    if (!base.run(seed + bases.size(), base_steps).snapshot)
      std::printf("%s: there is no snapshot to begin with\n", id.c_str());
    if (const std::string problem = base.verify(); !problem.empty()) {
      std::printf("%s: before any disturbance: %s\n", id.c_str(), problem.c_str());
      std::exit(1);
    }
    bases.push_back(std::move(base));
  }
  return bases;
}

class long_run {
 public:
  explicit long_run(std::uint64_t seed) : seed_(seed), bases_(make_bases(place_, seed)) {}

  void one(const std::string& name, const disturbance& how, tally& sum) {
    const std::uint64_t number = ++number_;
    site victim = bases_[number % bases_.size()].copy_to(place_ / "victim");
    const child_report report = victim.run(seed_ + number, steps, how);
    const std::string problem = victim.verify();
    const bool ended = report.operations != 0;
    const bool missed = ended && (how.microseconds != 0 || report.operations < how.oplog_operation);
    ++(missed ? sum.undisturbed : sum.runs);
    ++sum.ways[std::string(to_string(victim.way()))];
    if (problem.empty()) return;
    ++sum.wrong;
    std::printf("  %s, %s, seed %llu, operation %ld: %s\n", name.c_str(), victim.given().filter.c_str(),
                static_cast<unsigned long long>(seed_ + number), how.oplog_operation, problem.c_str());
  }

  long operations() {
    long most = 0;
    for (const site& base : bases_) {
      site victim = base.copy_to(place_ / "victim");
      most = std::max(most, victim.run(seed_, steps).operations);
    }
    return most;
  }

  std::uint64_t every_operation(const std::string& name, disturbance how) {
    tally sum;
    const long last = operations();
    for (how.oplog_operation = 1; how.oplog_operation <= last; ++how.oplog_operation) one(name, how, sum);
    return print(name, sum);
  }

  std::uint64_t any_moment() {
    tally sum;
    random_source random(seed_);
    for (int i = 0; i < random_kills; ++i) {
      one("kill at any moment", {.microseconds = 1 + static_cast<long>(random.below(60'000))}, sum);
    }
    return print("kill at any moment", sum);
  }

 private:
  static std::uint64_t print(const std::string& name, const tally& sum) {
    std::printf("%-32s %5llu disturbed runs (and %llu that ended before), %llu wrong;", name.c_str(),
                static_cast<unsigned long long>(sum.runs), static_cast<unsigned long long>(sum.undisturbed),
                static_cast<unsigned long long>(sum.wrong));
    for (const auto& [way, count] : sum.ways) std::printf(" %s %llu", way.c_str(), static_cast<unsigned long long>(count));
    std::printf("\n");
    std::fflush(stdout);
    return sum.wrong;
  }

  std::uint64_t seed_;
  std::uint64_t number_ = 0;
  scratch place_;
  std::vector<site> bases_;
};

constexpr int lives_of_a_store = 40;

// A store in which something was wrong is given up: what follows from it says nothing new.
void live_randomly(const std::string& root, life_totals& totals, const std::function<bool()>& is_over) {
  lived_store lived(root, totals.stores++);
  for (int i = 0; i < lives_of_a_store && !is_over(); ++i) {
    const lived_store::life life = lived.next();
    totals.of[life.ending] += life.count;
    if (life.problem.empty()) continue;
    std::printf("  %s: %s\n", life.about.c_str(), life.problem.c_str());
    std::fflush(stdout);
    return;
  }
}

int random_lives(double seconds, const std::string& file) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  const auto is_over = [end] { return std::chrono::steady_clock::now() >= end; };
  life_totals totals = life_totals::from(file);
  const std::uint64_t wrong_before = totals.all().wrong;
  const scratch place;
  while (!is_over()) {
    live_randomly(place / "store", totals, is_over);
    totals.keep(file);
  }
  std::printf("%s", totals.text().c_str());
  return totals.all().wrong == wrong_before ? 0 : 1;
}

}  // namespace
}  // namespace tamis::crash

int main(int count, char** given) {
  using namespace tamis::crash;
  if (count == 4 && std::string(given[1]) == "random") return random_lives(std::strtod(given[2], nullptr), given[3]);
  const auto start = std::chrono::steady_clock::now();
  long_run all(count > 1 ? std::strtoull(given[1], nullptr, 10) : 1000);
  std::uint64_t wrong = all.any_moment();
  wrong += all.every_operation("kill", {.how = "kill"});
  wrong += all.every_operation("half a write, then kill", {.how = "torn"});
  wrong += all.every_operation("power cut", {.how = "kill", .current = power::strict});
  wrong += all.every_operation("power cut, ragged", {.how = "torn", .current = power::ragged});
  wrong += all.every_operation("EIO", {.how = "eio"});
  wrong += all.every_operation("ENOSPC", {.how = "enospc"});
  wrong += all.every_operation("short write", {.how = "short"});
  const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%.0f s\n", seconds);
  return wrong == 0 ? 0 : 1;
}
