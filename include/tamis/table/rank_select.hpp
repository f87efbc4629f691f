#pragma once

// The engine of the quotient family: a table of runs (Pandey, Bender, Johnson and Patro, "A general-purpose counting filter",
// SIGMOD 2017, section 3). A quotient has a run of slots, at or after the slot of its own number; runs lie in the order of
// their quotients, without a gap unless a run would otherwise stand before its own slot.
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
// The table knows nothing about what its slots mean. It offers the run of a quotient and opens or closes one slot of it; all
// columns move along. There is no wrap-around: behind the last quotient's own slot lie spare slots, and a run that does not fit
// is refused. Readers may share a table; a writer must be alone.

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "tamis/bits/balance.hpp"
#include "tamis/table/block_headers.hpp"
#include "tamis/table/slot_values.hpp"

namespace tamis::inline TAMIS_LEVEL {

// What is chosen at compile time. The values' width and the number of quotients are chosen at run time.
struct rank_select_layout {
  unsigned block_slots = 64;  // at most 64
  bool coded = false;         // 56 more bits per block, for what the filter codes about the block's slots
  bool labels = false;        // a further byte per slot
};

// Slots [first, last).
struct slot_range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  std::uint64_t size() const { return last - first; }
  bool empty() const { return first == last; }
  friend bool operator==(const slot_range&, const slot_range&) = default;
};

template <rank_select_layout Layout = rank_select_layout{}>
class rank_select {
  static_assert(1 <= Layout.block_slots && Layout.block_slots <= word_bits);

 public:
  static constexpr unsigned block_slots = Layout.block_slots;

  // An empty table: every quotient below `quotients` has a slot of its own, and at least `spare` slots follow the last of them.
  static result<rank_select> make(std::uint64_t quotients, std::uint64_t spare, unsigned width) {
    assert(quotients != 0);
    rank_select made;
    const auto slots = checked_add(quotients, spare);
    if (!slots) return error{"a table of 2^64 slots or more cannot be addressed"};
    const std::uint64_t blocks = divide_up(*slots, block_slots);
    TAMIS_TRY(made.headers_, block_headers<Layout.coded>::make(blocks));
    TAMIS_TRY(made.values_, slot_values::make(blocks * block_slots, width));
    if constexpr (Layout.labels) {
      TAMIS_TRY(made.labels_, byte_column::make(blocks * block_slots));
    }
    made.quotients_ = quotients;
    return made;
  }

  std::uint64_t quotients() const { return quotients_; }
  std::uint64_t blocks() const { return headers_.size(); }
  std::uint64_t slots() const { return values_.size(); }
  std::uint64_t used() const { return used_; }  // slots that belong to runs
  unsigned width() const { return values_.width(); }
  std::uint64_t bits() const { return headers_.bits() + values_.bits() + labels_.bits(); }

  // Columns.
  const slot_values& values() const { return values_; }
  TAMIS_INLINE std::uint64_t value(std::uint64_t slot) const { return values_.get(slot); }
  TAMIS_INLINE void set_value(std::uint64_t slot, std::uint64_t value) { values_.set(slot, value); }
  TAMIS_INLINE std::uint64_t code(std::uint64_t block) const requires(Layout.coded) { return headers_.code(block); }
  TAMIS_INLINE void set_code(std::uint64_t block, std::uint64_t code) requires(Layout.coded) { headers_.set_code(block, code); }
  TAMIS_INLINE std::uint8_t label(std::uint64_t slot) const requires(Layout.labels) { return labels_.get(slot); }
  TAMIS_INLINE void set_label(std::uint64_t slot, std::uint8_t label) requires(Layout.labels) { labels_.set(slot, label); }
  // Which of the block's slots have this label.
  TAMIS_INLINE std::uint64_t labelled(std::uint64_t block, std::uint8_t label) const requires(Layout.labels) {
    return labels_.equal(block * block_slots, label);
  }

  TAMIS_INLINE void prefetch(std::uint64_t quotient) const {
    headers_.prefetch(quotient / block_slots);
    values_.prefetch(quotient / block_slots * block_slots);
    if constexpr (Layout.labels) labels_.prefetch(quotient / block_slots * block_slots);
  }

