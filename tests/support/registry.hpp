#pragma once

// The registry of tests: every kind that tamis comes with, and the toys; and the names of tests that run over kinds.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tamis/registry.hpp"
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

inline std::vector<std::string> all_filters() {
  std::vector<std::string> ids;
  for (const registry_entry& entry : registry_with_toys().entries()) ids.emplace_back(entry.info->id);
  return ids;
}

// "cuckoo+mistakes" is no name of a test.
inline std::string test_name(const ::testing::TestParamInfo<std::string>& tested) {
  std::string name = tested.param;
  for (char& c : name) {
    if (c == '-' || c == '+') c = '_';
  }
  return name;
}

}  // namespace tamis::test
