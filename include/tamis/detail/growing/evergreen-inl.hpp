#pragma once

// What evergreen does with the whole filter: make, expand, merge, describe and check it. Included by filters/evergreen.hpp.

#include "tamis/detail/base/shown.hpp"
#include "tamis/filters/evergreen.hpp"

namespace tamis::inline TAMIS_LEVEL {

inline result<evergreen> evergreen::create(const filter_params& params) {
  TAMIS_CHECK(check_params(info, params));
  constexpr unsigned longest = detail::prefix_segment::longest_fingerprint;
  constexpr std::string_view kinds[] = {"auto", "fixed", "growing"};
  constexpr std::string_view growths[] = {"even", "flat"};
  TAMIS_TRY(const std::uint64_t asked, number_option(params, "fingerprint", 0, 1, longest));
  TAMIS_TRY(const std::uint64_t threshold, number_option(params, "threshold", 90, 50, 95));
  TAMIS_TRY(const std::uint64_t generations, number_option(params, "generations", 2, 0, 16));
  TAMIS_TRY(const std::string kind, choice_option(params, "fingerprints", "auto", kinds));
  TAMIS_TRY(const std::uint64_t segment, number_option(params, "segment", 16384, 64, 65536));
  TAMIS_TRY(const std::string growth, choice_option(params, "growth", "even", growths));
  if (!std::has_single_bit(segment)) {
    return failure{"option segment: " + std::to_string(segment) + " is not a power of two"};
  }
  evergreen made;
  made.threshold_ = static_cast<std::uint32_t>(threshold);
  made.generations_ = static_cast<std::uint32_t>(generations);
  made.fingerprints_ = kind == "auto" ? fingerprints::automatic : kind == "fixed" ? fingerprints::fixed : fingerprints::growing;
  const auto segment_bits = static_cast<unsigned>(std::countr_zero(segment));
  const bool flat = growth == "flat";
  unsigned f = static_cast<unsigned>(asked);
  detail::evergreen_shape shape;
  const auto shape_with = [&](unsigned bits) {
    return detail::evergreen_shape_for(params.capacity, made.threshold_, segment_bits, flat, bits);
  };
  if (params.fpr || f != 0) {
    // The rate when all segments are about to grow, which is the highest that they get to before.
    const double load = made.threshold_ / 100.0;
    for (f = f == 0 ? 1 : f; asked == 0 && f <= longest && std::ldexp(load, -static_cast<int>(f)) > *params.fpr;) ++f;
    if (f > longest) return failure{"fpr " + detail::shown(*params.fpr) + " would need fingerprints of more than 56 bits"};
    shape = shape_with(f);
  } else {
    const double bits = *params.bits_per_key * static_cast<double>(params.capacity);
    for (f = longest; f != 0; --f) {
      shape = shape_with(f);
      if (detail::evergreen_bits(shape, made.threshold_, f) <= bits) break;
    }
    if (f == 0) {
      const double least = detail::evergreen_bits(shape_with(1), made.threshold_, 1) / static_cast<double>(params.capacity);
      return failure{"bits per key " + std::to_string(*params.bits_per_key) + ": " + std::to_string(params.capacity) +
                     " keys need at least " + std::to_string(least)};
    }
  }
  made.first_cell_bits_ = shape.cell_bits;
  made.fingerprint_ = f;

  // Segments are small, so the machine's memory has to be asked for all of them together.
  const auto bytes = detail::checked_ceil(detail::evergreen_bits(shape, made.threshold_, f) / 8);
  if (!bytes) return failure{"a table for " + std::to_string(params.capacity) + " keys cannot be addressed"};
  constexpr std::uint64_t large = std::uint64_t{1} << 28;
  if (*bytes > large) {
    TAMIS_CHECK(detail::check_table_bytes(*bytes));
  }
  detail::table_list<detail::prefix_segment> roots;
  roots.reserve(shape.roots);
  for (std::uint64_t i = 0; i < shape.roots; ++i) {
    TAMIS_TRY(detail::prefix_segment root,
              detail::prefix_segment::make({0, shape.cell_bits, f}, detail::evergreen_spare(shape.cell_bits, made.threshold_)));
    roots.push_back(std::move(root));
  }
  made.forest_ =
      detail::segment_trie(flat ? detail::stream_places::flat(shape.roots) : detail::stream_places::even(shape.roots),
                           segment_bits, std::move(roots));
  return made;
}

inline option_list evergreen::settings() const {
  constexpr const char* kinds[] = {"auto", "fixed", "growing"};
  return {{"fingerprint", std::to_string(fingerprint_)},
          {"threshold", std::to_string(threshold_)},
          {"generations", std::to_string(generations_)},
          {"fingerprints", kinds[static_cast<unsigned>(fingerprints_)]},
          {"segment", std::to_string(std::uint64_t{1} << forest_.segment_bits())},
          {"growth", forest_.places().is_flat() ? "flat" : "even"}};
}

inline status evergreen::expand() {
  evergreen grown = *this;
  detail::segment_directory& segments = grown.forest_.segments();
  for (std::uint64_t at = 0; at < segments.size();) {
    const unsigned depth = segments[at].depth();
    const unsigned directory_depth = segments.depth();
    if (!grown.grow(at, nullptr, nullptr)) return failure{"a segment cannot grow: the directory would be too deep"};
    at <<= segments.depth() - directory_depth;
    const bool was_split = segments[at].depth() != depth;
    at += segments.places_of(at) << static_cast<unsigned>(was_split);
  }
  *this = std::move(grown);
  return {};
}

inline status evergreen::merge(const evergreen& other) {
  if (forest_.places() != other.forest_.places() || forest_.segment_bits() != other.forest_.segment_bits() ||
      fingerprint_ != other.fingerprint_ || first_cell_bits_ != other.first_cell_bits_) {
    const auto shape = [](const evergreen& f) {
      return std::to_string(f.forest_.places().roots()) + " roots of " + std::to_string(1u << f.first_cell_bits_) +
             " cells, fingerprints of " + std::to_string(f.fingerprint_) + " bits";
    };
    return failure{"the two evergreen filters were made with different shapes: " + shape(*this) + ", and " + shape(other)};
  }
  // Counts of equal entries are added up.
  constexpr std::uint64_t most_merged = std::uint64_t{1} << 40;
  if (keys_ + copies_ > most_merged || other.keys_ + other.copies_ > most_merged) {
    return failure{"the two filters hold more keys than can be counted together"};
  }
  // Into the larger one, so that most segments are at least as deep as those that come.
  const bool other_is_larger = other.capacity() > capacity();
  evergreen merged = other_is_larger ? other : *this;
  merged.threshold_ = threshold_, merged.generations_ = generations_, merged.fingerprints_ = fingerprints_;
  const evergreen& added = other_is_larger ? *this : other;
  bool fits = true;
  added.forest_.segments().for_each([&](std::uint64_t at, const detail::prefix_segment& segment) {
    const detail::stream_prefix from = added.forest_.prefix_of(at);
    added.forest_.for_each_in(at, [&](const detail::stream_prefix& p, std::uint64_t count) {
      fits = fits && merged.add(p, count, from, segment.place_bits());
    });
  });
  if (!fits) return failure{"the two filters together would need a directory that is too deep"};
  merged.keys_ = keys_ + other.keys_;
  merged.copies_ = merged.forest_.entries() - merged.keys_;
  *this = std::move(merged);
  return {};
}

// An entry of another filter's segment `from`. Its segment here first becomes as fine as that one, so that its bits fit as they
// did there. An entry for more than `from` is added below `from` only: the segments beside it have copies of their own.
inline bool evergreen::add(const detail::stream_prefix& p, std::uint64_t count, const detail::stream_prefix& from,
                           unsigned place_bits) {
  detail::segment_directory& segments = forest_.segments();
  const detail::stream_prefix& longer = p.length < from.length ? from : p;
  while (true) {
    const std::uint64_t path = segments.depth() == 0 ? 0 : static_cast<std::uint64_t>(longer.bits >> (128 - segments.depth()));
    std::uint64_t at = (p.root << segments.depth()) + path;
    detail::prefix_segment& segment = segments[at];
    if (p.length < segment.depth()) {  // for every segment below it
      const bool only_here = longer.length >= segment.depth();
      const std::uint64_t last = at + (only_here ? 1 : std::uint64_t{1} << (segments.depth() - longer.length));
      for (; at < last; at += segments.places_of(at)) {
        segments[at].add(detail::covering_prefix{0, segments[at].place_bits() - p.length, count});
        segments.refresh(at);
      }
      return true;
    }
    if (segment.place_bits() < place_bits && grow(at, nullptr, nullptr)) continue;
    const std::uint64_t cell = forest_.cell_of(at, longer.bits);
    if (p.length < segment.place_bits()) {
      const unsigned shift = segment.place_bits() - p.length;
      segment.add(detail::covering_prefix{cell >> shift, shift, count});
      segments.refresh(at);
      return true;
    }
    if (segment.used() >= limit(segment.cell_bits()) && grow(at, nullptr, nullptr)) continue;
    const unsigned length = std::min(p.length - segment.place_bits(), detail::prefix_entry::longest);
    if (segment.add(cell, detail::prefix_entry::of(forest_.following(at, p.bits), length, count))) {
      segments.note_entries(at);
      return true;
    }
    if (!grow(at, nullptr, nullptr)) return false;
  }
}

inline status evergreen::validate() const {
  if (fingerprint_ < 1 || fingerprint_ > detail::prefix_segment::longest_fingerprint || threshold_ < 50 || threshold_ > 95 ||
      generations_ > 16 || fingerprints_ > fingerprints::growing || first_cell_bits_ > forest_.segment_bits()) {
    return failure{"its settings are out of range"};
  }
  return {};
}

}  // namespace tamis::inline TAMIS_LEVEL
