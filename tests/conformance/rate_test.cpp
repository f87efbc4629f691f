// The false-positive rate is the one that was asked for and the one that the filter states; the memory is what was asked for.

#include <cmath>

#include "tests/conformance/cases.hpp"

namespace tamis::test {
namespace {

TAMIS_CONFORMANCE(rate, all_cases());
TAMIS_CONFORMANCE(stated_rate, all_variants());

// The rate of a filled filter is itself a random number around the one it was sized for. Its spread is largest where keys are
// spread over words: bloom1 has some 4,000 words at this size, each with a rate whose standard deviation is about half of its
// mean, so that 10 % are more than ten standard deviations.
constexpr std::uint64_t capacity = 200000;
constexpr double spread = 1.1;

TEST_P(rate, target_is_kept_at_capacity) {
  const std::vector<digest> all = keys(capacity);
  std::size_t made = 0;
  for (const double target : {0.2, 0.05, 0.01, 0.001, 1e-5}) {
    SCOPED_TRACE(target);
    result<any_filter> f = create({.capacity = capacity, .fpr = target});
    if (!f) {
      EXPECT_TRUE(refused(f, "fpr"));
      continue;
    }
    ++made;
    ASSERT_EQ(f->insert_many(all), all.size());
    // Some 5,000 false positives tell a rate from one that is a tenth higher.
    const std::vector<digest> asked = strangers(static_cast<std::size_t>(std::min(500000.0, 5000.0 / target)));
    EXPECT_TRUE(at_most_by_chance(count_positives(*f, asked), asked.size(), std::max(target, f->expected_fpr())));
    EXPECT_LE(f->expected_fpr(), target * spread);
  }
  EXPECT_GE(made, 1u);
}

TEST_P(rate, bits_per_key_are_kept) {
  std::size_t made = 0;
  for (const double asked : {8.0, 12.0, 16.0, 24.0, 64.0}) {
    SCOPED_TRACE(asked);
    for (const std::uint64_t size : {capacity, (std::uint64_t{1} << 18) + 1}) {
      result<any_filter> f = create({.capacity = size, .bits_per_key = asked});
      if (!f) {
        EXPECT_TRUE(refused(f, "bits per key"));
        continue;
      }
      ++made;
      // Rounding to whole words and blocks, and fixed fields.
      EXPECT_LE(static_cast<double>(f->bits().fast), asked * static_cast<double>(size) * 1.005 + 4096);
      ASSERT_EQ(f->insert_many(keys(size)), size);
      EXPECT_LE(static_cast<double>(f->bits().fast), asked * static_cast<double>(size) * 1.005 + 4096);
    }
  }
  EXPECT_GE(made, 1u);
}

// Those that grow, except the two whose papers give the rate up: each link of a linear chain adds as much, and sacrifice takes
// a bit of every fingerprint.
std::vector<conformance_case> cases_that_keep_their_rate() {
  auto cases = cases_that_can(&capabilities::expand);
  std::erase_if(cases, [](const conformance_case& c) { return c.id() == "chain-linear" || c.id() == "sacrifice"; });
  return cases;
}
TAMIS_CONFORMANCE(growing_rate, cases_that_keep_their_rate());

// What was asked for holds while a filter, with its store if it needs one, becomes 64 times as large as it was made for. The
// rate of given keys is a random number: one key makes at most 2 target / capacity of it (a slot of a table that is at least
// half full), so that by McDiarmid's inequality it is more than sqrt(15 · 2 target / capacity · target) above its mean with
// probability e^-30 at most.
TEST_P(growing_rate, asked_for_is_kept) {
  constexpr std::uint64_t first_capacity = 4000;
  for (const double target : {0.05, 0.01}) {
    SCOPED_TRACE(target);
    any_filter f = create({.capacity = first_capacity, .fpr = target}).value();
    const std::vector<digest> asked = strangers(200000);
    const double luck = target * std::sqrt(30.0 / static_cast<double>(first_capacity));
    for (std::uint64_t size = first_capacity; size <= 64 * first_capacity; size *= 2) {
      SCOPED_TRACE(size);
      const std::vector<digest> more = keys(size - f.keys(), f.keys());
      insert_all(f, more);
      EXPECT_LE(f.expected_fpr(), target + luck);
      EXPECT_TRUE(at_most_by_chance(count_positives(f, asked), asked.size(), target + luck));
    }
  }
}

// At any load, not only at capacity, and whatever the options are.
TEST_P(stated_rate, is_the_measured_one) {
  const std::vector<digest> all = keys(20000);
  const std::vector<digest> asked = strangers(500000);
  any_filter f = make(all.size());
  for (const std::size_t load : {1000u, 10000u, 20000u}) {
    SCOPED_TRACE(load);
    insert_all(f, std::span(all).subspan(f.keys(), load - f.keys()));
    const double stated = f.expected_fpr();
    ASSERT_GE(stated, 0.0);
    ASSERT_LE(stated, 1.0);
    const std::uint64_t positives = count_positives(f, asked);
    EXPECT_TRUE(at_most_by_chance(positives, asked.size(), stated));
    EXPECT_TRUE(at_least_by_chance(positives, asked.size(), stated / 2)) << "more than twofold pessimism";
  }
}

// The rate is that of hashed keys of any kind: consecutive integers, which `strangers` are, and strings with a common prefix.
TEST_P(rate, holds_for_strings) {
  any_filter f = make(20000);
  for (int i = 0; i < 20000; ++i) ASSERT_EQ(f.insert("https://example.org/key/" + std::to_string(i)), insert_result::inserted);
  std::uint64_t positives = 0;
  constexpr std::uint64_t asked = 200000;
  for (std::uint64_t i = 0; i < asked; ++i) positives += f.may_contain("https://example.org/other/" + std::to_string(i));
  EXPECT_TRUE(at_most_by_chance(positives, asked, f.expected_fpr()));
}

}  // namespace
}  // namespace tamis::test
