#include "lab/reproduce/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace tamis::lab {

void tally::see(const std::string& where, double excess, double distance, double error) {
  ++rows_;
  // An undefined value holds nothing.
  if (distance <= 3 * error) ++held_;
  if (!(excess <= worst_)) {
    worst_ = excess;
    worst_where_ = where;
  }
}

void tally::at_most(const std::string& where, double measured, double bound, double error) {
  const double excess = bound > 0 ? measured / bound : measured > 0 ? std::numeric_limits<double>::infinity() : 0;
  see(where, excess, measured - bound, error);
}

void tally::at_least(const std::string& where, double measured, double bound, double error) {
  const double excess = measured > 0 ? bound / measured : bound > 0 ? std::numeric_limits<double>::infinity() : 0;
  see(where, excess, bound - measured, error);
}

verdict tally::judge(std::string_view why) const {
  if (rows_ == 0) return untested(claim_, "no row of this table can decide it");
  const bool holds = held_ == rows_;
  std::string found = "holds in " + std::to_string(held_) + " of " + std::to_string(rows_) + " cases";
  if (worst_ > 1) {
    found += holds ? "; beyond the bound by no more than chance" : "; furthest off";
    found += ": " + (std::isfinite(worst_) ? brief(worst_) + " times the bound" : std::string("the bound is 0")) + " at " +
             worst_where_;
  } else if (worst_ > 0) {
    found += "; nearest to the bound: " + brief(worst_) + " of it at " + worst_where_;
  }
  if (!holds && !why.empty()) found += ". " + std::string(why);
  return decide(holds, claim_, found);
}

void range::see(double value) {
  low_ = seen_ == 0 ? value : std::min(low_, value);
  high_ = seen_ == 0 ? value : std::max(high_, value);
  ++seen_;
}

std::string range::text(std::string_view unit) const {
  if (empty()) return "nothing";
  const std::string low = brief(low_);
  const std::string high = brief(high_);
  if (low == high) return low + std::string(unit);
  return low + std::string(unit.starts_with(' ') ? "" : unit) + " to " + high + std::string(unit);
}

std::string brief(double number) {
  char text[48];
  std::snprintf(text, sizeof text, "%.3g", number);
  if (std::abs(number) < 1000 || std::abs(number) >= 1e15) return text;
  // Whole, with a comma at every third digit.
  std::snprintf(text, sizeof text, "%.0f", number);
  std::string grouped = text;
  for (auto place = static_cast<std::ptrdiff_t>(grouped.size()) - 3; place > (number < 0 ? 1 : 0); place -= 3) {
    grouped.insert(static_cast<std::size_t>(place), ",");
  }
  return grouped;
}

verdict decide(bool holds, std::string claim, std::string found) {
  return {holds ? outcome::agrees : outcome::differs, std::move(claim), std::move(found)};
}

verdict untested(std::string claim, std::string why) { return {outcome::untested, std::move(claim), std::move(why)}; }

outcome overall(const std::vector<verdict>& verdicts) {
  for (const outcome worst : {outcome::differs, outcome::untested}) {
    if (std::any_of(verdicts.begin(), verdicts.end(), [worst](const verdict& v) { return v.is == worst; })) return worst;
  }
  return outcome::agrees;
}

std::string_view word_of(outcome is) {
  return is == outcome::agrees ? "agrees" : is == outcome::differs ? "differs" : "cannot be tested here";
}

}  // namespace tamis::lab
