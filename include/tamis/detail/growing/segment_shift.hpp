#pragma once

// Segments that grow, shrink or lose bits without a store: a bit of every entry moves between what it stores and its quotient.
//
//   stream      | path | quotient | x: r bits | …
//   grown       |  path | quotient + 1 | r - 1 |          the first bit of x, in one segment of twice the quotients, or in two
//   joined      | path - 1 | quotient  | r |              the quotients' last bit, of two segments: x loses its own last one
//   narrowed    | path | quotient | fewer |
//
// Entries stay prefixes of their keys' streams, so that every key keeps its own. They become shorter, all plain ones alike, and
// so the rate rises. Lengthened ones have only certain lengths: they may lose more than a bit, and a fix may be lost with it.
// The store can give all of that back (detail/growing/segment_renewal.hpp).

#include <algorithm>
#include <cstdint>
#include <utility>

#include "tamis/detail/growing/uniform_segment.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

class segment_shift {
 public:
  // Every entry has a bit that it can give.
  static bool may_grow(const uniform_segment& s) { return s.shape().width > pair_code::least_width; }
  // One segment, or two. An error if there is no memory or room for it.  Requires: may_grow(old); a kind.
  static result<table_list<uniform_segment>> grown(const uniform_segment& old, segment_growth_kind kind) {
    const uniform_shape shape = old.shape().grown(kind, old.shape().width - 1);
    table_list<shifted_runs> parts;
    for (unsigned part = 0; part < (kind == segment_growth_kind::cut ? 2u : 1u); ++part) parts.emplace_back(shape, old, old);
    old.table().for_each_run([&](std::uint64_t quotient, const run_entries& entries) {
      for (std::uint64_t half = 0; half < 2; ++half) {
        const std::uint64_t whole = 2 * quotient + half;
        const std::uint64_t part = kind == segment_growth_kind::cut ? whole >> shape.cell_bits : 0;
        for (const run_entry& e : entries) {
          if (static_cast<std::uint64_t>(e.bits >> 127) != half) continue;
          parts[part].add(whole - (part << shape.cell_bits), e.bits << 1, old.table().code().length(e.level) - 1, e.level);
        }
      }
    });
    table_list<uniform_segment> made;
    made.reserve(parts.size());
    for (shifted_runs& part : parts) {
      TAMIS_TRY(uniform_segment segment, part.laid_out());
      made.push_back(std::move(segment));
    }
    return made;
  }

  // The segment with fewer bits in every entry.  Requires: width is less than it has.
  static result<uniform_segment> narrowed(const uniform_segment& old, unsigned width) {
    shifted_runs runs(old.shape().grown(segment_growth_kind::none, width), old, old);
    old.table().for_each_run([&](std::uint64_t quotient, const run_entries& entries) {
      for (const run_entry& e : entries) runs.add(quotient, e.bits, old.table().code().length(e.level), e.level);
    });
    return runs.laid_out();
  }

  // Of the two parts of one path, with remainders of at most `width` bits.  Requires: shapes alike but for the width.
  static result<uniform_segment> joined(const uniform_segment& low, const uniform_segment& high, unsigned width) {
    uniform_shape shape = low.shape();
    --shape.depth;
    shape.width = std::min({width, low.shape().width + 1, high.shape().width + 1});
    shifted_runs runs(shape, low, high);
    for (std::uint64_t part = 0; part < 2; ++part) {
      const uniform_segment& from = part == 0 ? low : high;
      from.table().for_each_run([&](std::uint64_t quotient, const run_entries& entries) {
        const std::uint64_t to = (part << shape.cell_bits | quotient) >> 1;
        const uint128 last = static_cast<uint128>(quotient & 1) << 127;
        for (const run_entry& e : entries) {
          const unsigned length = std::min(from.table().code().length(e.level) + 1, pair_code::stream_bits);
          runs.add(to, last | e.bits >> 1, length, e.level);
        }
      });
    }
    return runs.laid_out();
  }

 private:
  // The runs of a segment, from entries in the order of their quotients.
  class shifted_runs {
   public:
    // Of the entries of one segment or of two.
    shifted_runs(const uniform_shape& shape, const uniform_segment& a, const uniform_segment& b)
        : shape_(shape), code_(shape.width), runs_(shape.quotients(), shape.width) {
      runs_.reserve(most_slots(a) + (&a == &b ? 0 : most_slots(b)));
    }
    // `length` bits are known. In at most as many slots as before and one more: no level is higher than it was.
    void add(std::uint64_t quotient, uint128 bits, unsigned length, unsigned level) {
      if (quotient != quotient_) write();
      quotient_ = quotient;
      while (level != 0 && code_.length(level) > length) --level;
      entries_.push_back(code_.prefix(bits, level));
    }
    result<uniform_segment> laid_out() {
      write();
      runs_.finish();
      return uniform_segment::laid_out(shape_, runs_);
    }

   private:
    static std::uint64_t most_slots(const uniform_segment& s) {
      return s.table().table().used() + 2 * s.table().lengthened() + 8;
    }
    void write() {
      if (entries_.empty()) return;
      code_.encode(entries_, slots_);
      runs_.append(quotient_, slots_);
      entries_.clear();
    }

    uniform_shape shape_;
    pair_code code_;
    dense_runs runs_;
    std::uint64_t quotient_ = 0;
    run_entries entries_;
    run_slots slots_;
  };
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
