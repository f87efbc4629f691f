#pragma once

// What the conformance tests run over: every registry line at every CPU level of this machine, and the toys, which prove that
// the tests ask nothing of a filter but its contract; and every registry line with a list of known mistakes, at the best level,
// since the list is the same code at all. A suite takes all cases, those with a capability, or also the variants: one case per
// value of every option.

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "tamis/registry.hpp"
#include "tests/support/bounds.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/checked_filter.hpp"
#include "tests/support/keys.hpp"

namespace tamis::test {

struct conformance_case {
  std::string name;
  const registry* known;
  const registry_entry* entry;
  option_list options = {};

  std::string id() const { return std::string(entry->info->id); }
  bool has_list() const { return !options.empty() && options.front().first == "mistakes"; }
  capabilities can() const {
    capabilities all = entry->can;
    all.adapt |= has_list();
    return all;
  }
  friend void PrintTo(const conformance_case& c, std::ostream* out) { *out << c.name; }
};

inline std::string name_of_case(const ::testing::TestParamInfo<conformance_case>& tested) { return tested.param.name; }

std::vector<conformance_case> all_cases();
std::vector<conformance_case> all_variants();
// Those that can, or (`wanted` = false) those that cannot.
std::vector<conformance_case> cases_that_can(bool capabilities::*ability, std::vector<conformance_case> cases = all_cases(),
                                             bool wanted = true);
std::vector<conformance_case> cases_of_best_level();
// The filters of the best level with a list of this many entries.
std::vector<conformance_case> cases_with_list(std::uint64_t entries);
// Cases whose name begins like this, or does not.
std::vector<conformance_case> named(std::vector<conformance_case> cases, std::string_view beginning, bool wanted = true);

class conformance : public ::testing::TestWithParam<conformance_case> {
 protected:
  static constexpr double default_fpr = 0.01;

  const registry& known() const { return *GetParam().known; }
  std::string id() const { return GetParam().id(); }
  capabilities can() const { return GetParam().can(); }

  result<any_filter> create(filter_params params, hasher hash = test_hash()) const;
  result<any_filter> load(const byte_vector& bytes, std::optional<hasher> hash = std::nullopt) const {
    return load_bytes(bytes, {hash, &known()});
  }

  // A filter of this capacity; if the filter gives a reason why it cannot be so small, of the next double that it can. A
  // variant that cannot have this rate is made with a higher one.
  any_filter make(std::uint64_t capacity, double fpr = default_fpr, hasher hash = test_hash()) const;
  // The same, filled with `keys(capacity)`.
  any_filter make_full(std::uint64_t capacity, double fpr = default_fpr) const;

  // A filter of 20 keys: small enough to damage every bit of its file. A list has four entries, two of them empty.
  any_filter tiny() const;

 private:
  any_filter tiny_with_list() const;
};

// TAMIS_SOAK=N in the environment asks for N times as many random sequences and forged files.
int times_as_many();

// How many of these the filter says yes to.
std::uint64_t count_positives(const any_filter& f, std::span<const digest> digests);

template <class Digests>
::testing::AssertionResult may_contain_all(const any_filter& f, const Digests& digests) {
  std::size_t i = 0;
  for (const digest d : digests) {
    if (!f.may_contain(d)) return ::testing::AssertionFailure() << "key " << i << " of " << digests.size() << " is lost";
    ++i;
  }
  return ::testing::AssertionSuccess();
}

// A change that was refused: the bytes are as they were.
inline ::testing::AssertionResult unchanged(const any_filter& f, const byte_vector& before) {
  if (f.save_bytes() == before) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "the filter has changed";
}

}  // namespace tamis::test

// A suite of tests over these cases: TAMIS_CONFORMANCE(erasing, cases_that_can(&capabilities::erase)). Suites with a fixture of
// their own use only the second half.
#define TAMIS_CONFORMANCE(suite, cases) \
  class suite : public conformance {};  \
  TAMIS_CONFORMANCE_CASES(suite, cases)
#define TAMIS_CONFORMANCE_CASES(suite, cases) \
  INSTANTIATE_TEST_SUITE_P(filters, suite, ::testing::ValuesIn(cases), ::tamis::test::name_of_case)
