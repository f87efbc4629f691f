#pragma once

// A small evergreen filter in a world where everything collides, beside the truth. Random operations; after every one all keys
// can be paired with entries that are prefixes of their streams, and nothing is accepted that was not before, unless the
// operation may do that.

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "tamis/batch.hpp"
#include "tamis/detail/base/random.hpp"
#include "tamis/filters/evergreen.hpp"
#include "tests/support/counting_memory.hpp"
#include "tests/support/remote.hpp"

namespace tamis::test {

using namespace detail;

// May keys have gone in twice?
enum class surplus { none, allowed };

// None if the invariant holds, else what is wrong.
inline std::optional<std::string> broken_invariant(const evergreen& f, const multiset_remote& truth, surplus more) {
  std::map<std::uint64_t, std::vector<uint128>> streams;  // by root
  for (const digest d : truth) {
    if (!f.may_contain(d)) return "a key is lost";
    if (f.count(d) < truth.count(d)) return "a key is counted too rarely";
    const auto p = f.tree().places().stream_of(d);
    streams[p.root].push_back(p.stream);
  }
  std::map<std::uint64_t, std::vector<stream_prefix>> entries;
  std::uint64_t all = 0;
  stream_prefix last;
  bool ordered = true;
  f.for_each([&](const stream_prefix& p) {
    ordered = ordered && (last.root < p.root || (last.root == p.root && last.bits <= p.bits));
    last = p;
    entries[p.root].push_back(p);
    ++all;
  });
  if (!ordered) return "entries are not in order";
  for (const auto& [root, keys] : streams) {
    if (match_longest_first(entries[root], keys).keys_left != 0) return "keys cannot be paired with entries";
  }
  if (all != f.keys() + f.copies()) return "wrong number of keys";
  // What goes in twice counts twice, and what is dropped may be taken for copies.
  if (more == surplus::allowed ? f.keys() < truth.size() : f.keys() != truth.size()) {
    return std::to_string(f.keys()) + " keys instead of " + std::to_string(truth.size());
  }
  if (f.missing() != 0) return "a key was missing";
  for (const segment& s : f.tree().segments()) {
    status sound = s.validate();
    if (sound.ok()) sound = s.table().table().validate();
    if (!sound.ok()) return sound.message();
  }
  return std::nullopt;
}

struct world_rules {
  const char* remainder = "5";  // nullptr: from the rate
  const char* fingerprints = "growing";
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
class world {
 public:
  world(std::uint64_t seed, const world_rules& r) : random_(seed), rules_(r), filter_(make(r)) {
    for (std::size_t i = 0; i < 3 * r.most_keys; ++i) pool_.push_back(draw());
  }

  std::optional<std::string> step() {
    if (++operations_ % 1024 == 0) tide_ = random_.unit();
    const std::uint64_t kind = random_.below(100);
    std::optional<std::string> wrong;
    const bool few = truth_.size() < static_cast<std::size_t>(tide_ * static_cast<double>(rules_.most_keys));
    // A renewed segment has plain entries of r bits; an aged one, and a small one, may have had more.
    bool may_accept_more = is_aged() || rules_.remainder == nullptr;
    const std::uint64_t segments = filter_.tree().segments().size();
    if (kind < 55) {
      may_accept_more = may_accept_more || few;
      wrong = few ? insert() : erase();
      // Segments that are joined lose a bit.
      may_accept_more = may_accept_more || filter_.tree().segments().size() != segments;
    } else if (kind < 88) {
      wrong = adapt();
    } else if (kind < 92) {
      if (truth_.size() != 0) filter_.rejuvenate(some_key());
    } else if (kind < 94) {
      wrong = save_and_load();
    } else if (kind < 95) {
      if (!rules_.never) wrong = renew_all();
    } else if (kind < 96 && segments < (rules_.merges ? 8u : 40u)) {
      may_accept_more = true;
      const double before = filter_.expected_fpr();
      if (!survives([&](const failing_remote&) {
            if (!filter_.expand().ok() && filter_.expected_fpr() > before * (1 + 1e-9)) wrong = "a refused growth accepts more";
          }) &&
          filter_.expected_fpr() > before * (1 + 1e-9)) {
        wrong = "a growth that failed accepts more";
      }
    } else if (kind < 97 && rules_.merges) {
      may_accept_more = true;
      merge();
    } else {
      wrong = batch();
    }
    if (!wrong) wrong = broken_invariant(filter_, truth_, rules_.strays ? surplus::allowed : surplus::none);
    const double before = std::exchange(accepted_, filter_.expected_fpr());
    if (!wrong && !may_accept_more && accepted_ > before * (1 + 1e-9)) wrong = "more is accepted than before";
    most_segments_ = std::max<std::uint64_t>(most_segments_, filter_.tree().segments().size());
    tally_["joined"] += filter_.tree().segments().size() < segments;
    tally_["aged"] += is_aged();
    tally_["with copies"] += filter_.copies() != 0;
    return wrong;
  }

