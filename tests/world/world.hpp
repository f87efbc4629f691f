#pragma once

// A small world in which everything collides: an evergreen filter with two or three bits per key, keys whose streams share long
// beginnings, and the truth beside it. After every operation the invariant is checked: all keys can be paired with entries that
// are prefixes of their streams.

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tamis/filters/evergreen.hpp"
#include "tests/support/remote.hpp"

namespace tamis::test {

// May entries be without a key? Elders that cover a whole segment are copied when it splits; keys that went in twice count.
enum class surplus { none, unowned, allowed };

// None if the invariant holds, else what is wrong.
inline std::optional<std::string> broken_invariant(const evergreen& f, const multiset_remote& truth, surplus more) {
  const detail::segment_directory& segments = f.forest().segments();
  std::map<std::uint64_t, std::vector<detail::uint128>> streams;  // of every segment's keys
  for (const digest d : truth) {
    streams[segments.first_place(f.forest().locate(d).at)].push_back(f.forest().places().stream_of(d).stream);
    if (!f.may_contain(d)) return "a key is lost";
    if (f.count(d) < truth.count(d)) return "a key is counted too rarely";
  }
  std::uint64_t all_entries = 0;
  std::optional<std::string> unpaired;
  segments.for_each([&](std::uint64_t at, const detail::prefix_segment&) {
    std::vector<detail::stream_prefix> entries;
    f.forest().for_each_in(
        at, [&](const detail::stream_prefix& p, std::uint64_t count) { entries.insert(entries.end(), count, p); });
    all_entries += entries.size();
    const std::vector<detail::uint128>& keys = streams[at];
    if (!std::is_sorted(keys.begin(), keys.end())) unpaired = "streams are not in the order of digests";
    if (detail::match_longest_first(entries, keys).keys_left != 0) unpaired = "keys cannot be paired with entries";
  });
  if (unpaired) return unpaired;
  const std::string numbers =
      std::to_string(all_entries) + " entries and " + std::to_string(f.keys()) + " keys, not " + std::to_string(truth.size());
  if (more == surplus::none && all_entries != truth.size()) return numbers;
  if (more == surplus::allowed ? f.keys() < truth.size() : f.keys() != truth.size()) return numbers;
  if (f.keys() + f.copies() != all_entries) return numbers + ", and " + std::to_string(f.copies()) + " copies";
  status sound = f.forest().validate();
  if (sound.ok()) sound = f.forest().segments().validate();
  f.forest().segments().for_each([&](std::uint64_t, const detail::prefix_segment& segment) {
    if (sound.ok()) sound = segment.validate();
    if (sound.ok()) sound = segment.table().validate();
  });
  if (!sound.ok()) return sound.message();
  return std::nullopt;
}

struct world_rules {
  unsigned fingerprint = 2;
  bool with_remote = true;   // inserts and growth may ask the remote
  bool sometimes = false;    // but not always do
  bool store_first = false;  // the remote has a key before the filter
  bool strays = false;       // sometimes the filter gets a key that the store has already
  bool contracts = false;    // segments are joined, too
  bool flat = false;
  bool deep = false;    // all keys share their first bits, and segments become deeper than old entries are long
  bool merges = false;  // keys also come in other filters
  std::size_t most_keys = 120;
};

class world {
 public:
  world(std::uint64_t seed, const world_rules& rules) : random_(seed), rules_(rules), filter_(make(rules)) {
    for (std::size_t i = 0; i < 3 * rules.most_keys; ++i) pool_.push_back(draw());
  }

  const evergreen& filter() const { return filter_; }
  std::uint64_t operations() const { return operations_; }
  const std::map<std::string, std::uint64_t>& tally() const { return tally_; }

  // One operation and its check. None if all is well.
  std::optional<std::string> step() {
    ++operations_;
    // Keys come in tides, so that the filter grows and empties again.
    if (operations_ % 4096 == 0) tide_ = random_.unit();
    const std::uint64_t kind = random_.below(100);
    const bool few = truth_.size() < static_cast<std::size_t>(tide_ * static_cast<double>(rules_.most_keys));
    bool may_accept_more = false;
    std::string name;
    if (kind < 45) {
      name = few ? "insert" : "erase";
      may_accept_more = few;
      if (few) {
        if (!insert()) return "full";
      } else if (!erase()) {
        return "a key could not be erased";
      }
    } else if (kind < 80) {
      name = "adapt";
      if (const auto wrong = adapt()) return wrong;
    } else if (kind < 92) {
      name = "rejuvenate";
      if (truth_.size() != 0) filter_.rejuvenate(some_key());
    } else if (kind < 94) {
      name = "rejuvenate all";
      if (rules_.with_remote) filter_.rejuvenate_all(truth_, static_cast<unsigned>(random_.below(3)));
    } else if (kind < 95 && rules_.deep) {
      name = "surge";
      may_accept_more = true;
      without_remote_ = true;
      if (!surge(filter_)) return "a key could not be erased";
    } else if (kind < 95) {
      name = "expand";
      if (filter_.forest().segments().segments() < 16) static_cast<void>(filter_.expand());
    } else if (kind < 96) {
      name = "contract";
      may_accept_more = true;
      if (rules_.contracts) filter_.contract();
    } else if (kind < 98) {
      name = "save and load";
      if (const auto wrong = save_and_load()) return wrong;
    } else if (kind < 99 && rules_.merges) {
      name = "merge";
      may_accept_more = true;
      merge();
    } else {
      name = "ask";
      const digest d = pool_[random_.below(pool_.size())];
      if (truth_.contains(d) && !filter_.may_contain(d)) return "a key is lost";
    }
    ++tally_[name];
    if (filter_.copies() != 0) ++tally_["with copies"];
    const surplus more = rules_.strays ? surplus::allowed : without_remote_ ? surplus::unowned : surplus::none;
    if (auto wrong = broken_invariant(filter_, truth_, more)) return name + ": " + *wrong;
    const double before = std::exchange(accepted_, filter_.expected_fpr());
    if (!may_accept_more && accepted_ > before * (1 + 1e-9)) return name + ": more is accepted than before";
    return std::nullopt;
  }

