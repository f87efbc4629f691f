#include "integrations/c/spec.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "integrations/c/boundary.hpp"

namespace tamis::c {
namespace {

constexpr std::string_view blanks = " \t\r\n";

template <class Number>
std::optional<Number> whole_text(std::string_view text) {
  Number value{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

double take_unit(std::string_view& text) {
  constexpr std::string_view letters = "kMGT";
  const std::size_t at = text.empty() ? std::string_view::npos : letters.find(text.back());
  if (at == std::string_view::npos) return 1;
  text.remove_suffix(1);
  return std::pow(1000.0, static_cast<double>(at + 1));
}

std::optional<std::uint64_t> count_of(std::string_view text) {
  if (const auto digits = whole_text<std::uint64_t>(text)) return digits;  // exact beyond what a double holds
  const double unit = take_unit(text);
  const auto number = whole_text<double>(text);
  if (!number) return std::nullopt;
  const double value = *number * unit;
  if (!(value >= 0 && value < 0x1p63 && value == std::floor(value))) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

failure wrong(std::string_view name, std::string_view text, const std::string& rule, error_code code) {
  return {std::string(name) + " '" + std::string(text) + "': " + rule, code};
}

result<double> parse_real(std::string_view name, std::string_view text) {
  const auto value = whole_text<double>(text);
  if (!value) return wrong(name, text, "must be a number", error_code::invalid_argument);
  return *value;
}

// The next word, or nothing at the end.
std::string_view next_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
  const std::string_view word = rest.substr(0, rest.find_first_of(blanks));
  rest.remove_prefix(word.size());
  return word;
}

status set_option(filter_spec& spec, std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return failure{"option '" + std::string(word) + "': must be name=value"};
  }
  const std::string_view name = word.substr(0, equals);
  const std::string_view value = word.substr(equals + 1);
  for (const auto& [known, ignored] : spec.params.options) {
    if (known == name) return failure{"option '" + std::string(name) + "': given twice"};
  }
  spec.params.options.emplace_back(name, value);
  return {};
}

// The options that every filter has leave the list.
status read_shared_options(filter_spec& spec) {
  option_list& options = spec.params.options;
  spec.params.capacity = 1'000'000;
  if (const auto text = take_option(options, "capacity")) {
    TAMIS_TRY(spec.params.capacity, parse_count("capacity", *text, largest_capacity));
  }
  if (const auto text = take_option(options, "fpr")) {
    TAMIS_TRY(spec.params.fpr, parse_real("fpr", *text));
  }
  if (const auto text = take_option(options, "bits_per_key")) {
    TAMIS_TRY(spec.params.bits_per_key, parse_real("bits_per_key", *text));
  }
  if (!spec.params.fpr && !spec.params.bits_per_key) spec.params.fpr = 0.01;
  if (const auto seed = take_option(options, "seed")) {
    if (spec.hash) return failure{"seed: the keyed hash has a secret instead"};
    TAMIS_TRY(spec.hash, hasher::parse(hash_family::fast, *seed));
  }
  return {};
}

}  // namespace

result<filter_spec> parse_spec(const char* spec, const std::uint8_t* secret) {
  TAMIS_CHECK(given(spec, "spec"));
  std::string_view rest = spec;
  filter_spec parsed;
  parsed.id = next_word(rest);
  if (parsed.id.empty()) return failure{"spec: must begin with the id of a filter, as in \"evergreen capacity=1M fpr=0.01\""};
  if (parsed.id.find('=') != std::string::npos) {
    return failure{"spec: must begin with the id of a filter, not with the option '" + parsed.id + "'"};
  }
  parsed.hash = hasher_of(secret);
  for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) TAMIS_CHECK(set_option(parsed, word));
  TAMIS_CHECK(read_shared_options(parsed));
  return parsed;
}

std::optional<std::string> take_option(option_list& options, std::string_view name) {
  const auto at = std::find_if(options.begin(), options.end(), [&](const auto& option) { return option.first == name; });
  if (at == options.end()) return std::nullopt;
  std::string value = std::move(at->second);
  options.erase(at);
  return value;
}

result<std::uint64_t> parse_count(std::string_view name, std::string_view text, std::uint64_t most) {
  const auto value = count_of(text);
  if (!value || *value > most) {
    const std::string rule = "must be a whole number up to " + std::to_string(most) + " (1000000, 1e6 and 1M are the same)";
    return wrong(name, text, rule, error_code::out_of_range);
  }
  return *value;
}

result<bool> parse_flag(std::string_view name, std::string_view text) {
  for (const std::string_view yes : {"1", "yes", "true"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"0", "no", "false"}) {
    if (text == no) return false;
  }
  return wrong(name, text, "must be 0 or 1", error_code::invalid_argument);
}

std::optional<hasher> hasher_of(const std::uint8_t* secret) {
  if (secret == nullptr) return std::nullopt;
  std::array<std::uint64_t, 2> words{};
  for (std::size_t i = 0; i < 16; ++i) words[i / 8] |= std::uint64_t{secret[i]} << (i % 8 * 8);
  return hasher::keyed(words);
}

}  // namespace tamis::c
