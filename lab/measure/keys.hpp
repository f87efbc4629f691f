#pragma once

// The keys of a measurement: random 64-bit words, made before the clock runs. mix64 is a bijection and members, negatives and
// strangers come from different counters, so no negative is a member, and no stranger either of them.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tamis/detail/base/random.hpp"

namespace tamis::lab {

struct key_sets {
  std::vector<std::uint64_t> members;    // all different
  std::vector<std::uint64_t> positives;  // members, drawn at random
  std::vector<std::uint64_t> negatives;  // all different, none a member
  std::uint64_t others = 0;              // the counter behind those of all of them

  std::uint64_t stranger(std::uint64_t i) const { return detail::mix64(others + i); }
};

// Requires: members != 0.
key_sets make_keys(std::size_t members, std::size_t queries, std::uint64_t seed);

}  // namespace tamis::lab
