#pragma once

// Results for machines.

#include <nlohmann/json.hpp>

#include "created_file.hpp"

namespace tamis::cli {

using json = nlohmann::ordered_json;  // fields in the order in which they are documented

// Writes the whole file, if it is wanted.
void write_json(created_file& file, const json& value);

// Numbers that may not be there: an infinite or undefined one is null.
json number_or_null(double value);

}  // namespace tamis::cli
