#pragma once

// Plays a log in which keys come and go. Filters that grow are made for the keys of the beginning, at least for a thousand; the
// others for the most that the log has at a time.

#include "replay_lineup.hpp"
#include "replay_log.hpp"

namespace tamis::cli {

inline constexpr std::uint64_t least_first_keys = 1000;

// Of this log: what the filters are made for.
void size_for(const change_log& log, lineup_terms& terms);

struct played_log {
  lineup filters;
  query_log judged;
};
played_log play(const change_log& log, const lineup_terms& terms);

// What happens in it, in words.
std::string changes_text(const change_log& log);

}  // namespace tamis::cli
