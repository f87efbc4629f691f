#pragma once

// Contenders for contests at equal memory: a filter of the registry and, out of the same bits, a memory for its mistakes.
//
//   known_mistakes   the library's own list (option mistakes=): whole digests, first in, first out, exact
//   lru_tag_cache    a rival only: tags of 64 bits, the least recently used goes first. An entry takes half the memory and what
//                    is asked for often stays, but every hit writes, and a member whose tag is that of a mistake is denied:
//                    among n members with a chance of about n / 2^61 (eight tags a set). Tags of 128 bits deny nobody.
//   fuse_with_cache  a rival only: a model of a binary fuse filter, whose set can never change, and such a cache
//
// How much of the memory the mistakes get is chosen as a user would: on the first fifth of a log.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tamis/any_filter.hpp"
#include "tamis/detail/base/random.hpp"
#include "tamis/memory_remote.hpp"

namespace tamis::lab {

// What all contenders of a contest have in common.
struct contest_terms {
  std::string id;
  std::uint64_t capacity = 0;
  double bits_per_key = 0;  // fast memory, for the filter and its mistakes
  option_list options = {};
};

class known_mistakes {
 public:
  // `share` of the memory is the list's, 0 to 1.
  static result<known_mistakes> make(const contest_terms& terms, double share);

  bool insert(digest d, const memory_remote& stored) {
    return filter_.insert(d, remote_ref(stored)) == insert_result::inserted;
  }
  bool may_contain(digest d) { return filter_.may_contain(d); }
  // Asks for a key that is not in, and tells the filter if it was wrong. Was it?
  bool ask(digest d, const memory_remote& stored);
  std::uint64_t fast_bits() const { return filter_.bits().fast; }

 private:
  explicit known_mistakes(any_filter f) : filter_(std::move(f)) {}

  any_filter filter_;
};

// Sets of eight tags, the most recently used first.
class tag_cache {
 public:
  static constexpr std::size_t ways = 8;
  enum class tags : unsigned { of_64_bits = 64, of_128_bits = 128 };

  explicit tag_cache(std::uint64_t sets, tags width = tags::of_64_bits) : sets_(sets), width_(width) {}
  // As many sets as so many bits hold.
  static std::uint64_t sets_in(double bits, tags width) {
    return static_cast<std::uint64_t>(bits / static_cast<double>(ways * static_cast<unsigned>(width)));
  }

  // A hit becomes the most recently used of its set.
  bool touch(digest d);
  void add(digest d);  // Requires: touch(d) is false; the least recently used of the set goes
  void remove(digest d);
  std::uint64_t bits() const { return sets_.size() * ways * static_cast<unsigned>(width_); }

 private:
  using set = std::array<digest, ways>;  // {0, 0}: empty
  digest tag_of(digest d) const;
  set& set_of(digest d);

  std::vector<set> sets_;
  tags width_;
};

class lru_tag_cache {
 public:
  // As above.
  static result<lru_tag_cache> make(const contest_terms& terms, double share);

  bool insert(digest d, const memory_remote& stored);
  // Not const: a hit is noted.
  bool may_contain(digest d) { return filter_.may_contain(d) && !cache_.touch(d); }
  bool ask(digest d, const memory_remote& stored);
  std::uint64_t fast_bits() const { return filter_.bits().fast + cache_.bits(); }
  any_filter& filter() { return filter_; }
  tag_cache& cache() { return cache_; }

 private:
  lru_tag_cache(any_filter f, std::uint64_t sets) : filter_(std::move(f)), cache_(sets) {}

  any_filter filter_;
  tag_cache cache_;
};

// A model of a binary fuse filter: 1.14 bits for each bit of the fingerprint (Graf and Lemire 2022, three places: 1.125 plus
// what small sets take), of which it has w, any whole number: a rate of 2^-w. Its set can never change: it is rebuilt.
class fuse_model {
 public:
  static constexpr double bits_per_fingerprint_bit = 1.14;

  explicit fuse_model(unsigned width) : width_(width) {}
  // The widest of which a key takes so many bits, up to 64; 0: none.
  static unsigned widest_in(double bits_per_key) {
    return static_cast<unsigned>(std::clamp(bits_per_key / bits_per_fingerprint_bit, 0.0, 64.0));
  }
  double bits_per_key() const { return bits_per_fingerprint_bit * width_; }
  // Is it wrong about a key that is not in? Always so, or never.
  bool is_wrong_about(digest d) const { return detail::mix64(d.low ^ detail::mix64(d.high + salt)) >> (64 - width_) == 0; }

 private:
  static constexpr std::uint64_t salt = 0x6675'7365'2073'6574;
  unsigned width_;  // 1 to 64
};

// The model holds what it is asked to hold; only keys that are not in may be asked for.
class fuse_with_cache {
 public:
  // As above; the filter's share is rounded down to whole bits of fingerprint, the rest is the cache's if it has a share.
  static result<fuse_with_cache> make(const contest_terms& terms, double share);

  bool insert(digest, const memory_remote&) { return true; }
  bool ask(digest d, const memory_remote& stored);
  const fuse_model& filter() const { return filter_; }
  tag_cache& cache() { return cache_; }

 private:
  fuse_with_cache(fuse_model f, std::uint64_t sets) : filter_(f), cache_(sets) {}

  fuse_model filter_;
  tag_cache cache_;
};

// What the choice is among.
inline constexpr double tried_shares[] = {0, 1. / 128, 1. / 64, 1. / 32, 1. / 16, 1. / 8, 1. / 4, 1. / 2};
inline constexpr std::size_t log_parts = 5;  // of which the first is for choosing

// The share whose contender is wrong least often about `tried`, the smaller one of equals. `tried`: queries for keys that are
// not members. `stored`: the members. An error if the contender cannot be made with any share.
template <class Contender>
result<double> choose_share_on(const contest_terms& terms, std::span<const digest> members, std::span<const digest> tried,
                               const memory_remote& stored) {
  std::optional<double> best;
  std::uint64_t least_wrong = ~std::uint64_t{0};
  std::string reason;
  for (const double share : tried_shares) {
    result<Contender> made = Contender::make(terms, share);
    if (!made) {
      reason = made.message();
      continue;
    }
    bool full = false;
    for (const digest d : members) full |= !made->insert(d, stored);
    std::uint64_t wrong = 0;
    for (const digest d : tried) wrong += made->ask(d, stored);
    if (full || wrong >= least_wrong) continue;
    best = share;
    least_wrong = wrong;
  }
  if (!best)
    return failure{terms.id + ": no share of the memory works: " + (reason.empty() ? "it does not hold its keys" : reason)};
  return *best;
}
// The same on the first fifth of a log.
template <class Contender>
result<double> choose_share(const contest_terms& terms, std::span<const digest> members, std::span<const digest> log,
                            const memory_remote& stored) {
  return choose_share_on<Contender>(terms, members, log.first(log.size() / log_parts), stored);
}
template <class Contender>
result<double> choose_share(const contest_terms& terms, std::span<const digest> members, std::span<const digest> log) {
  memory_remote stored;
  for (const digest d : members) stored.insert(d);
  return choose_share<Contender>(terms, members, log, stored);
}

}  // namespace tamis::lab
