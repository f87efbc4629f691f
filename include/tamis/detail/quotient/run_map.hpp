#pragma once

// The runs of a quotient table, and how they change: a slot of a run is opened or closed, and the runends and the offsets of
// all that moves follow. The slots' values are the business of detail/quotient/rank_select.hpp.

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <optional>
#include <string>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/quotient/run_search.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

template <unsigned BlockSlots, header_kind Headers>
class run_map : public run_search<BlockSlots, Headers> {
  using base = run_search<BlockSlots, Headers>;
  using base::in_block;
  using base::runs_after;

 public:
  using base::block_slots;
  using base::blocks;
  using base::runs_before;
  using base::slots;
  using typename base::gap;

  std::uint64_t quotients() const { return quotients_; }
  TAMIS_INLINE std::uint64_t used() const { return used_; }  // slots that belong to runs
  // Is the last block free, so that as many slots as it has can be opened, whatever their quotients?
  TAMIS_INLINE bool has_free_end() const { return headers_.last_runends() == 0; }

  // A run of one slot, the quotient's own, if nothing stands there: what most inserts into a table that is not yet half full
  // need, without a search for room. In a fuller one nobody can foresee whether it is free, and it is not tried. The caller
  // sets the columns.
  TAMIS_INLINE bool open_at_home(std::uint64_t quotient) {
    if (!tries_own_slots()) return false;
    const std::uint64_t block = quotient / block_slots;
    const block_header header = headers_[block];
    const std::uint64_t up_to = low_mask(in_block(quotient) + 1);
    // Free: all runs that have begun here up to this slot have ended before it. A run of the quotient itself would not have.
    if (header.offset > in_block(quotient) || popcount(header.occupied & up_to) != popcount(header.ended() & up_to))
      return false;
    headers_.set_occupied(block, header.occupied | one(quotient));
    headers_.set_runends(block, header.runends | one(quotient));
    ++used_;
    return true;
  }

  // Is the quotient's run its own slot and no more, and does nothing stand behind it that would move down? Asked where most
  // runs are like that, as above.
  TAMIS_INLINE bool is_alone(std::uint64_t quotient) const {
    if (!tries_own_slots()) return false;
    const block_header header = headers_[quotient / block_slots];
    const unsigned up_to = in_block(quotient) + 1;
    const std::uint64_t ends = high_bits(header.runends, header.offset);
    return (header.occupied & ends & one(quotient)) != 0 && rank(header.occupied, up_to) == rank(ends, up_to);
  }

  // Up to which load a quotient's own slot is worth a branch that may be mispredicted: what stands behind it is faster with
  // wider instructions.
  static constexpr unsigned own_slot_eighths = TAMIS_HAS_AVX512 ? 3 : TAMIS_HAS_AVX2 ? 4 : 6;
  TAMIS_INLINE bool tries_own_slots() const { return used_ <= quotients_ / 8 * own_slot_eighths; }

  // The header's part of opening gap_in_block(quotient) where the next free slot lies in the same block, without a branch.
  TAMIS_INLINE void open_in_block(std::uint64_t quotient, unsigned at, unsigned free) {
    const block_header header = headers_[quotient / block_slots];
    std::uint8_t* const here = headers_.place(quotient / block_slots);
    const std::uint64_t ends_run = ~header.occupied >> in_block(quotient) & 1;  // it is the whole run
    headers_.set_occupied(here, header.occupied | one(quotient));
    headers_.set_runends(here, with_bit_inserted(header.runends, at, free, ends_run));
    ++used_;
  }

  // The header's part of a change that moves slots of one block only, without a branch that depends on how the runs lie.
  // The slot `at` comes into being as the first of the quotient's run, those up to `free` go up by one.
  // Requires: the block's header, and where it stands; nothing stands at `free`, in the same block.
  TAMIS_INLINE void open_first_in_block(std::uint64_t quotient, const block_header& header, std::uint8_t* here, bool has_run,
                                        unsigned at, unsigned free) {
    headers_.set_occupied(here, header.occupied | one(quotient));
    headers_.set_runends(here, with_bit_inserted(header.runends, at, free, static_cast<std::uint64_t>(!has_run)));
    ++used_;
  }
  // The slot `at` of a run that ends in its block goes, those before `end` go down by one.
  TAMIS_INLINE void close_in_block(std::uint64_t quotient, const block_header& header, std::uint8_t* here, std::uint64_t run,
                                   unsigned at, unsigned end) {
    const auto is_more = static_cast<std::uint64_t>((run & (run - 1)) != 0);
    // If the last of several goes, the one before it is the last.
    const std::uint64_t ends = header.runends | (header.runends & is_more << at) >> 1;
    headers_.set_occupied(here, header.occupied ^ (is_more ^ 1) << in_block(quotient));
    headers_.set_runends(here, with_bit_removed(ends, at, end - 1));
    --used_;
  }

  friend bool operator==(const run_map&, const run_map&) = default;

