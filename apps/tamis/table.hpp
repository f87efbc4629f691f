#pragma once

// Text in columns that line up, whatever is in them. On a terminal that is too narrow for the columns, every row becomes a
// block of lines: its first cell, and under it the others with their titles.

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
  void print(output& out) const;  // as wide as standard output allows

 private:
  void print_columns(output& out) const;
  void print_blocks(output& out, std::size_t columns) const;

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
