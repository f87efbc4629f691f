#pragma once

// What an experiment measured: rows of settings, which were chosen, and of values, which came out. A run gives every value
// once; the tables of several runs are joined, and a value is then shown as their mean, or as their median where it is a speed.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/result.hpp"

namespace tamis::lab {

// A setting, as it is written in the table.
class setting {
 public:
  setting(std::string text) : text_(std::move(text)) {}  // NOLINT(google-explicit-constructor)
  setting(const char* text) : text_(text) {}             // NOLINT(google-explicit-constructor)
  template <class Number>
  requires std::is_arithmetic_v<Number> setting(Number number)
      : text_(written(static_cast<double>(number))) {}  // NOLINT(google-explicit-constructor)

  static std::string written(double number);  // six digits, whole numbers all of theirs
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

enum class summary { mean, median };

class table {
 public:
  table() = default;
  table(std::vector<std::string> settings, std::vector<std::string> values, summary shown = summary::mean)
      : settings_(std::move(settings)), values_(std::move(values)), shown_(shown) {}

  // One row of one run. Throws std::logic_error if the cells are not as many as the columns.
  void add(const std::vector<setting>& settings, const std::vector<double>& values);
  // Takes in the values of other runs. An error, and nothing changed, if columns or settings are others.
  status join(const table& other);

  const std::vector<std::string>& settings() const { return settings_; }
  const std::vector<std::string>& values() const { return values_; }
  summary shown() const { return shown_; }
  std::size_t runs() const { return cells_.empty() ? 0 : cells_.front().samples.front().size(); }

  // Asking for a column that is not there is our own mistake: std::logic_error.
  class row {
   public:
    row(const table& of, std::size_t index) : table_(&of), index_(index) {}

    const std::string& text(std::string_view setting) const;
    double number(std::string_view setting) const;
    double value(std::string_view column) const;  // over the runs: mean or median
    double error(std::string_view column) const;  // standard error of the mean; 0 for one run
    const std::vector<double>& samples(std::string_view column) const;
    // "a_over_s = 20, trace = pareto-1.2": for messages.
    std::string where() const;

   private:
    const table* table_;
    std::size_t index_;
  };
  using row_list = std::vector<row>;
  row_list rows() const;

  // Settings, values, and X_error for those values X that differed between runs.
  std::string csv() const;

 private:
  struct cells {
    std::vector<std::string> settings;
    std::vector<std::vector<double>> samples;  // one list per value
  };

  std::vector<std::string> settings_;
  std::vector<std::string> values_;
  summary shown_ = summary::mean;
  std::vector<cells> cells_;
};

using row_list = table::row_list;

// The rows with this setting, and the different values of a setting in the order in which they appear.
row_list where(const row_list& rows, std::string_view setting, std::string_view is);
// The rows whose setting is a number from low to high.
row_list between(const row_list& rows, std::string_view setting, double low, double high);
std::vector<std::string> distinct(const row_list& rows, std::string_view setting);
// The one row with this setting; std::logic_error if there is none.
table::row row_of(const row_list& rows, std::string_view setting, std::string_view is);

}  // namespace tamis::lab
