#pragma once

// Segments that grow or shrink without a store: a bit of every entry moves between what it stores and its quotient.
//
//   stream      | path | quotient | x |
//   grown       |  path | quotient + 1 | one less |          in one segment of twice the quotients, or in two
//   joined      | path - 1 | quotient  | one more |          of two segments
//
// Entries stay prefixes of their keys' streams, so that every key keeps its own. What has grown is aged. A void, an entry with
// no bit left, is copied into both quotients that its own becomes: nobody knows which one its key has. Lengthened entries have
// only certain lengths: they may lose more than a bit, and a fix with it. The store can give all of that back
// (detail/growing/segment_renewal.hpp).

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "tamis/detail/growing/segment.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

class segment_shift {
 public:
  // One segment, or two. An error if there is no memory or room for it, or if a quarter of the entries are voids: they would be
  // copied again and again.  Requires: a kind; the aged format.
  static result<table_list<segment>> grown(const segment& old, segment_growth_kind kind, plain_bits to) {
    const segment_shape shape = old.shape().grown(kind, to);
    const pair_code code = old.table().code();
    table_list<shifted_runs> parts;
    for (unsigned part = 0; part < (kind == segment_growth_kind::cut ? 2u : 1u); ++part) {
      parts.emplace_back(shape, most_slots(old, shape.width) + old.table().entries());  // voids go into both quotients
    }
    const auto part_of = [&](std::uint64_t whole) {
      return kind == segment_growth_kind::cut ? whole >> shape.quotient_bits : 0;
    };
    const plain_shift plain(old.shape(), shape.width);
    std::uint64_t voids = 0;
    run_slots halves[2];
    run_entries entries;
    dense_runs::of(old.table().table()).for_each_run([&](std::uint64_t quotient, std::span<const std::uint64_t> slots) {
      const std::uint64_t whole = 2 * quotient;
      const std::uint64_t part = part_of(whole);
      const std::uint64_t local = whole - (part << shape.quotient_bits);
      if (slots.size() == 1 || slots[0] <= slots[1]) {
        halves[0].clear();
        halves[1].clear();
        for (const std::uint64_t slot : slots) voids += plain.split(slot, halves);
        for (std::uint64_t half = 0; half < 2; ++half) parts[part].add_plain(local + half, halves[half]);
        return;
      }
      code.decode([&](std::uint64_t i) { return slots[i]; }, slots.size(), entries);
      for (const run_entry& e : entries) voids += code.length(e) == 0;
      for (std::uint64_t half = 0; half < 2; ++half) {
        for (const run_entry& e : entries) {
          const unsigned length = code.length(e);
          if (length != 0 && static_cast<std::uint64_t>(e.bits >> 127) != half) continue;
          parts[part].add(local + half, e.bits << 1, length == 0 ? 0 : length - 1, e.level);
        }
      }
    });
    if (voids > old.table().entries() / 4) {
      return failure{"its entries have no bits left that they could give up: insert with a store at hand"};
    }
    table_list<segment> made;
    made.reserve(parts.size());
    for (shifted_runs& part : parts) {
      TAMIS_TRY(segment one, part.laid_out());
      made.push_back(std::move(one));
    }
    return made;
  }

  // The same entries in slots that say where they end.
  static result<segment> aged(const segment& old) {
    const segment_shape shape = old.shape().grown(segment_growth_kind::none, {old.shape().plain_length(), slot_format::aged});
    shifted_runs runs(shape, most_slots(old, shape.width));
    old.table().for_each_run([&](std::uint64_t quotient, const run_entries& entries) {
      for (const run_entry& e : entries) runs.add(quotient, e.bits, old.table().code().length(e), e.level);
    });
    return runs.laid_out();
  }

