#pragma once

// Text in columns that line up, whatever is in them.

#include <string>
#include <vector>

#include "output.hpp"

namespace tamis::cli {

enum class align { left, right };

class table {
 public:
  explicit table(unsigned gap = 2) : gap_(gap) {}

  // A title may have several lines; titles stand on the bottom line.
  void column(std::string title, align side = align::right);
  // Requires: one cell per column.
  void row(std::vector<std::string> cells);
  std::size_t width() const;
  void print(output& out) const;

 private:
  struct column_info {
    std::vector<std::string> title;
    align side;
    std::size_t width;
  };

  unsigned gap_;  // spaces between columns
  std::vector<column_info> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tamis::cli