  // The part of a run that lies in its quotient's own block: what nearly every lookup needs, without a branch.
  struct near_run {
    std::uint64_t block;
    std::uint64_t slots;  // bit i: slot i of the block belongs to the run
    bool leaves;          // more of the run may follow in the next blocks
  };
  TAMIS_INLINE near_run find_near(std::uint64_t quotient) const {
    const std::uint64_t block = quotient / block_slots;
    const auto i = static_cast<unsigned>(quotient % block_slots);
    const block_header header = headers_[block];
    const std::uint64_t pair = select_pair(header.bounds(), popcount(header.occupied & low_mask(i + 1)) - 1);
    const std::uint64_t end = pair & (pair - 1);
    const std::uint64_t begin = pair & (~pair + 1);
    const std::uint64_t occupied = header.occupied >> i & 1;
    const std::uint64_t run = (end - begin) & (~std::uint64_t{0} << i) & (~occupied + 1) & low_mask(block_slots);
    return {block, run, (occupied & static_cast<std::uint64_t>(end == 0)) != 0};
  }

  // The run of a quotient; empty if it has none.
  TAMIS_INLINE slot_range find(std::uint64_t quotient) const {
    const near_run run = find_near(quotient);
    if (run.leaves) return find_far(quotient);
    const std::uint64_t first = run.block * block_slots + static_cast<unsigned>(std::countr_zero(run.slots));
    return run.slots == 0 ? slot_range{} : slot_range{first, first + popcount(run.slots)};
  }

  // Does a slot of the quotient's run hold this value?
  TAMIS_INLINE bool contains(std::uint64_t quotient, std::uint64_t value) const {
#if !TAMIS_HAS_AVX2
    if (width() >= 8) return contains_by_rank(quotient, value);
#endif
    const near_run run = find_near(quotient);
    if (values_.matches(run.block * block_slots, run.slots, value) != 0) return true;
    return run.leaves && contains_far(quotient, value);
  }

