#pragma once

// A random number of this process. Tables in memory that are not saved hash with it: whoever knows a filter's seed still cannot
// foresee which digests meet in them.

#include "tamis/digest.hpp"

namespace tamis::detail {

// The same at every call.
digest process_salt();

}  // namespace tamis::detail
