#pragma once

// Every condition under which a validator refuses what it was given goes through is_wrong(), one call for each. In an ordinary
// build that is the condition itself. With TAMIS_NUMBERED_CHECKS a test has a number for every call, and can switch each off
// while it runs, to see that a file in the tree notices (tests/checks).
//
//   if (is_wrong(k_ < 1) || is_wrong(k_ > 64)) return failure{…};

#include "tamis/detail/base/compiler.hpp"

#ifdef TAMIS_NUMBERED_CHECKS

#include <source_location>

namespace tamis::detail {

// Sees every check that is made, and answers whether it refuses. nullptr: the condition decides.
using check_observer = bool (*)(bool condition, const std::source_location& at);
void observe_checks(check_observer observer);

// In the library, once: inline functions of a CPU level are that level's own.
bool asked_observer(bool condition, const std::source_location& at);

inline bool is_wrong(bool condition, const std::source_location& at = std::source_location::current()) {
  return asked_observer(condition, at);
}

}  // namespace tamis::detail

#else

namespace tamis::detail {

TAMIS_INLINE constexpr bool is_wrong(bool condition) { return condition; }

}  // namespace tamis::detail

#endif
