#pragma once

// Adversaries that learn from a filter's answers, against any adaptive filter. In the adaptivity game (Bender et al.; section 5
// of "Support optimality and adaptive cuckoo filters") an adversary asks for absent keys of its choice, sees which are false
// positives, and in the end names questions that it expects to be wrong. The filter is told of every false positive.

#include <cstdint>
#include <vector>

#include "tamis/any_filter.hpp"
#include "tamis/detail/base/random.hpp"

namespace tamis::lab {

// A filter as an adversary sees it: questions that are never stored keys, and whether the answer was wrong.
class game {
 public:
  game(any_filter& f, remote_ref stored) : filter_(f), stored_(stored) {}

  bool ask(digest d) {
    ++questions_;
    const bool wrong = filter_.may_contain(d);
    if (wrong) filter_.adapt(d, stored_);
    return wrong;
  }
  std::uint64_t questions() const { return questions_; }

 private:
  any_filter& filter_;
  remote_ref stored_;
  std::uint64_t questions_ = 0;
};

struct attack_result {
  std::vector<digest> named;    // asked over and over in this order; empty: the adversary found nothing
  std::uint64_t questions = 0;  // until then
  double sustained_rate = 0.0;  // of false positives when the named ones are asked again
};

// Theorem 9: takes one random key after the other and asks it `repeats` times (2^s for selectors of s bits); the first that is
// a false positive every time is named.
struct repeated_key_attack {
  std::uint64_t repeats = 2;
  std::uint64_t most_keys = 100'000;

  attack_result operator()(game& g, detail::random_source random) const;
};

// Section 5.3: asks `pool` random keys for k preliminary and k testing rounds, then tries ordered sets of k of those that were
// still wrong in a testing round, until one is wrong at every step, twice around: a mutually unfixable set. The paper's pool
// has (1 + 1/k) N / (eps n^(1/k)) keys.
struct unfixable_set_attack {
  unsigned k = 2;
  std::uint64_t pool = 10'000;
  std::uint64_t most_tries = 100'000;  // ordered sets

  attack_result operator()(game& g, detail::random_source random) const;
};

}  // namespace tamis::lab
