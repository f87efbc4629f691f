#pragma once

// RapidCheck with a fixed, printed seed: a failure is shrunk, shown, and comes back when the test is run again.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <cstdio>
#include <sstream>

#include "tests/support/repetitions.hpp"

namespace tamis::test {

template <class Testable>
void expect_always(std::uint64_t seed, int cases, Testable testable) {
  rc::detail::TestParams how;
  how.seed = seed;
  how.maxSuccess = repetitions(cases);
  std::printf("seed %llu, %d cases\n", static_cast<unsigned long long>(seed), how.maxSuccess);
  const auto outcome = rc::detail::checkTestable(testable, rc::detail::TestMetadata(), how);
  if (outcome.template is<rc::detail::SuccessResult>()) return;
  std::ostringstream text;
  rc::detail::printResultMessage(outcome, text);
  ADD_FAILURE() << text.str();
}

}  // namespace tamis::test
