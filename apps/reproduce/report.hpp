#pragma once

// What a finished experiment leaves in the folder: NAME.csv, NAME.json and its charts; and the page over all of them.

#include "work.hpp"

namespace tamis::cli {

struct judged {
  const job* of;
  lab::table table;
  std::vector<lab::verdict> verdicts;
  std::vector<lab::chart> charts;
};

// Throws if the runs do not fit together, or a verdict or chart cannot be made of them: a mistake of the experiment.
judged judge(const job& done);

struct failed_experiment {
  std::string name;
  std::string reason;
};

void write_files(const judged& done, const results_folder& folder);
json verdict_json(const judged& done);  // without the table
void write_page(const std::vector<judged>& all, const std::vector<failed_experiment>& failed, const results_folder& folder);

}  // namespace tamis::cli
