// Random sequences of operations against a multiset (RapidCheck): after every step all that is in is found, counts are not too
// low, and what was refused has changed nothing. TAMIS_SOAK=N in the environment makes N times as many sequences.

#include <rapidcheck.h>

#include <sstream>

#include "tests/conformance/cases.hpp"
#include "tests/support/checked_filter.hpp"
#include "tests/support/repetitions.hpp"

namespace tamis::test {
namespace {

constexpr std::uint64_t sequence_seed = 20240612;
constexpr std::uint8_t universe = 48;  // keys; few, so that copies and collisions are common

rc::Gen<std::vector<operation>> operations(double length) {
  const auto one = rc::gen::map(rc::gen::pair(rc::gen::inRange(0, step_kinds), rc::gen::inRange<int>(0, universe)),
                                [](const std::pair<int, int>& drawn) {
                                  return operation{static_cast<step>(drawn.first), static_cast<std::uint8_t>(drawn.second)};
                                });
  return rc::gen::scale(length, rc::gen::container<std::vector<operation>>(one));
}

TAMIS_CONFORMANCE(sequences, all_variants());

void run_sequences(const any_filter& empty, const registry& known, int cases, double length,
                   remote_use use = remote_use::none) {
  rc::detail::TestParams how;
  how.seed = sequence_seed;
  how.maxSuccess = repetitions(cases) * times_as_many();
  const auto outcome = rc::detail::checkTestable(
      [&] {
        const auto steps = *operations(length);
        checked_filter f(empty, &known, use);
        for (const operation& o : steps) {
          f.apply(o);
          f.check();
        }
      },
      rc::detail::TestMetadata(), how);
  if (outcome.is<rc::detail::SuccessResult>()) return;
  std::ostringstream text;
  rc::detail::printResultMessage(outcome, text);
  FAIL() << "seed " << sequence_seed << "\n" << text.str();
}

// Half of the keys collide with some other one.
TEST_P(sequences, short_ones_in_a_crowded_filter) { run_sequences(make(8, 0.5), known(), 150, 0.5); }

TEST_P(sequences, long_ones) { run_sequences(make(64, 0.1), known(), 60, 4.0); }

TAMIS_CONFORMANCE(sequences_with_remote, cases_that_can(&capabilities::adapt, all_variants()));

TEST_P(sequences_with_remote, store_first) {
  run_sequences(make(8, 0.5), known(), 150, 0.5, remote_use::store_first);
  run_sequences(make(64, 0.1), known(), 60, 4.0, remote_use::store_first);
}

TEST_P(sequences_with_remote, filter_first) {
  run_sequences(make(8, 0.5), known(), 150, 0.5, remote_use::filter_first);
  run_sequences(make(64, 0.1), known(), 60, 4.0, remote_use::filter_first);
}

}  // namespace
}  // namespace tamis::test
