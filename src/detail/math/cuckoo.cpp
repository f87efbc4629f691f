#include "tamis/detail/math/cuckoo.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "tamis/detail/base/checked.hpp"
#include "tamis/detail/base/shown.hpp"
#include "tamis/detail/math/binomial.hpp"

namespace tamis::detail {
namespace {

struct width_range {
  unsigned least;
  unsigned most;
};

// What sizing needs to know about a filter: its smallest unit of size, and the rate of a full one.
struct family {
  unsigned slots;  // per bucket
  width_range widths;
  unsigned extra_bits;  // of a slot beside the fingerprint
  double (*full_rate)(unsigned width);
  std::uint64_t (*allowed)(std::uint64_t buckets);
};

result<unsigned> narrowest(double fpr, width_range widths, double (*full_rate)(unsigned)) {
  for (unsigned width = widths.least; width <= widths.most; ++width) {
    if (full_rate(width) <= fpr) return width;
  }
  return failure{"fpr " + shown(fpr) + ": below " + shown(full_rate(widths.most)) + ", which fingerprints of " +
                     std::to_string(widths.most) + " bits give",
                 error_code::out_of_range};
}

result<unsigned> width_for_rate(const bucket_wish& wish, width_range widths, double (*full_rate)(unsigned)) {
  TAMIS_TRY(const unsigned needed, narrowest(*wish.fpr, widths, full_rate));
  if (!wish.width || *wish.width >= needed) return wish.width.value_or(needed);
  return failure{"fpr " + shown(*wish.fpr) + ": fingerprints of " + std::to_string(*wish.width) + " bits give " +
                     shown(full_rate(*wish.width)) + ", it needs " + std::to_string(needed),
                 error_code::out_of_range};
}

failure too_few_bits(const bucket_wish& wish, unsigned width, double least) {
  return failure{"bits per key " + shown(*wish.bits_per_key) + ": fingerprints of " + std::to_string(width) + " bits for " +
                     std::to_string(wish.capacity) + " keys need at least " + shown(least),
                 error_code::out_of_range};
}

// The largest allowed number of buckets that is at most `most`, as far as one step finds it; else the least one.
std::uint64_t spend(std::uint64_t most, std::uint64_t least, std::uint64_t (*allowed)(std::uint64_t)) {
  const std::uint64_t over = allowed(most) - most;
  if (over == 0) return most;
  const std::uint64_t lower = over < most ? allowed(most - over) : least;
  return lower <= most ? std::max(lower, least) : least;
}

result<bucket_shape> shape_for_bits(const family& kind, const bucket_wish& wish, std::uint64_t least_buckets) {
  const double bits = *wish.bits_per_key * static_cast<double>(wish.capacity);
  const double least_slots = static_cast<double>(least_buckets) * kind.slots;
  const double widest = std::min<double>(std::floor(bits / least_slots) - kind.extra_bits, kind.widths.most);
  const unsigned width = wish.width.value_or(static_cast<unsigned>(std::max<double>(widest, kind.widths.least)));
  if (width > widest) {
    return too_few_bits(wish, width, least_slots * (width + kind.extra_bits) / static_cast<double>(wish.capacity));
  }
  // More than the widest fingerprints can use is not spent, unless the width was chosen: then the load is what is asked for.
  if (width == kind.widths.most && !wish.width) return bucket_shape{least_buckets, width};
  const auto most_buckets = static_cast<std::uint64_t>(bits / (kind.slots * (width + kind.extra_bits)));
  return bucket_shape{spend(most_buckets, least_buckets, kind.allowed), width};
}

result<bucket_shape> shape_of(const family& kind, const bucket_wish& wish, std::uint64_t needed_buckets) {
  const std::uint64_t least_buckets = kind.allowed(needed_buckets);
  if (!wish.fpr) return shape_for_bits(kind, wish, least_buckets);
  TAMIS_TRY(const unsigned width, width_for_rate(wish, kind.widths, kind.full_rate));
  return bucket_shape{least_buckets, width};
}

std::uint64_t buckets_at(std::uint64_t capacity, double keys_per_bucket) {
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(capacity) / keys_per_bucket));
}

constexpr unsigned cuckoo_slots = 4;
constexpr width_range cuckoo_widths{4, 32};
double full_cuckoo_rate(unsigned width) { return cuckoo_rate(1.0, width, cuckoo_slots * cuckoo_load); }

constexpr unsigned dleft_cells = 32;        // that a lookup compares: eight in each sub-table
constexpr width_range dleft_widths{6, 30};  // below, every other answer would be wrong
double full_dleft_rate(unsigned width) { return occupied_class_rate(std::exp2(width) - 1.0, dleft_cells * dleft_load); }

constexpr width_range rank_widths{4, 32};
double full_rank_rate(unsigned width) { return occupied_class_rate(std::exp2(width), rank_indexed_load); }

// Mean and variance of what a block of Binomial(keys, 1/blocks) keys has beyond `room`.
struct excess {
  double mean = 0.0;
  double variance = 0.0;
};
excess beyond(std::uint64_t keys, std::uint64_t blocks, std::uint64_t room) {
  const double p = 1.0 / static_cast<double>(blocks);
  excess sum;
  for (std::uint64_t x = room + 1; x <= keys; ++x) {
    const double chance = binomial_pmf(keys, p, x);
    const auto over = static_cast<double>(x - room);
    sum.mean += chance * over;
    sum.variance += chance * over * over;
    if (chance < 1e-18) break;
  }
  return sum;
}

