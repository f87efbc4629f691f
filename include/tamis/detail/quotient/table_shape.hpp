#pragma once

// Which table a budget or a rate asks for. With S slots for 64 quotients, n keys at load a need n / (a·S) blocks; fewer slots
// per block mean more quotients, and so fewer false positives, for 72 bits each. Width and S are chosen so that the rate is the
// lowest that the bits can buy, and all blocks that the bits can buy are made: a budget is spent, whatever it is.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "tamis/detail/base/shown.hpp"
#include "tamis/detail/math/quotient.hpp"
#include "tamis/detail/quotient/spaced_table.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

struct table_shape {
  std::uint64_t quotients = 0;
  std::uint64_t spare = 0;
  unsigned slots = 0;  // of a block
  unsigned width = 0;
};

struct table_range {
  unsigned least_width = 1;
  unsigned widest = longest_remainder;
  unsigned most_slots = spacing::most;  // of a block
  double load = quotient_load;          // keys per slot that is a home, at capacity
};

inline constexpr std::uint64_t most_quotients = std::uint64_t{1} << 56;
inline constexpr unsigned fewest_slots = 36;

// The bits of a shape; none if it cannot be addressed.
inline std::optional<double> bits_of(const table_shape& shape) {
  const spacing s(shape.slots);
  const auto blocks = spaced_table::blocks_of(shape.quotients, shape.spare, s);
  if (!blocks) return std::nullopt;
  const auto bytes = block_memory::bytes_of(block_layout(s, shape.width), *blocks);
  if (!bytes) return std::nullopt;
  return 8.0 * static_cast<double>(*bytes);
}

// Slots that are homes if `capacity` keys shall have this load.
inline double homes_for(std::uint64_t capacity, double load) { return std::ceil(static_cast<double>(capacity) / load); }

// All that the bits can buy; none if that is too little for the capacity.
inline std::optional<table_shape> largest_shape(std::uint64_t capacity, double bits, unsigned slots, unsigned width,
                                                double load) {
  const block_layout layout(spacing(slots), width);
  const double blocks = std::floor((bits / 8.0 - block_memory::spare_bytes) / layout.record_bytes());
  if (!(blocks >= 1.0) || blocks * block_quotients >= static_cast<double>(most_quotients)) return std::nullopt;
  const auto all = static_cast<std::uint64_t>(blocks) * slots;
  const std::uint64_t spare = quotient_spare(static_cast<std::uint64_t>(homes_for(capacity, load)));
  if (all <= spare || static_cast<double>(all - spare) < homes_for(capacity, load)) return std::nullopt;
  const std::uint64_t homes = all - spare;
  return table_shape{homes / slots * block_quotients + homes % slots * block_quotients / slots, spare, slots, width};
}

// The smallest with this rate at capacity.
inline std::optional<table_shape> smallest_shape(std::uint64_t capacity, double fpr, unsigned slots, unsigned width,
                                                 double load) {
  const double homes = homes_for(capacity, load);
  const double for_rate = std::ldexp(static_cast<double>(capacity), -static_cast<int>(width)) / -std::log1p(-fpr);
  const double quotients = std::ceil(std::max(homes * block_quotients / slots, for_rate * (1 + 1e-9)));
  if (!(quotients < static_cast<double>(most_quotients))) return std::nullopt;
  table_shape shape{static_cast<std::uint64_t>(quotients), quotient_spare(static_cast<std::uint64_t>(homes)), slots, width};
  if (quotient_rate(shape.quotients, capacity, width) > fpr) return std::nullopt;
  return shape;
}

// `width`: of the slots; 0 leaves it to us. Errors name what cannot be reached.
inline result<table_shape> table_shape_for_bits(std::uint64_t capacity, double bits_per_key, unsigned width,
                                                const table_range& range = {}) {
  const double bits = bits_per_key * static_cast<double>(capacity);
  std::optional<table_shape> best;
  double best_rate = 2.0;
  for (unsigned w = width == 0 ? range.least_width : width; w <= (width == 0 ? range.widest : width); ++w) {
    for (unsigned slots = fewest_slots; slots <= range.most_slots; slots = spacing::after(slots)) {
      const auto shape = largest_shape(capacity, bits, slots, w, range.load);
      if (!shape) continue;
      const double rate = quotient_rate(shape->quotients, capacity, w);
      if (rate < best_rate) best = shape, best_rate = rate;
    }
  }
  if (best) return *best;
  const unsigned least = width == 0 ? range.least_width : width;
  const auto homes = static_cast<std::uint64_t>(homes_for(capacity, range.load));
  const auto needed = bits_of({homes * block_quotients / range.most_slots, quotient_spare(homes), range.most_slots, least});
  return failure{"bits per key " + std::to_string(bits_per_key) + ": " + std::to_string(capacity) + " keys need at least " +
                 std::to_string(needed.value_or(0) / static_cast<double>(capacity))};
}

inline result<table_shape> table_shape_for_rate(std::uint64_t capacity, double fpr, unsigned width,
                                                const table_range& range = {}) {
  std::optional<table_shape> best;
  double best_bits = 0;
  for (unsigned w = width == 0 ? range.least_width : width; w <= (width == 0 ? range.widest : width); ++w) {
    for (unsigned slots = fewest_slots; slots <= range.most_slots; slots = spacing::after(slots)) {
      // A width that is asked for decides the rate.
      const auto shape = smallest_shape(capacity, width == 0 ? fpr : 0.999, slots, w, range.load);
      const auto bits = shape ? bits_of(*shape) : std::nullopt;
      if (bits && (!best || *bits < best_bits)) best = shape, best_bits = *bits;
    }
  }
  if (best) return *best;
  return failure{"fpr " + shown(fpr) + " would need remainders of more than " + std::to_string(range.widest) +
                 " bits, or more than 2^64 fingerprints"};
}

}  // namespace tamis::detail::inline TAMIS_LEVEL
