#pragma once

// Whether a measured table agrees with what a paper says: computed, with the numbers that decided.

#include <string>
#include <vector>

#include "lab/reproduce/table.hpp"

namespace tamis::lab {

enum class outcome {
  agrees,
  differs,
  untested,  // it cannot be tested here, or this table does not hold what would decide
};

struct verdict {
  outcome is;
  std::string claim;  // one statement of the paper
  std::string found;  // what decided: how far it holds, or by how much it differs and why
};

// A statement that has to hold in every row.
class tally {
 public:
  explicit tally(std::string claim) : claim_(std::move(claim)) {}

  // Holds if the measured value is at most `bound`, or above it by no more than three times `error`, which is chance.
  // `where` is said if this is the worst case: "A/S = 20".
  void at_most(const std::string& where, double measured, double bound, double error = 0);
  void at_least(const std::string& where, double measured, double bound, double error = 0);
  void at_most(const table::row& r, double measured, double bound, double error = 0) {
    at_most(r.where(), measured, bound, error);
  }
  void at_least(const table::row& r, double measured, double bound, double error = 0) {
    at_least(r.where(), measured, bound, error);
  }

  // `why` is said if it does not hold everywhere.
  verdict judge(std::string_view why = "") const;

 private:
  // `excess` is the measured value over the bound, or the bound over it: above 1 is the wrong side.
  void see(const std::string& where, double excess, double distance, double error);

  std::string claim_;
  std::size_t rows_ = 0;
  std::size_t held_ = 0;
  double worst_ = 0;
  std::string worst_where_;
};

// Smallest and largest of what was seen.
class range {
 public:
  void see(double value);
  bool empty() const { return seen_ == 0; }
  double low() const { return low_; }
  double high() const { return high_; }
  std::string text(std::string_view unit = "") const;  // "2.02x to 4.15x", "1.9 to 2.1 times"

 private:
  std::size_t seen_ = 0;
  double low_ = 0;
  double high_ = 0;
};

// "3.14", "0.00312", "1,234": three significant digits.
std::string brief(double number);

// Agrees or differs, whichever the condition says.
verdict decide(bool holds, std::string claim, std::string found);
verdict untested(std::string claim, std::string why);

// The first that differs, else the first that is untested, else agrees. Requires: not empty.
outcome overall(const std::vector<verdict>& verdicts);
std::string_view word_of(outcome is);  // "agrees", "differs", "cannot be tested here"

}  // namespace tamis::lab
