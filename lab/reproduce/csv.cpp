#include "lab/reproduce/csv.hpp"

#include <charconv>

namespace tamis::lab {
namespace {

// Cells hold no commas and no quotes: they are names and numbers.
std::vector<std::string> cells(std::string_view line) {
  std::vector<std::string> found;
  for (std::size_t from = 0;;) {
    const std::size_t comma = line.find(',', from);
    found.emplace_back(line.substr(from, comma - from));
    if (comma == std::string_view::npos) return found;
    from = comma + 1;
  }
}

}  // namespace

result<table> table_of_csv(std::string_view csv, std::size_t settings) {
  table made;
  std::size_t columns = 0;
  for (std::size_t number = 0; !csv.empty(); ++number) {
    const std::size_t end = csv.find('\n');
    const std::vector<std::string> row = cells(csv.substr(0, end));
    csv.remove_prefix(end == std::string_view::npos ? csv.size() : end + 1);
    if (number == 0) {
      if (row.size() <= settings) return failure{"the table has no values"};
      columns = row.size();
      const auto middle = row.begin() + static_cast<std::ptrdiff_t>(settings);
      made = table({row.begin(), middle}, {middle, row.end()});
      continue;
    }
    if (row.size() != columns) return failure{"row " + std::to_string(number) + " has other columns than the header"};
    std::vector<double> values;
    for (std::size_t i = settings; i < columns; ++i) {
      double value = 0;
      const auto [stop, failed] = std::from_chars(row[i].data(), row[i].data() + row[i].size(), value);
      if (failed != std::errc() || stop != row[i].data() + row[i].size()) {
        return failure{"'" + row[i] + "' in row " + std::to_string(number) + " is no number"};
      }
      values.push_back(value);
    }
    made.add({row.begin(), row.begin() + static_cast<std::ptrdiff_t>(settings)}, values);
  }
  return made;
}

}  // namespace tamis::lab
