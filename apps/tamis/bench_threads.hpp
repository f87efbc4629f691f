#pragma once

// What `tamis bench --threads` shows: tables for people, JSON for machines.

#include "json.hpp"
#include "lab/thread_measure.hpp"
#include "output.hpp"

namespace tamis::cli {

void print_threads(const lab::thread_report& report, const lab::thread_options& options, output& out);
json threads_json(const lab::thread_report& report, const lab::thread_options& options);

}  // namespace tamis::cli
