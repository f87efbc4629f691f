#include "json.hpp"

#include <cmath>

namespace tamis::cli {

void write_json(created_file& file, const json& value) {
  if (!file.wanted()) return;
  file.write(value.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
  file.commit();
}

json number_or_null(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

}  // namespace tamis::cli
