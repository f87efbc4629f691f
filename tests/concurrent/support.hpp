#pragma once

// Concurrent filters for tests: of every kind of the registry, and of the toys.

#include <string>
#include <vector>

#include "tamis/concurrent.hpp"
#include "tamis/detail/base/random.hpp"
#include "tests/support/keys.hpp"
#include "tests/support/registry.hpp"
#include "tests/support/remote.hpp"

namespace tamis::test {

// Every kind, and one with a list of known mistakes.
inline std::vector<std::string> all_kinds() {
  std::vector<std::string> ids = all_filters();
  ids.emplace_back("cuckoo+mistakes");
  return ids;
}

inline concurrent_filter make_concurrent(const std::string& kind, std::uint64_t capacity, std::uint32_t stripes,
                                         double fpr = 0.01) {
  return concurrent_filter::create(kind, {.capacity = capacity, .fpr = fpr}, test_hash(),
                                   {.stripes = stripes, .known = &registry_with_toys()})
      .value();
}

}  // namespace tamis::test
