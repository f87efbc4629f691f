#pragma once

// What fixes take in a filter that keeps them in the slots of its keys: evergreen and evergreen-fixed.

#include <cstdint>
#include <optional>

#include "json.hpp"
#include "tamis/any_filter.hpp"

namespace tamis::cli {

struct fix_use {
  std::uint64_t fixes = 0;            // entries that are longer than a slot
  std::uint64_t bits = 0;             // of the slots that they take beside their first ones
  std::optional<double> over_budget;  // by what share the memory exceeds that of the new filter; none if it follows its keys
};

// None for other filters.
std::optional<fix_use> fixes_of(const any_filter& filter);

// {"fixes", "bits", "over_budget"}
json fixes_json(const fix_use& use);

}  // namespace tamis::cli
