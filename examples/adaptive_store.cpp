// A filter in front of a store of our own that learns from its mistakes: a stranger that was taken for a key once is not taken
// for one again. The store is asked for the digests near the mistake, so it keeps its entries in the order of their digests.

#include <iostream>
#include <map>
#include <string>
#include <tamis/filters/evergreen.hpp>
#include <tamis/key_filter.hpp>

namespace {

// Slow, and right. What a filter needs of it is `for_each_in`; anything that has it is a `tamis::remote`.
class ordered_store {
 public:
  void put(tamis::digest d, std::string value) { entries_.emplace(d, std::move(value)); }
  bool has(tamis::digest d) const {
    ++reads_;
    return entries_.contains(d);
  }
  template <class Visit>
  void for_each_in(tamis::digest_range range, Visit&& visit) const {
    for (auto at = entries_.lower_bound(range.first); at != entries_.end() && at->first <= range.last; ++at) {
      if (!tamis::wants_more_after(visit, at->first)) return;
    }
  }
  unsigned reads() const { return reads_; }

 private:
  std::multimap<tamis::digest, std::string> entries_;
  mutable unsigned reads_ = 0;
};

}  // namespace

int main() {
  using users = tamis::key_filter<std::string, tamis::evergreen>;
  auto filter = users::create({.capacity = 10'000, .fpr = 0.05}).value();
  ordered_store store;
  for (int i = 0; i < 10'000; ++i) {
    const std::string user = "user " + std::to_string(i);
    if (filter.insert(user) != tamis::insert_result::inserted) return 1;
    store.put(filter.digest_of(user), "profile of " + user);
  }

  unsigned before = 0;
  for (int round = 1; round <= 3; ++round) {
    for (int i = 0; i < 2'000; ++i) {
      const std::string stranger = "stranger " + std::to_string(i);
      if (!filter.may_contain(stranger)) continue;                                // nothing slow was touched
      if (!store.has(filter.digest_of(stranger))) filter.adapt(stranger, store);  // the filter was wrong
    }
    std::cout << "round " << round << ": " << store.reads() - before << " reads for 2000 strangers\n";
    before = store.reads();
  }
  const unsigned first_and_second = before;
  for (int i = 0; i < 10'000; ++i) {
    if (!filter.may_contain("user " + std::to_string(i))) return 1;  // no key is lost by learning
  }
  return first_and_second < 500 ? 0 : 1;  // without learning: three times about 100
}
