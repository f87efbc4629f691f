#pragma once

// Which filters a replay compares, and how large they are. By default all get the same memory: what the first of them needs for
// the rate, or --bits-per-key. A filter that cannot be had in it, or cannot hold the members, is named and left out.

#include <span>
#include <string>
#include <vector>

#include "replay_run.hpp"
#include "tamis/params.hpp"

namespace tamis::cli {

inline constexpr const char* no_filter = "none";  // the store alone

// Names of `none`, of filters and of filters with a list (ID+mistakes); a dozen at most if the text is empty, all filters for
// `all`. Fails for an unknown or repeated one.
std::vector<std::string> parse_lineup(const std::string& text);

// Tables are made of whole words and buckets: so much more than its bits a filter may have.
inline constexpr double memory_tolerance = 1.02;
inline constexpr double spare_bits = 1024;

enum class comparison { memory, rate };

struct lineup_terms {
  std::vector<std::string> names;
  filter_params params;  // for all members, with the options of any of the filters
  comparison at = comparison::memory;
  std::uint64_t first_keys = 0;  // filters that grow are made for so many; 0: for as many as the others
};
// Fails if none of the filters has one of the options.
void refuse_unknown_options(const lineup_terms& terms);

// A filter with a list, for which `tried` is wanted below.
bool wants_trial(const lineup_terms& terms);

struct left_out {
  std::string name;
  std::string reason;
};

struct lineup {
  std::vector<contestant> loaded;
  std::vector<left_out> others;
  double bits_per_key = 0;  // that each has; 0 if they were compared at the same rate
  std::string budget_of;    // the filter whose memory that is; empty if it was asked for
};

// Queries from the beginning of the log and the keys that are in then: on them the share of the memory is chosen that a list of
// mistakes gets, as whoever sets one up would do it.
struct lineup_trial {
  std::span<const digest> members;
  std::span<const digest> queries;
};
// `members`: all different. Fails if all are left out.
lineup line_up(const lineup_terms& terms, std::span<const digest> members, const lineup_trial& tried);

}  // namespace tamis::cli
