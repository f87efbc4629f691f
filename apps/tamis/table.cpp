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

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

std::string in_one_line(const std::vector<std::string>& title) {
  std::string line;
  for (const std::string& part : title) line += (line.empty() || part.empty() ? "" : " ") + trimmed(part);
  return line;
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
  const std::size_t columns = line_columns();
  if (width() <= columns) {
    print_columns(out);
  } else {
    print_blocks(out, columns);
  }
}

void table::print_columns(output& out) const {
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

void table::print_blocks(output& out, std::size_t columns) const {
  constexpr std::size_t indent = 2;
  constexpr std::size_t between = 3;
  std::vector<std::string> labels;
  std::size_t label_width = 0;
  std::size_t value_width = 0;
  for (std::size_t i = 1; i < columns_.size(); ++i) {
    labels.push_back(in_one_line(columns_[i].title));
    label_width = std::max(label_width, width_of(labels.back()));
    for (const auto& cells : rows_) value_width = std::max(value_width, width_of(trimmed(cells[i])));
  }
  const std::size_t item = label_width + 1 + value_width;
  const std::size_t in_line = std::max<std::size_t>(1, (columns - indent + between) / (item + between));
  for (const auto& cells : rows_) {
    print_line(out, cells[0], true);
    std::string line;
    for (std::size_t i = 1; i < cells.size(); ++i) {
      line.append((i - 1) % in_line == 0 ? indent : between, ' ');
      line += padded(labels[i - 1], label_width, align::left);
      line += indent + item <= columns ? " " : "\n" + std::string(2 * indent, ' ');
      line += padded(trimmed(cells[i]), value_width, align::right);
      if (i % in_line != 0 && i + 1 != cells.size()) continue;
      print_line(out, std::move(line), false);
      line.clear();
    }
  }
}

}  // namespace tamis::cli
