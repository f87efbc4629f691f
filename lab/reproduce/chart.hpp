#pragma once

// Charts of an experiment, and how they become SVG. A chart is panels of the same axes beside each other; a panel is lines.
// Colours belong to filters: a filter has the same one in every chart.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/reproduce/table.hpp"

namespace tamis::lab {

struct point {
  double x;
  double y;
  double error = 0;  // of y, to both sides; 0: no bar
};

enum class mark {
  line,    // points joined by a line
  dashed,  // a line without points: models and bounds
  dots,    // points alone
  paper,   // hollow diamonds: values that the paper prints
};

struct line {
  std::string label;   // the same label stands for the same thing in all panels
  std::string colour;  // a filter's id, or "grey"; "id/2" and "id/3" are lighter shades for variants of a filter
  mark as = mark::line;
  std::vector<point> points;
};

struct panel {
  std::string title;
  std::vector<line> lines;
};

struct axis {
  std::string label;
  bool log = false;
  double factor = 1;                    // values are multiplied by it: 100 for per cent
  std::optional<double> low = {};       // where it begins: nothing for what the values need
  std::vector<std::string> names = {};  // x only: names of 1, 2, 3 …, for things that are not numbers
};

struct chart {
  std::string name;  // of the file: letters, digits, dashes
  std::string title;
  axis x;
  axis y;
  std::vector<panel> panels = {};
  std::string note = "";  // a sentence below
};

// The points of one column against a setting, with its standard errors.
std::vector<point> points_of(const row_list& rows, std::string_view x, std::string_view column);

// One picture that needs nothing else; light and dark as the reader's screen. Values that a logarithmic axis cannot show (0 and
// below) are drawn at its lower end, hollow.
std::string svg(const chart& c);

// "#3568b8" for "taf"; grey for what has no colour of its own.
std::string colour_of(std::string_view id);

}  // namespace tamis::lab
