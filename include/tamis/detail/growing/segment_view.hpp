#pragma once

// What a lookup reads of a segment (detail/growing/prefix_segment.hpp), so that it hardly ever touches the segment itself. A
// lookup comes with a place as fine as a word can hold: the root, then `fine_bits` bits of the stream, of which cell and
// payload are cut out:
//
//   fine place   | root | depth: which segment | cell: block, slot in it | eight bits | … payload_shift | … the rest |
//                                                                        └ byte_shift: what 64 slots are compared with
//
// Nearly every answer comes from one header and the first bytes of 64 slots. Bits behind the fine place are hardly ever asked
// for, and only then made.

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>

#include "tamis/detail/growing/prefix_segment.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// Aligned: what a lookup reads of it is one cache line.
struct alignas(cache_line_bytes) segment_view {
  const std::uint8_t* headers = nullptr;
  const std::uint8_t* slots = nullptr;   // the first eight bits of each; none: lookups have to ask the segment
  const std::uint32_t* marks = nullptr;  // what coverings cover; none: no coverings
  std::uint16_t last_block = 0;
  std::uint8_t cell_shift = 0;     // bits of a fine place behind the cell
  std::uint8_t byte_shift = 0;     // bits of it behind the first eight of the payload
  std::uint8_t payload_shift = 0;  // bits of it behind the first `width` of the payload
  std::uint8_t cell_bits = 0;
  std::uint8_t width = 0;            // of a slot, with what is not stored in plain segments
  std::uint8_t stride = 0;           // bytes of a header
  const std::byte* rests = nullptr;  // the other bits
  prefix_segment* segment = nullptr;
  const std::uint32_t* covered = nullptr;  // the marks, or as many zeros; none: the segment is too large for that

  static segment_view of(prefix_segment& s, unsigned fine_bits) {
    assert(s.place_bits() < fine_bits);
    const unsigned behind = fine_bits - s.place_bits();
    const unsigned width = s.slot_width();
    // Slots of eight bits or more, of which the fine place has all, and whole blocks of cells.
    const bool plain = 8 <= width && width <= behind && s.cell_bits() >= 6;
    return {s.table().header_bytes(),
            plain ? s.table().values().low_bytes() : nullptr,
            s.marks(),
            static_cast<std::uint16_t>((s.cells() - 1) / 64),
            static_cast<std::uint8_t>(behind),
            static_cast<std::uint8_t>(behind - std::min(behind, 8u)),
            static_cast<std::uint8_t>(behind - std::min(behind, width)),
            static_cast<std::uint8_t>(s.cell_bits()),
            static_cast<std::uint8_t>(width),
            static_cast<std::uint8_t>(s.table().bytes_of_header()),
            s.table().values().rest_bytes(),
            &s,
            s.marks() != nullptr                                             ? s.marks()
            : (s.cells() - 1) / 64 < covering_prefixes::most_unmarked_blocks ? covering_prefixes::no_marks
                                                                             : nullptr};
  }
  friend bool operator==(const segment_view&, const segment_view&) = default;

  bool is_near() const { return slots != nullptr; }
  // Whole slots of nine bits: detail/growing/nine_bit_lookup.hpp.
  bool has_nine_bits() const { return is_near() && width == 9 && !is_uniform() && covered != nullptr; }
  bool is_plain() const { return is_near() && width >= 9 && marks == nullptr && segment->is_plain(); }

  TAMIS_INLINE std::uint64_t cell_of(std::uint64_t place) const { return place >> cell_shift & low_mask(cell_bits); }
  TAMIS_INLINE std::uint64_t block_of(std::uint64_t place) const { return place >> cell_shift >> 6 & last_block; }
  // The 64 bits of the stream behind the cell; `beyond`: those behind the fine place.
  TAMIS_INLINE std::uint64_t following(std::uint64_t place, std::uint64_t beyond) const {
    return place << (64 - cell_shift) | beyond >> cell_shift;
  }

  static constexpr unsigned run_margin = 16;  // slots that a lookup may have to read behind its own

