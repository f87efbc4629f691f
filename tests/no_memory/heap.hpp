#pragma once

// The heap of this program counts, and refuses when it is told to: operator new and what tables are allocated with are replaced
// in heap_test.cpp.

#include <cstdint>
#include <limits>

namespace tamis::test {

inline constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

extern std::uint64_t heap_left;  // so many more allocations are not refused
extern std::int64_t heap_most;   // that heap_bytes has been
extern std::int64_t heap_bytes;  // that operator new has handed out and not got back

}  // namespace tamis::test
