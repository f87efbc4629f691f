#pragma once

// A quotient table whose slots are apart from its quotients: any number of quotients, S slots for every 64 of them (36 to 64 in
// use), slots of any width. detail/quotient/run_words.hpp says where runs lie, detail/quotient/block_memory.hpp where their
// bits stand. Slots hold what the caller puts there, in an order that the caller keeps; the table opens, closes and finds them.
//
// An offset of 255 or more does not fit its byte; it is then found by walking from the last block whose offset does.
//
// No operation but make() and those that answer a new table takes memory.

#include <algorithm>
#include <bit>
#include <cassert>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/quotient/run_words.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// A slot: number i of its block. The one behind the last slot is slot 0 of a block that does not exist.
struct block_slot {
  std::uint64_t block = 0;
  unsigned i = 0;

  friend constexpr auto operator<=>(const block_slot&, const block_slot&) = default;  // NOLINT(modernize-use-nullptr)
};

// The slots of one quotient: `size` of them from `first` on.
struct slot_run {
  block_slot first;
  std::uint64_t size = 0;

  friend constexpr bool operator==(const slot_run&, const slot_run&) = default;
};

class spaced_table {
 public:
  spaced_table() = default;

  // Every quotient has its home, and at least `spare` slots follow the last of them.
  static result<spaced_table> make(std::uint64_t quotients, std::uint64_t spare, spacing s, unsigned width) {
    assert(quotients != 0);
    TAMIS_TRY(const std::uint64_t blocks, blocks_of(quotients, spare, s));
    spaced_table made;
    TAMIS_TRY(made.memory_, block_memory::make(block_layout(s, width), blocks));
    made.quotients_ = quotients;
    return made;
  }
  // The same runs with at least `spare` slots behind the last home.
  result<spaced_table> widened(std::uint64_t spare) const {
    TAMIS_TRY(const std::uint64_t blocks, blocks_of(quotients_, spare, spaced()));
    spaced_table wider;
    TAMIS_TRY(wider.memory_, memory_.lengthened(std::max(blocks, this->blocks())));
    wider.quotients_ = quotients_;
    wider.used_ = used_;
    return wider;
  }
  // Slots from the first on that are homes.
  static constexpr std::uint64_t homes_of(std::uint64_t quotients, spacing s) {
    const auto left = static_cast<unsigned>(quotients % block_quotients);
    return quotients / block_quotients * s.slots() + (left == 0 ? 0 : s.home(left - 1) + 1);
  }
  static result<std::uint64_t> blocks_of(std::uint64_t quotients, std::uint64_t spare, spacing s) {
    constexpr std::uint64_t most = std::uint64_t{1} << 56;
    if (quotients > most || spare > most) return failure{"a table of more than 2^56 quotients cannot be addressed"};
    const std::uint64_t homes = homes_of(quotients, s);
    return std::max<std::uint64_t>(divide_up(homes + spare, s.slots()), divide_up(quotients, block_quotients));
  }

  std::uint64_t quotients() const { return quotients_; }
  std::uint64_t blocks() const { return memory_.blocks(); }
  std::uint64_t slots() const { return blocks() * slots_per_block(); }
  std::uint64_t homes() const { return homes_of(quotients_, spaced()); }
  std::uint64_t used() const { return used_; }  // slots that belong to runs
  std::uint64_t bits() const { return memory_.bits(); }
  TAMIS_INLINE unsigned width() const { return memory_.layout().width(); }
  TAMIS_INLINE spacing spaced() const { return memory_.layout().spaced(); }
  TAMIS_INLINE unsigned slots_per_block() const { return memory_.layout().slots(); }
  const block_memory& memory() const { return memory_; }
  void move_up() noexcept { memory_.move_up(); }

  TAMIS_INLINE void prefetch(std::uint64_t quotient) const { memory_.prefetch(quotient / block_quotients); }

