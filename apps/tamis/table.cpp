#include "table.hpp"

#include <algorithm>
#include <cassert>

#include "terminal.hpp"

namespace tamis::cli {
namespace {

// Columns on the screen: every byte that does not continue a UTF-8 character starts one.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width, align side) {
  const std::string space(width - std::min(width, width_of(text)), ' ');
  return side == align::left ? text + space : space + text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

void print_line(output& out, std::string line, bool title) {
  line.erase(line.find_last_not_of(' ') + 1);
  out.write(title ? bold(line) : line);
  out.write('\n');
}

}  // namespace

void table::column(std::string title, align side) {
  column_info made{lines_of(title), side, 0};
  for (const std::string& line : made.title) made.width = std::max(made.width, width_of(line));
  columns_.push_back(std::move(made));
}

void table::row(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  for (std::size_t i = 0; i < cells.size(); ++i) columns_[i].width = std::max(columns_[i].width, width_of(cells[i]));
  rows_.push_back(std::move(cells));
}

std::size_t table::width() const {
  std::size_t sum = columns_.empty() ? 0 : gap_ * (columns_.size() - 1);
  for (const column_info& column : columns_) sum += column.width;
  return sum;
}

void table::print(output& out) const {
  std::size_t title_lines = 0;
  for (const column_info& column : columns_) title_lines = std::max(title_lines, column.title.size());
  const auto line = [this](auto cell) {
    std::string text;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (i != 0) text.append(gap_, ' ');
      text += padded(cell(i), columns_[i].width, columns_[i].side);
    }
    return text;
  };
  for (std::size_t t = title_lines; t > 0; --t) {
    print_line(out, line([&](std::size_t i) {
                 const auto& title = columns_[i].title;
                 return title.size() >= t ? title[title.size() - t] : std::string();
               }),
               true);
  }
  for (const auto& cells : rows_) print_line(out, line([&](std::size_t i) { return cells[i]; }), false);
}

}  // namespace tamis::cli