 protected:
  using base::headers_;
  using base::one;

  run_map() = default;

  // No runs yet: every quotient has a slot of its own, and at least `spare` slots follow the last of them.
  status reset(std::uint64_t quotients, std::uint64_t spare, bool with_high_bits) {
    assert(quotients != 0);
    const auto needed = checked_add(quotients, spare);
    if (!needed) return failure{"a table of 2^64 slots or more cannot be addressed"};
    TAMIS_TRY(headers_, block_headers<Headers>::make(divide_up(*needed, block_slots), with_high_bits));
    quotients_ = quotients;
    used_ = 0;
    return {};
  }

  // The slot g.at comes into being, those up to g.free go up by one.
  void open_run(std::uint64_t quotient, const gap& g) {
    assert(g.run.first <= g.at && g.at <= g.run.last && g.at <= g.free);
    const bool ends_run = g.at == g.run.last;
    insert_bit<runends_column>(g.at, g.free, ends_run);
    if (g.run.empty()) {
      flip_occupied(quotient);
    } else if (ends_run) {
      flip_runend(g.at - 1);
    }
    for (std::uint64_t block = quotient / block_slots + 1; block <= g.free / block_slots; ++block) {
      headers_.set_offset(block, headers_.offset(block) + 1);
    }
    ++used_;
  }

  // A slot of the quotient's run goes, those up to `end` go down by one.
  void close_run(std::uint64_t quotient, slot_range run, std::uint64_t slot, std::uint64_t end) {
    assert(run.first <= slot && slot < run.last && run.last <= end);
    if (run.size() == 1) {
      flip_occupied(quotient);
    } else if (slot + 1 == run.last) {
      flip_runend(slot - 1);
    }
    remove_bit<runends_column>(slot, end - 1);
    lower_offsets(quotient / block_slots, (end - 1) / block_slots);
    --used_;
  }

  // Takes away the run of a quotient that is alone.
  void close_alone_run(std::uint64_t quotient) {
    flip_occupied(quotient);
    flip_runend(quotient);
    --used_;
  }

  // The slots' bits in the headers move like the slots.
  void open_top(const gap& g) { insert_bit<high_bit_column>(g.at, g.free, false); }
  void close_top(std::uint64_t slot, std::uint64_t end) { remove_bit<high_bit_column>(slot, end - 1); }

  // A run of `size` slots at or after `end`, behind all others. None if it does not fit.
  std::optional<slot_range> append_run(std::uint64_t quotient, std::uint64_t size, std::uint64_t& end) {
    assert(quotient < quotients_ && size != 0);
    const slot_range run{std::max(end, quotient), std::max(end, quotient) + size};
    if (run.last > slots()) return std::nullopt;
    flip_occupied(quotient);
    flip_runend(run.last - 1);
    for (std::uint64_t block = quotient / block_slots + 1; block <= (run.last - 1) / block_slots; ++block) {
      headers_.set_offset(block, run.last - block * block_slots);
    }
    used_ += size;
    end = run.last;
    return run;
  }

  // The same for all quotients of a block at once: the ends of their runs one by one, then which quotients have runs and where
  // the last one ends. At the very end, how many slots all runs have.  Requires: the blocks in order, and only these functions.
  TAMIS_INLINE void append_runends(std::uint64_t block, std::uint64_t bits) {
    headers_.set_runends(block, headers_.runends(block) | bits);
  }
  TAMIS_INLINE void append_block(std::uint64_t block, std::uint64_t occupied, std::uint64_t end) {
    headers_.set_occupied(block, occupied);
    for (std::uint64_t behind = block + 1; behind * block_slots < end; ++behind) {
      headers_.set_offset(behind, end - behind * block_slots);
    }
  }
  void note_appended(std::uint64_t used) { used_ = used; }

  // Fields from outside: after this, every operation stays inside the table and ends. The j-th run ends with the j-th runend:
  // what has to be shown is that there are as many of both, that no run ends before its quotient's own slot, and that offsets
  // say where runs have ended. A runend that comes too early is the first one to stand in a slot that is free by the header.
  status validate_runs() const {
    if (is_wrong(quotients_ == 0) || is_wrong(quotients_ > slots())) {
      return failure{"the table has " + std::to_string(quotients_) + " quotients and " + std::to_string(slots()) + " slots"};
    }
    const std::uint64_t extra = ~low_mask(block_slots);
    std::uint64_t end = 0;  // of the runs of all blocks so far
    std::uint64_t free = 0;
    for (std::uint64_t block = 0; block < blocks(); ++block) {
      const block_header header = headers_[block];
      const std::uint64_t begin = block * block_slots;
      const std::uint64_t offset = end - std::min(end, begin);
      if (is_wrong(header.offset != std::min<std::uint64_t>(offset, saturated_offset))) return damaged(block, "a wrong offset");
      if (is_wrong(((header.occupied | header.runends) & extra) != 0)) return damaged(block, "bits beyond its slots");
      if (is_wrong(header.occupied != 0 && begin + std::bit_width(header.occupied) > quotients_)) {
        return damaged(block, "a run of a quotient that does not exist");
      }
      const std::uint64_t free_here = base::free_slots(header) & ~extra;
      if (is_wrong((free_here & header.runends) != 0)) return unmatched(block);
      free += popcount(free_here);
      if (header.occupied == 0) continue;
      const std::uint64_t ends = high_bits(header.runends, header.offset);
      const unsigned open = popcount(header.occupied) - popcount(ends);  // none has ended too often
      end = open == 0 ? begin + std::bit_width(ends) : std::max(end, begin + block_slots);
      if (open != 0 && is_wrong(!skip_runends(open, end))) return unmatched(block);
    }
    const std::uint64_t used = slots() - free;
    if (is_wrong(used != used_))
      return failure{"the table has " + std::to_string(used) + " slots in use, not " + std::to_string(used_)};
    return {};
  }

