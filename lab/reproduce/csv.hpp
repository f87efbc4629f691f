#pragma once

// For experiments that write their rows as text: the first columns of the CSV are settings, the others values.
//
//   status run(const experiment_options& options, std::ostream& csv);
//   … .run = from_csv<run, 3>

#include <sstream>

#include "lab/experiment.hpp"

namespace tamis::lab {

// An error if a row has other columns than the header, or a value is no number.
result<table> table_of_csv(std::string_view csv, std::size_t settings);

template <status (*Run)(const experiment_options&, std::ostream&), std::size_t Settings>
result<table> from_csv(const experiment_options& options) {
  std::ostringstream csv;
  TAMIS_CHECK(Run(options, csv));
  return table_of_csv(csv.str(), Settings);
}

}  // namespace tamis::lab
