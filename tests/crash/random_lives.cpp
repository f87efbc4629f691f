#include "random_lives.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "tamis/guard/guarded_store.hpp"
#include "tamis/guard/memory_store.hpp"
#include "tamis/registry.hpp"

namespace tamis::crash {

using namespace detail;

namespace {

template <class T, std::size_t N>
const T& one_of(random_source& random, const T (&values)[N]) {
  return values[random.below(N)];
}

// Not every filter can have every rate and size.
bool is_possible(const settings& given) {
  guard_options options = guard_options_of(given, known_filters());
  return guarded_store::open(std::make_shared<memory_store>(), options).ok();
}

settings new_store(std::uint64_t seed, std::uint32_t skipped_steps) {
  random_source random(seed);
  settings made;
  made.skipped_steps = skipped_steps;
  made.stripes = one_of(random, {1u, 2u, 4u, 16u});
  made.hash_secret = random.below(2);  // 0: drawn and kept by the store
  return made;
}

}  // namespace

life_count& life_count::operator+=(const life_count& more) {
  disturbed += more.disturbed, undisturbed += more.undisturbed, wrong += more.wrong;
  return *this;
}

life_totals life_totals::from(const std::string& file) {
  life_totals made;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    words >> std::quoted(name);
    if (name == "stores") {
      words >> made.stores;
    } else {
      const auto ending = std::find(std::begin(endings), std::end(endings), name);
      if (ending == std::end(endings)) throw std::runtime_error(file + ": unknown ending " + name);
      life_count& count = made.of[static_cast<std::size_t>(ending - std::begin(endings))];
      words >> count.disturbed >> count.undisturbed >> count.wrong;
    }
    if (!words) throw std::runtime_error(file + ": not a line of totals: " + line);
  }
  return made;
}

void life_totals::keep(const std::string& file) const {
  const std::string next = file + ".new";
  {
    std::ofstream out(next);
    for (std::size_t i = 0; i < of.size(); ++i) {
      out << std::quoted(endings[i]) << ' ' << of[i].disturbed << ' ' << of[i].undisturbed << ' ' << of[i].wrong << '\n';
    }
    out << "stores " << stores << '\n';
    if (!out.flush()) throw std::runtime_error("cannot write " + next);
  }
  std::filesystem::rename(next, file);
}

life_count life_totals::all() const {
  life_count sum;
  for (const life_count& each : of) sum += each;
  return sum;
}

std::string life_totals::text() const {
  std::ostringstream out;
  const auto row = [&](std::string_view name, const life_count& count) {
    out << std::left << std::setw(24) << name << std::right << std::setw(8) << count.disturbed << " disturbed runs (and "
        << count.undisturbed << " that ended before), " << count.wrong << " wrong\n";
  };
  for (std::size_t i = 0; i < of.size(); ++i) row(endings[i], of[i]);
  row("all", all());
  out << stores << " stores\n";
  return out.str();
}

lived_store::lived_store(const std::string& root, std::uint64_t seed, std::uint32_t skipped_steps)
    : seed_(seed), random_(seed), site_(root, new_store(seed, skipped_steps)) {
  std::filesystem::remove_all(root);
  std::filesystem::create_directories(root);
}

// Another filter than that of the snapshots means a scan, so it stays for some lives.
settings lived_store::draw_filter(settings given) {
  const auto entries = known_filters().entries();
  do {
    given.filter = std::string(entries[random_.below(entries.size())].info->id);
    given.capacity = one_of(random_, {400u, 1200u, 5000u});
    given.fpr = one_of(random_, {0.02, 0.1, 0.3});
    given.mistakes = one_of<std::optional<std::uint64_t>>(random_, {std::nullopt, 0, 8, 64});
  } while (!is_possible(given));
  return given;
}

settings lived_store::draw_options(settings given) {
  if (lives_ == 0 || random_.chance(0.2)) given = draw_filter(std::move(given));
  given.sync = random_.chance(0.5);
  given.loads = random_.chance(0.4);
  given.asks = random_.chance(0.4);
  return given;
}

disturbance lived_store::draw_end(std::size_t ending, std::size_t steps) {
  const long operations = static_cast<long>(steps * (site_.given().loads ? 4 : 2)) + 40;  // about as many as there are
  const long at = 1 + static_cast<long>(random_.below(static_cast<std::uint64_t>(operations)));
  switch (ending) {
    case 0: return {.microseconds = 1 + static_cast<long>(random_.below(60'000))};
    case 1: return {.oplog_operation = at, .how = "kill"};
    case 2: return {.oplog_operation = at, .how = "torn"};
    case 3: return {.oplog_operation = at, .how = "kill", .current = power::strict};
    case 4: return {.oplog_operation = at, .how = "torn", .current = power::ragged};
    case 5: return {.oplog_operation = at, .how = "eio"};
    case 6: return {.oplog_operation = at, .how = "enospc"};
    default: return {.oplog_operation = at, .how = "short"};
  }
}

lived_store::life lived_store::next() {
  site_.restart_with(draw_options(site_.given()));
  life done;
  done.ending = random_.below(std::size(endings));
  const std::size_t steps = 10 + random_.below(150);
  const disturbance how = draw_end(done.ending, steps);
  const std::uint64_t seed = random_();
  const child_report report = site_.run(seed, steps, how);
  const bool missed = report.operations != 0 && (how.microseconds != 0 || report.operations < how.oplog_operation);
  ++(missed ? done.count.undisturbed : done.count.disturbed);
  done.problem = site_.verify();
  done.count.wrong = done.problem.empty() ? 0 : 1;
  done.about = "store " + std::to_string(seed_) + ", life " + std::to_string(lives_) + ", " +
               std::string(endings[done.ending]) + " at " +
               std::to_string(how.microseconds != 0 ? how.microseconds : how.oplog_operation) + ", " + std::to_string(steps) +
               " steps of " + std::to_string(seed) + ", settings " + site_.given().text();
  ++lives_;
  return done;
}

}  // namespace tamis::crash