  // Is the value in one of the quotient's slots?
  template <unsigned Width = 0>
  TAMIS_INLINE bool contains(std::uint64_t quotient, std::uint64_t value) const {
    const std::uint8_t* const record = memory_.record(quotient / block_quotients);
    const run_in_block run = find_in_block<Width>(record, quotient);
    if ((memory_.equal<Width>(record, value) & run.slots) != 0) return true;
    return run.leaves && contains_far<Width>(quotient, value);
  }
  // The same for any run, wherever it lies.  Requires: there is one.
  template <unsigned Width>
  TAMIS_NOINLINE bool contains_far(std::uint64_t quotient, std::uint64_t value) const {
    return find_value<Width>(find_far<Width>(quotient), value).has_value();
  }

  // Where the quotient's run lies in its own block, whose record this is.
  template <unsigned Width = 0>
  TAMIS_INLINE run_in_block find_in_block(const std::uint8_t* record, std::uint64_t quotient) const {
    return tamis::detail::find_in_block(memory_.header<Width>(record), spaced(), quotient % block_quotients);
  }
  // The run of a quotient; without slots, and where it would begin, if there is none.
  template <unsigned Width = 0>
  TAMIS_INLINE slot_run find(std::uint64_t quotient) const {
    const std::uint64_t block = quotient / block_quotients;
    const run_in_block run = find_in_block<Width>(memory_.record(block), quotient);
    if (run.slots == 0 || run.leaves) return find_far<Width>(quotient);
    return {{block, static_cast<unsigned>(std::countr_zero(run.slots))}, popcount(run.slots)};
  }
  template <unsigned Width = 0>
  TAMIS_NOINLINE slot_run find_far(std::uint64_t quotient) const {
    if (!is_occupied(quotient)) return {begin_of(quotient), 0};
    if (const auto run = find_in_two<Width>(quotient)) return *run;
    const block_slot first = begin_of(quotient);
    return {first, distance(first, runend_after(first, 1)) + 1};
  }
  bool is_occupied(std::uint64_t quotient) const {
    return (block_memory::occupied(memory_.record(quotient / block_quotients)) >> (quotient % block_quotients) & 1) != 0;
  }

  // Which of the slots `among` of a block hold the value; in the aged format, which agree with it.
  template <unsigned Width = 0, slot_format Format = slot_format::uniform>
  TAMIS_INLINE std::uint64_t matches(std::uint64_t block, std::uint64_t among, std::uint64_t value) const {
    return among & memory_.matching<Width, Format>(memory_.record(block), value);
  }
  template <unsigned Width = 0>
  TAMIS_INLINE std::uint64_t value(block_slot at) const {
    return memory_.value<Width>(memory_.record(at.block), at.i);
  }
  template <unsigned Width = 0>
  TAMIS_INLINE void set_value(block_slot at, std::uint64_t value) {
    memory_.set_value<Width>(memory_.record(at.block), at.i, value);
  }

  TAMIS_INLINE block_slot next(block_slot at) const { return ++at.i == slots_per_block() ? block_slot{at.block + 1, 0} : at; }
  TAMIS_INLINE block_slot previous(block_slot at) const {
    return at.i == 0 ? block_slot{at.block - 1, slots_per_block() - 1} : block_slot{at.block, at.i - 1};
  }
  block_slot advanced(block_slot at, std::uint64_t by) const {
    const std::uint64_t i = at.i + by;
    if (i < slots_per_block()) return {at.block, static_cast<unsigned>(i)};
    return {at.block + i / slots_per_block(), static_cast<unsigned>(i % slots_per_block())};
  }
  // Slots from one to the other.  Requires: from <= to.
  std::uint64_t distance(block_slot from, block_slot to) const {
    return (to.block - from.block) * slots_per_block() + to.i - from.i;
  }
  block_slot end_of(const slot_run& run) const { return advanced(run.first, run.size); }