  std::uint64_t quotients_ = 0;
  std::uint64_t used_ = 0;

 private:
  void flip_occupied(std::uint64_t quotient) {
    headers_.set_occupied(quotient / block_slots, headers_.occupied(quotient / block_slots) ^ one(quotient));
  }
  void flip_runend(std::uint64_t slot) {
    headers_.set_runends(slot / block_slots, headers_.runends(slot / block_slots) ^ one(slot));
  }

  struct runends_column {
    static std::uint64_t get(const block_headers<Headers>& headers, std::uint64_t block) { return headers.runends(block); }
    static void set(block_headers<Headers>& headers, std::uint64_t block, std::uint64_t word) {
      headers.set_runends(block, word);
    }
  };
  struct high_bit_column {
    static std::uint64_t get(const block_headers<Headers>& headers, std::uint64_t block) { return headers.high_bits(block); }
    static void set(block_headers<Headers>& headers, std::uint64_t block, std::uint64_t word) {
      headers.set_high_bits(block, word);
    }
  };

  // A column's bits [at, last) go up by one, over what bit `last` was, and bit `at` becomes `bit`.
  template <class Column>
  void insert_bit(std::uint64_t at, std::uint64_t last, bool bit) {
    for (std::uint64_t block = last / block_slots;; --block) {
      const bool lowest = block == at / block_slots;
      const std::uint64_t word = Column::get(headers_, block);
      const unsigned low = lowest ? in_block(at) : 0;
      const unsigned high = block == last / block_slots ? in_block(last) : block_slots - 1;
      const std::uint64_t carry = lowest ? bit : Column::get(headers_, block - 1) >> (block_slots - 1);
      Column::set(headers_, block, with_bit_inserted(word, low, high, carry));
      if (lowest) return;
    }
  }
  // Bits (at, last] go down by one, over what bit `at` was, and bit `last` becomes 0.
  template <class Column>
  void remove_bit(std::uint64_t at, std::uint64_t last) {
    for (std::uint64_t block = at / block_slots;; ++block) {
      const bool highest = block == last / block_slots;
      const std::uint64_t word = Column::get(headers_, block);
      const unsigned low = block == at / block_slots ? in_block(at) : 0;
      const unsigned high = highest ? in_block(last) : block_slots - 1;
      const std::uint64_t carry = highest ? 0 : Column::get(headers_, block + 1) & 1;
      Column::set(headers_, block, with_bit_removed(word, low, high) | carry << high);
      if (highest) return;
    }
  }

  // The runs of the quotients up to block `from` have lost a slot: all blocks up to `last` start one slot earlier.
  void lower_offsets(std::uint64_t from, std::uint64_t last) {
    std::uint64_t before = 0;  // runs_before(block - 1), if it is known although the offset does not say it
    bool known = false;
    for (std::uint64_t block = from + 1; block <= last; ++block) {
      const unsigned offset = headers_.offset(block);
      if (offset != saturated_offset) {
        headers_.set_offset(block, offset - 1);
        known = false;
      } else {
        before = runs_after(block - 1, known ? before : runs_before(block - 1));
        headers_.set_offset(block, before - block * block_slots);
        known = true;
      }
    }
  }

  // Moves a slot behind the next `count` runends, which come at or after it. False if there are fewer.
  bool skip_runends(unsigned count, std::uint64_t& slot) const {
    for (std::uint64_t block = slot / block_slots; block < blocks(); ++block) {
      const std::uint64_t ends = high_bits(headers_.runends(block), block == slot / block_slots ? in_block(slot) : 0);
      const unsigned here = popcount(ends);
      if (here >= count) {
        slot = block * block_slots + select(ends, count - 1) + 1;
        return true;
      }
      count -= here;
    }
    return false;
  }
  static failure unmatched(std::uint64_t block) { return damaged(block, "a run without an end, or an end without a run"); }
  static failure damaged(std::uint64_t block, const char* what) {
    return failure{"block " + std::to_string(block) + " of the table has " + what};
  }
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
