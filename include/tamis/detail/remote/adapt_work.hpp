#pragma once

// What an adapt has cost, counted, and the most that it may cost. Runs are a few slots long unless somebody chose the keys, or
// one key is stored very often. There an adapt answers `unfixable`, with nothing changed, instead of holding up everybody else.

#include <cstdint>

namespace tamis::detail {

struct adapt_work {
  static constexpr std::uint64_t most_slots = 1024;            // of a run whose digests are asked for
  static constexpr std::uint64_t most_comparisons = 1u << 20;  // twice what runs in any order need at most, if no path is long

  static constexpr std::uint64_t most_matches = 256;  // evergreen: entries that would have to be lengthened
  static constexpr unsigned most_growths = 16;        // evergreen: of segments, to make room

  std::uint64_t digests = 0;      // that the remote was asked for
  std::uint64_t comparisons = 0;  // of slots and digests, to find out whose slots they are
  std::uint64_t slots = 0;        // that were given other symbols; evergreen: entries that were lengthened
  unsigned growths = 0;
};

}  // namespace tamis::detail