 private:
  static evergreen make(const world_rules& rules) {
    return evergreen::create({.capacity = 40,
                              .fpr = 0.5,
                              .options = {{"fingerprint", std::to_string(rules.fingerprint)},
                                          {"segment", "64"},
                                          {"fingerprints", rules.deep ? "fixed" : "auto"},
                                          {"growth", rules.flat ? "flat" : "even"},
                                          {"generations", "1"}}})
        .value();
  }

  // A stream that follows one of four trunks for a while, or the only one there is for longer.
  digest draw() {
    const std::uint64_t trunk = detail::mix64(random_.below(rules_.deep ? 1 : 4) + 1);
    return on_trunk(trunk, static_cast<unsigned>(rules_.deep ? 7 + random_.below(10) : random_.below(20)));
  }
  digest on_trunk(std::uint64_t trunk, unsigned shared) {
    const digest own{random_(), random_()};
    const std::uint64_t mask = shared == 0 ? 0 : ~std::uint64_t{0} << (64 - shared);
    return {(trunk & mask) | (own.high & ~mask), own.low};
  }

  digest some_key() {
    auto at = truth_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(random_.below(truth_.size())));
    return *at;
  }

  bool insert() {
    const bool copy = truth_.size() != 0 && random_.chance(0.1);
    const digest d = copy ? some_key() : pool_[random_.below(pool_.size())];
    if (rules_.store_first) truth_.insert(d);
    const bool ask_remote = rules_.with_remote && !(rules_.sometimes && random_.chance(0.5));
    without_remote_ = without_remote_ || !ask_remote;
    const insert_result answer = ask_remote ? filter_.insert(d, truth_) : filter_.insert(d);
    if (answer != insert_result::inserted) return false;
    if (!rules_.store_first) truth_.insert(d);
    // Once in a while a key goes in twice, though the store has it once.
    return !rules_.strays || !random_.chance(0.05) || filter_.insert(d) == insert_result::inserted;
  }

  bool erase() {
    if (truth_.size() == 0) return true;
    const digest d = some_key();
    truth_.erase_one(d);
    return filter_.erase(d) == erase_result::erased;
  }

  // Many keys come and go, so that one segment after the other on the trunk's way splits: old entries have no bit for that.
  bool surge(evergreen& f) {
    constexpr std::uint64_t fill_a_segment = 64;
    std::vector<digest> in;
    for (std::uint64_t left = random_.below(14 * fill_a_segment); left != 0; --left) {
      in.push_back(on_trunk(detail::mix64(1), static_cast<unsigned>(in.size() / fill_a_segment)));
      if (f.insert(in.back()) != insert_result::inserted) {
        in.pop_back();
        break;
      }
    }
    return std::all_of(in.begin(), in.end(), [&](digest d) { return f.erase(d) == erase_result::erased; });
  }

  // A few keys from a filter that has grown by itself.
  void merge() {
    evergreen other = make(rules_);
    multiset_remote both = truth_;
    for (std::uint64_t i = random_.below(6); i-- > 0;) {
      const digest d = pool_[random_.below(pool_.size())];
      if (other.insert(d) == insert_result::inserted) both.insert(d);
    }
    for (std::uint64_t i = random_.below(5); i-- > 0;) static_cast<void>(other.expand());
    if (random_.chance(0.5)) surge(other);
    without_remote_ = true;
    const bool ask_remote = rules_.with_remote && random_.chance(0.5);
    if ((ask_remote ? filter_.merge(other, both) : filter_.merge(other)).ok()) truth_ = std::move(both);
  }

  std::optional<std::string> adapt() {
    const digest d = pool_[random_.below(pool_.size())];
    const bool positive = filter_.may_contain(d);
    const adapt_result answer = filter_.adapt(d, truth_);
    if (!positive) return answer == adapt_result::not_positive ? std::nullopt : std::optional("adapt of a negative");
    if (truth_.contains(d)) return answer == adapt_result::is_member ? std::nullopt : std::optional("adapt of a member");
    if (answer != adapt_result::fixed) return "a false positive was not fixed";
    if (filter_.may_contain(d)) return "a false positive is still there";
    ++tally_["fixed"];
    return std::nullopt;
  }

  std::optional<std::string> save_and_load() {
    memory_sink sink;
    detail::writer out(sink);
    out(filter_);
    if (!out.finish().ok()) return "cannot be saved";
    memory_source source(sink.bytes());
    detail::reader in(source);
    evergreen loaded = detail::stored_access::blank<evergreen>();
    in(loaded);
    if (!in.ok()) return "cannot be loaded: " + in.state().message();
    if (!(loaded == filter_)) return "comes back changed";
    filter_ = std::move(loaded);
    return std::nullopt;
  }

  detail::random_source random_;
  world_rules rules_;
  evergreen filter_;
  multiset_remote truth_;
  std::vector<digest> pool_;
  std::uint64_t operations_ = 0;
  double tide_ = 1.0;
  double accepted_ = 0.0;
  bool without_remote_ = false;
  std::map<std::string, std::uint64_t> tally_;
};

}  // namespace tamis::test