  // A new slot at `at`, which is in the quotient's run or just behind it; `run` gets it. The caller sets its value. False, and
  // nothing has changed, if there is no free slot behind it.
  template <unsigned Width = 0>
  bool open(std::uint64_t quotient, slot_run& run, block_slot at) {
    const block_slot free = next_free(at);
    if (free.block == blocks()) return false;
    const bool ends_run = at == end_of(run);
    std::uint8_t* const own = memory_.record(quotient / block_quotients);
    if (run.size == 0) {
      block_memory::set_occupied(own, block_memory::occupied(own) | std::uint64_t{1} << (quotient % block_quotients));
    } else if (ends_run) {
      flip_runend(previous(at));
    }
    move_up<Width>(at, free, ends_run);
    for (std::uint64_t block = quotient / block_quotients + 1; block <= free.block; ++block) {
      std::uint8_t* const record = memory_.record(block);
      block_memory::set_offset(record, block_memory::offset(record) + 1);
    }
    ++run.size;
    ++used_;
    return true;
  }

  // The slot goes, and `run` loses it.  Requires: it is one of the quotient's run.
  template <unsigned Width = 0>
  void close(std::uint64_t quotient, slot_run& run, block_slot at) {
    assert(run.size != 0);
    const block_slot end = next_closed(next(at));
    if (run.size == 1) {
      std::uint8_t* const own = memory_.record(quotient / block_quotients);
      block_memory::set_occupied(own, block_memory::occupied(own) ^ std::uint64_t{1} << (quotient % block_quotients));
    } else if (next(at) == end_of(run)) {
      flip_runend(previous(at));
    }
    const block_slot last = previous(end);
    move_down<Width>(at, last);
    lower_offsets(quotient / block_quotients, last.block);
    --run.size;
    --used_;
  }

  // Puts a value into the quotient's run, as the first of its slots. False, and nothing has changed, if there is no room.
  template <unsigned Width = 0>
  TAMIS_INLINE bool insert(std::uint64_t quotient, std::uint64_t value) {
    return insert_in_block<Width, false>(quotient, value) || insert_far<Width>(quotient, value);
  }
  // The same in a run whose first two slots do not descend, and will not, if only slots of the quotient's own block move.
  // False, and nothing has changed, if that is not so, or if they do descend.
  template <unsigned Width = 0>
  TAMIS_INLINE bool insert_ordered_in_block(std::uint64_t quotient, std::uint64_t value) {
    return insert_in_block<Width, true>(quotient, value);
  }

  // Do the first two slots of a run descend?  Requires: there are two.
  template <unsigned Width = 0>
  TAMIS_INLINE bool descends(block_slot first) const {
    if (first.i + 1 == slots_per_block()) return value<Width>(first) > value<Width>(next(first));
    return memory_.exceeds_next<Width>(memory_.record(first.block), first.i);
  }

  // Takes one slot with this value out of the quotient's run. False if there is none.
  bool erase(std::uint64_t quotient, std::uint64_t value) {
    slot_run run = find(quotient);
    const auto at = find_value(run, value);
    if (!at) return false;
    close(quotient, run, *at);
    return true;
  }
  // The first slot of a run that holds the value, or agrees with it.
  template <unsigned Width = 0, slot_format Format = slot_format::uniform>
  std::optional<block_slot> find_value(const slot_run& run, std::uint64_t value) const {
    std::optional<block_slot> found;
    for_each_part(run, [&](std::uint64_t block, std::uint64_t slots) {
      const std::uint64_t equal = matches<Width, Format>(block, slots, value);
      if (equal != 0) found = block_slot{block, static_cast<unsigned>(std::countr_zero(equal))};
      return equal == 0;
    });
    return found;
  }
  std::uint64_t count_value(const slot_run& run, std::uint64_t value) const {
    std::uint64_t count = 0;
    for_each_part(run, [&](std::uint64_t block, std::uint64_t slots) {
      count += popcount(matches(block, slots, value));
      return true;
    });
    return count;
  }

  // The quotient's run becomes these values. False, and nothing has changed, if there is no room.
  bool assign(std::uint64_t quotient, std::span<const std::uint64_t> values) {
    slot_run run = find(quotient);
    const std::uint64_t before = run.size;
    while (run.size < values.size()) {
      if (open(quotient, run, end_of(run))) continue;
      while (run.size > before) close(quotient, run, previous(end_of(run)));
      return false;
    }
    while (run.size > values.size()) close(quotient, run, previous(end_of(run)));
    block_slot at = run.first;
    for (const std::uint64_t value : values) set_value(at, value), at = next(at);
    return true;
  }

