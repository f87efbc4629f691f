#include "lab/reproduce/table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <stdexcept>

namespace tamis::lab {
namespace {

std::size_t place_of(const std::vector<std::string>& columns, std::string_view name) {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end()) throw std::logic_error("no column '" + std::string(name) + "'");
  return static_cast<std::size_t>(found - columns.begin());
}

double mean_of(const std::vector<double>& samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

double median_of(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const std::size_t half = samples.size() / 2;
  return samples.size() % 2 == 1 ? samples[half] : (samples[half - 1] + samples[half]) / 2;
}

double error_of(const std::vector<double>& samples) {
  if (samples.size() < 2) return 0;
  const auto n = static_cast<double>(samples.size());
  const double mean = mean_of(samples);
  double squares = 0;
  for (const double s : samples) squares += (s - mean) * (s - mean);
  return std::sqrt(squares / (n - 1) / n);
}

bool all_equal(const std::vector<double>& samples) {
  return std::adjacent_find(samples.begin(), samples.end(), std::not_equal_to<>()) == samples.end();
}

}  // namespace

std::string setting::written(double number) {
  char text[32];
  const bool whole = std::abs(number) < 1e15 && number == std::floor(number);
  std::snprintf(text, sizeof text, whole ? "%.0f" : "%.6g", number);
  return text;
}

void table::add(const std::vector<setting>& settings, const std::vector<double>& values) {
  if (settings.size() != settings_.size() || values.size() != values_.size() || values.empty()) {
    throw std::logic_error("a row must have one cell per column");
  }
  cells made;
  for (const setting& s : settings) made.settings.push_back(s.text());
  for (const double v : values) made.samples.push_back({v});
  cells_.push_back(std::move(made));
}

status table::join(const table& other) {
  if (cells_.empty() && settings_.empty()) {
    *this = other;
    return {};
  }
  if (other.settings_ != settings_ || other.values_ != values_ || other.cells_.size() != cells_.size()) {
    return failure{"the columns or rows of two runs are not the same"};
  }
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (other.cells_[i].settings != cells_[i].settings) return failure{"the settings of two runs are not the same"};
  }
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    for (std::size_t v = 0; v < values_.size(); ++v) {
      const auto& more = other.cells_[i].samples[v];
      cells_[i].samples[v].insert(cells_[i].samples[v].end(), more.begin(), more.end());
    }
  }
  return {};
}

const std::string& table::row::text(std::string_view setting) const {
  return table_->cells_[index_].settings[place_of(table_->settings_, setting)];
}

double table::row::number(std::string_view setting) const {
  const std::string& written = text(setting);
  double number = 0;
  const auto [end, failed] = std::from_chars(written.data(), written.data() + written.size(), number);
  if (failed != std::errc() || end != written.data() + written.size()) {
    throw std::logic_error("'" + written + "' in column '" + std::string(setting) + "' is no number");
  }
  return number;
}

const std::vector<double>& table::row::samples(std::string_view column) const {
  return table_->cells_[index_].samples[place_of(table_->values_, column)];
}

double table::row::value(std::string_view column) const {
  return table_->shown_ == summary::median ? median_of(samples(column)) : mean_of(samples(column));
}

double table::row::error(std::string_view column) const { return error_of(samples(column)); }

std::string table::row::where() const {
  std::string text;
  for (std::size_t i = 0; i < table_->settings_.size(); ++i) {
    text += (i == 0 ? "" : ", ") + table_->settings_[i] + " = " + table_->cells_[index_].settings[i];
  }
  return text;
}

row_list table::rows() const {
  row_list all;
  for (std::size_t i = 0; i < cells_.size(); ++i) all.emplace_back(*this, i);
  return all;
}

std::string table::csv() const {
  std::string text;
  const auto cell = [&text](const std::string& content) { text += (text.empty() || text.back() == '\n' ? "" : ",") + content; };
  std::vector<std::string> varying;
  for (std::size_t v = 0; v < values_.size(); ++v) {
    const auto differs = [v](const cells& c) { return !all_equal(c.samples[v]); };
    if (std::any_of(cells_.begin(), cells_.end(), differs)) varying.push_back(values_[v]);
  }
  for (const std::string& name : settings_) cell(name);
  for (const std::string& name : values_) cell(name);
  for (const std::string& name : varying) cell(name + "_error");
  text += '\n';
  for (const row& r : rows()) {
    for (const std::string& name : settings_) cell(r.text(name));
    for (const std::string& name : values_) cell(setting::written(r.value(name)));
    for (const std::string& name : varying) cell(setting::written(r.error(name)));
    text += '\n';
  }
  return text;
}

row_list where(const row_list& rows, std::string_view setting, std::string_view is) {
  row_list found;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(found), [&](const table::row& r) { return r.text(setting) == is; });
  return found;
}

row_list between(const row_list& rows, std::string_view setting, double low, double high) {
  row_list found;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(found),
               [&](const table::row& r) { return r.number(setting) >= low && r.number(setting) <= high; });
  return found;
}

std::vector<std::string> distinct(const row_list& rows, std::string_view setting) {
  std::vector<std::string> found;
  for (const table::row& r : rows) {
    if (std::find(found.begin(), found.end(), r.text(setting)) == found.end()) found.push_back(r.text(setting));
  }
  return found;
}

table::row row_of(const row_list& rows, std::string_view setting, std::string_view is) {
  const row_list found = where(rows, setting, is);
  if (found.empty()) throw std::logic_error("no row with " + std::string(setting) + " = " + std::string(is));
  return found.front();
}

}  // namespace tamis::lab
