#pragma once

// The scale of an axis: which range it shows, where its ticks are, and how they are labelled.

#include <string>
#include <vector>

#include "lab/reproduce/chart.hpp"

namespace tamis::lab {

struct tick {
  double place;       // 0 to 1 along the axis
  std::string label;  // empty: a line of the grid without one
};

class axis_scale {
 public:
  // `values` have the axis' factor in them already. Values that a logarithmic axis cannot show do not count.
  axis_scale(const axis& of, const std::vector<double>& values);

  // 0 to 1 along the axis; what is too small for it is at 0.
  double place(double value) const;
  bool shows(double value) const { return !log_ || value > 0; }
  const std::vector<tick>& ticks() const { return ticks_; }

 private:
  void fit_log(double low, double high);
  void fit_linear(double low, double high);

  bool log_;
  double low_ = 0;
  double high_ = 1;
  std::vector<tick> ticks_;
};

}  // namespace tamis::lab
