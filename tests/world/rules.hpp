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
    const auto add = [&](const std::string& name, std::vector<const char*> remainders, world_rules rules) {
      for (const char* r : remainders) {
        rules.remainder = r;
        made.emplace_back((r == nullptr ? "small" : "r" + std::string(r)) + "_" + name, rules);
      }
    };
    add("filter_first", {nullptr, "4", "5", "6", "7", "8", "9"}, {});
    add("store_first", {"5", "6", "7", "8"}, {.store_first = true});
    add("sometimes", {nullptr, "4", "5", "7"}, {.sometimes = true});
    add("sometimes_store_first", {"5", "7"}, {.store_first = true, .sometimes = true});
    add("alone", {nullptr, "4", "5", "7", "9"}, {.never = true, .most_keys = 800});
    add("alone_fixed", {nullptr, "4", "5", "7", "10"}, {.fingerprints = "fixed", .never = true, .most_keys = 800});
    add("failing", {nullptr, "4", "5", "6", "7", "8"}, {.store_first = true, .sometimes = true, .fails = true});
    // What has grown much more than the other one cannot take its short entries.
    add("merging", {nullptr, "5", "7", "8", "9"}, {.sometimes = true, .merges = true, .most_keys = 300});
    add("merging_alone", {"4", "7"}, {.fingerprints = "fixed", .never = true, .merges = true, .most_keys = 300});
    add("strays", {"5", "6", "8"}, {.strays = true});
    add("strays_sometimes", {"4", "7"}, {.fingerprints = "fixed", .sometimes = true, .strays = true});
    add("deep", {"5", "7"}, {.deep = true, .most_keys = 300});
    add("deep_alone", {"4", "6"}, {.fingerprints = "fixed", .never = true, .deep = true, .most_keys = 300});
    return made;
  }();
  return all;
}

}  // namespace tamis::test
