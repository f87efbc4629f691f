#include "tamis/filters/evergreen_stored.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "tamis/batch.hpp"
#include "tamis/detail/base/random.hpp"
#include "tamis/detail/math/binomial.hpp"
#include "tamis/memory_remote.hpp"
#include "tests/support/counting_memory.hpp"
#include "tests/support/remote.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;
using test::multiset_remote;

struct rules {
  const char* remainder = "5";
  bool store_first = false;
  bool sometimes = false;  // not every insert has the store at hand
  bool never = false;      // none has
  bool fails = false;      // the store fails now and then, and so does memory
  bool merges = false;     // keys also come in other filters
  bool strays = false;     // some keys go in twice, and into the store once
  bool deep = false;       // all keys share their first bits
  std::size_t most_keys = 400;
};

struct store_is_away {};

// The truth, but after so many reads it throws.
struct failing_remote {
  const multiset_remote* behind;
  mutable std::uint64_t left;

  template <class Visit>
  void for_each_in(digest_range range, Visit visit) const {
    behind->for_each_in(range, [&](digest d) {
      if (left-- == 0) throw store_is_away();
      return wants_more_after(visit, d);
    });
  }
};

// A small world in which everything collides, checked after every operation: all keys can be paired with entries.
class stored_world {
 public:
  stored_world(std::uint64_t seed, const rules& r) : random_(seed), rules_(r), filter_(make(r)) {
    for (std::size_t i = 0; i < 3 * r.most_keys; ++i) pool_.push_back(draw());
  }

  std::optional<std::string> step() {
    if (++operations % 1024 == 0) tide_ = random_.unit();
    const std::uint64_t kind = random_.below(100);
    std::optional<std::string> wrong;
    const bool few = truth_.size() < static_cast<std::size_t>(tide_ * static_cast<double>(rules_.most_keys));
    bool may_accept_more = false;
    const std::uint64_t segments = filter_.tree().segments().size();
    if (kind < 55) {
      may_accept_more = few;
      wrong = few ? insert() : erase();
      // Segments that are joined lose a bit.
      may_accept_more = may_accept_more || filter_.tree().segments().size() != segments;
    } else if (kind < 92) {
      wrong = adapt();
    } else if (kind < 94) {
      wrong = save_and_load();
    } else if (kind < 95) {
      if (!rules_.never) wrong = renew_all();
    } else if (kind < 96 && segments < (rules_.merges ? 8u : 40u)) {
      may_accept_more = true;
      const double before = filter_.expected_fpr();
      if (!filter_.expand().ok() && filter_.expected_fpr() > before * (1 + 1e-9)) wrong = "a refused growth accepts more";
    } else if (kind < 97 && rules_.merges) {
      may_accept_more = true;
      merge();
    } else {
      wrong = batch();
    }
    if (!wrong) wrong = check();
    const double before = std::exchange(accepted_, filter_.expected_fpr());
    if (!wrong && !may_accept_more && accepted_ > before * (1 + 1e-9)) wrong = "more is accepted than before";
    most_segments = std::max<std::uint64_t>(most_segments, filter_.tree().segments().size());
    joined += filter_.tree().segments().size() < segments;
    narrow += is_narrow();
    return wrong;
  }

  static std::uint64_t operations;
  static std::uint64_t fixed;
  static std::uint64_t full;
  static std::uint64_t most_segments;
  static std::uint64_t joined;
  static std::uint64_t narrow;  // operations after which segments had lost bits
  static std::uint64_t merged;
  static std::uint64_t failures;

