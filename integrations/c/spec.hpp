#pragma once

// "ID name=value name=value …": how other languages say what filter they want.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tamis/hasher.hpp"
#include "tamis/params.hpp"

namespace tamis::c {

struct filter_spec {
  std::string id;
  filter_params params;
  std::optional<hasher> hash;  // if a secret or a seed was given
};

// Without options: a million keys, a rate of 1 %.
result<filter_spec> parse_spec(const char* spec, const std::uint8_t* secret);

// Takes an option out of the list: for what is not the filter's.
std::optional<std::string> take_option(option_list& options, std::string_view name);

// 1000000, 1e6 and 1M are the same.
result<std::uint64_t> parse_count(std::string_view name, std::string_view text, std::uint64_t most);
// 0 or 1, no or yes, false or true.
result<bool> parse_flag(std::string_view name, std::string_view text);

// Of the 16 bytes of a secret; none without one.
std::optional<hasher> hasher_of(const std::uint8_t* secret);

}  // namespace tamis::c
