#pragma once

// Experiments of the papers: one short file each in lab/experiments, which says what the paper claims, runs it and writes one
// CSV table. `tamis_lab_run` lists and runs them.

#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "tamis/base/status.hpp"

namespace tamis::lab {

struct experiment_options {
  unsigned runs = 10;  // with different random numbers; figures are their means
  std::uint64_t seed = 1;
  std::string log = "";  // a file with one key per line, for experiments on traces; without it they are synthetic
};

struct experiment {
  std::string_view name;
  std::string_view figures;  // paper, figures and tables
  std::string_view claim;    // of the paper, in one sentence
  std::string_view agrees;   // what counts as agreeing with it
  status (*run)(const experiment_options&, std::ostream& csv);
};

// All of them, by name.
std::span<const experiment* const> experiments();

}  // namespace tamis::lab
