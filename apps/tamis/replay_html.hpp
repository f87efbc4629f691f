#pragma once

// A replay's result as one HTML page that needs nothing else: styles and charts (SVG) are inside, nothing is loaded.

#include <string>

#include "replay_report.hpp"

namespace tamis::cli {

std::string replay_html(const replay_result& result);

}  // namespace tamis::cli