 private:
  static evergreen_stored make(const rules& r) {
    return evergreen_stored::create({.capacity = 40, .fpr = 0.5, .options = {{"remainder", r.remainder}, {"segment", "64"}}})
        .value();
  }
  bool is_narrow() const {
    const auto& all = filter_.tree().segments();
    return std::any_of(all.begin(), all.end(), [&](const uniform_segment& s) {
      return s.shape().width < static_cast<unsigned>(std::stoul(rules_.remainder));
    });
  }
  // Calls change(store), where the store may fail, and so may memory. False if something did.
  template <class Change>
  bool survives(Change change) {
    const std::uint64_t left = rules_.fails && random_.chance(0.3) ? random_.below(4) : ~std::uint64_t{0};
    const std::uint64_t allocations = rules_.fails && random_.chance(0.3) ? random_.below(12) : ~std::uint64_t{0};
    memory_.left = allocations;
    try {
      const memory_scope here(memory_);
      change(failing_remote{&truth_, left});
      return true;
    } catch (const store_is_away&) {
    } catch (const std::bad_alloc&) {
    }
    ++failures;
    return false;
  }
  digest draw() {
    // Often another one's but for one bit, so that they collide until that bit is stored.
    if (pool_.size() > 10 && random_.chance(0.7)) {
      digest d = pool_[random_.below(pool_.size())];
      d.high ^= std::uint64_t{1} << (63 - 8 - random_.below(30));
      return d;
    }
    const std::uint64_t trunk = mix64(random_.below(rules_.deep ? 1 : 4) + 1);
    const auto shared = static_cast<unsigned>(rules_.deep ? 3 + random_.below(8) : random_.below(18));
    const digest own{random_(), random_()};
    const std::uint64_t mask = shared == 0 ? 0 : ~std::uint64_t{0} << (64 - shared);
    return {(trunk & mask) | (own.high & ~mask), own.low};
  }
  digest some_key() {
    auto at = truth_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(random_.below(truth_.size())));
    return *at;
  }

  std::optional<std::string> insert() {
    const bool copy = truth_.size() != 0 && random_.chance(0.1);
    const digest d = copy ? some_key() : pool_[random_.below(pool_.size())];
    if (rules_.store_first) truth_.insert(d);
    const bool with_store = !rules_.never && !(rules_.sometimes && random_.chance(0.5));
    bool in = false;
    survives([&](const failing_remote& stored) {
      in = (with_store ? filter_.insert(d, stored) : filter_.insert(d)) == insert_result::inserted;
    });
    full += !in;
    if (in && !rules_.store_first) truth_.insert(d);
    if (!in && rules_.store_first) truth_.erase_one(d);
    if (in && rules_.strays && random_.chance(0.05)) filter_.insert(d);
    return std::nullopt;
  }
  std::optional<std::string> renew_all() {
    if (!survives([&](const failing_remote& stored) { filter_.rejuvenate_all(stored); })) return std::nullopt;
    // Where keys cannot be told apart they may not fit.
    return rules_.deep || rules_.fails || !is_narrow() ? std::nullopt : std::optional<std::string>("bits are still lost");
  }
  void merge() {
    evergreen_stored other = make(rules_);
    multiset_remote both = truth_;
    multiset_remote theirs;
    for (std::uint64_t i = random_.below(100); i-- > 0;) {
      const digest d = pool_[random_.below(pool_.size())];
      theirs.insert(d);
      if (other.insert(d, theirs) == insert_result::inserted) {
        both.insert(d);
      } else {
        theirs.erase_one(d);
      }
    }
    const bool with_store = !rules_.never && random_.chance(0.5);
    if (with_store ? filter_.merge(other, both).ok() : filter_.merge(other).ok()) {
      truth_ = std::move(both);
      ++merged;
    }
  }
  std::optional<std::string> erase() {
    if (truth_.size() == 0) return std::nullopt;
    const digest d = some_key();
    truth_.erase_one(d);
    return filter_.erase(d) == erase_result::erased ? std::nullopt : std::optional<std::string>("a key could not be erased");
  }
  std::optional<std::string> adapt() {
    const digest d = pool_[random_.below(pool_.size())];
    const bool positive = filter_.may_contain(d);
    adapt_result answer = adapt_result::unfixable;
    if (!survives([&](const failing_remote& stored) { answer = filter_.adapt(d, stored); })) return std::nullopt;
    if (!positive)
      return answer == adapt_result::not_positive ? std::nullopt : std::optional<std::string>("adapt of a negative");
    if (truth_.contains(d))
      return answer == adapt_result::is_member ? std::nullopt : std::optional<std::string>("adapt of a member");
    if (answer == adapt_result::unfixable) {
      ++full;
      return std::nullopt;
    }
    if (answer != adapt_result::fixed || filter_.may_contain(d)) return "a false positive was not fixed";
    ++fixed;
    return std::nullopt;
  }
  std::optional<std::string> save_and_load() {
    memory_sink sink;
    writer out(sink);
    out(filter_);
    if (!out.finish().ok()) return "cannot be saved";
    memory_source source(sink.bytes());
    reader in(source);
    evergreen_stored loaded = stored_access::blank<evergreen_stored>();
    in(loaded);
    if (!in.ok()) return "cannot be loaded: " + in.state().message();
    if (!(loaded == filter_)) return "comes back changed";
    filter_ = std::move(loaded);
    return std::nullopt;
  }
  std::optional<std::string> batch() const {
    std::unique_ptr<bool[]> answers(new bool[pool_.size()]);
    may_contain_many(filter_, pool_, {answers.get(), pool_.size()});
    for (std::size_t i = 0; i < pool_.size(); ++i) {
      if (answers[i] != filter_.may_contain(pool_[i])) return "a batch has other answers";
      if (answers[i] != (filter_.count(pool_[i]) != 0)) return "count has another answer";
    }
    return std::nullopt;
  }

  std::optional<std::string> check() const {
    std::map<std::uint64_t, std::vector<uint128>> streams;  // by root
    for (const digest d : truth_) {
      if (!filter_.may_contain(d)) return "a key is lost";
      if (filter_.count(d) < truth_.count(d)) return "a key is counted too rarely";
      const auto p = filter_.tree().places().stream_of(d);
      streams[p.root].push_back(p.stream);
    }
    std::map<std::uint64_t, std::vector<stream_prefix>> entries;
    std::uint64_t all = 0;
    stream_prefix last;
    bool ordered = true;
    filter_.for_each([&](const stream_prefix& p) {
      ordered = ordered && (last.root < p.root || last.bits <= p.bits);
      last = p;
      entries[p.root].push_back(p);
      ++all;
    });
    if (!ordered) return "entries are not in order";
    for (const auto& [root, keys] : streams) {
      if (match_longest_first(entries[root], keys).keys_left != 0) return "keys cannot be paired with entries";
    }
    if (all != filter_.keys()) return "wrong number of keys";
    if (rules_.strays ? all < truth_.size() : all != truth_.size()) {
      return std::to_string(all) + " entries for " + std::to_string(truth_.size()) + " keys";
    }
    if (filter_.missing() != 0) return "a key was missing";
    for (const uniform_segment& s : filter_.tree().segments()) {
      const status sound = s.table().table().validate();
      if (!sound.ok()) return sound.message();
    }
    return std::nullopt;
  }

  random_source random_;
  rules rules_;
  test::counting_memory memory_;
  evergreen_stored filter_;
  multiset_remote truth_;
  std::vector<digest> pool_;
  double tide_ = 1.0;
  double accepted_ = 0.0;
};
std::uint64_t stored_world::operations = 0;
std::uint64_t stored_world::fixed = 0;
std::uint64_t stored_world::full = 0;
std::uint64_t stored_world::most_segments = 0;
std::uint64_t stored_world::joined = 0;
std::uint64_t stored_world::narrow = 0;
std::uint64_t stored_world::merged = 0;
std::uint64_t stored_world::failures = 0;

