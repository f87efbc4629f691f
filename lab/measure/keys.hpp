#pragma once

// The keys of a measurement: random 64-bit words, made before the clock runs. mix64 is a bijection and members and negatives
// come from different counters, so no negative is a member.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tamis::lab {

struct key_sets {
  std::vector<std::uint64_t> members;    // all different
  std::vector<std::uint64_t> positives;  // members, drawn at random
  std::vector<std::uint64_t> negatives;  // all different, none a member
};

// Requires: members != 0.
key_sets make_keys(std::size_t members, std::size_t queries, std::uint64_t seed);

}  // namespace tamis::lab
