#pragma once

// The charts of a replay's report. Scales and labels are HTML, so they keep their size on any screen; only curves and bars are
// SVG, and are stretched to the space there is.

#include <string>

#include "replay_report.hpp"

namespace tamis::cli {

// How much of what static and adaptive filters asked in vain were repetitions: the point of it all, in two figures.
std::string summary_cards(const replay_result& result);
// One curve per filter: the reads in vain that have added up, along the log.
std::string growth_chart(const replay_result& result);
// One curve per filter: its memory, per key of the most keys, along a log in which keys come and go.
std::string memory_chart(const replay_result& result);
// What the filters of a kind have in common, in figures; empty if there are none.
std::string kind_text(const replay_result& result, bool adaptive);
// One row per filter: first-time and repeated mistakes, memory, and the rate in each tenth of the log.
std::string mistake_rows(const replay_result& result);

// Those that filter: the static ones first, in each kind the worst first.
std::vector<const contestant*> report_order(const replay_result& result);

}  // namespace tamis::cli
