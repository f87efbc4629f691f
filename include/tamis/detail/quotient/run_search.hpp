#pragma once

// Where the runs of a quotient table lie (Pandey, Bender, Johnson and Patro, "A general-purpose counting filter", SIGMOD 2017,
// section 3). A quotient has a run of slots, at or after the slot of its own number; runs lie in the order of their quotients,
// without a gap unless a run would otherwise stand before its own slot.
//
//   slot       0   1   2   3   4   5   6   7
//   occupied   .   1   .   1   1   .   .   .      quotients 1, 3 and 4 have runs
//   value      .   a   b   c   d   e   f   .      of 3, 1 and 2 slots: the j-th run ends at the j-th runend
//   runend     .   .   .   1   1   .   1   .      quotient 3 stands one slot, quotient 4 one slot behind its own
//
// Both bitmaps are cut into blocks. A block's offset says where the runs of its own quotients begin, so that rank and select
// stay inside the block, but for runs that leave it. An offset of 255 or more does not fit its byte; it is then found by
// walking from the last block whose offset does.
//
// Here runs are only looked for; detail/quotient/run_map.hpp changes them.

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <optional>

#include "tamis/detail/bits/balance.hpp"
#include "tamis/detail/quotient/block_headers.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// Slots [first, last).
struct slot_range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  std::uint64_t size() const { return last - first; }
  bool empty() const { return first == last; }
  friend bool operator==(const slot_range&, const slot_range&) = default;
};

template <unsigned BlockSlots, header_kind Headers>
class run_search {
  static_assert(1 <= BlockSlots && BlockSlots <= word_bits);

 public:
  static constexpr unsigned block_slots = BlockSlots;

  std::uint64_t blocks() const { return headers_.size(); }
  std::uint64_t slots() const { return blocks() * block_slots; }
  TAMIS_INLINE block_header header(std::uint64_t block) const { return headers_[block]; }

  // The part of a run that lies in its quotient's own block, which is number `i` there: what nearly every lookup needs, without
  // a branch.
  struct slots_in_block {
    std::uint64_t slots;     // bit j: slot j of the block belongs to the run
    std::uint64_t begin;     // the first slot where the run could begin, as a bit; 0 if that is not in the block
    std::uint64_t end;       // the slot behind the run, as a bit; 0 if that is not in the block
    std::uint64_t from_own;  // the slots from the quotient's own on; none if it has no run

