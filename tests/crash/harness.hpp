#pragma once

// The parent's side: lets a child work on a store, interrupts it, and then looks at what is left.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "disk.hpp"
#include "workload.hpp"

namespace tamis::crash {

// How a child is disturbed. At most one of `operation` and `microseconds`.
struct disturbance {
  long oplog_operation = 0;      // number of the file operation
  std::string how = "kill";      // at that operation: what the shim does
  long microseconds = 0;         // kill from outside, so long after the start
  power current = power::stays;  // does the power go with the process?
};

// What the child said before its end.
struct child_report {
  std::string way;
  std::size_t begun = 0;        // steps
  std::size_t done = 0;         // steps, acknowledged
  std::size_t done_synced = 0;  // of those, the ones before the last snapshot, which synced them
  bool snapshot = false;
  bool uncovered = false;
  std::string failure;
  std::uint64_t known_mistakes = 0;  // in the lists at the end; only where the workload asks
  long operations = 0;
};

// A directory with a store, and what must be in it.
class site {
 public:
  site(std::string root, settings given) : root_(std::move(root)), settings_(std::move(given)) {}

  // The same content at another place.
  site copy_to(const std::string& root) const;

  // The last checkpoint of the run before, if its folder is there: it must hold a moment of that run.
  site checkpoint() const;

  // The options of the lives from here on. Another filter makes the older snapshots useless.
  void restart_with(settings given);

  child_report run(std::uint64_t seed, std::size_t steps, const disturbance& how = {});

  // Opens the store as it is and compares. The answer is empty, or says what is wrong. `expected`: the way of recovery; without
  // it, the newest snapshot if there has ever been one (or a rebuild, after a bulk load that came to no good end). Must follow
  // every run, before the next.
  std::string verify(std::optional<recovery_way> expected = std::nullopt);
  recovery_way way() const { return way_; }
  std::uint64_t known_mistakes() const { return known_mistakes_; }  // in the lists that were recovered

  const std::string& root() const { return root_; }
  settings& given() { return settings_; }
  const settings& given() const { return settings_; }
  // For stores that were put back to an earlier time: nothing is known about their content but that it must be covered.
  void forget() { content_known_ = false; }

 private:
  std::string compare(const std::function<std::optional<std::string>(const std::string&)>& stored);

  std::string root_;
  settings settings_;
  content state_;
  bool content_known_ = true;
  bool had_snapshot_ = false;
  recovery_way way_ = recovery_way::created;
  std::uint64_t known_mistakes_ = 0;

  // Of the last run.
  std::vector<step> steps_;
  std::size_t least_ = 0;  // so many of its steps must have left their trace
  std::size_t most_ = 0;   // and no more than these can have
  bool uncovered_ = false;
  bool may_rebuild_ = false;  // it ended in a bulk load, or a fault may have kept the load's snapshot from being taken
};

const registry& known_filters();

}  // namespace tamis::crash
