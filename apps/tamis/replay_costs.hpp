#pragma once

// What a replay's counts mean in the user's terms: time, money, and what is worth it.

#include <optional>
#include <string>

#include "replay_run.hpp"

namespace tamis::cli {

struct replay_result;

// Of one read of the store; a range scan is taken to cost as much.
struct read_costs {
  double us = 100;
  bool assumed = true;  // nobody has said how long a read takes
  std::optional<double> price_per_million = std::nullopt;
};

// Reads and scans, of those that the store would have had without a filter, less the time of the filter itself. Negative where
// the filter costs more than it saves.
double saved_seconds(const replay_result& result, const contestant& c);
// Requires: a price.
double saved_money(const replay_result& result, const contestant& c);
// Means over the hash seeds that the log was played under: reads in vain, and those with range scans and reads of members.
double mean_in_vain(const replay_result& result, const contestant& c);
double mean_work(const replay_result& result, const contestant& c);
// Of all reads of the store, those that found nothing.
double vain_share(const contestant& c);

// What is worth it: that adapting is, that a plain filter will do, or that no filter matters.
std::string replay_verdict(const replay_result& result);
// What is luck in it; empty if the log says nothing about that.
std::string luck_text(const replay_result& result);
// What adapting asks of a store, for those that adapt here.
std::string needs_of_adapting(const replay_result& result);

std::string duration_text(double seconds);  // 3.2 s, 178 s, 17.5 min, 20.1 h

}  // namespace tamis::cli
