#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tamis/digest.hpp"

struct advice_case {
  std::uint64_t first_keys;
  std::uint64_t last_keys;
  double rate;
  std::span<const tamis::digest> members;
  std::span<const tamis::digest> questions;  // for absent keys, in order
};

// A line for each filter that would do, the best first: its name, its memory in KiB (the mean while the set grows, which it is
// judged by, and at the end), the rate that new keys meet, in percent, and the rate over the questions.
std::string demo_advice(const advice_case& asked);
