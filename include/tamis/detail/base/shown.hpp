#pragma once

#include <cstdio>
#include <string>

namespace tamis::detail {

// A rate or a size in a message: six digits, and never a small rate as 0.000000.
inline std::string shown(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace tamis::detail
