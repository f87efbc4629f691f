#pragma once

// What the experiments of the ASCF paper share: its filters, made as section IV.A makes them, and their speed.

#include <ctime>
#include <string>
#include <vector>

#include "lab/experiment.hpp"
#include "tamis/detail/base/random.hpp"
#include "tamis/registry.hpp"

namespace tamis::lab {

inline constexpr double ascf_rates[] = {1e-2, 1e-3, 1e-4, 1e-5, 1e-6};

// The paper's filters, as far as this tamis has them, and the vacuum filter beside them.
inline std::vector<std::string> ascf_filters() {
  std::vector<std::string> known;
  for (const char* id : {"bloom", "counting-bloom", "dleft", "rank-indexed", "cqf", "cuckoo", "vacuum", "ascf"}) {
    if (registry::builtin().find(id)) known.emplace_back(id);
  }
  return known;
}

inline constexpr const char* ascf_paper = "Additive and subtractive cuckoo filters";

inline double bits_per_key(const any_filter& f, std::uint64_t keys) {
  return static_cast<double>(f.bits().fast) / static_cast<double>(keys);
}

// Million operations per second of this program's processor time: other programs on the machine do not count.
template <class Work>
double mops(std::uint64_t operations, Work work) {
  const std::clock_t start = std::clock();
  work();
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return static_cast<double>(operations) / 1e6 / std::max(seconds, 1e-9);
}

// Key i of a set: distinct for distinct i < 2^56 and sets.
inline std::uint64_t key_of(std::uint64_t set, std::uint64_t i) { return detail::mix64(set << 56 | i); }
inline constexpr std::uint64_t stored_set = 1;
inline constexpr std::uint64_t absent_set = 2;

// Inserts keys [first, last) one by one; the answer is how many went in.
inline std::uint64_t insert_keys(any_filter& f, std::uint64_t seed, std::uint64_t first, std::uint64_t last) {
  std::uint64_t inserted = 0;
  for (std::uint64_t i = first; i < last; ++i) inserted += f.insert(key_of(stored_set, i) ^ seed) == insert_result::inserted;
  return inserted;
}
inline void erase_keys(any_filter& f, std::uint64_t seed, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) f.erase(key_of(stored_set, i) ^ seed);
}

// Throughput of `queries` lookups, one by one, of which `positive` per cent are of the first `stored` keys.
inline double lookup_mops(const any_filter& f, std::uint64_t seed, std::uint64_t stored, std::uint64_t queries,
                          unsigned positive) {
  detail::random_source random(seed);
  std::vector<std::uint64_t> asked(queries);
  for (std::uint64_t i = 0; i < queries; ++i) {
    asked[i] = (random.below(100) < positive ? key_of(stored_set, random.below(stored)) : key_of(absent_set, i)) ^ seed;
  }
  std::uint64_t found = 0;
  const double speed = mops(queries, [&] {
    for (const std::uint64_t key : asked) found += f.may_contain(key);
  });
  detail::keep_alive(found);
  return speed;
}

}  // namespace tamis::lab
