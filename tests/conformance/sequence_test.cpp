// Random sequences of operations against a multiset (RapidCheck): after every step all that is in is found, counts are not too
// low, and what was refused has changed nothing. TAMIS_SOAK=N in the environment makes N times as many sequences.

#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <sstream>

#include "tests/conformance/cases.hpp"
#include "tests/support/remote.hpp"

namespace tamis::test {
namespace {

constexpr std::uint64_t sequence_seed = 20240612;
constexpr std::uint8_t universe = 48;  // keys; few, so that copies and collisions are common

enum class step {
  insert,
  insert_again,
  insert_some,
  erase,
  erase_some,
  contains,
  save_and_load,
  copy,
  merge,
  adapt,
  adapt_member,
  expand,
  rejuvenate
};
constexpr int step_kinds = 13;

struct operation {
  step what;
  std::uint8_t key;

  friend std::ostream& operator<<(std::ostream& out, const operation& o) {
    constexpr const char* names[step_kinds] = {"insert",       "insert",        "insert_some", "erase", "erase_some",
                                               "contains",     "save_and_load", "copy",        "merge", "adapt",
                                               "adapt_member", "expand",        "rejuvenate"};
    return out << names[static_cast<int>(o.what)] << "(" << int{o.key} << ")";
  }
};

// Whether updates have the remote at hand, and which of the two learns of a change first: both orders are allowed.
enum class remote_use { none, store_first, filter_first };

// A filter beside the truth.
class checked_filter {
 public:
  checked_filter(const any_filter& empty, const registry& known, remote_use use)
      : f_(empty), empty_(empty), known_(known), use_(use) {}

  void apply(const operation& o) {
    const digest d = test_hash()(o.key);
    switch (o.what) {
      case step::insert:
      case step::insert_again: return insert(d);
      case step::insert_some: return insert_some(o.key);
      case step::erase: return erase(d);
      case step::erase_some: return erase_some(o.key);
      case step::contains: return look(d);
      case step::save_and_load: return save_and_load();
      case step::copy: return copy();
      case step::merge: return merge(o.key);
      case step::adapt: return adapt(d);
      case step::adapt_member: return adapt_member(d);
      case step::expand: return expand();
      case step::rejuvenate: return rejuvenate(d);
    }
  }

  void check() const {
    RC_ASSERT(f_.keys() == truth_.size());
    for (const digest d : truth_) {
      RC_ASSERT(f_.may_contain(d));
      if (f_.can().count) {
        RC_ASSERT(f_.count(d).value() >= truth_.count(d));
      }
    }
  }

 private:
  // `update` with the remote or without it.
  template <class Update>
  auto updated(Update update) const -> decltype(update()) {
    return use_ == remote_use::none ? update() : update(remote_ref(truth_));
  }
  void insert(digest d) {
    const byte_vector before = f_.save_bytes();
    if (use_ == remote_use::store_first) truth_.insert(d);
    const bool inserted = updated([&](auto... stored) { return f_.insert(d, stored...); }) == insert_result::inserted;
    if (!inserted) RC_ASSERT(f_.save_bytes() == before);
    if (inserted && use_ != remote_use::store_first) truth_.insert(d);
    if (!inserted && use_ == remote_use::store_first) truth_.erase_one(d);
  }
  void erase(digest d) {
    if (!f_.can().erase) return;
    const auto erase_it = [&](auto... stored) { return f_.erase(d, stored...); };
    if (truth_.contains(d)) {
      if (use_ == remote_use::store_first) truth_.erase_one(d);
      RC_ASSERT(updated(erase_it) == erase_result::erased);
      if (use_ != remote_use::store_first) truth_.erase_one(d);
    } else if (!f_.may_contain(d)) {
      RC_ASSERT(updated(erase_it) == erase_result::absent);
    }
  }
  // In one batch, without the remote.
  void insert_some(std::uint8_t first) {
    const std::vector<digest> added = insert_all(f_, digests_from(first, 5, test_hash()));
    for (const digest d : added) truth_.insert(d);
  }
  // The same for keys that are in, one of them perhaps twice.
  void erase_some(std::uint8_t first) {
    if (!f_.can().erase) return;
    std::vector<digest> going;
    for (const digest d : digests_from(first, 5, test_hash())) {
      if (truth_.contains(d)) going.push_back(d);
    }
    if (!going.empty() && truth_.count(going.front()) > 1) going.push_back(going.front());
    RC_ASSERT(f_.erase_many(going).value() == going.size());
    for (const digest d : going) truth_.erase_one(d);
  }
  void look(digest d) const {
    const byte_vector before = f_.save_bytes();
    const std::vector<digest> asked(3, d);
    std::array<bool, 3> found{};
    f_.may_contain_many(asked, found);
    const bool alone = f_.may_contain(d);
    RC_ASSERT(found == (std::array<bool, 3>{alone, alone, alone}));
    RC_ASSERT(f_.save_bytes() == before);
  }
  void rejuvenate(digest d) {
    if (f_.can().rejuvenate && truth_.contains(d)) f_.rejuvenate(d).value();
  }
  void save_and_load() {
    const byte_vector bytes = f_.save_bytes();
    f_ = load_bytes(bytes, {std::nullopt, &known_}).value();
    RC_ASSERT(f_.save_bytes() == bytes);
  }
  void copy() {
    any_filter other = f_;
    RC_ASSERT(other.save_bytes() == f_.save_bytes());
    std::swap(f_, other);
  }
  void merge(std::uint8_t first) {
    if (!f_.can().merge) return;
    any_filter other = empty_;
    const std::vector<digest> added = insert_all(other, digests_from(first, 3, test_hash()));
    const byte_vector before = f_.save_bytes();
    if (!f_.merge(other).ok()) {
      RC_ASSERT(f_.save_bytes() == before);
      return;
    }
    for (const digest d : added) truth_.insert(d);
  }
  void adapt(digest d) {
    if (!f_.can().adapt || truth_.contains(d)) return;
    const bool positive = f_.may_contain(d);
    const byte_vector before = f_.save_bytes();
    const adapt_result answer = f_.adapt(d, remote_ref(truth_));
    RC_ASSERT(answer != adapt_result::is_member);
    RC_ASSERT((answer == adapt_result::not_positive) == !positive);
    if (answer == adapt_result::fixed) {
      RC_ASSERT(!f_.may_contain(d));
    } else if (answer == adapt_result::not_positive || !switches_blindly()) {
      RC_ASSERT(f_.save_bytes() == before);
    }
  }
  // The exception that concepts.hpp names.
  bool switches_blindly() const {
    const option_list settings = f_.settings();
    return std::count(settings.begin(), settings.end(), option_list::value_type("switch", "blind")) != 0;
  }
  void adapt_member(digest d) {
    if (!f_.can().adapt || !truth_.contains(d)) return;
    const byte_vector before = f_.save_bytes();
    RC_ASSERT(f_.adapt(d, remote_ref(truth_)) == adapt_result::is_member);
    RC_ASSERT(f_.save_bytes() == before);
  }
  void expand() {
    if (!f_.can().expand || f_.bits().fast > 1 << 20) return;
    const byte_vector before = f_.save_bytes();
    if (!f_.expand().ok()) {
      RC_ASSERT(f_.save_bytes() == before);
    }
  }

  any_filter f_;
  any_filter empty_;
  const registry& known_;
  remote_use use_;
  multiset_remote truth_;
};

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
  how.maxSuccess = cases * times_as_many();
  const auto outcome = rc::detail::checkTestable(
      [&] {
        const auto steps = *operations(length);
        checked_filter f(empty, known, use);
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