  // Of the two parts of one path; uniform with `bits` bits if both are, and aged otherwise.  Requires: shapes alike but for the
  // slots; uniform entries have `bits` bits or more.
  static result<segment> joined(const segment& low, const segment& high, unsigned bits) {
    const bool are_uniform = low.shape().format == slot_format::uniform && high.shape().format == slot_format::uniform;
    const plain_bits to =
        are_uniform ? plain_bits{bits}
                    : plain_bits{std::max(low.shape().plain_length(), high.shape().plain_length()), slot_format::aged};
    segment_shape shape = low.shape().grown(segment_growth_kind::none, to);
    --shape.depth;
    shifted_runs runs(shape, most_slots(low, shape.width) + most_slots(high, shape.width));
    for (std::uint64_t part = 0; part < 2; ++part) {
      const segment& from = part == 0 ? low : high;
      from.table().for_each_run([&](std::uint64_t quotient, const run_entries& entries) {
        const std::uint64_t half = (part << shape.quotient_bits | quotient) >> 1;
        const uint128 last = static_cast<uint128>(quotient & 1) << 127;
        for (const run_entry& e : entries) {
          const unsigned length = std::min(from.table().code().length(e) + 1, pair_code::stream_bits);
          runs.add(half, last | e.bits >> 1, length, e.level);
        }
      });
    }
    return runs.laid_out();
  }

 private:
  // A lengthened entry of s slots has at most s · width bits.
  static std::uint64_t most_slots(const segment& s, unsigned width) {
    const std::uint64_t lengthened = s.table().lengthened();
    const std::uint64_t plain = s.table().entries() - lengthened;
    return plain + 3 * lengthened + (s.table().table().used() - plain) * s.shape().width / (width - 1) + 8;
  }

  // What becomes of a plain entry's slot: its first bit says which half, and the others move up.
  class plain_shift {
   public:
    plain_shift(const segment_shape& from, unsigned to_width)
        : is_uniform_(from.format == slot_format::uniform),
          width_(from.plain_length() + 1),
          up_(to_width > width_ ? to_width - width_ : 0),
          down_(to_width < width_ ? width_ - to_width : 0),
          aged_void_(std::uint64_t{1} << (width_ - 1)) {}
    // True if it is a void, which goes into both halves.
    bool split(std::uint64_t slot, run_slots (&halves)[2]) const {
      if (is_uniform_) slot = slot << 1 | 1;
      if (slot == aged_void_) {
        for (run_slots& half : halves) half.push_back(slot << up_ >> down_);
        return true;
      }
      const std::uint64_t rest = slot << 1 & low_mask(width_);
      // What does not fit is cut off; where its end was there, the last bit that is left becomes the end.
      const bool is_cut = (rest & low_mask(down_)) != 0;
      halves[slot >> (width_ - 1)].push_back((rest << up_ >> down_) | static_cast<std::uint64_t>(is_cut));
      return false;
    }

   private:
    bool is_uniform_;
    unsigned width_;  // of the slot in the aged format
    unsigned up_;
    unsigned down_;  // if there are fewer bits than before
    std::uint64_t aged_void_;
  };

  // The runs of a segment, from entries in the order of their quotients.
  class shifted_runs {
   public:
    shifted_runs(const segment_shape& shape, std::uint64_t most_slots)
        : shape_(shape), code_(shape.width, shape.format), runs_(shape.quotients(), shape.width) {
      runs_.reserve(most_slots);
    }
    // `length` bits are known. A plain entry stays one, and a lengthened one keeps what it can.
    void add(std::uint64_t quotient, uint128 bits, unsigned length, unsigned level) {
      if (quotient != quotient_) write();
      quotient_ = quotient;
      if (level != 0) level = std::min(code_.level_of(length), code_.highest_level());
      entries_.push_back(code_.prefix_within(bits, length, level));
    }
    // The slots of plain entries.
    void add_plain(std::uint64_t quotient, run_slots& slots) {
      if (slots.empty()) return;
      write();
      if (slots.size() > 1 && slots[0] > slots[1]) std::swap(slots[0], slots[1]);
      runs_.append(quotient, slots);
      counts_.entries += slots.size();
      if (shape_.format == slot_format::uniform) return;
      for (const std::uint64_t slot : slots) counts_.lost += entry_counts::weight_lost(slot);
    }
    result<segment> laid_out() {
      write();
      runs_.finish();
      return segment::laid_out(shape_, runs_, counts_);
    }

   private:
    void write() {
      if (entries_.empty()) return;
      code_.encode(entries_, slots_);
      runs_.append(quotient_, slots_);
      counts_.add(entries_);
      entries_.clear();
    }

    segment_shape shape_;
    pair_code code_;
    dense_runs runs_;
    entry_counts counts_;
    std::uint64_t quotient_ = 0;
    run_entries entries_;
    run_slots slots_;
  };
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