  // The first slot of the range that holds this value, or range.last.
  std::uint64_t find_value(slot_range range, std::uint64_t value) const {
    std::uint64_t slot = range.first;
    for (; slot < range.last; slot += block_slots) {
      const std::uint64_t left = std::min<std::uint64_t>(range.last - slot, block_slots);
      const std::uint64_t found = values_.matches(slot, low_mask(static_cast<unsigned>(left)), value);
      if (found != 0) return slot + static_cast<unsigned>(std::countr_zero(found));
    }
    return range.last;
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
    gap found = near_gap(quotient);
    if (found.run.last < found.run.first) found = far_gap(quotient);
    found.free = next_free(found.at);
    if (found.free == slots()) return std::nullopt;
    return found;
  }
  // Makes the slot `at`, of which the caller sets the columns. `at` may be moved within [run.first, run.last] before.
  void open(std::uint64_t quotient, const gap& g) {
    assert(g.run.first <= g.at && g.at <= g.run.last && g.at <= g.free);
    values_.move_up(g.at, g.free);
    if constexpr (Layout.labels) labels_.move_up(g.at, g.free);
    const bool ends_run = g.at == g.run.last;
    insert_runend(g.at, g.free, ends_run);
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

  // The end of the slots that move down by one when `slot` is closed.  Requires: the slot belongs to a run.
  std::uint64_t end_of_close(std::uint64_t slot) const { return next_closed(slot + 1); }
  // Removes a slot of the quotient's run.
  void close(std::uint64_t quotient, slot_range run, std::uint64_t slot, std::uint64_t end) {
    assert(run.first <= slot && slot < run.last && run.last <= end);
    values_.move_down(slot + 1, end);
    values_.set(end - 1, 0);
    if constexpr (Layout.labels) {
      labels_.move_down(slot + 1, end);
      labels_.set(end - 1, 0);
    }
    if (run.size() == 1) {
      flip_occupied(quotient);
    } else if (slot + 1 == run.last) {
      flip_runend(slot - 1);
    }
    remove_runend(slot, end - 1);
    lower_offsets(quotient / block_slots, (end - 1) / block_slots);
    --used_;
  }
  void close(std::uint64_t quotient, slot_range run, std::uint64_t slot) { close(quotient, run, slot, end_of_close(slot)); }

  // Goes through the runs in order, one at a time.
  class cursor {
   public:
    explicit cursor(const rank_select& table, std::uint64_t block = 0)
        : table_(&table), block_(block), left_(table.headers_.occupied(block)), run_{0, table.runs_before(block)} {
      next();
    }
    explicit operator bool() const { return block_ < table_->blocks(); }
    std::uint64_t quotient() const { return quotient_; }
    slot_range run() const { return run_; }
    void next() {
      while (left_ == 0) {
        if (++block_ == table_->blocks()) return;
        left_ = table_->headers_.occupied(block_);
      }
      quotient_ = block_ * block_slots + static_cast<unsigned>(std::countr_zero(left_));
      left_ &= left_ - 1;
      run_.first = std::max(run_.last, quotient_);
      run_.last = table_->runend_after(run_.first, 1) + 1;
    }

   private:
    const rank_select* table_;
    std::uint64_t block_;
    std::uint64_t left_;  // occupied bits of the block that are still to come
    std::uint64_t quotient_ = 0;
    slot_range run_;
  };

  // Calls visit(quotient, run) for every run, in order.
  template <class Visit>
  void for_each_run(Visit visit) const {
    for (cursor at(*this); at; at.next()) visit(at.quotient(), at.run());
  }
  // The same for the runs that have a slot in the block.
  template <class Visit>
  void for_each_run_in(std::uint64_t block, Visit visit) const {
    const slot_range here{block * block_slots, (block + 1) * block_slots};
    // Back to a block whose predecessors' runs end before this one; a saturated offset says nothing, so it goes on.
    std::uint64_t from = block;
    for (unsigned offset; (offset = headers_.offset(from)) == saturated_offset || from * block_slots + offset > here.first;)
      --from;
    for (cursor at(*this, from); at && at.run().first < here.last; at.next()) {
      if (at.run().last > here.first) visit(at.quotient(), at.run());
    }
  }

  // Builds a table in the order of its quotients: a run of `size` slots, of which the caller sets the columns. None if it does
  // not fit. Requires: all quotients so far were smaller, and only append has been used.
  std::optional<slot_range> append(std::uint64_t quotient, std::uint64_t size, std::uint64_t& end) {
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

  // All slots of both tables, in one pass through each. An error if they do not fit.  Requires: same shape; no codes.
  static result<rank_select> merged(const rank_select& a, const rank_select& b) requires(!Layout.coded) {
    TAMIS_TRY(rank_select made, make(a.quotients_, a.slots() - a.quotients_, a.width()));
    std::uint64_t end = 0;
    for (cursor x(a), y(b); x || y;) {
      const std::uint64_t quotient = !y || (x && x.quotient() <= y.quotient()) ? x.quotient() : y.quotient();
      const bool from_x = x && x.quotient() == quotient;
      const bool from_y = y && y.quotient() == quotient;
      const auto run = made.append(quotient, (from_x ? x.run().size() : 0) + (from_y ? y.run().size() : 0), end);
      if (!run) return error{"the two filters together do not fit into one of their size"};
      if (from_x) made.copy_run(a, x.run(), run->first), x.next();
      if (from_y) made.copy_run(b, y.run(), run->last - y.run().size()), y.next();
    }
    return made;
  }

  friend bool operator==(const rank_select&, const rank_select&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.quotients_, self.used_, self.headers_, self.values_);
    if constexpr (Layout.labels) archive(self.labels_);
  }
  // Fields from outside: after this, every operation stays inside the table and ends.
  status validate() const {
    if (values_.size() / block_slots != blocks() || values_.size() % block_slots != 0) {
      return error{"the table has " + std::to_string(values_.size()) + " slots in " + std::to_string(blocks()) + " blocks"};
    }
    if (quotients_ == 0 || quotients_ > slots()) {
      return error{"the table has " + std::to_string(quotients_) + " quotients and " + std::to_string(slots()) + " slots"};
    }
    if constexpr (Layout.labels) {
      if (labels_.size() != slots()) return error{"the number of labels is not that of the slots"};
    }
    return validate_runs();
  }

 private:
  static constexpr std::uint64_t one(std::uint64_t slot) { return std::uint64_t{1} << (slot % block_slots); }
  static constexpr unsigned in_block(std::uint64_t slot) { return static_cast<unsigned>(slot % block_slots); }

  bool is_occupied(std::uint64_t quotient) const {
    assert(quotient < quotients_);
    return (headers_.occupied(quotient / block_slots) & one(quotient)) != 0;
  }
  void flip_occupied(std::uint64_t quotient) {
    headers_.set_occupied(quotient / block_slots, headers_.occupied(quotient / block_slots) ^ one(quotient));
  }
  void flip_runend(std::uint64_t slot) {
    headers_.set_runends(slot / block_slots, headers_.runends(slot / block_slots) ^ one(slot));
  }

  // Without an instruction for select: compare first, and ask of what matches whether it lies in the right run.
  TAMIS_INLINE bool contains_by_rank(std::uint64_t quotient, std::uint64_t value) const {
    const std::uint64_t block = quotient / block_slots;
    const auto i = static_cast<unsigned>(quotient % block_slots);
    const block_header header = headers_[block];
    if ((header.occupied >> i & 1) == 0) return false;
    const std::uint64_t bounds = header.bounds();
    const unsigned rank = popcount(header.occupied & low_mask(i + 1));
    const std::uint64_t behind = (~std::uint64_t{0} << i) & low_mask(block_slots);
    for (std::uint64_t left = values_.matches(block * block_slots, behind, value); left != 0; left &= left - 1) {
      if (popcount(bounds & low_mask(static_cast<unsigned>(std::countr_zero(left)) + 1)) == rank) return true;
    }
    return popcount(bounds) <= rank && contains_far(quotient, value);
  }
  TAMIS_NOINLINE bool contains_far(std::uint64_t quotient, std::uint64_t value) const {
    const slot_range run = find_far(quotient);
    return find_value(run, value) != run.last;
  }
  TAMIS_NOINLINE slot_range find_far(std::uint64_t quotient) const {
    const std::uint64_t first = begin_of(quotient);
    return {first, is_occupied(quotient) ? runend_after(first, 1) + 1 : first};
  }

  // The gap but for its free slot, if the quotient's run ends in its own block; otherwise a run that ends before it begins.
  TAMIS_INLINE gap near_gap(std::uint64_t quotient) const {
    const std::uint64_t base = quotient / block_slots * block_slots;
    const auto i = static_cast<unsigned>(quotient % block_slots);
    const block_header header = headers_[quotient / block_slots];
    const std::uint64_t bounds = header.bounds();
    const unsigned rank = popcount(header.occupied & low_mask(i + 1));
    const auto occupied = static_cast<unsigned>(header.occupied >> i & 1);
    const unsigned end = std::max(i, select(bounds, rank));
    const unsigned begin = std::max(i, select(bounds, rank - occupied));
    if (select(bounds, rank) >= block_slots) return {0, 0, {1, 0}};
    return {base + end - occupied, 0, {base + begin, base + end}};
  }
  TAMIS_NOINLINE gap far_gap(std::uint64_t quotient) const {
    const slot_range run = find_far(quotient);
    return {run.empty() ? run.first : run.last - 1, 0, run};
  }

  // The k-th runend at or after slot `from`, counted from 1.  Requires: it exists.
  std::uint64_t runend_after(std::uint64_t from, unsigned k) const {
    std::uint64_t block = from / block_slots;
    std::uint64_t ends = headers_.runends(block) & ~low_mask(in_block(from));
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
  TAMIS_COLD std::uint64_t walk_to(std::uint64_t block) const {
    std::uint64_t from = block;
    while (headers_.offset(from) == saturated_offset) --from;  // ends: the first block's offset is 0
    std::uint64_t end = from * block_slots + headers_.offset(from);
    for (; from < block; ++from) end = runs_after(from, end);
    return end;
  }
  // runs_before(block + 1), from `end` = runs_before(block).
  std::uint64_t runs_after(std::uint64_t block, std::uint64_t end) const {
    const unsigned runs = popcount(headers_.occupied(block));
    if (runs != 0) end = runend_after(end, runs) + 1;
    return std::max(end, (block + 1) * block_slots);
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

  // Runends [at, last) go up by one, over what bit `last` was, and bit `at` becomes `bit`.
  void insert_runend(std::uint64_t at, std::uint64_t last, bool bit) {
    for (std::uint64_t block = last / block_slots;; --block) {
      const bool lowest = block == at / block_slots;
      const std::uint64_t word = headers_.runends(block);
      const unsigned low = lowest ? in_block(at) : 0;
      const unsigned high = block == last / block_slots ? in_block(last) : block_slots - 1;
      const std::uint64_t carry = lowest ? bit : headers_.runends(block - 1) >> (block_slots - 1);
      const std::uint64_t moved = (word << 1 & ~low_mask(low + 1)) | carry << low;
      headers_.set_runends(block, blend(word, moved, low_mask(high + 1) & ~low_mask(low)));
      if (lowest) return;
    }
  }
  // Runends (at, last] go down by one, over what bit `at` was, and bit `last` becomes 0.
  void remove_runend(std::uint64_t at, std::uint64_t last) {
    for (std::uint64_t block = at / block_slots;; ++block) {
      const bool highest = block == last / block_slots;
      const std::uint64_t word = headers_.runends(block);
      const unsigned low = block == at / block_slots ? in_block(at) : 0;
      const unsigned high = highest ? in_block(last) : block_slots - 1;
      const std::uint64_t carry = highest ? 0 : headers_.runends(block + 1) & 1;
      const std::uint64_t moved = (word >> 1 & low_mask(high)) | carry << high;
      headers_.set_runends(block, blend(word, moved, low_mask(high + 1) & ~low_mask(low)));
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

  status validate_runs() const {
    const std::uint64_t extra = ~low_mask(block_slots);
    std::uint64_t end = 0;
    std::uint64_t used = 0;
    for (std::uint64_t block = 0; block < blocks(); ++block) {
      const block_header header = headers_[block];
      const std::uint64_t offset = end - std::min(end, block * block_slots);
      if (header.offset != std::min<std::uint64_t>(offset, saturated_offset)) return damaged(block, "a wrong offset");
      if (((header.occupied | header.runends) & extra) != 0) return damaged(block, "bits beyond its slots");
      for (std::uint64_t left = header.occupied; left != 0; left &= left - 1) {
        const std::uint64_t quotient = block * block_slots + static_cast<unsigned>(std::countr_zero(left));
        if (quotient >= quotients_) return damaged(block, "a run of a quotient that does not exist");
        const std::uint64_t first = std::max(end, quotient);
        const std::uint64_t runend = find_runend(end);
        if (runend < first || runend == slots()) return damaged(block, "a run without an end, or an end without a run");
        used += runend + 1 - first;
        end = runend + 1;
      }
    }
    if (find_runend(end) != slots()) return error{"the table has the end of a run that does not exist"};
    if (used != used_) return error{"the table has " + std::to_string(used) + " slots in use, not " + std::to_string(used_)};
    return {};
  }
  void copy_run(const rank_select& other, slot_range run, std::uint64_t to) {
    for (std::uint64_t slot = run.first; slot < run.last; ++slot, ++to) {
      values_.set(to, other.values_.get(slot));
      if constexpr (Layout.labels) labels_.set(to, other.labels_.get(slot));
    }
  }

  // The first runend at or after a slot, slots() if there is none.
  std::uint64_t find_runend(std::uint64_t slot) const {
    for (std::uint64_t block = slot / block_slots; block < blocks(); ++block) {
      const unsigned from = block == slot / block_slots ? in_block(slot) : 0;
      const std::uint64_t ends = headers_.runends(block) & ~low_mask(from);
      if (ends != 0) return block * block_slots + static_cast<unsigned>(std::countr_zero(ends));
    }
    return slots();
  }
  static error damaged(std::uint64_t block, const char* what) {
    return error{"block " + std::to_string(block) + " of the table has " + what};
  }

  std::uint64_t quotients_ = 0;
  std::uint64_t used_ = 0;
  block_headers<Layout.coded> headers_;
  slot_values values_;
  byte_column labels_;  // empty unless Layout.labels
};

}  // namespace tamis::inline TAMIS_LEVEL
