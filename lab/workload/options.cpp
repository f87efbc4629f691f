// Options of a workload: from text to numbers, with errors that name the option, the value and what is allowed.

#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <system_error>

#include "lab/workload/kinds.hpp"

namespace tamis::lab {
namespace {

std::string number_text(option_kind kind, double value) {
  char digits[32];
  const auto end = kind == option_kind::whole ? std::to_chars(digits, digits + sizeof digits, static_cast<std::int64_t>(value))
                                              : std::to_chars(digits, digits + sizeof digits, value);
  return std::string(digits, end.ptr);
}

// A number within the option's range; whole numbers may be written 1e6.
std::optional<double> parse_number(const option_info& option, std::string_view text) {
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  const bool in_range = (option.above_lowest ? value > option.lowest : value >= option.lowest) && value <= option.highest;
  if (!in_range || (option.kind == option_kind::whole && value != std::floor(value))) return std::nullopt;
  return value;
}

std::string names_of(std::span<const option_info> options) {
  if (options.empty()) return "it has none";
  std::string list = "the options are ";
  for (const option_info& option : options) list.append(&option == options.data() ? "" : ", ").append(option.name);
  return list;
}

}  // namespace

std::string option_info::default_text() const { return number_text(kind, fallback); }

std::string option_info::range_text() const {
  const std::string low = number_text(kind, lowest);
  const std::string high = number_text(kind, highest);
  const std::string noun = kind == option_kind::whole ? "a whole number" : "a number";
  return above_lowest ? noun + " above " + low + " and at most " + high : noun + " from " + low + " to " + high;
}

option_values::option_values(std::span<const option_info> options) : options_(options) {
  for (const option_info& option : options) values_.push_back(option.fallback);
}

std::size_t option_values::index(std::string_view name) const {
  const auto at = std::find_if(options_.begin(), options_.end(), [&](const option_info& o) { return o.name == name; });
  return static_cast<std::size_t>(at - options_.begin());
}

double option_values::real(std::string_view name) const {
  assert(index(name) < values_.size());
  return values_[index(name)];
}

result<option_values> option_values::parse(const workload_info& info, workload_options given) {
  option_values values(info.options);
  std::vector<bool> seen(info.options.size());
  const std::string who(info.name);
  for (const auto& [name, text] : given) {
    const std::size_t at = values.index(name);
    if (at == info.options.size()) return failure{who + ": no option '" + name + "'; " + names_of(info.options)};
    if (seen[at]) return failure{who + ": option '" + name + "': given twice"};
    seen[at] = true;
    const std::optional<double> value = parse_number(info.options[at], text);
    if (!value) return failure{who + ": option '" + name + "': '" + text + "' is not " + info.options[at].range_text()};
    values.values_[at] = *value;
  }
  return values;
}

}  // namespace tamis::lab
