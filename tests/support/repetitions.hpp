#pragma once

// How often a test does what more repetitions make surer, such as random cases: as often as it wants, and a part of that in a
// build with a sanitizer, which takes ten times as long (TAMIS_TEST_SHARE, tests/CMakeLists.txt). Nothing is left out there:
// every test runs, with the first of its cases.

#include <algorithm>

namespace tamis::test {

#ifdef TAMIS_TEST_SHARE
inline constexpr int repetition_share = TAMIS_TEST_SHARE;
#else
inline constexpr int repetition_share = 1;
#endif

constexpr int repetitions(int wanted) { return std::max(1, wanted / repetition_share); }

}  // namespace tamis::test
