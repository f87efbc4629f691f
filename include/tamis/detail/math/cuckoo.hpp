#pragma once

// Rates and sizes of fingerprint filters with buckets: the cuckoo family and the two counting baselines of the ASCF paper.

#include <cstdint>
#include <optional>

#include "tamis/result.hpp"

namespace tamis::detail {

// What a filter is made of: `buckets` of slots of `width` bits.
struct bucket_shape {
  std::uint64_t buckets = 0;
  unsigned width = 0;
};

// What the user asked for: exactly one of fpr and bits_per_key, and maybe a width.
struct bucket_wish {
  std::uint64_t capacity = 0;
  std::optional<double> fpr;
  std::optional<double> bits_per_key;
  std::optional<unsigned> width;
};

// A lookup draws one of `classes` equally likely (place, fingerprint) pairs, `keys` of which are in: 1 - (1 - 1/classes)^keys.
double occupied_class_rate(double classes, double keys);

// ----- the cuckoo family: two buckets of four slots -----

inline constexpr double cuckoo_load = 0.95;  // sigma of the ASCF paper: filled so far when it holds its capacity

// From this width on, the fingerprint 0, which would mean an empty slot, becomes 1, which then is twice as frequent as others.
// That makes 2 / 2^f more false positives than 2^f values would (f = 8: 0.8 %). Shorter ones are uniform over 2^f - 1 values.
inline constexpr unsigned least_remapped_width = 8;

// Rate (equation 4 of the ASCF paper, whose 8 slots are filled to load keys / 4 m): a bucket and a fingerprint determine the
// pair of buckets, and every pair has two buckets, so there are m/2 classes for each fingerprint; but not more than 2^63 in
// all, since both come from one word of 64 bits.
double cuckoo_rate(double buckets, unsigned width, double keys);

// The narrowest fingerprint that keeps the rate at full load (equation 5: log2(8 / eps), rounded up). An error if 32 bits do
// not.
result<unsigned> cuckoo_width(double fpr);

// Buckets for `capacity` keys at full load (equation 6), and the few more that small tables need to be sure to get there.
std::uint64_t cuckoo_buckets(std::uint64_t capacity);

// The shape for a wish. `allowed(m)` is the smallest number of buckets from m on that the filter can have. Bits per key are a
// limit: what fingerprints of whole bits leave over is spent on buckets.
result<bucket_shape> cuckoo_shape(const bucket_wish& wish, std::uint64_t (*allowed)(std::uint64_t));

// ----- vacuum: chunks -----

// L_i of the vacuum filter, a power of two: the smallest chunk in which the (4 - i)/4 of the keys that stay within chunks of
// L_i fill the fullest of them to no more than 0.97 at a load of 0.95 (range selection, section 4: mean + 1.5 sqrt(2 mean ln c)
// keys in the fullest of c chunks). Never larger than the table, and never smaller than least_chunk unless L_0 is: in a small
// one, a quarter of the fingerprints has so few distances that too many keys share their two buckets. Fingerprints of fewer
// than 8 bits have few distances anyway, and need larger chunks for them to be different ones.
inline constexpr std::uint64_t least_chunk = 128;
inline constexpr std::uint64_t least_short_chunk = 2048;
std::uint64_t vacuum_chunk(std::uint64_t buckets, unsigned width, unsigned i);

// ----- d-left: four sub-tables of buckets of eight cells -----

inline constexpr double dleft_load = 0.75;

// Rate with `cells` occupied cells: a place and a remainder determine all four cells, and equal keys share one (buckets = those
// of one sub-table).
double dleft_rate(double buckets, unsigned width, double cells);
// Buckets per sub-table, and the width of remainders: log2(24 / eps) (section IV.A of the ASCF paper).
result<bucket_shape> dleft_shape(const bucket_wish& wish);

// ----- rank-indexed: blocks of 64 buckets -----

inline constexpr double rank_indexed_load = 0.9;  // keys per bucket
inline constexpr unsigned rank_block_buckets = 64;
inline constexpr std::uint64_t rank_group_blocks = 1024;  // blocks that share room for what does not fit

struct rank_shape {
  std::uint64_t blocks = 0;
  unsigned width = 0;
  unsigned block_keys = 0;  // fingerprints that a block has room for
  unsigned group_keys = 0;  // entries in the shared room of a group of blocks
};

double rank_indexed_rate(double blocks, unsigned width, double keys);
// Fingerprints of log2(load / eps) bits. A block's keys are Binomial(n, 1/blocks): room for so many that at most one key in a
// thousand does not fit, and shared room for those.
result<rank_shape> rank_indexed_shape(const bucket_wish& wish);

}  // namespace tamis::detail
