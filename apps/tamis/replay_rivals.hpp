#pragma once

// Rivals in a replay that tamis does not have, so that a comparison is with the best there is:
//
//   fuse-model   a model of a binary fuse filter (lab/contenders.hpp): 1.14 bits for each bit of fingerprint. It answers as one
//                would; nothing is timed. Its set can never change: a key that comes or goes rebuilds it.
//   ID+lru       a filter that is never told of a mistake, and in front of it an LRU cache of the mistakes: tags of 64 bits in
//                sets of eight. A member whose tag is that of a mistake would be denied, with a chance of 2^-61 for each pair.
//
// A cache is paid from the same memory; its share is chosen as that of a list of known mistakes is.

#include <memory>
#include <string_view>

#include "replay_lineup.hpp"
#include "slow_side.hpp"
#include "tamis/result.hpp"

namespace tamis::cli {

bool is_rival(std::string_view name);
// An error for what is no filter before `+lru`.
status check_rival(std::string_view name);

// `capacity` and `options`: of the filter. Bits per key, or 0: for the rate. An error says why it cannot be had.
struct rival_terms {
  std::string_view name;
  filter_params params;
  double bits_per_key;
};
result<std::shared_ptr<filtering_side>> make_rival(const rival_terms& terms, std::span<const digest> members,
                                                   const lineup_trial& tried);

}  // namespace tamis::cli
