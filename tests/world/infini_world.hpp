#pragma once

// A small world for InfiniFilter, as tests/world/world.hpp is for evergreen: two or three bits per key, keys that share long
// beginnings, and after every operation the invariant: all keys can be paired with entries that are prefixes of their streams.

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tamis/detail/growing/match_prefixes.hpp"
#include "tamis/filters/infini.hpp"
#include "tests/support/remote.hpp"

namespace tamis::test {

// None if the invariant holds, else what is wrong.
inline std::optional<std::string> broken_invariant(const infini& f, const multiset_remote& truth) {
  const std::uint64_t first = f.places() >> f.expansions();
  std::map<std::uint64_t, std::vector<detail::stream_prefix>> entries;  // by place of the first size
  std::uint64_t count = 0;
  f.for_each([&](unsigned table, std::uint64_t quotient, const detail::prefix_entry& e) {
    const unsigned level = f.expansions_of(table);
    detail::stream_prefix p{quotient >> level, 0, level + e.length};
    p.bits = static_cast<detail::uint128>(e.bits) << 64 >> level;
    if (level != 0) p.bits |= static_cast<detail::uint128>(quotient & detail::low_mask(level)) << (128 - level);
    entries[p.root].push_back(p);
    ++count;
  });
  if (count != truth.size() || f.keys() != truth.size()) {
    return std::to_string(count) + " entries, " + std::to_string(f.keys()) + " keys, not " + std::to_string(truth.size());
  }
  std::map<std::uint64_t, std::vector<detail::uint128>> streams;
  for (const digest d : truth) {
    const detail::word_placed p = detail::place_of_word(d.high, first);
    streams[p.place].push_back(static_cast<detail::uint128>(p.rest) << 64);
    if (!f.may_contain(d)) return "a key is lost";
    if (f.count(d) < truth.count(d)) return "a key is counted too rarely";
  }
  for (auto& [root, all] : streams) {
    std::sort(all.begin(), all.end());
    // Shorter prefixes before the longer ones that begin like them.
    auto& prefixes = entries[root];
    std::sort(prefixes.begin(), prefixes.end(), [](const detail::stream_prefix& a, const detail::stream_prefix& b) {
      return a.bits != b.bits ? a.bits < b.bits : a.length < b.length;
    });
    if (detail::match_longest_first(prefixes, all).keys_left != 0) return "keys cannot be paired with entries";
  }
  if (const status sound = f.validate(); !sound.ok()) return sound.message();
  return std::nullopt;
}

class infini_world {
 public:
  infini_world(std::uint64_t seed, const std::string& mode, unsigned fingerprint, std::uint64_t capacity)
      : random_(seed),
        basic_(mode == "basic"),
        filter_(
            infini::create(
                {.capacity = capacity, .fpr = 0.5, .options = {{"fingerprint", std::to_string(fingerprint)}, {"mode", mode}}})
                .value()) {
    for (std::size_t i = 0; i < 3 * most_keys; ++i) pool_.push_back(draw());
  }

  const infini& filter() const { return filter_; }
  const std::map<std::string, std::uint64_t>& tally() const { return tally_; }

  // One operation and its check. None if all is well.
  std::optional<std::string> step() {
    if (++operations_ % 1024 == 0) tide_ = random_.unit();
    const std::uint64_t kind = random_.below(100);
    const bool few = truth_.size() < static_cast<std::size_t>(tide_ * static_cast<double>(most_keys));
    const unsigned level = filter_.expansions();
    bool may_accept_more = false;
    std::string name = "ask";
    if (kind < 60 && few) {
      name = "insert";
      may_accept_more = true;
      if (!insert() && !basic_) return "full";
    } else if (kind < 60 && truth_.size() != 0) {
      name = "erase";
      const digest d = some_key();
      truth_.erase_one(d);
      if (filter_.erase(d) != erase_result::erased) return "a key could not be erased";
      may_accept_more = filter_.expansions() != level;
    } else if (kind < 85 && truth_.size() != 0) {
      name = "rejuvenate";
      if (!filter_.rejuvenate(some_key()) && !basic_) return "a key could not be rejuvenated";
    } else if (kind < 92) {
      name = "expand";
      if (level < 16 && !filter_.expand().ok() && !basic_) return "it could not expand";
    } else if (kind < 96) {
      name = "contract";
      may_accept_more = true;
      if (filter_.contract().ok() != (level != 0)) return "it contracts at the wrong time";
    } else if (kind < 98) {
      name = "save and load";
      if (const auto wrong = save_and_load()) return wrong;
    }
    ++tally_[name];
    tally_["most tables"] = std::max<std::uint64_t>(tally_["most tables"], filter_.tables());
    if (auto wrong = broken_invariant(filter_, truth_)) return name + ": " + *wrong;
    const double before = std::exchange(accepted_, sum_of_shares());
    if (!may_accept_more && accepted_ > before * (1 + 1e-9)) return name + ": more is accepted than before";
    return std::nullopt;
  }

 private:
  static constexpr std::size_t most_keys = 120;

  // What all entries accept if none lies in another: expanding must not change it. expected_fpr() takes tables for independent.
  double sum_of_shares() const {
    double sum = 0;
    filter_.for_each([&](unsigned table, std::uint64_t, const detail::prefix_entry& e) {
      sum += std::ldexp(1.0, -static_cast<int>(filter_.expansions_of(table) + e.length));
    });
    return sum;
  }

  // A stream that follows one of four trunks for a while.
  digest draw() {
    const std::uint64_t trunk = detail::mix64(random_.below(4) + 1);
    const auto shared = static_cast<unsigned>(random_.below(24));
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
    if (filter_.insert(d) != insert_result::inserted) return false;
    truth_.insert(d);
    return true;
  }
  std::optional<std::string> save_and_load() {
    memory_sink sink;
    detail::writer out(sink);
    out(filter_);
    if (!out.finish().ok()) return "cannot be saved";
    memory_source source(sink.bytes());
    detail::reader in(source);
    infini loaded = detail::stored_access::blank<infini>();
    in(loaded);
    if (!in.ok()) return "cannot be loaded: " + in.state().message();
    if (!(loaded == filter_)) return "comes back changed";
    filter_ = std::move(loaded);
    return std::nullopt;
  }

  detail::random_source random_;
  bool basic_;
  infini filter_;
  multiset_remote truth_;
  std::vector<digest> pool_;
  std::uint64_t operations_ = 0;
  double tide_ = 1.0;
  double accepted_ = 0.0;
  std::map<std::string, std::uint64_t> tally_;
};

}  // namespace tamis::test
