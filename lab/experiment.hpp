#pragma once

// Experiments of the papers: one short file each in lab/experiments, which says what the paper claims, what is run, and, as
// code, what counts as agreeing. `tamis reproduce` lists and runs them. A file registers its experiments itself:
//
//   const registered it({.name = "taf-traces", .paper = …, .run = run, .judge = judge, .draw = draw});

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/reproduce/chart.hpp"
#include "lab/reproduce/table.hpp"
#include "lab/reproduce/verdict.hpp"
#include "tamis/detail/base/random.hpp"
#include "tamis/result.hpp"

namespace tamis::lab {

enum class scale { quick, paper };

struct experiment_options {
  lab::scale scale = lab::scale::quick;
  std::uint64_t seed = 1;
  unsigned run = 0;       // which of the runs this is: each has other random numbers
  std::string log = "";   // a file with one key per line, for experiments on traces; without it they are synthetic
  std::string data = "";  // a folder with key lists and logs (lab/contest_sets.hpp), for experiments that can use them
  std::function<void(double)> told{};  // told the share that is done now and then; may throw, to stop the run

  template <class T>
  T at(T quick, T paper) const {
    return scale == lab::scale::quick ? quick : paper;
  }
  // The random numbers of this run.
  detail::random_source random() const { return detail::random_source(detail::mix64(seed) + detail::mix64(run + 1)); }
  void done(std::uint64_t steps, std::uint64_t of) const {
    if (told) told(static_cast<double>(steps) / static_cast<double>(of));
  }
};

// One figure for each scale.
template <class T>
struct per_scale {
  T quick;
  T paper;
  T of(scale s) const { return s == scale::quick ? quick : paper; }
};

// A table as a page shows it: text, ready to read.
struct page_table {
  std::string caption;
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
};

struct experiment {
  std::string name;
  std::string paper;       // "Telescoping filter"
  std::string figures;     // "figure 2 left"
  std::string claim;       // of the paper, in one sentence
  std::string parameters;  // what is run: sizes, filters, and how quick differs from paper
  std::string agrees;      // what counts as agreeing: what `judge` computes
  per_scale<unsigned> runs{3, 10};
  per_scale<double> seconds{1, 60};  // of one run, on the machine where it was measured
  bool timed = false;                // measures speed: wants the machine for itself
  result<table> (*run)(const experiment_options&) = nullptr;
  std::vector<verdict> (*judge)(const table&) = nullptr;
  std::vector<chart> (*draw)(const table&) = nullptr;
  std::vector<page_table> (*tabulate)(const table&) = nullptr;  // for the page in Markdown; nullptr: all rows
};

// All of them, by name.
const std::vector<experiment>& experiments();
const experiment* find_experiment(std::string_view name);

struct registered {
  explicit registered(experiment e);
};

}  // namespace tamis::lab
