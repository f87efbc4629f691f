#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/world/world.hpp"

namespace tamis::test {

// The kinds of worlds that are tried.
inline const std::vector<std::pair<std::string, world_rules>>& all_rules() {
  static const std::vector<std::pair<std::string, world_rules>> all = [] {
    std::vector<std::pair<std::string, world_rules>> made;
    for (const unsigned fingerprint : {2u, 3u}) {
      const std::string f = "F" + std::to_string(fingerprint);
      made.emplace_back(f + "_remote", world_rules{.fingerprint = fingerprint});
      made.emplace_back(f + "_store_first", world_rules{.fingerprint = fingerprint, .store_first = true});
      made.emplace_back(f + "_alone", world_rules{.fingerprint = fingerprint, .with_remote = false});
      made.emplace_back(f + "_sometimes", world_rules{.fingerprint = fingerprint, .sometimes = true, .store_first = true});
      made.emplace_back(f + "_contracting", world_rules{.fingerprint = fingerprint, .contracts = true});
      made.emplace_back(f + "_contracting_alone",
                        world_rules{.fingerprint = fingerprint, .with_remote = false, .contracts = true});
      made.emplace_back(f + "_strays",
                        world_rules{.fingerprint = fingerprint, .sometimes = true, .strays = true, .contracts = true});
      made.emplace_back(f + "_flat",
                        world_rules{.fingerprint = fingerprint, .sometimes = true, .contracts = true, .flat = true});
    }
    // Where splits copy entries.
    for (const unsigned fingerprint : {1u, 2u}) {
      const std::string f = "F" + std::to_string(fingerprint);
      const world_rules deep{.fingerprint = fingerprint, .with_remote = false, .contracts = true, .deep = true, .merges = true};
      made.emplace_back(f + "_deep", deep);
      world_rules strays = deep;
      strays.with_remote = strays.sometimes = strays.strays = true;
      made.emplace_back(f + "_deep_strays", strays);
    }
    // Slots of nine and ten bits, which lie in memory in other ways.
    made.emplace_back("F8_remote", world_rules{.fingerprint = 8});
    made.emplace_back("F8_alone", world_rules{.fingerprint = 8, .with_remote = false, .contracts = true});
    made.emplace_back("F9_strays", world_rules{.fingerprint = 9, .sometimes = true, .strays = true, .contracts = true});
    return made;
  }();
  return all;
}

}  // namespace tamis::test
