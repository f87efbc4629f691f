#pragma once

// What `tamis advise` shows: a table, the recommendation and its reasons for people, JSON for machines.

#include "json.hpp"
#include "lab/advise.hpp"
#include "output.hpp"

namespace tamis::cli {

struct advise_result {
  const lab::advice_wish& wish;
  const lab::advice& found;
  const lab::query_sample* log;  // nullptr: none
};

void print_advice(const advise_result& result, output& out);
json advice_json(const advise_result& result);

// The flags of `tamis create` that make it: "--filter bloom --capacity 1000 --fpr 0.01".
std::string create_arguments(const lab::estimate& e);

}  // namespace tamis::cli
