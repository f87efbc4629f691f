#pragma once

// One game of a contest at equal memory: every contender has B bits of fast memory per member, whatever it spends them on, and
// is asked the same log of keys that are not in. What counts is how often it is wrong.
//
//   adaptive filter     told of each mistake, with the store at hand
//   filter + list       the library's list of known mistakes (ID+mistakes): whole digests, first in, first out
//   filter + cache      a filter that never changes, and an LRU cache of its mistakes (64 or 128-bit entries)
//   static set          a model of a binary fuse filter (1.14 w bits per key, rate 2^-w) and such a cache: its set is fixed
//
// How the memory is shared between filter and list or cache is chosen on the first fifth of the log, under another hash seed.

#include <string>
#include <vector>

#include "lab/contenders.hpp"
#include "lab/contest_sets.hpp"

namespace tamis::lab {

struct contest_game {
  const contest_ground& played;  // what counts
  const contest_ground& tried;   // the same set under another seed: for choosing
  double bits_per_key;
};

// Of one contender in one game.
struct score {
  std::string name;
  double mistakes = 0;
  double bits_per_key = 0;       // taken in the end, fast memory
  double slow_bits_per_key = 0;  // mirrors
  double share = 0;              // of the memory for list or cache
};

// A filter of the registry that adapts. An error if it cannot be made, or refuses a member.
result<score> play_adaptive(const contest_game& g, const std::string& name, const std::string& id,
                            const option_list& options = {});
// A filter behind the library's list of its mistakes.
result<score> play_listed(const contest_game& g, const std::string& name, const std::string& id);

struct cache_scores {
  score alone;  // no cache: all memory is the filter's
  score with_64;
  score with_128;
};
// Named ID, ID+64 and ID+128. The filter is never told of a mistake, also if it could adapt.
result<cache_scores> play_cached(const contest_game& g, const std::string& name, const std::string& id);
// The best share in hindsight, on the log itself: what no user gets. For sweeps, where nothing is to be learnt from a part.
result<cache_scores> play_cached_in_hindsight(const contest_game& g, const std::string& name, const std::string& id);
// A model: answers wrongly with chance 2^-w, w whole.
score play_static_set(const contest_game& g, const std::string& name);

// Queries that a cache of this size lets through; the others were in it.
std::uint64_t missed(tag_cache cache, const std::vector<digest>& queries);

}  // namespace tamis::lab