  const std::map<std::string, std::uint64_t>& tally() const { return tally_; }
  std::uint64_t operations() const { return operations_; }
  std::uint64_t most_segments() const { return most_segments_; }

 private:
  static evergreen make(const world_rules& r) {
    // Without a remainder small segments have more bits than those with all their quotients.
    option_list options = {{"fingerprints", r.fingerprints}, {"segment", r.remainder == nullptr ? "128" : "64"}};
    if (r.remainder != nullptr) options.push_back({"remainder", r.remainder});
    return evergreen::create({.capacity = 40, .fpr = 0.1, .options = std::move(options)}).value();
  }
  bool is_aged() const {
    const auto& all = filter_.tree().segments();
    return std::any_of(all.begin(), all.end(), [](const segment& s) { return s.shape().format == slot_format::aged; });
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
    ++tally_["failures"];
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
    tally_["refused"] += !in;
    if (in && !rules_.store_first) truth_.insert(d);
    if (!in && rules_.store_first) truth_.erase_one(d);
    if (in && rules_.strays && random_.chance(0.05)) static_cast<void>(filter_.insert(d));
    return std::nullopt;
  }
  std::optional<std::string> renew_all() {
    if (!survives([&](const failing_remote& stored) { filter_.rejuvenate_all(stored); })) return std::nullopt;
    // Where keys cannot be told apart, or where many of them are lengthened, they may not fit.
    const auto& all = filter_.tree().segments();
    const bool is_odd = std::any_of(all.begin(), all.end(), [](const segment& s) {
      return s.shape().format == slot_format::aged && s.table().lengthened() == 0;
    });
    return rules_.deep || rules_.fails || !is_odd ? std::nullopt : std::optional<std::string>("bits are still lost");
  }
  void merge() {
    evergreen other = make(rules_);
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
      ++tally_["merged"];
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
      ++tally_["unfixable"];
      return std::nullopt;
    }
    if (answer != adapt_result::fixed || filter_.may_contain(d)) return "a false positive was not fixed";
    ++tally_["fixed"];
    return std::nullopt;
  }
  std::optional<std::string> save_and_load() {
    memory_sink sink;
    writer out(sink);
    out(filter_);
    if (!out.finish().ok()) return "cannot be saved";
    memory_source source(sink.bytes());
    reader in(source);
    evergreen loaded = stored_access::blank<evergreen>();
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

  random_source random_;
  world_rules rules_;
  counting_memory memory_;
  evergreen filter_;
  multiset_remote truth_;
  std::vector<digest> pool_;
  double tide_ = 1.0;
  double accepted_ = 0.0;
  std::uint64_t operations_ = 0;
  std::uint64_t most_segments_ = 0;
  std::map<std::string, std::uint64_t> tally_;
};

}  // namespace tamis::test