  // Where the near part of a lookup looks.  Requires, here and below: is_near().
  struct spot {
    const std::uint8_t* header;
    std::uint64_t fine;         // the cell, with more in front of it, and the first eight bits of the payload
    const std::uint8_t* slots;  // of the block; not beside the header: GCC would compute both in one slow vector

    TAMIS_INLINE std::uint64_t in_block() const { return fine >> 8 & 63; }
    TAMIS_INLINE std::uint8_t first_bits() const { return static_cast<std::uint8_t>(fine); }
  };
  TAMIS_INLINE spot spot_of(std::uint64_t place) const {
    const std::uint64_t fine = place >> byte_shift;
    const std::uint64_t block = fine >> 14 & last_block;
    return {headers + block * stride, fine, slots + block * 64};
  }
  TAMIS_INLINE void prefetch(const spot& s, std::uint64_t place) const {
    prefetch_read(s.header);
    prefetch_read(s.header + prefix_headers::runs_bytes - 1);
    prefetch_read(s.slots);
    prefetch_read(s.slots + s.in_block() + run_margin);  // runs of a block's last cells often leave it
    prefetch_rests(place);
    if (marks != nullptr) prefetch_read(marks + (s.fine >> 14 & last_block));
  }
  // The bits of slots beyond the ninth, if they have such, around the cell's own slot: a match reads them, and would wait for
  // them alone if they were asked for when it is found.
  TAMIS_INLINE void prefetch_rests(std::uint64_t place) const {
    if (width > 9) prefetch_read(rests + (cell_of(place) + run_margin / 2) * (width - 9u) / 8);
  }
  // What a change touches: slots up to the next free one move.
  TAMIS_INLINE void prefetch_update(std::uint64_t place) const {
    const std::uint64_t block = block_of(place);
    prefetch_read(headers + block * stride);
    prefetch_read(headers + (block + 1) * stride - 1);
    if (is_near()) {
      prefetch_read(slots + block * 64);
      prefetch_read(slots + block * 64 + 64);
    }
    prefetch_read(segment);
    if (rests != nullptr) {
      prefetch_read(rests + block * 8 * (width < 9u ? width : width - 9u));
      prefetch_rests(place);
    }
  }
  // A new entry, if it can be made in the cell's own block or by moving whole ones. False, and nothing has changed, if not.
  TAMIS_INLINE bool insert_near(std::uint64_t place) const {
    if (!is_near()) return false;
    if (width != prefix_segment::common_width) return insert_wide(place);
    const std::uint64_t slot = payload_of(place) | 1;
    return is_uniform() ? segment->insert_near<prefix_segment::plain_width>(cell_of(place), slot)
                        : segment->insert_near<prefix_segment::common_width>(cell_of(place), slot);
  }
  TAMIS_NOINLINE bool insert_wide(std::uint64_t place) const {
    return segment->insert_near(cell_of(place), payload_of(place) | 1);
  }