rank_shape rank_shape_of_width(std::uint64_t capacity, unsigned width) {
  rank_shape shape{buckets_at(capacity, rank_indexed_load * rank_block_buckets), width};
  if (shape.blocks == 1) return {1, width, static_cast<unsigned>(capacity), 1};
  const double mean = static_cast<double>(capacity) / static_cast<double>(shape.blocks);
  shape.block_keys = static_cast<unsigned>(mean) + 1;
  excess over = beyond(capacity, shape.blocks, shape.block_keys);
  while (over.mean > 0.001 * mean) over = beyond(capacity, shape.blocks, ++shape.block_keys);
  const auto blocks = static_cast<double>(std::min(shape.blocks, rank_group_blocks));
  shape.group_keys = static_cast<unsigned>(blocks * over.mean + 8.0 * std::sqrt(blocks * over.variance)) + 16;
  return shape;
}

double rank_bits(const rank_shape& shape) {
  const double groups = std::ceil(static_cast<double>(shape.blocks) / static_cast<double>(rank_group_blocks));
  return static_cast<double>(shape.blocks) * (rank_block_buckets + shape.block_keys * (1.0 + shape.width)) +
         groups * shape.group_keys * 64.0;
}

}  // namespace

double occupied_class_rate(double classes, double keys) {
  if (keys <= 0.0) return 0.0;
  if (classes <= 1.0) return 1.0;
  return -std::expm1(keys * std::log1p(-1.0 / classes));
}

double cuckoo_rate(double buckets, unsigned width, double keys) {
  const double words = std::exp2(63);  // 2^64 hash words, two for each pair of a bucket and a fingerprint
  const double values = std::exp2(width);
  const auto rate_among = [&](double equals) { return occupied_class_rate(std::min(buckets / 2 * equals, words), keys); };
  if (width < least_remapped_width) return rate_among(values - 1.0);
  const double ones = 2.0 / values;  // how often a fingerprint is 1
  return (1.0 - ones) * rate_among(values) + ones * rate_among(values / 2);
}

result<unsigned> cuckoo_width(double fpr) { return narrowest(fpr, cuckoo_widths, full_cuckoo_rate); }

std::uint64_t cuckoo_buckets(std::uint64_t capacity) {
  // Measured: without spare buckets 3 % of the tables for 15 keys and 0.1 % of those for 500 refuse a key, from 1,000 keys on
  // none of 2,000 does. The spare ones end at 4,000 keys, so that 0.95 of a power of two still fits that power of two.
  constexpr std::uint64_t small = 1000;
  constexpr std::uint64_t large = 4000;
  const double exact = static_cast<double>(std::min(capacity, large)) / (cuckoo_slots * cuckoo_load);
  const double spare = 1.0 + 0.011 * static_cast<double>(small - std::min(capacity, small));
  const auto least = static_cast<std::uint64_t>(std::ceil(exact + spare));
  return capacity < large ? least : std::max(least, buckets_at(capacity, cuckoo_slots * cuckoo_load));
}

result<bucket_shape> cuckoo_shape(const bucket_wish& wish, std::uint64_t (*allowed)(std::uint64_t)) {
  const family kind{cuckoo_slots, cuckoo_widths, 0, full_cuckoo_rate, allowed};
  return shape_of(kind, wish, cuckoo_buckets(wish.capacity));
}

std::uint64_t vacuum_chunk(std::uint64_t buckets, unsigned width, unsigned i) {
  const auto m = static_cast<double>(buckets);
  const double share = (4.0 - i) / 4.0;
  std::uint64_t length = 2;
  for (; length * 2 <= buckets; length *= 2) {
    const double chunks = m / static_cast<double>(length);
    const double mean = share * cuckoo_slots * cuckoo_load * static_cast<double>(length);
    const double fullest = mean + 1.5 * std::sqrt(2.0 * mean * std::log(chunks));
    if (fullest < 0.97 * cuckoo_slots * static_cast<double>(length)) break;
  }
  if (i == 0) return length;
  if (i == 3) length = std::min(2 * length, vacuum_chunk(buckets, width, 2));  // the smallest is doubled (section 4)
  const std::uint64_t least = width < least_remapped_width ? least_short_chunk : least_chunk;
  return std::min(std::max(length, least), vacuum_chunk(buckets, width, 0));
}

double dleft_rate(double buckets, unsigned width, double cells) {
  return std::min(1.0, cells / (buckets * (std::exp2(width) - 1.0)));
}

result<bucket_shape> dleft_shape(const bucket_wish& wish) {
  const family kind{dleft_cells, dleft_widths, 2, full_dleft_rate, [](std::uint64_t buckets) { return buckets; }};
  return shape_of(kind, wish, buckets_at(wish.capacity, dleft_cells * dleft_load));
}

double rank_indexed_rate(double blocks, unsigned width, double keys) {
  return occupied_class_rate(blocks * rank_block_buckets * std::exp2(width), keys);
}

result<rank_shape> rank_indexed_shape(const bucket_wish& wish) {
  if (wish.fpr) {
    TAMIS_TRY(const unsigned width, width_for_rate(wish, rank_widths, full_rank_rate));
    return rank_shape_of_width(wish.capacity, width);
  }
  const double bits = *wish.bits_per_key * static_cast<double>(wish.capacity);
  const unsigned least = wish.width.value_or(rank_widths.least);
  rank_shape shape = rank_shape_of_width(wish.capacity, least);
  if (rank_bits(shape) > bits) return too_few_bits(wish, least, rank_bits(shape) / static_cast<double>(wish.capacity));
  if (wish.width) return shape;
  for (rank_shape wider = shape; wider.width < rank_widths.most;) {
    ++wider.width;
    if (rank_bits(wider) > bits) break;
    shape = wider;
  }
  return shape;
}

}  // namespace tamis::detail