// TAMIS_WORLD_SEEDS says how many worlds of each kind, for a long run.
std::uint64_t worlds() {
  const char* asked = std::getenv("TAMIS_WORLD_SEEDS");
  return asked == nullptr ? 3 : std::strtoull(asked, nullptr, 10);
}

void run_worlds(const rules& r, unsigned steps) {
  stored_world::fixed = stored_world::full = stored_world::most_segments = stored_world::joined = stored_world::narrow = 0;
  stored_world::merged = stored_world::failures = 0;
  for (std::uint64_t seed = 1; seed <= worlds(); ++seed) {
    stored_world world(seed, r);
    for (unsigned i = 0; i < steps; ++i) {
      const auto wrong = world.step();
      ASSERT_FALSE(wrong.has_value()) << *wrong << ": remainder " << r.remainder << ", seed " << seed << ", step " << i;
    }
  }
  const auto number = [](std::uint64_t n) { return std::to_string(n); };
  std::puts((number(stored_world::operations) + " operations in all; " + number(stored_world::fixed) + " fixed, " +
             number(stored_world::full) + " refused, " + number(stored_world::most_segments) + " segments, " +
             number(stored_world::joined) + " joined, " + number(stored_world::narrow) + " narrow, " +
             number(stored_world::merged) + " merged, " + number(stored_world::failures) + " failures")
                .c_str());
  EXPECT_GT(stored_world::most_segments, 4u);
  EXPECT_GT(stored_world::fixed, 200u);
}

TEST(evergreen_stored, keeps_the_invariant_filter_first) {
  for (const char* remainder : {"5", "6", "7", "8", "9"}) run_worlds({.remainder = remainder}, 2000);
}
TEST(evergreen_stored, keeps_it_store_first) {
  for (const char* remainder : {"5", "6", "7", "8"}) run_worlds({.remainder = remainder, .store_first = true}, 2000);
}
TEST(evergreen_stored, keeps_it_where_the_store_is_not_always_at_hand) {
  for (const char* remainder : {"5", "7"}) {
    run_worlds({.remainder = remainder, .store_first = true, .sometimes = true}, 2000);
    run_worlds({.remainder = remainder, .sometimes = true}, 2000);
  }
}
TEST(evergreen_stored, keeps_it_without_a_store) {
  for (const char* remainder : {"5", "7", "9"}) run_worlds({.remainder = remainder, .never = true, .most_keys = 800}, 2000);
}
TEST(evergreen_stored, keeps_it_where_store_and_memory_fail) {
  for (const char* remainder : {"5", "6", "7", "8"}) {
    run_worlds({.remainder = remainder, .store_first = true, .sometimes = true, .fails = true}, 2000);
    EXPECT_GT(stored_world::failures, 100u);
  }
}
TEST(evergreen_stored, keeps_it_where_filters_are_merged) {
  for (const char* remainder : {"7", "8", "9"}) {  // what has grown much more than the other one cannot take its short entries
    run_worlds({.remainder = remainder, .sometimes = true, .merges = true, .most_keys = 300}, 2000);
    EXPECT_GT(stored_world::merged, 5u);
  }
}
TEST(evergreen_stored, keeps_it_where_keys_went_in_twice) {
  for (const char* remainder : {"5", "6", "8"}) run_worlds({.remainder = remainder, .strays = true}, 2000);
}
TEST(evergreen_stored, keeps_it_where_keys_share_long_beginnings) {
  for (const char* remainder : {"5", "7"}) run_worlds({.remainder = remainder, .deep = true, .most_keys = 300}, 2000);
}