    TAMIS_INLINE bool exists() const { return from_own != 0; }
    // More of the run may follow. Asked at once, by the sign: an end outside of the block is no news where there is no run.
    TAMIS_INLINE bool leaves() const { return static_cast<std::int64_t>(from_own & (end - 1)) < 0; }
  };
  TAMIS_INLINE static slots_in_block find_in_block(const block_header& header, std::uint64_t i) {
    const std::uint64_t from_own = ~(header.occupied & std::uint64_t{1} << i) + 1;
    const std::uint64_t pair = select_pair(header.bounds(), rank(header.occupied, static_cast<unsigned>(i)) % word_bits);
    const std::uint64_t end = pair & (pair - 1);
    const std::uint64_t begin = lowest_bit(pair);
    return {(end - begin) & from_own & low_mask(block_slots), begin, end, from_own};
  }
  // The slots of a run that leaves its block which lie in the next one, from that block's runends. Not known if the run begins
  // or ends even further on.  Requires: there is a next block.
  struct slots_behind {
    std::uint64_t slots;
    bool known;
  };
  TAMIS_INLINE static slots_behind find_behind(const block_header& header, std::uint64_t next_runends, std::uint64_t i) {
    if (header.offset >= block_slots) return {0, false};
    const unsigned runs = rank(header.occupied, static_cast<unsigned>(i) + 1);
    const unsigned ended = popcount(high_bits(header.runends, header.offset));
    if (ended >= runs) return {0, true};  // it ended with its own block's last slot
    const unsigned last = select(next_runends, runs - ended - 1);
    if (last >= block_slots) return {0, false};
    const unsigned first = runs - ended == 1 ? 0 : select(next_runends, runs - ended - 2) + 1;
    return {low_mask(last + 1) & ~low_mask(first), true};
  }
  TAMIS_INLINE slots_behind find_behind(std::uint64_t quotient) const {
    const std::uint64_t next = quotient / block_slots + 1;
    if (next == blocks()) return {0, true};  // it ended with the last slot
    return find_behind(headers_[next - 1], headers_.runends(next), quotient % block_slots);
  }
  // The slots of a block that belong to no run.
  TAMIS_INLINE static std::uint64_t free_slots(const block_header& header) {
    return header.offset < block_slots ? high_bits(balanced(header.occupied, header.ended()), header.offset) : 0;
  }
  // The run's slots from the quotient's own on: bit j is slot quotient + j. If the run leaves the block or begins behind it,
  // bit 63 and all others from the block's end on are ones, and the bits before them may be.
  TAMIS_INLINE static std::uint64_t find_from(const block_header& header,
                                              std::uint64_t quotient) requires(block_slots == word_bits) {
    const std::uint64_t up_to = header.occupied << (~quotient % word_bits);  // its sign: has the quotient a run?
    const std::uint64_t pair = select_pair(header.bounds(), popcount(up_to << 1) % word_bits);
    const std::uint64_t run = (pair & (pair - 1)) - (lowest_bit(pair)) - static_cast<std::uint64_t>(pair == 0);
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(run) >> (quotient % word_bits) &
                                      static_cast<std::int64_t>(up_to) >> 63);
  }

  // The run of a quotient; empty if it has none.
  TAMIS_INLINE slot_range find(std::uint64_t quotient) const {
    const std::uint64_t block = quotient / block_slots;
    const slots_in_block run = find_in_block(headers_[block], quotient % block_slots);
    if (run.leaves()) return find_far(quotient);
    const std::uint64_t first = block * block_slots + static_cast<unsigned>(std::countr_zero(run.slots));
    return run.slots == 0 ? slot_range{} : slot_range{first, first + popcount(run.slots)};
  }

  // The same for any run, wherever it ends; empty, and where the run would begin, if there is none.
  TAMIS_NOINLINE slot_range find_far(std::uint64_t quotient) const {
    const std::uint64_t first = begin_of(quotient);
    return {first, is_occupied(quotient) ? runend_after(first, 1) + 1 : first};
  }

  // Where a new slot would go, if it goes in front of the last one of its quotient's run: so values and runends move from the
  // same slot on.
  struct gap {
    std::uint64_t at;    // the new slot
    std::uint64_t free;  // slots [at, free) go up by one
    slot_range run;      // the quotient's run as it is now; empty, and at `at`, if there is none
  };
  // None if there is no free slot.
  TAMIS_INLINE std::optional<gap> find_gap(std::uint64_t quotient) const {
    gap found = find_gap_in_block(quotient);
    if (found.run.last < found.run.first) found = far_gap(quotient);
    found.free = next_free(found.at);
    if (found.free == slots()) return std::nullopt;
    return found;
  }
  // gap::at as a bit of the quotient's own block. If the run ends behind it, this is its last bit or more, and no slot from
  // there on is free.
  TAMIS_INLINE unsigned gap_in_block(std::uint64_t quotient) const {
    const auto i = static_cast<unsigned>(quotient % block_slots);
    const block_header header = headers_[quotient / block_slots];
    const unsigned end = std::max(i, select(header.bounds(), rank(header.occupied, i + 1)));
    return end - static_cast<unsigned>(header.occupied >> i & 1);
  }
  // The end of the slots that move down by one when `slot` is closed.  Requires: the slot belongs to a run.
  std::uint64_t end_of_close(std::uint64_t slot) const { return next_closed(slot + 1); }

  // The k-th runend at or after slot `from`, counted from 1.  Requires: it exists.
  std::uint64_t runend_after(std::uint64_t from, unsigned k) const {
    std::uint64_t block = from / block_slots;
    std::uint64_t ends = high_bits(headers_.runends(block), in_block(from));
    for (unsigned here; (here = popcount(ends)) < k; ends = headers_.runends(block)) {
      k -= here;
      ++block;
    }
    return block * block_slots + select(ends, k - 1);
  }

  // Where the runs of all quotients before this block have ended; the block's first slot if that was before it.
  std::uint64_t runs_before(std::uint64_t block) const {
    const unsigned offset = headers_.offset(block);
    if (offset != saturated_offset) return block * block_slots + offset;
    return walk_to(block);
  }

  // The last block, up to `block`, before which all runs have ended where `block` begins.
  std::uint64_t block_before(std::uint64_t block) const {
    std::uint64_t from = block;
    // A saturated offset says nothing, so it goes on.
    for (unsigned offset;
         (offset = headers_.offset(from)) == saturated_offset || from * block_slots + offset > block * block_slots;) {
      --from;
    }
    return from;
  }

  friend bool operator==(const run_search&, const run_search&) = default;

 protected:
  static constexpr std::uint64_t one(std::uint64_t slot) { return std::uint64_t{1} << (slot % block_slots); }
  static constexpr unsigned in_block(std::uint64_t slot) { return static_cast<unsigned>(slot % block_slots); }

  // runs_before(block + 1), from `end` = runs_before(block).
  std::uint64_t runs_after(std::uint64_t block, std::uint64_t end) const {
    const unsigned runs = popcount(headers_.occupied(block));
    if (runs != 0) end = runend_after(end, runs) + 1;
    return std::max(end, (block + 1) * block_slots);
  }

  block_headers<Headers> headers_;

 private:
  bool is_occupied(std::uint64_t quotient) const { return (headers_.occupied(quotient / block_slots) & one(quotient)) != 0; }

  // The gap but for its free slot, if the quotient's run ends in its own block; otherwise a run that ends before it begins.
  TAMIS_INLINE gap find_gap_in_block(std::uint64_t quotient) const {
    const std::uint64_t base = quotient / block_slots * block_slots;
    const auto i = static_cast<unsigned>(quotient % block_slots);
    const block_header header = headers_[quotient / block_slots];
    const std::uint64_t bounds = header.bounds();
    const unsigned runs = rank(header.occupied, i + 1);
    const auto occupied = static_cast<unsigned>(header.occupied >> i & 1);
    const unsigned end = std::max(i, select(bounds, runs));
    const unsigned begin = std::max(i, select(bounds, runs - occupied));
    if (select(bounds, runs) >= block_slots) return {0, 0, {1, 0}};
    return {base + end - occupied, 0, {base + begin, base + end}};
  }
  TAMIS_NOINLINE gap far_gap(std::uint64_t quotient) const {
    const slot_range run = find_far(quotient);
    return {run.empty() ? run.first : run.last - 1, 0, run};
  }

  TAMIS_COLD std::uint64_t walk_to(std::uint64_t block) const {
    std::uint64_t from = block;
    while (headers_.offset(from) == saturated_offset) --from;  // ends: the first block's offset is 0
    std::uint64_t end = from * block_slots + headers_.offset(from);
    for (; from < block; ++from) end = runs_after(from, end);
    return end;
  }

  // Where the quotient's run begins, or would begin.
  std::uint64_t begin_of(std::uint64_t quotient) const {
    const std::uint64_t block = quotient / block_slots;
    const std::uint64_t before = runs_before(block);
    const unsigned runs = rank(headers_.occupied(block), in_block(quotient));
    return std::max(quotient, runs == 0 ? before : runend_after(before, runs) + 1);
  }

  // The first slot at or after `slot` that belongs to no run; slots() if there is none.
  std::uint64_t next_free(std::uint64_t slot) const { return next_balanced(slot, 0); }
  // The first slot at or after `slot` before which all runs of smaller quotients have ended: it is free, or a run stands there
  // in its own place and cannot move down.
  std::uint64_t next_closed(std::uint64_t slot) const { return next_balanced(slot, 1); }

  std::uint64_t next_balanced(std::uint64_t slot, unsigned own) const {
    std::uint64_t block = slot / block_slots;
    if (block == blocks()) return slots();
    std::uint64_t before = runs_before(block);
    while (true) {
      const std::uint64_t from = std::max(slot, before) - block * block_slots;
      if (from < block_slots) {
        block_header header = headers_[block];
        const unsigned x = first_balanced(header.occupied << own, header.ended(), static_cast<unsigned>(from));
        if (x < block_slots) return block * block_slots + x;
      }
      if (block + 1 == blocks()) return slots();
      const unsigned offset = headers_.offset(block + 1);
      before = offset == saturated_offset ? runs_after(block, before) : (block + 1) * block_slots + offset;
      ++block;
    }
  }
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
