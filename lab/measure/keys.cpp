#include "lab/measure/keys.hpp"

namespace tamis::lab {

using namespace detail;

key_sets make_keys(std::size_t members, std::size_t queries, std::uint64_t seed) {
  key_sets keys;
  std::uint64_t counter = mix64(seed);
  keys.members.resize(members);
  for (std::uint64_t& key : keys.members) key = mix64(counter++);
  keys.negatives.resize(queries);
  for (std::uint64_t& key : keys.negatives) key = mix64(counter++);
  keys.others = counter;
  random_source random(seed);
  keys.positives.resize(queries);
  for (std::uint64_t& key : keys.positives) key = keys.members[random.below(members)];
  return keys;
}

}  // namespace tamis::lab