TEST(evergreen_stored, follows_its_keys_in_small_steps) {
  random_source random(5);
  auto filter = evergreen_stored::create({.capacity = 1000, .fpr = 0.01}).value();
  memory_remote stored;
  std::vector<digest> keys;
  double sum = 0;
  double most = 0;
  unsigned points = 0;
  double next = 16384;
  while (keys.size() < 121000) {  // eight segments, which are nearly full
    keys.push_back({random(), random()});
    stored.insert(keys.back());
    ASSERT_EQ(filter.insert(keys.back(), stored), insert_result::inserted);
    if (static_cast<double>(keys.size()) < next) continue;
    next *= std::exp2(1.0 / 16);
    const double bits = static_cast<double>(filter.bits().fast) / static_cast<double>(keys.size());
    EXPECT_LE(filter.expected_fpr(), 0.01);
    sum += bits;
    most = std::max(most, bits);
    ++points;
  }
  std::printf("%.2f bits per key in the mean, %.2f at most\n", sum / points, most);
  EXPECT_LE(sum / points, 10.9);
  EXPECT_LE(most, 12.0);
  for (const digest d : keys) ASSERT_TRUE(filter.may_contain(d));
  std::uint64_t wrong = 0;
  constexpr std::uint64_t trials = 1000000;
  for (std::uint64_t i = 0; i < trials; ++i) wrong += filter.may_contain({random(), random()});
  EXPECT_LE(wrong, binomial_upper_bound(trials, filter.expected_fpr(), 1e-9));
  EXPECT_GE(wrong, binomial_lower_bound(trials, filter.expected_fpr(), 1e-9));
  // And gives slots back when they go.
  const std::uint64_t full = filter.bits().fast;
  for (std::size_t i = 0; i < keys.size() / 2; ++i) ASSERT_EQ(filter.erase(keys[i]), erase_result::erased);
  EXPECT_LT(filter.bits().fast, full * 3 / 4);
  for (std::size_t i = keys.size() / 2; i < keys.size(); ++i) ASSERT_TRUE(filter.may_contain(keys[i]));
}

TEST(evergreen_stored, refuses_without_a_store_expands_and_gets_its_bits_back) {
  random_source random(6);
  auto filter = evergreen_stored::create({.capacity = 1000, .fpr = 0.01, .options = {{"remainder", "8"}}}).value();
  memory_remote stored;
  std::vector<digest> keys;
  unsigned expanded = 0;
  while (expanded <= 4) {
    const digest d{random(), random()};
    if (filter.insert(d) == insert_result::inserted) {
      keys.push_back(d);
      stored.insert(d);
      continue;
    }
    EXPECT_GE(keys.size(), 1700u << expanded);
    EXPECT_EQ(filter.expand().ok(), expanded < 4);  // four bits are left
    EXPECT_EQ(filter.keys(), keys.size());
    for (const digest key : keys) ASSERT_TRUE(filter.may_contain(key));
    ++expanded;
  }
  EXPECT_NEAR(filter.expected_fpr(), std::ldexp(0.95, -4), 0.01);
  EXPECT_GT(filter.rejuvenate_all(stored), 0u);
  EXPECT_LT(filter.expected_fpr(), std::ldexp(1.02, -8));
  for (const digest d : keys) ASSERT_TRUE(filter.may_contain(d));
  EXPECT_EQ(filter.keys(), keys.size());
}

TEST(evergreen_stored, does_not_grow_if_the_store_has_keys_that_it_has_not) {
  random_source random(7);
  auto filter = evergreen_stored::create({.capacity = 60, .fpr = 0.01}).value();
  memory_remote stored;
  std::vector<digest> in;
  for (int i = 0; i < 4000; ++i) {
    const digest d{random(), random()};
    stored.insert(d);
    if (i % 10 != 0 && filter.insert(d, stored) == insert_result::inserted) in.push_back(d);
  }
  EXPECT_GT(filter.missing(), 0u);
  for (const digest d : in) ASSERT_TRUE(filter.may_contain(d));
}

}  // namespace
