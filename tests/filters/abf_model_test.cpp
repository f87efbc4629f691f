// The filter behaves as the model of detail/math/abf.hpp says, on the workload that the model describes: the paper's M = 1024
// words of 64 bits, the blind switch, N keys, A others, 10·A lookups.

#include <gtest/gtest.h>

#include <cmath>

#include "tamis/detail/base/random.hpp"
#include "tamis/detail/math/abf.hpp"
#include "tamis/filters/abf.hpp"
#include "tests/support/keys.hpp"

namespace tamis::test {

using namespace detail;

namespace {

constexpr std::uint64_t seed = 20240612;
constexpr std::uint64_t words = 1024;
constexpr unsigned repeats = 10;
constexpr unsigned runs = 30;

struct sample {
  std::uint64_t keys_per_word;
  unsigned k;
  unsigned ratio;  // A / N
  unsigned sets = 2;
  unsigned decimate = 1;
};

double simulate(const sample& s, std::uint64_t run) {
  const std::uint64_t keys_in = s.keys_per_word * words;
  abf f = abf::create({.capacity = keys_in,
                       .bits_per_key = 64.0 / static_cast<double>(s.keys_per_word) * (1 - 1e-9),
                       .options = {{"sets", std::to_string(s.sets)},
                                   {"k", std::to_string(s.k)},
                                   {"switch", "blind"},
                                   {"decimate", std::to_string(s.decimate)}}})
              .value();
  EXPECT_EQ(f.bits().fast, words * 64);
  for (const digest d : keys(keys_in, run << 30)) f.insert(d);
  const std::vector<digest> others = strangers(keys_in * s.ratio, run << 30);
  random_source random(mix64(seed + run));
  std::uint64_t wrong = 0;
  const std::uint64_t lookups = repeats * others.size();
  for (std::uint64_t i = 0; i < lookups; ++i) {
    wrong += f.adapt(others[random.below(others.size())]) != adapt_result::not_positive;
  }
  return static_cast<double>(wrong) / static_cast<double>(lookups);
}

// Runs differ by more than the binomial of their lookups, because the keys are drawn anew as well: the bound comes from the
// spread of the runs. Five standard errors of 30 runs are about 3 % of the rate.
void expect_model(const sample& s, double allowed_bias) {
  double sum = 0.0;
  double squares = 0.0;
  for (unsigned run = 0; run < runs; ++run) {
    const double rate = simulate(s, run);
    sum += rate;
    squares += rate * rate;
  }
  const double mean = sum / runs;
  const double error = std::sqrt((squares / runs - mean * mean) / (runs - 1));
  const std::uint64_t keys_in = s.keys_per_word * words;
  const unsigned payload = 64 - static_cast<unsigned>(std::countr_zero(s.sets));
  const double model = abf_rate({words, payload, s.k, s.sets, keys_in, keys_in * s.ratio, repeats, s.decimate});
  EXPECT_NEAR(mean, model, 5 * error + allowed_bias * model)
      << "N/M " << s.keys_per_word << ", k " << s.k << ", A/N " << s.ratio << ", S " << s.sets << ", d " << s.decimate;
}

TEST(abf_model, is_the_simulation_at_the_settings_of_figures_4_and_5) {
  SCOPED_TRACE(seed);
  for (const std::uint64_t n : {8u, 12u}) {
    for (const unsigned k : {3u, 4u, 5u}) {
      for (const unsigned ratio : {1u, 4u}) expect_model({n, k, ratio}, 0.0);
    }
  }
}

// The decimation counts for the whole filter, the model takes a word's share of it as drawn at random.
TEST(abf_model, knows_decimation) {
  for (const unsigned ratio : {1u, 4u}) expect_model({8, 4, ratio, 2, 5}, 0.01);
}

TEST(abf_model, is_the_simulation_with_more_sets) {
  for (const std::uint64_t n : {8u, 16u}) {
    for (const unsigned sets : {4u, 8u, 16u}) expect_model({n, 4, 2, sets}, 0.0);
  }
}

}  // namespace
}  // namespace tamis::test
