#include "harness.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <tuple>

#include "tamis/guard/guarded_store.hpp"
#include "tamis/guard/rocksdb_store.hpp"
#include "tamis/registry.hpp"
#include "tests/support/toy_filter.hpp"

namespace tamis::crash {

using namespace detail;

namespace {

constexpr int report_descriptor = 3;
constexpr std::uint64_t strangers = 1000;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

// Everything is prepared before the fork: the parent has threads.
pid_t start(std::vector<std::string> arguments, std::vector<std::string> environment, int report) {
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(environment);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child != 0) return child;
  if (report == report_descriptor) {
    ::fcntl(report, F_SETFD, 0);
  } else {
    ::dup2(report, report_descriptor);
  }
  ::execve(argv[0], argv.data(), envp.data());
  ::_exit(127);
}

// Reads until the child is gone; kills it when its time is up.
std::string listen(int from, pid_t child, long microseconds) {
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + std::chrono::microseconds(microseconds);
  bool killed = microseconds == 0;
  std::string text;
  while (true) {
    int wait = -1;
    if (!killed) {
      const auto left = std::chrono::duration_cast<std::chrono::microseconds>(end - clock::now()).count();
      if (left <= 0) {
        ::kill(child, SIGKILL);
        killed = true;
      } else {
        wait = static_cast<int>(left / 1000);
      }
    }
    pollfd ready{from, POLLIN, 0};
    if (::poll(&ready, 1, wait) == 0) continue;
    char buffer[4096];
    const ssize_t got = ::read(from, buffer, sizeof buffer);
    if (got <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

child_report understand(const std::string& text) {
  child_report report;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string rest = line.size() > 2 ? line.substr(2) : "";
    switch (line[0]) {
      case 'W': report.way = rest; break;
      case 'I': report.begun = std::stoul(rest) + 1; break;
      case 'A': report.done = std::stoul(rest) + 1; break;
      case 'S': report.snapshot = true, report.done_synced = report.done; break;
      case 'F': report.failure = rest; break;
      case 'L': report.uncovered = true; break;
      case 'M': report.known_mistakes = std::stoull(rest); break;
      case 'N': report.operations = std::stol(rest); break;
      default: break;
    }
  }
  return report;
}

}  // namespace

const registry& known_filters() {
  static const registry made = [] {
    registry all = registry::builtin();
    all.add(entry_of<test::toy_everything>());
    return all;
  }();
  return made;
}

site site::copy_to(const std::string& root) const {
  copy_directory(root_, root);
  site made = *this;
  made.root_ = root;
  return made;
}

site site::checkpoint() const {
  site made = *this;
  made.root_ = root_ + ".copy";
  made.least_ = 0;
  made.uncovered_ = false;
  return made;
}

void site::restart_with(settings given) {
  const auto filter = [](const settings& s) { return std::tie(s.filter, s.mistakes, s.capacity, s.fpr); };
  had_snapshot_ &= filter(given) == filter(settings_);
  settings_ = std::move(given);
}

child_report site::run(std::uint64_t seed, std::size_t steps, const disturbance& how) {
  const std::string shadow = root_ + ".shadow";
  std::vector<std::string> environment = {"LD_PRELOAD=" CRASH_SHIM, "CRASH_ROOT=" + root_, "CRASH_HOW=" + how.how,
                                          "CRASH_AT=" + std::to_string(how.oplog_operation)};
  if (how.current != power::stays) {
    begin_shadow(root_, shadow);
    environment.push_back("CRASH_SHADOW=" + shadow);
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
  const pid_t child = start({CRASH_CHILD, root_, std::to_string(seed), std::to_string(steps), settings_.text()},
                            std::move(environment), ends[1]);
  ::close(ends[1]);
  const child_report report = understand(listen(ends[0], child, how.microseconds));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) throw std::runtime_error("cannot start " CRASH_CHILD);
  if (how.current != power::stays) {
    cut_power(root_, shadow, how.current, seed);
    std::filesystem::remove_all(shadow);
  }
  const bool is_fatal = how.oplog_operation != 0 && (how.how == "kill" || how.how == "torn");
  if (is_fatal && report.operations >= how.oplog_operation) throw std::logic_error("a child has survived its " + how.how);
  steps_ = workload(seed, steps, settings_);
  least_ = how.current == power::stays || settings_.sync ? report.done : report.done_synced;
  most_ = report.begun;
  uncovered_ = report.uncovered || (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL);
  had_snapshot_ |= report.snapshot;
  const bool in_a_load = most_ > report.done && steps_[most_ - 1].kind == step::what::load;
  // A gap in the records stays until a snapshot closes it, also over a life that ended before its first one.
  may_rebuild_ &= !report.snapshot;
  may_rebuild_ |= settings_.loads && (in_a_load || how.how == "eio" || how.how == "enospc" || how.how == "short");
  return report;
}

// Steps happen in order and whole, so the store must look as after some number of them.
std::string site::compare(const std::function<std::optional<std::string>(const std::string&)>& stored) {
  content found;
  for (std::uint64_t i = 0; i < universe; ++i) {
    if (auto value = stored(key_of(i))) found[key_of(i)] = *std::move(value);
  }
  if (!content_known_) {
    state_ = std::move(found);
    content_known_ = true;
    return "";
  }
  content expected = state_;
  for (std::size_t k = 0; k <= most_; ++k) {
    if (k >= least_ && expected == found) {
      state_ = std::move(found);
      return "";
    }
    if (k < most_) perform(steps_[k], expected);
  }
  state_ = std::move(found);
  return "the store's content is that of no moment between step " + std::to_string(least_) + " and step " +
         std::to_string(most_);
}

std::string site::verify(std::optional<recovery_way> expected) {
  if (std::exchange(uncovered_, false)) return "a key was not covered while the process was alive, or it died of itself";
  auto opened = rocksdb_store::open(root_, {.buffer_bytes = 32 << 10});
  if (!opened) return "the store does not open: " + opened.message();
  const std::shared_ptr<store> behind = *std::move(opened);
  guard_options options = guard_options_of(settings_, known_filters());
  options.snapshots = false;
  auto guarded = guarded_store::open(behind, options);
  if (!guarded) return "the guarded store does not open: " + guarded.message();
  way_ = guarded->recovered().way;
  known_mistakes_ = guarded->stats().known_mistakes;

  std::uint64_t uncovered = 0;
  std::string problem = compare([&](const std::string& key) -> std::optional<std::string> {
    auto direct = behind->get({guarded->hash()(std::string_view(key)), key}).value();
    uncovered += (direct && !guarded->may_contain(key)) || guarded->get(key).value() != direct;
    return direct;
  });
  least_ = most_ = 0;
  if (uncovered != 0) return std::to_string(uncovered) + " keys of the store are lost";
  if (!problem.empty()) return problem;
  if (!expected && had_snapshot_ && !(may_rebuild_ && way_ == recovery_way::rebuilt)) expected = recovery_way::snapshot;
  if (expected && way_ != *expected) {
    return "recovered by way of " + std::string(to_string(way_)) + ", not " + std::string(to_string(*expected)) + ": " +
           guarded->recovered().reason;
  }
  if (way_ != recovery_way::rebuilt && guarded->stats().rebuilds != 0) return "a stripe had to be rebuilt after its replay";
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < strangers; ++i) wrong += guarded->may_contain("stranger " + std::to_string(i));
  // Far above the rate asked for, also where a stripe has twice its share of the keys.
  if (static_cast<double>(wrong) > strangers * (0.06 + 2 * settings_.fpr))
    return "the rate is " + std::to_string(wrong) + " in " + std::to_string(strangers);
  return "";
}

}  // namespace tamis::crash
