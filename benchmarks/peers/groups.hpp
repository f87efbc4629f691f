#pragma once

// Who stands beside whom.

#include <functional>
#include <string>
#include <vector>

#include "benchmarks/peers/rival.hpp"

namespace tamis::benchmarks {

using rival_maker = std::function<std::unique_ptr<rival>(std::uint64_t slots, std::uint64_t keys)>;

struct entrant {
  std::string name;
  std::string peer;  // ours: whose times are divided by ours; empty: nobody's
  rival_maker make;
};

struct group {
  std::string name;
  double load;  // keys in tables of 2^k slots
  std::vector<entrant> entrants;
};
// Peers whose files were not there are left out.
std::vector<group> groups();

// Ours, compiled for one level: `filter` once with single operations and once batched, each with a table of its own.
enum class our_filter { cuckoo, ascf, rsqf, rsqf_of_slots, taf, exaf, evergreen, evergreen_grown };
std::vector<entrant> ours(our_filter filter, std::string name, const std::string& peer);

// No filters: what the memory allows to one that reads as many lines.
std::vector<entrant> limit_of_cuckoo(const std::string& peer);
std::vector<entrant> limit_of_quotient(const std::string& peer);

}  // namespace tamis::benchmarks
