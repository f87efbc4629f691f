#pragma once

// Runs experiments: those that measure rates on all cores, those that measure speed one after the other with the machine to
// themselves.

#include <functional>
#include <string>
#include <vector>

#include "folder.hpp"

namespace tamis::cli {

// One experiment, its runs so far, and what they came to.
struct job {
  const lab::experiment* of;
  unsigned runs;
  std::vector<std::optional<finished_run>> finished;  // by number
  std::string failed = "";                            // why it has no result

  bool complete() const;
  lab::table joined() const;  // of the runs that are finished
  double seconds() const;     // of all of them
};

struct work_options {
  unsigned threads;
  std::function<void(const job&)> completed;  // called for each as soon as its last run is done
};

// Loads what is there and runs the rest. Throws `interrupted`; what was finished by then is in the folder.
void do_work(std::vector<job>& jobs, const results_folder& folder, const work_options& options);

// How long the runs that are missing will take, from times measured where this was written: a guide, no promise.
double estimated_seconds(const std::vector<job>& jobs, lab::scale s, unsigned threads);
std::string duration(double seconds);  // "40 s", "12 min", "3.5 h"

}  // namespace tamis::cli
