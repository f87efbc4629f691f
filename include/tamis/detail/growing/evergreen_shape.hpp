#pragma once

// How large an evergreen filter is at first: roots and their segments for a number of keys.

#include <algorithm>
#include <cmath>
#include <string>

#include "tamis/detail/base/checked.hpp"
#include "tamis/detail/growing/stream_places.hpp"
#include "tamis/detail/math/quotient.hpp"
#include "tamis/params.hpp"

namespace tamis::detail {

struct evergreen_shape {
  std::uint64_t roots = 1;
  unsigned cell_bits = 6;

  std::uint64_t cells() const { return roots << cell_bits; }
};

// Slots behind the last cell: what waits there is a queue (see quotient_spare) whose tail falls by e^(-2(1 - load)) a slot.
inline std::uint64_t evergreen_spare(unsigned cell_bits, unsigned threshold_percent) {
  const std::uint64_t long_queue = threshold_percent <= 90 ? 64 : 128;
  return std::min(long_queue, quotient_spare(std::uint64_t{1} << cell_bits));
}
inline std::uint64_t evergreen_slots(unsigned cell_bits, unsigned threshold_percent) {
  return divide_up((std::uint64_t{1} << cell_bits) + evergreen_spare(cell_bits, threshold_percent), 64) * 64;
}
// Slots in use at which a segment grows.
inline std::uint64_t evergreen_limit(unsigned cell_bits, unsigned threshold_percent) {
  return std::max<std::uint64_t>(1, (std::uint64_t{threshold_percent} << cell_bits) / 100);
}

// Bits of memory for so many cells, with everything around the slots rounded up. Of fingerprints of eight bits or more a new
// filter takes one a slot less, until entries of other lengths come.
inline double evergreen_bits(const evergreen_shape& shape, unsigned threshold_percent, unsigned fingerprint) {
  constexpr double around = 3600;  // a segment's own fields, its place in the directory, spare bytes of its columns
  const auto slots = static_cast<double>(evergreen_slots(shape.cell_bits, threshold_percent));
  return static_cast<double>(shape.roots) * (slots * (fingerprint + 1 + quotient_metadata) + around);
}

// The smallest shape whose segments do not grow before the capacity is reached. Among several roots the keys are spread by
// chance, so that each gets room for four standard deviations more than its share.
inline evergreen_shape evergreen_shape_for(std::uint64_t capacity, unsigned threshold_percent, unsigned segment_bits, bool flat,
                                           unsigned fingerprint) {
  constexpr unsigned smallest = 6;
  evergreen_shape best;
  double least = 0;
  for (unsigned bits = smallest; bits <= segment_bits; ++bits) {
    const auto limit = static_cast<double>(evergreen_limit(bits, threshold_percent));
    const double share = limit - 4.0 * std::sqrt(limit);
    const auto keys = static_cast<double>(capacity);
    evergreen_shape shape{1, bits};
    if (flat) {  // the roots of the last eighth have the largest share
      const double largest = 1.0 / static_cast<double>(8 * stream_places::flat_roots.back());
      shape.roots = stream_places::flat_sum * static_cast<std::uint64_t>(std::ceil(std::max(1.0, keys * largest / share)));
    } else if (keys > limit) {
      shape.roots = static_cast<std::uint64_t>(std::ceil(keys / share));
    }
    const double memory = evergreen_bits(shape, threshold_percent, fingerprint);
    if (bits == smallest || memory < least) {
      least = memory;
      best = shape;
    }
  }
  return best;
}

}  // namespace tamis::detail
