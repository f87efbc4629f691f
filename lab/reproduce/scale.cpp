#include "lab/reproduce/scale.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tamis::lab {
namespace {

// 0.001, 20, 10,000, 1e-5, 2M: short.
std::string tick_label(double value) {
  char text[32];
  const double size = std::abs(value);
  if (size >= 1e6 && size < 1e12) {
    std::snprintf(text, sizeof text, "%g%c", value / (size >= 1e9 ? 1e9 : 1e6), size >= 1e9 ? 'G' : 'M');
  } else if (size >= 1e4 && size < 1e6) {
    std::snprintf(text, sizeof text, "%gk", value / 1e3);
  } else if (size != 0 && size < 9e-4) {
    const int power = static_cast<int>(std::floor(std::log10(size) + 1e-9));
    std::snprintf(text, sizeof text, "%ge%d", std::round(value / std::pow(10, power)), power);
  } else {
    std::snprintf(text, sizeof text, "%g", std::round(value * 1e9) / 1e9);
  }
  return text;
}

}  // namespace

axis_scale::axis_scale(const axis& of, const std::vector<double>& values) : log_(of.log) {
  if (!of.names.empty()) {
    const auto count = static_cast<double>(of.names.size());
    low_ = 0.5;
    high_ = count + 0.5;
    for (std::size_t i = 0; i < of.names.size(); ++i) ticks_.push_back({place(static_cast<double>(i + 1)), of.names[i]});
    return;
  }
  double low = 0;
  double high = 0;
  bool any = false;
  for (const double v : values) {
    if (!std::isfinite(v) || !shows(v)) continue;
    low = any ? std::min(low, v) : v;
    high = any ? std::max(high, v) : v;
    any = true;
  }
  if (!any) low = high = 1;
  if (of.low) {
    low = std::min(high, *of.low);
  } else if (!log_ && low > 0 && low < 0.6 * high) {
    low = 0;
  }
  if (log_) {
    fit_log(low, high);
  } else {
    fit_linear(low, high);
  }
}

void axis_scale::fit_log(double low, double high) {
  const double room = std::max(0.04 * std::log10(high / low), 0.04);
  low_ = std::log10(low) - room;
  high_ = std::log10(high) + room;
  const int first = static_cast<int>(std::floor(low_));
  const int last = static_cast<int>(std::ceil(high_));
  const bool between = high_ - low_ < 2.2;           // less than about two decades: 2 and 5 have labels too
  const int step = std::max(1, (last - first) / 6);  // more than about seven: not every decade has one
  for (int decade = first; decade <= last; ++decade) {
    for (const int digit : {1, 2, 5}) {
      const double value = digit * std::pow(10.0, decade);
      const double at = place(value);
      if (at < 0.0001 || at > 1) continue;
      const bool labelled = digit == 1 ? decade % step == 0 : between;
      if (digit == 1 || between) ticks_.push_back({at, labelled ? tick_label(value) : ""});
    }
  }
}

void axis_scale::fit_linear(double low, double high) {
  double span = high - low;
  if (span <= 0) span = std::max(std::abs(high), 1.0);
  const double power = std::pow(10, std::floor(std::log10(span)));
  double step = power;
  for (const double digit : {0.1, 0.2, 0.5, 1.0, 2.0}) {
    if (span / (digit * power) <= 6) {
      step = digit * power;
      break;
    }
  }
  low_ = low == 0 ? 0 : low - 0.04 * span;
  high_ = high + 0.05 * span;
  for (double at = std::ceil(low_ / step) * step; at <= high_; at += step) ticks_.push_back({place(at), tick_label(at)});
}

double axis_scale::place(double value) const {
  if (!shows(value)) return 0;
  const double at = ((log_ ? std::log10(value) : value) - low_) / (high_ - low_);
  return std::max(at, 0.0);
}

}  // namespace tamis::lab
