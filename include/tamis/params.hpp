#pragma once

// What a user says when a filter is made, and what a filter says about itself.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tamis/memory.hpp"
#include "tamis/result.hpp"

namespace tamis {

using option_list = std::vector<std::pair<std::string, std::string>>;

// Size and quality of a new filter: exactly one of `fpr` and `bits_per_key` is given. `memory` is where an any_filter gets its
// tables from for as long as it lives; nullptr: the resource in force (memory.hpp). It is no part of what is saved.
struct filter_params {
  std::uint64_t capacity = 0;
  std::optional<double> fpr = std::nullopt;
  std::optional<double> bits_per_key = std::nullopt;
  option_list options = {};
  memory_resource* memory = nullptr;
};

struct option_info {
  std::string_view name;
  std::string_view values;    // "1 to 32"
  std::string_view fallback;  // what is taken if it is not given
  std::string_view meaning;
};

struct filter_info {
  std::string_view id;
  std::string_view summary;
  std::string_view paper;
  std::span<const option_info> options = {};
  std::uint32_t version = 1;  // of the saved payload: goes up when its encoding changes
  // For filters that adapt: does adapting to one key leave the keys fixed before alone? If not, some of them are false
  // positives again, and a filter gains where few absent keys are asked for often.
  bool fixes_last = true;
  // It takes every key, at the price of its rate, so that nobody has to look at what insert() answers.
  bool never_full = false;
};

// Bits of memory: `fast` is what a lookup may touch, `slow` (mirrors, shadows) may live on the far side.
struct memory_bits {
  std::uint64_t fast = 0;
  std::uint64_t slow = 0;
};

// What may be asked for, and what a rate may come to.
inline constexpr double most_bits_per_key = 4096.0;
inline constexpr std::uint64_t largest_capacity = std::uint64_t{1} << 48;

// Capacity, rate and bits per key are in range, exactly one of the last two is given, and every option is one that `info`
// lists. A memory that is given is in force: for a filter of a static type the caller opens its memory_scope.
status check_params(const filter_info& info, const filter_params& params);

// Reads options of checked parameters; each error names the option, the value and what is allowed.
result<std::uint64_t> number_option(const filter_params& params, std::string_view name, std::uint64_t fallback,
                                    std::uint64_t least, std::uint64_t most);
result<std::string> choice_option(const filter_params& params, std::string_view name, std::string_view fallback,
                                  std::span<const std::string_view> allowed);

}  // namespace tamis
