#pragma once

// Concurrent filters for tests: of every kind of the registry, and of the toys.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tamis/concurrent.hpp"
#include "tamis/detail/base/random.hpp"
#include "tests/support/keys.hpp"
#include "tests/support/remote.hpp"
#include "tests/support/toy_filter.hpp"

namespace tamis::test {

inline const registry& registry_with_toys() {
  static const registry made = [] {
    registry all = registry::builtin();
    all.add(detail::entry_of<toy_everything>());
    all.add(detail::entry_of<toy_minimal>());
    return all;
  }();
  return made;
}

// Every kind, and one with a list of known mistakes.
inline std::vector<std::string> all_kinds() {
  std::vector<std::string> ids;
  for (const registry_entry& entry : registry_with_toys().entries()) ids.emplace_back(entry.info->id);
  ids.emplace_back("cuckoo+mistakes");
  return ids;
}

inline std::string test_name(const ::testing::TestParamInfo<std::string>& tested) {
  std::string name = tested.param;
  for (char& c : name) {
    if (c == '-' || c == '+') c = '_';
  }
  return name;
}

inline concurrent_filter make_concurrent(const std::string& kind, std::uint64_t capacity, std::uint32_t stripes,
                                         double fpr = 0.01) {
  return concurrent_filter::create(kind, {.capacity = capacity, .fpr = fpr}, test_hash(),
                                   {.stripes = stripes, .known = &registry_with_toys()})
      .value();
}

}  // namespace tamis::test