  // Calls visit(value) for the slots of a run, in order.
  template <class Visit>
  void for_each_value(const slot_run& run, Visit visit) const {
    block_slot at = run.first;
    for (std::uint64_t left = run.size; left != 0; --left, at = next(at)) visit(value(at));
  }

  // Calls visit(quotient, run) for every run, in order.
  template <class Visit>
  void for_each_run(Visit visit) const {
    block_slot end{0, 0};
    for (std::uint64_t block = 0; block < blocks(); ++block) {
      for (std::uint64_t left = block_memory::occupied(memory_.record(block)); left != 0; left &= left - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(left));
        const block_slot first = std::max(end, block_slot{block, spaced().home(i)});
        const block_slot last = runend_after(first, 1);
        visit(block * block_quotients + i, slot_run{first, distance(first, last) + 1});
        end = next(last);
      }
    }
  }

  // Calls visit(run) for the runs whose first two slots descend, in order. Only the beginnings of runs are looked at.
  template <class Visit>
  void for_each_descending_run(Visit visit) const {
    const std::uint64_t all = spaced().all_slots();
    std::uint64_t ended = 1;  // is the slot before the block free, or the last one of its run?
    for (std::uint64_t block = 0; block < blocks(); ++block) {
      const std::uint64_t ends = (memory_.header(block).runends & all) | free_slots_of(block);
      const std::uint64_t begins = (ends << 1 | ended) & all & ~ends;
      std::uint64_t descending = begins & memory_.exceeding(memory_.record(block)) & all >> 1;
      const std::uint64_t last = begins & ~(all >> 1);  // the next slot is in the next block
      if (last != 0 && descends({block, slots_per_block() - 1})) descending |= last;
      for (; descending != 0; descending &= descending - 1) {
        const block_slot first{block, static_cast<unsigned>(std::countr_zero(descending))};
        const std::uint64_t end = ends >> first.i;
        visit(slot_run{
            first, 1 + (end != 0 ? static_cast<unsigned>(std::countr_zero(end)) : distance(first, runend_after(first, 1)))});
      }
      ended = ends >> (slots_per_block() - 1) & 1;
    }
  }
  // Of all slots in use.
  struct lowest_ones {
    std::uint64_t sum = 0;    // each as a number, modulo 2^64
    std::uint64_t zeros = 0;  // slots without a one
  };
  lowest_ones add_up_lowest_ones() const {
    lowest_ones all;
    for (std::uint64_t block = 0; block < blocks(); ++block) {
      std::uint64_t left = spaced().all_slots() & ~free_slots_of(block);
      for (unsigned k = 0; k < width() && left != 0; ++k) {
        const std::uint64_t ones = memory_.bits_of_values(memory_.record(block), k) & left;
        all.sum += std::uint64_t{popcount(ones)} << k;
        left &= ~ones;
      }
      all.zeros += popcount(left);
    }
    return all;
  }

  // Builds a table in the order of its quotients, from slot 0 at first: a run of `size` slots, of which the caller sets the
  // values. None if it does not fit.  Requires: all quotients so far were smaller, and only append has been used.
  std::optional<slot_run> append(std::uint64_t quotient, std::uint64_t size, block_slot& end) {
    assert(quotient < quotients_ && size != 0);
    const std::uint64_t own = quotient / block_quotients;
    const auto i = static_cast<unsigned>(quotient % block_quotients);
    const slot_run run{std::max(end, block_slot{own, spaced().home(i)}), size};
    if (size > slots()) return std::nullopt;
    const block_slot last = advanced(run.first, size - 1);
    if (last.block >= blocks()) return std::nullopt;
    std::uint8_t* const record = memory_.record(own);
    block_memory::set_occupied(record, block_memory::occupied(record) | std::uint64_t{1} << i);
    flip_runend(last);
    end = next(last);
    for (std::uint64_t block = own + 1; block <= last.block; ++block) {
      block_memory::set_offset(memory_.record(block), distance({block, 0}, end));
    }
    used_ += size;
    return run;
  }

  friend bool operator==(const spaced_table&, const spaced_table&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.quotients_, self.used_, self.memory_);
  }
  // Fields from outside: after this, every operation stays inside the table and ends. As in run_map::validate_runs(): a runend
  // that comes too early is the first one to stand in a slot that is free by the header.
  status validate() const {
    if (is_wrong(quotients_ == 0) || is_wrong(divide_up(quotients_, block_quotients) > blocks())) {
      return failure{"the table has " + std::to_string(quotients_) + " quotients in " + std::to_string(blocks()) + " blocks"};
    }
    const spacing s = spaced();
    block_slot end{0, 0};  // of the runs of all blocks so far
    std::uint64_t used = 0;
    for (std::uint64_t block = 0; block < blocks(); ++block) {
      record_header header = memory_.header(block);
      header.runends &= s.all_slots();
      const std::uint64_t offset = end <= block_slot{block, 0} ? 0 : distance({block, 0}, end);
      if (is_wrong(header.offset != std::min<std::uint64_t>(offset, longest_offset))) return damaged(block, "a wrong offset");
      if (is_wrong(header.occupied != 0 && block * block_quotients + std::bit_width(header.occupied) > quotients_)) {
        return damaged(block, "a run of a quotient that does not exist");
      }
      const std::uint64_t free = free_slots(header, s);
      if (is_wrong((free & header.runends) != 0)) return unmatched(block);
      used += s.slots() - popcount(free);
      if (header.occupied == 0) continue;
      const std::uint64_t ends = header.own_runends();
      const unsigned open = popcount(header.occupied) - popcount(ends);  // none has ended too often
      end = open == 0 ? advanced({block, 0}, static_cast<unsigned>(std::bit_width(ends)))
                      : std::max(end, block_slot{block + 1, 0});
      if (open != 0 && is_wrong(!skip_runends(open, end))) return unmatched(block);
    }
    if (is_wrong(used != used_))
      return failure{"the table has " + std::to_string(used) + " slots in use, not " + std::to_string(used_)};
    return {};
  }

 private:
  friend class dense_runs;

  std::uint64_t free_slots_of(std::uint64_t block) const {
    const record_header header = memory_.header(block);
    return header.offset < slots_per_block() ? spaced().all_slots() & free_slots(header, spaced()) : 0;
  }

  // Calls visit(block, slots) for the parts of a run, block by block, until a visit says false.
  template <class Visit>
  TAMIS_INLINE void for_each_part(const slot_run& run, Visit visit) const {
    block_slot at = run.first;
    for (std::uint64_t left = run.size; left != 0; at = {at.block + 1, 0}) {
      const auto here = static_cast<unsigned>(std::min<std::uint64_t>(left, slots_per_block() - at.i));
      if (!visit(at.block, low_mask(here) << at.i)) return;
      left -= here;
    }
  }
  // insert() where nothing but slots of the quotient's own block moves.
  template <unsigned Width, bool Ordered>
  TAMIS_INLINE bool insert_in_block(std::uint64_t quotient, std::uint64_t value) {
    const spacing s = spaced();
    const auto i = static_cast<unsigned>(quotient % block_quotients);
    std::uint8_t* const record = memory_.record(quotient / block_quotients);
    const record_header header = memory_.header<Width>(record);
    const auto occupied = static_cast<unsigned>(header.occupied >> i & 1);
    // If the run begins behind the block, no slot from there on is free.
    const unsigned at = std::max(s.home(i), select(header.bounds(), rank(header.occupied, i)));
    const unsigned free = first_free(header, s, at);
    if (free >= s.slots()) return false;
    std::uint64_t first = value;
    if constexpr (Ordered) {
      if (occupied != 0) {
        const std::uint64_t was_first = memory_.value<Width>(record, at);
        const bool is_alone = (header.runends >> at & 1) != 0;
        // A slot behind it is in the block, for there is a free one.
        if (!is_alone && memory_.exceeds_next<Width>(record, at)) return false;
        first = std::min(value, was_first);
        value = std::max(value, was_first);
      }
    }
    block_memory::set_occupied(record, header.occupied | std::uint64_t{1} << i);
    memory_.insert_slot<Width>(record, at, free, first << 1 | (occupied ^ 1));
    if (Ordered && occupied != 0) memory_.set_value<Width>(record, at + 1, value);
    ++used_;
    return true;
  }
  template <unsigned Width>
  TAMIS_NOINLINE bool insert_far(std::uint64_t quotient, std::uint64_t value) {
    slot_run run = find(quotient);
    if (!open<Width>(quotient, run, run.first)) return false;
    set_value<Width>(run.first, value);
    return true;
  }

  // The quotient's run, if it ends in its own block or the next: nearly all that are not within one block. The runs of the
  // block end one behind the other, first at its own runends, then at those of the next one.  Requires: it has a run.
  template <unsigned Width>
  TAMIS_INLINE std::optional<slot_run> find_in_two(std::uint64_t quotient) const {
    const unsigned slots = slots_per_block();
    const std::uint64_t block = quotient / block_quotients;
    const auto i = static_cast<unsigned>(quotient % block_quotients);
    if (block + 1 == blocks()) return std::nullopt;
    const record_header header = memory_.header<Width>(block);
    if (header.offset >= 2 * slots) return std::nullopt;  // 255 does, too
    const std::uint64_t ends = low_bits(header.own_runends(), slots);
    const unsigned before = rank(header.occupied, i);
    const unsigned here = popcount(ends);
    const unsigned skipped = std::max(header.offset, slots) - slots;  // in the next block, for earlier ones
    const std::uint64_t next_ends = high_bits(memory_.runends<Width>(memory_.record(block + 1)), skipped);
    if (before < here || before - here >= popcount(next_ends)) return std::nullopt;
    const unsigned last = select(next_ends, before - here);
    if (before > here) {
      const unsigned first = select(next_ends, before - here - 1) + 1;
      return slot_run{{block + 1, first}, last + 1 - first};
    }
    const unsigned ended = here == 0 ? header.offset : static_cast<unsigned>(std::bit_width(ends));
    const unsigned first = std::max(ended, spaced().home(i));
    if (first >= slots) return slot_run{{block + 1, first - slots}, last + 1 - (first - slots)};
    return slot_run{{block, first}, slots - first + last + 1};
  }

  // Where the runs of all quotients before this block have ended; the block's first slot if that was before it.
  block_slot runs_before(std::uint64_t block) const {
    const unsigned offset = block_memory::offset(memory_.record(block));
    if (offset == longest_offset) return walk_to(block);
    return advanced({block, 0}, offset);
  }
  TAMIS_COLD block_slot walk_to(std::uint64_t block) const {
    std::uint64_t from = block;
    while (block_memory::offset(memory_.record(from)) == longest_offset) --from;  // ends: the first block's offset is 0
    block_slot end = runs_before(from);
    for (; from < block; ++from) end = runs_after(from, end);
    return end;
  }
  // runs_before(block + 1), from `end` = runs_before(block).
  block_slot runs_after(std::uint64_t block, block_slot end) const {
    const unsigned runs = popcount(block_memory::occupied(memory_.record(block)));
    if (runs != 0) end = next(runend_after(end, runs));
    return std::max(end, block_slot{block + 1, 0});
  }
  // The k-th runend at or after a slot, counted from 1.  Requires: it exists.
  block_slot runend_after(block_slot from, unsigned k) const {
    std::uint64_t block = from.block;
    std::uint64_t ends = high_bits(memory_.runends(memory_.record(block)), from.i);
    for (unsigned here; (here = popcount(ends)) < k; ends = memory_.runends(memory_.record(block))) {
      k -= here;
      ++block;
    }
    return {block, select(ends, k - 1)};
  }
  // Moves a slot behind the next `count` runends, which come at or after it. False if there are fewer.
  bool skip_runends(unsigned count, block_slot& slot) const {
    for (block_slot at = slot; at.block < blocks(); at = {at.block + 1, 0}) {
      const std::uint64_t ends = high_bits(memory_.runends(memory_.record(at.block)), at.i);
      const unsigned here = popcount(ends);
      if (here >= count) {
        slot = next({at.block, select(ends, count - 1)});
        return true;
      }
      count -= here;
    }
    return false;
  }
  // Where the quotient's run begins, or would begin.
  block_slot begin_of(std::uint64_t quotient) const {
    const std::uint64_t block = quotient / block_quotients;
    const auto i = static_cast<unsigned>(quotient % block_quotients);
    const block_slot before = runs_before(block);
    const unsigned runs = rank(block_memory::occupied(memory_.record(block)), i);
    return std::max(block_slot{block, spaced().home(i)}, runs == 0 ? before : next(runend_after(before, runs)));
  }

  // The first slot at or after a slot that belongs to no run; the end of the table if there is none.
  block_slot next_free(block_slot from) const {
    for (; from.block < blocks(); from = {from.block + 1, 0}) {
      const unsigned x = first_free(memory_.header(from.block), spaced(), from.i);
      if (x < slots_per_block()) return {from.block, x};
    }
    return from;
  }
  // The first slot at or after a slot before which all runs with a home before it have ended; or the end of the table.
  block_slot next_closed(block_slot from) const {
    for (; from.block < blocks(); from = {from.block + 1, 0}) {
      const unsigned x = first_closed(memory_.header(from.block), spaced(), from.i);
      if (x < slots_per_block()) return {from.block, x};
    }
    return from;
  }

  void flip_runend(block_slot at) { memory_.flip_runend(memory_.record(at.block), at.i); }

  // Slots [at, last) go up by one, over what slot `last` was; slot `at` becomes zero, and a runend if `ends_run`.
  template <unsigned Width>
  void move_up(block_slot at, block_slot last, bool ends_run) {
    const unsigned top = slots_per_block() - 1;
    for (std::uint64_t block = last.block; block > at.block; --block) {
      const std::uint64_t below = memory_.slot<Width>(memory_.record(block - 1), top);
      memory_.insert_slot<Width>(memory_.record(block), 0, block == last.block ? last.i : top, below);
    }
    memory_.insert_slot<Width>(memory_.record(at.block), at.i, at.block == last.block ? last.i : top, ends_run);
  }
  // Slots (at, last] go down by one, over what slot `at` was; slot `last` becomes zero.
  template <unsigned Width>
  void move_down(block_slot at, block_slot last) {
    const unsigned top = slots_per_block() - 1;
    for (std::uint64_t block = at.block; block < last.block; ++block) {
      const std::uint64_t above = memory_.slot<Width>(memory_.record(block + 1), 0);
      memory_.remove_slot<Width>(memory_.record(block), block == at.block ? at.i : 0, top, above);
    }
    memory_.remove_slot<Width>(memory_.record(last.block), last.block == at.block ? at.i : 0, last.i, 0);
  }

  // The runs of the quotients up to block `from` have lost a slot: all blocks up to `last` begin one slot earlier.
  void lower_offsets(std::uint64_t from, std::uint64_t last) {
    block_slot before;  // runs_before(block - 1), if it is known although the offset does not say it
    bool known = false;
    for (std::uint64_t block = from + 1; block <= last; ++block) {
      std::uint8_t* const record = memory_.record(block);
      const unsigned offset = block_memory::offset(record);
      if (offset != longest_offset) {
        block_memory::set_offset(record, offset - 1);
        known = false;
      } else {
        before = runs_after(block - 1, known ? before : runs_before(block - 1));
        block_memory::set_offset(record, distance({block, 0}, before));
        known = true;
      }
    }
  }

  static failure unmatched(std::uint64_t block) { return damaged(block, "a run without an end, or an end without a run"); }
  static failure damaged(std::uint64_t block, const char* what) {
    return failure{"block " + std::to_string(block) + " of the table has " + what};
  }

  block_memory memory_;
  std::uint64_t quotients_ = 0;
  std::uint64_t used_ = 0;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
