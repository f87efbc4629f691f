#pragma once

// A finished experiment as a page of the documentation: claim, verdicts, charts, tables, and where the numbers come from.

#include <string>

#include "report.hpp"

namespace tamis::cli {

// Charts and data are expected beside the page, in the folder NAME. Prose has at most 100 characters to a line.
std::string markdown_page(const judged& done, const conditions& under);

// PAGES/NAME.md, and in PAGES/NAME its charts and its CSV. The page stands between marks with its sum; what somebody wrote
// before or behind them stays. Fails with a message if they cannot be written, or if there is such a page without marks.
void write_markdown(const judged& done, const conditions& under, const std::string& pages);

}  // namespace tamis::cli
