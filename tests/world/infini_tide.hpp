#pragma once

// A tide of keys through an InfiniFilter: they come until it has doubled so many times, some in two copies; meanwhile some go
// again and some are rejuvenated; then all go, and it contracts to its first size. Which copies of a key are in follows from
// its number, so that billions of them need no memory: the multiset is a function.

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tamis/batch.hpp"
#include "tamis/detail/base/random.hpp"
#include "tamis/filters/infini.hpp"
#include "tests/support/keys.hpp"

namespace tamis::test {

class infini_tide {
 public:
  explicit infini_tide(infini f, std::uint64_t seed) : filter_(std::move(f)), seed_(seed) {}

  const infini& filter() const { return filter_; }
  std::uint64_t keys() const { return keys_; }
  unsigned most_tables() const { return most_tables_; }
  std::chrono::nanoseconds longest_pause() const { return longest_pause_; }  // of an insert that expanded the filter

  // Grows until the filter has doubled so many times and is about to do so again, or until it is full. Calls doubled() after
  // each expansion and at the end. Empty, or what is wrong.
  std::string rise(unsigned doublings, const std::function<void()>& doubled) {
    while (filter_.expansions() < doublings || filter_.keys() < filter_.capacity()) {
      const unsigned level = filter_.expansions();
      const std::uint64_t copies = copies_of(came_);
      for (std::uint64_t i = 0; i < copies; ++i) {
        if (!insert(came_)) {
          if (i != 0) filter_.erase(digest_of(came_));
          return check();
        }
      }
      keys_ += copies;
      ++came_;
      if (came_ % 3 == 0) {
        if (goes_early(went_) && !erase(went_)) return "key " + std::to_string(went_) + " could not be erased";
        ++went_;
      }
      const std::uint64_t drawn = drawn_for(came_);
      if (drawn % 8 == 0 && in(drawn / 8 % came_) != 0 && !filter_.rejuvenate(digest_of(drawn / 8 % came_))) {
        return "key " + std::to_string(drawn / 8 % came_) + " could not be rejuvenated";
      }
      if (filter_.expansions() != level) {
        if (std::string wrong = check(); !wrong.empty()) return wrong;
        doubled();
      }
    }
    doubled();
    return check();
  }

  // Takes all keys out again. Calls halved() after each contraction.
  std::string fall(const std::function<void()>& halved) {
    std::uint64_t next = 0;
    for (; next < came_; ++next) {
      for (std::uint64_t left = in(next); left != 0; --left) {
        const unsigned level = filter_.expansions();
        gone_ = next;
        left_of_gone_ = left - 1;
        if (!erase(next)) return "key " + std::to_string(next) + " could not be erased";
        if (filter_.expansions() == level) continue;
        if (std::string wrong = check(); !wrong.empty()) return wrong;
        halved();
      }
    }
    gone_ = next;
    left_of_gone_ = 0;
    if (filter_.expansions() != 0 || filter_.tables() != 1 || filter_.keys() != 0) return "the filter is not empty";
    return check();
  }

  // Every key that is in is found, as often as it is in.
  std::string check() {
    most_tables_ = std::max(most_tables_, filter_.tables());
    if (filter_.keys() != keys_) {
      return "it has " + std::to_string(filter_.keys()) + " keys, not " + std::to_string(keys_);
    }
    constexpr std::uint64_t batch = 4096;
    std::vector<digest> asked;
    const auto answers = std::make_unique<bool[]>(batch);
    for (std::uint64_t i = 0; i < came_;) {
      asked.clear();
      for (; i < came_ && asked.size() < batch; ++i) {
        const std::uint64_t copies = in(i);
        if (copies != 0) asked.push_back(digest_of(i));
        if (copies > 1 && filter_.count(asked.back()) < copies) return "copies of key " + std::to_string(i) + " are lost";
      }
      may_contain_many(filter_, asked, {answers.get(), asked.size()});
      if (!std::all_of(answers.get(), answers.get() + asked.size(), [](bool found) { return found; })) {
        return "a key before " + std::to_string(i) + " of " + std::to_string(came_) + " is lost after " +
               std::to_string(filter_.expansions()) + " expansions";
      }
    }
    return {};
  }

 private:
  digest digest_of(std::uint64_t i) const { return hash_(i); }
  std::uint64_t drawn_for(std::uint64_t i) const { return detail::mix64(i + seed_); }
  std::uint64_t copies_of(std::uint64_t i) const { return drawn_for(i) >> 40 & 31 ? 1 : 2; }
  bool goes_early(std::uint64_t i) const { return (drawn_for(i) >> 50 & 7) == 0; }
  // Copies of key i that are in now.
  std::uint64_t in(std::uint64_t i) const {
    if (i < gone_ || i >= came_) return i == gone_ ? left_of_gone_ : 0;
    if (i == gone_ && left_of_gone_ != unknown) return left_of_gone_;
    return copies_of(i) - static_cast<std::uint64_t>(i < went_ && goes_early(i));
  }

  bool insert(std::uint64_t i) {
    const unsigned level = filter_.expansions();
    const auto start = std::chrono::steady_clock::now();
    const insert_result answer = filter_.insert(digest_of(i));
    if (filter_.expansions() != level) longest_pause_ = std::max(longest_pause_, std::chrono::steady_clock::now() - start);
    return answer == insert_result::inserted;
  }
  bool erase(std::uint64_t i) {
    --keys_;
    return filter_.erase(digest_of(i)) == erase_result::erased;
  }

  static constexpr std::uint64_t unknown = ~std::uint64_t{0};

  infini filter_;
  std::uint64_t seed_;
  hasher hash_ = test_hash();
  std::uint64_t keys_ = 0;                // with copies
  std::uint64_t came_ = 0;                // keys below this have come
  std::uint64_t went_ = 0;                // keys below this have gone early if goes_early says so
  std::uint64_t gone_ = 0;                // keys below this have gone for good
  std::uint64_t left_of_gone_ = unknown;  // copies of key gone_
  unsigned most_tables_ = 1;
  std::chrono::nanoseconds longest_pause_{};
};

}  // namespace tamis::test
