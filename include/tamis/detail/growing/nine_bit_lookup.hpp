#pragma once

// Lookups where all segments (detail/growing/prefix_segment.hpp) have whole slots of nine bits, F = 8, as in a filter that has
// grown: entries have lost bits, and coverings may cover cells. All that the widths of a view (detail/growing/segment_view.hpp)
// say is then known to the compiler, and what a lookup reads of the segment is four addresses and numbers in one cache line.
// Nothing else is read of the view later: a probe has all that is needed but where bits behind an escape count.
//
//   slot      | eight bits: a byte of 64 that are compared | the ninth: in the header of the block |
//   query     | eight bits                                 | ignored: where a slot's ninth bit is a one, it ends the payload |

#include <bit>
#include <cstdint>

#include "tamis/detail/growing/segment_view.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

class nine_bit_probe {
 public:
  using answer = segment_view::answer;

  // Requires: view.has_nine_bits().
  TAMIS_INLINE static nine_bit_probe of(const segment_view& view, std::uint64_t place) {
    nine_bit_probe p;
    p.fine_ = place >> view.byte_shift;
    const std::uint64_t block = p.fine_ >> 14 & view.last_block;
    p.header_ = view.headers + block * prefix_headers::high_bit_header_bytes;
    p.mark_ = view.covered + in_register(block);  // or GCC would compute two of the addresses as one slow vector
    p.slots_ = view.slots + block * 64;
    return p;
  }
  TAMIS_INLINE void prefetch() const {
    prefetch_read(header_);
    prefetch_read(header_ + prefix_headers::runs_bytes - 1);
    prefetch_read(slots_);
    prefetch_read(slots_ + in_block() + segment_view::run_margin);  // runs of a block's last cells often leave it
    prefetch_read(mark_);
  }
  // Unsure: bits behind an escape count, or the run is very long.
  TAMIS_INLINE answer contains() const {
    const auto run = prefix_table::find_in_block(prefix_headers::read(header_), in_block());
    const std::uint64_t near = agree_above_last_one(slots_, first_bits()) & run.slots;
    if (near == 0) {
      if (!run.leaves()) [[likely]]
        return segment_view::answer_of(is_covered(mark_, fine_));
    } else {
      // The first candidate, as in segment_view::contains_near.
      const auto i = static_cast<unsigned>(std::countr_zero(near));
      const std::uint64_t top = prefix_headers::read_high_bits(header_) >> i & 1;
      if (slots_[i] != 0 && ((slots_[i] ^ first_bits()) & (~top + 1)) == 0) [[likely]]
        return answer::yes;
    }
    return contains_rarely(header_, slots_, mark_, fine_, near, run.leaves());
  }

 private:
  // Goes through the candidates, then behind the block and among the coverings. Its arguments are in registers: a lookup that
  // hardly ever comes here need not have a probe in memory.
  TAMIS_NOINLINE static answer contains_rarely(const std::uint8_t* header, const std::uint8_t* slots, const std::uint32_t* mark,
                                               std::uint64_t fine, std::uint64_t near, bool leaves) {
    const answer here = one_of(header, slots, fine, near);
    if (here != answer::no) return here;
    if (leaves) {
      const std::uint8_t* const next = header + prefix_headers::high_bit_header_bytes;
      const auto behind =
          prefix_table::find_behind(prefix_headers::read(header), prefix_headers::read(next).runends, fine >> 8 & 63);
      if (!behind.known) return answer::unsure;
      const std::uint64_t candidates = agree_above_last_one(slots + 64, static_cast<std::uint8_t>(fine)) & behind.slots;
      const answer there = one_of(next, slots + 64, fine, candidates);
      if (there != answer::no) return there;
    }
    return segment_view::answer_of(is_covered(mark, fine));
  }
  // Of the candidates in one block, in the order of the slots: an escape is met before its chunks.
  TAMIS_INLINE static answer one_of(const std::uint8_t* header, const std::uint8_t* slots, std::uint64_t fine,
                                    std::uint64_t near) {
    for (; near != 0; near &= near - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(near));
      const std::uint64_t slot = static_cast<std::uint64_t>(slots[i]) << 1 | (prefix_headers::read_high_bits(header) >> i & 1);
      if (slot == entry_code::escape) return answer::unsure;
      if (entry_code::slot_matches(slot, (fine & 0xff) << 1)) return answer::yes;
    }
    return answer::no;
  }
  TAMIS_INLINE static bool is_covered(const std::uint32_t* mark, std::uint64_t fine) {
    return covering_prefixes::is_covered(mark, 0, fine >> 8);
  }
  TAMIS_INLINE std::uint64_t in_block() const { return fine_ >> 8 & 63; }
  TAMIS_INLINE std::uint8_t first_bits() const { return static_cast<std::uint8_t>(fine_); }

  std::uint64_t fine_;  // the cell, with more in front of it, and the first eight bits of the payload
  const std::uint8_t* header_;
  const std::uint32_t* mark_;  // what coverings cover of the block
  const std::uint8_t* slots_;  // of the block
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
