#pragma once

// Guarded stores for tests: in front of memory or of RocksDB, with every filter of the registry and with the toys.

#include <map>
#include <memory>
#include <ostream>
#include <string>

#include "tamis/detail/base/random.hpp"
#include "tamis/guard/guarded_store.hpp"
#include "tamis/guard/memory_store.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/registry.hpp"
#include "tests/support/temporary_directory.hpp"

namespace tamis::test {

inline capabilities can(const std::string& id) { return (*registry_with_toys().find(id))->can; }

inline guard_options options_of(const std::string& id, std::uint64_t capacity = 4000) {
  guard_options options;
  options.filter = id;
  options.hash = hasher();  // the same at every run
  options.params = {.capacity = capacity, .fpr = 0.01};
  options.known = &registry_with_toys();
  options.stripes = 4;
  options.snapshots = false;
  options.background_rebuild = false;
  return options;
}

inline std::string key_of(std::uint64_t number) { return "key " + std::to_string(number); }
inline std::string stranger(std::uint64_t number) { return "stranger " + std::to_string(number); }

// Ends a guard without a last snapshot, so that its store can have another.
inline void let_go(guarded_store& guarded) { const guarded_store ended = std::move(guarded); }

// Keys that the filter denies although the store has them: must be none, always.
inline std::uint64_t lost_keys(guarded_store& guarded, const std::map<std::string, std::string>& truth) {
  std::uint64_t lost = 0;
  for (const auto& [key, value] : truth) {
    const auto found = guarded.get(key);
    lost += !found.ok() || !guarded.may_contain(key) || *found != std::optional(value);
  }
  return lost;
}

inline std::uint64_t wrong_answers(const guarded_store& guarded, std::uint64_t asked) {
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < asked; ++i) wrong += guarded.may_contain(stranger(i));
  return wrong;
}

}  // namespace tamis::test
