#include "numbers.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "failure.hpp"

namespace tamis::cli {
namespace {

template <class Number>
std::optional<Number> whole_text(std::string_view text) {
  Number value{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

double take_suffix(std::string_view& text) {
  constexpr std::string_view letters = "kMGT";
  const std::size_t at = text.empty() ? std::string_view::npos : letters.find(text.back());
  if (at == std::string_view::npos) return 1;
  text.remove_suffix(1);
  return std::pow(1000.0, static_cast<double>(at + 1));
}

std::optional<std::uint64_t> count_of(std::string_view text) {
  if (const auto digits = whole_text<std::uint64_t>(text)) return digits;  // exact beyond what a double holds
  const double unit = take_suffix(text);
  const auto number = whole_text<double>(text);
  if (!number) return std::nullopt;
  const double value = *number * unit;
  if (!(value >= 0 && value < 0x1p63 && value == std::floor(value))) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

}  // namespace

std::uint64_t parse_count(const std::string& flag, const std::string& text, std::uint64_t least, std::uint64_t most) {
  const auto value = count_of(text);
  if (!value || *value < least || *value > most) {
    fail(flag + " '" + text + "'",
         fmt::format("must be a whole number from {} to {} (1000000, 1e6 and 1M are the same)", least, most));
  }
  return *value;
}

double parse_real(const std::string& flag, const std::string& text, double above, double below, bool included) {
  const auto value = whole_text<double>(text);
  if (!value || !(*value > above) || !(*value < below || (included && *value == below))) {
    fail(flag + " '" + text + "'",
         fmt::format("must be a number above {} and {} {}", above, included ? "at most" : "below", below));
  }
  return *value;
}

double parse_share(const std::string& flag, const std::string& text) {
  const auto value = whole_text<double>(text);
  if (!value || !(*value >= 0 && *value <= 1)) fail(flag + " '" + text + "'", "must be a number from 0 to 1");
  return *value;
}

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

std::string percent(double share) {
  const double value = 100 * share;
  if (!std::isfinite(value)) return "-";
  if (value == 0) return "0 %";
  if (value < 0.001) return fmt::format("{:.2g}", share);  // 3.1e-09: two powers of ten less are easily misread
  // Three significant digits, and never 100 for what is less.
  const int digits = value >= 99.95 && value < 100 ? 3 : value >= 10 ? 1 : value >= 1 ? 2 : value >= 0.1 ? 3 : 4;
  return fmt::format("{:.{}f} %", value, value == 100 ? 0 : digits);
}

std::string about(double number) {
  if (number < 9.5) return fmt::format("{:.2g}", number);
  return grouped(static_cast<std::uint64_t>(std::llround(number)));
}

std::string counted(std::uint64_t number, const std::string& noun) {
  return grouped(number) + " " + noun + (number == 1 ? "" : "s");
}

}  // namespace tamis::cli