  // All of a lookup; `beyond` are the 64 bits behind the fine place.
  TAMIS_NOINLINE bool contains(std::uint64_t place, std::uint64_t beyond) const {
    const answer found = is_near() ? contains_near(spot_of(place), place) : answer::unsure;
    return found == answer::unsure ? contains_slowly(place, beyond) : found == answer::yes;
  }
  // What the bits of the fine place say of it. Unsure: others count, behind an escape, or the run is very long.
  enum class answer : std::uint8_t { no, yes, unsure };
  TAMIS_INLINE answer contains_near(const spot& s, std::uint64_t place) const {
    prefetch_rests(place);
    const auto run = prefix_table::find_in_block(prefix_headers::read(s.header), s.in_block());
    const std::uint64_t near = agree_above_last_one(s.slots, s.first_bits()) & run.slots;
    if (near == 0) return run.leaves() ? next_contains(place) : answer_of(is_covered(s));
    // Nearly always the first candidate is the match: it has a ninth bit and the query's eight, or none and no other bits that
    // count. Which of the two is anybody's guess where half of the entries have lost bits, so there is no branch on it.
    const auto i = static_cast<unsigned>(std::countr_zero(near));
    const std::uint64_t top = (prefix_headers::read_high_bits(s.header) >> i | static_cast<std::uint64_t>(is_uniform())) & 1;
    if (width == 9 && s.slots[i] != 0 && ((s.slots[i] ^ s.first_bits()) & (~top + 1)) == 0) return answer::yes;
    return one_contains(place, near, run.leaves());
  }
  // The rest of detail/growing/uniform_segments.hpp: candidates whose other bits have to be looked at, and runs that leave
  // their block. Where all entries are as they came, the fine place is always enough.  Requires: is_plain().
  TAMIS_INLINE bool plain_contains_one(std::uint64_t place, std::uint64_t near, bool leaves) const {
    return is_yes(one_contains(place, near, leaves), place);
  }
  TAMIS_INLINE bool plain_contains_behind(std::uint64_t place) const { return is_yes(next_contains(place), place); }
  // Goes through candidates in the order of the slots, then behind the block and among the coverings.
  // Requires: all escapes of the run in its block are candidates.
  TAMIS_NOINLINE answer one_contains(std::uint64_t place, std::uint64_t near, bool leaves) const {
    const answer here = one_of(place, block_of(place) * 64, near);
    if (here != answer::no) return here;
    return leaves ? next_contains(place) : answer_of(is_covered(spot_of(place)));
  }
  // The part of a run that lies in the block behind its own, which one in twenty lookups needs: no more is read than there.
  // Requires: the run leaves its block, and has neither a match nor an escape in it.
  TAMIS_NOINLINE answer next_contains(std::uint64_t place) const {
    const spot s = spot_of(place);
    const auto behind = prefix_table::find_behind(prefix_headers::read(s.header),
                                                  prefix_headers::read(s.header + stride).runends, s.in_block());
    if (!behind.known) return answer::unsure;
    const std::uint64_t near = agree_above_last_one(s.slots + 64, s.first_bits()) & behind.slots;
    const answer there = one_of(place, block_of(place) * 64 + 64, near);
    return there != answer::no ? there : answer_of(is_covered(s));
  }
  TAMIS_NOINLINE bool contains_slowly(std::uint64_t place, std::uint64_t beyond) const {
    return segment->contains(cell_of(place), following(place, beyond));
  }
  // Of the candidates, from slot `first` on.
  TAMIS_INLINE answer one_of(std::uint64_t place, std::uint64_t first, std::uint64_t near) const {
    for (; near != 0; near &= near - 1) {
      const std::uint64_t slot = slot_at(first + static_cast<unsigned>(std::countr_zero(near)));
      if (slot == entry_code::escape) return answer::unsure;
      if (entry_code::slot_matches(slot, payload_of(place))) return answer::yes;
    }
    return answer::no;
  }
  static constexpr answer answer_of(bool yes) { return yes ? answer::yes : answer::no; }
  TAMIS_INLINE bool is_yes(answer found, std::uint64_t place) const {
    return found == answer::unsure ? contains_slowly(place, 0) : found == answer::yes;
  }
  TAMIS_INLINE bool is_covered(const spot& s) const {
    return marks != nullptr && covering_prefixes::is_covered(marks, s.fine >> 14 & last_block, s.fine >> 8);
  }
  // The first `width` bits of it.
  TAMIS_INLINE std::uint64_t payload_of(std::uint64_t place) const { return place >> payload_shift & low_mask(width); }
  TAMIS_INLINE std::uint64_t slot_at(std::uint64_t i) const {
    if (width == 8) return slots[i];
    const std::uint64_t top = is_uniform() ? 1 : prefix_headers::read_high_bits(headers + i / 64 * stride) >> (i % 64) & 1;
    if (width == 9) return static_cast<std::uint64_t>(slots[i]) << 1 | top;
    const std::uint64_t stored = slot_values::rest_at(rests, i, width - 1u) << 8 | slots[i];
    return entry_code(width, is_uniform()).from_stored(is_uniform() ? stored : stored | top << (width - 1));
  }
  // Is the one behind F bits not stored?  Requires: width >= 9.
  TAMIS_INLINE bool is_uniform() const { return stride == prefix_headers::runs_bytes; }
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
