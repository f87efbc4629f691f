#pragma once

// A filter beside the truth. Whatever is done to the filter is done to a multiset too; what a contract forbids throws `broken`.
// Random sequences (tests/conformance) and fuzzing (tests/fuzz) drive it.

#include <algorithm>
#include <array>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tamis/any_filter.hpp"
#include "tests/support/keys.hpp"
#include "tests/support/remote.hpp"

namespace tamis::test {

struct broken : std::logic_error {
  using std::logic_error::logic_error;
};
// The builtins, since Clang 14 has no std::source_location.
inline void must_hold(bool holds, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (!holds) throw broken("a contract is broken, " + std::string(file) + ":" + std::to_string(line));
}

// The digests that went in.
inline std::vector<digest> insert_all(any_filter& f, std::span<const digest> digests) {
  const auto inserted = std::make_unique<bool[]>(digests.size());
  static_cast<void>(f.insert_many(digests, {inserted.get(), digests.size()}));
  std::vector<digest> in;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    if (inserted[i]) in.push_back(digests[i]);
  }
  return in;
}

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
  // `known` loads it again; nullptr is the registry that tamis comes with.
  checked_filter(const any_filter& empty, const registry* known, remote_use use)
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
    must_hold(f_.keys() == truth_.size());
    for (const digest d : truth_) {
      must_hold(f_.may_contain(d));
      if (f_.can().count) {
        must_hold(f_.count(d).value() >= truth_.count(d));
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
    const std::vector<std::byte> before = f_.save_bytes();
    if (use_ == remote_use::store_first) truth_.insert(d);
    const bool inserted = updated([&](auto... stored) { return f_.insert(d, stored...); }) == insert_result::inserted;
    if (!inserted) must_hold(f_.save_bytes() == before);
    if (inserted && use_ != remote_use::store_first) truth_.insert(d);
    if (!inserted && use_ == remote_use::store_first) truth_.erase_one(d);
  }
  void erase(digest d) {
    if (!f_.can().erase) return;
    const auto erase_it = [&](auto... stored) { return f_.erase(d, stored...); };
    if (truth_.contains(d)) {
      if (use_ == remote_use::store_first) truth_.erase_one(d);
      must_hold(updated(erase_it) == erase_result::erased);
      if (use_ != remote_use::store_first) truth_.erase_one(d);
    } else if (!f_.may_contain(d)) {
      must_hold(updated(erase_it) == erase_result::absent);
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
    must_hold(f_.erase_many(going).value() == going.size());
    for (const digest d : going) truth_.erase_one(d);
  }
  void look(digest d) const {
    const std::vector<std::byte> before = f_.save_bytes();
    const std::vector<digest> asked(3, d);
    std::array<bool, 3> found{};
    f_.may_contain_many(asked, found);
    const bool alone = f_.may_contain(d);
    must_hold(found == (std::array<bool, 3>{alone, alone, alone}));
    must_hold(f_.save_bytes() == before);
  }
  void rejuvenate(digest d) {
    if (f_.can().rejuvenate && truth_.contains(d)) f_.rejuvenate(d).value();
  }
  void save_and_load() {
    const std::vector<std::byte> bytes = f_.save_bytes();
    f_ = load_bytes(bytes, {std::nullopt, known_}).value();
    must_hold(f_.save_bytes() == bytes);
  }
  void copy() {
    any_filter other = f_;
    must_hold(other.save_bytes() == f_.save_bytes());
    std::swap(f_, other);
  }
  void merge(std::uint8_t first) {
    if (!f_.can().merge) return;
    any_filter other = empty_;
    const std::vector<digest> added = insert_all(other, digests_from(first, 3, test_hash()));
    const std::vector<std::byte> before = f_.save_bytes();
    if (!f_.merge(other).ok()) {
      must_hold(f_.save_bytes() == before);
      return;
    }
    for (const digest d : added) truth_.insert(d);
  }
  void adapt(digest d) {
    if (!f_.can().adapt || truth_.contains(d)) return;
    const bool positive = f_.may_contain(d);
    const std::vector<std::byte> before = f_.save_bytes();
    const adapt_result answer = f_.adapt(d, remote_ref(truth_));
    must_hold(answer != adapt_result::is_member);
    must_hold((answer == adapt_result::not_positive) == !positive);
    if (answer == adapt_result::fixed) {
      must_hold(!f_.may_contain(d));
    } else if (answer == adapt_result::not_positive || !switches_blindly()) {
      must_hold(f_.save_bytes() == before);
    }
  }
  // The exception that concepts.hpp names.
  bool switches_blindly() const {
    const option_list settings = f_.settings();
    return std::count(settings.begin(), settings.end(), option_list::value_type("switch", "blind")) != 0;
  }
  void adapt_member(digest d) {
    if (!f_.can().adapt || !truth_.contains(d)) return;
    const std::vector<std::byte> before = f_.save_bytes();
    must_hold(f_.adapt(d, remote_ref(truth_)) == adapt_result::is_member);
    must_hold(f_.save_bytes() == before);
  }
  void expand() {
    if (!f_.can().expand || f_.bits().fast > 1 << 20) return;
    const std::vector<std::byte> before = f_.save_bytes();
    if (!f_.expand().ok()) {
      must_hold(f_.save_bytes() == before);
    }
  }

  any_filter f_;
  any_filter empty_;
  const registry* known_;
  remote_use use_;
  multiset_remote truth_;
};

}  // namespace tamis::test
