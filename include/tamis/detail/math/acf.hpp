#pragma once

// Rates and sizes of adaptive cuckoo filters: k tables of bins of b slots, and independent hashes for the k bins of a key.

#include <cstdint>
#include <optional>

#include "tamis/result.hpp"

namespace tamis::detail {

inline constexpr unsigned least_acf_tables = 2;
inline constexpr unsigned most_acf_tables = 8;
inline constexpr unsigned most_acf_slots = 8;
inline constexpr unsigned least_acf_fingerprint = 4;
inline constexpr unsigned most_acf_fingerprint = 48;
inline constexpr unsigned most_acf_selector = 4;

struct acf_shape {
  unsigned k = 0;            // tables
  unsigned b = 0;            // slots of a bin
  unsigned fingerprint = 0;  // f: bits of a fingerprint
  unsigned selector = 0;     // s: bits of a slot beside its fingerprint
  std::uint64_t bins = 0;    // N: of one table

  friend bool operator==(const acf_shape&, const acf_shape&) = default;
};

// What the user asked for: exactly one of fpr and bits_per_key. What is not said about k and b begins at the filter's own
// `usual` values and grows as far as the load needs.
struct acf_wish {
  std::uint64_t capacity = 0;
  std::optional<double> fpr = std::nullopt;
  std::optional<double> bits_per_key = std::nullopt;
  std::optional<unsigned> fingerprint = std::nullopt;
  std::optional<unsigned> k = std::nullopt;
  std::optional<unsigned> b = std::nullopt;
  unsigned usual_k = 4;
  unsigned usual_b = 1;
  unsigned selector = 0;
  unsigned load_percent = 95;  // when it holds its capacity
};

// The share of slots up to which keys with k random bins of b slots find a place, in endless tables: the orientability
// threshold of random hypergraphs (Fountoulakis, Khosla, Panagiotou: The multiple-orientability thresholds for random
// hypergraphs, SODA 2011).
double acf_load_threshold(unsigned k, unsigned b);
// What filters of this shape are made for at most, in percent: a little below the threshold, where searches stay short.
unsigned acf_reachable_percent(unsigned k, unsigned b);

// A lookup compares k·b slots, each of which is occupied with probability `load` and then equal once in 2^f - 1 times:
// 1 - (1 - load / (2^f - 1))^(k·b).
double acf_rate(unsigned k, unsigned b, unsigned fingerprint, double load);

// Bits per key are a limit for fast memory: what fingerprints of whole bits leave over is spent on bins.
result<acf_shape> acf_shape_for(const acf_wish& wish);

}  // namespace tamis::detail
