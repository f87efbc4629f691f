#pragma once

#include <cstdio>
#include <string>

namespace tamis::detail {

// A rate in a message: three digits.
inline std::string shown(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

}  // namespace tamis::detail
