#pragma once

// What `tamis bench` shows: a table for people, JSON for machines.

#include <string>

#include "json.hpp"
#include "lab/measure.hpp"
#include "output.hpp"

namespace tamis::cli {

struct bench_result {
  const lab::bench_report& report;
  const lab::bench_options& options;
  std::size_t baseline;  // row whose times the ratios are to
};

std::string machine_line();
json machine_json();
void print_bench(const bench_result& result, output& out);
json bench_json(const bench_result& result);

}  // namespace tamis::cli
