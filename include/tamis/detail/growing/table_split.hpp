#pragma once

// How tables of entries that end with a one and zeros (detail/growing/variable_length_table.hpp) grow: the
// first bit of an entry says in which half of its quotient it stands from now on. One pass, a block of slots at a time.
// Branches on such bits would be guessed wrong half of the time; here they are looked at in words of 64, and the loop over the
// entries has no branch.
//
//   slot             0   1   2   3   4         where a one stands before a zero of the same run,
//   first bit        1   0 | 0   1 | 1         the two change places
//   sorted           0   1 | 0   1 | 1
//   new runs         0 | 1 | 0 | 1 | 1

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>

#include "tamis/detail/growing/prefix_entry.hpp"
#include "tamis/detail/quotient/rank_select.hpp"
#include "tamis/result.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// What becomes of a run: the slots of either half of its quotient.
using split_run = std::array<slot_list, 2>;

// For tables whose values are slots as they are; others have entry_code.
struct slots_as_they_are {
  static constexpr std::uint64_t stored(std::uint64_t slot) { return slot; }
  static constexpr std::uint64_t from_stored(std::uint64_t value) { return value; }
};

// Word: what holds a slot, of either table. Code: how slots stand in the tables.
template <class Word, class Table, class Code>
class table_split {
  static constexpr unsigned block_slots = Table::block_slots;
  static constexpr unsigned half = block_slots / 2;
  static_assert(block_slots == word_bits);

 public:
  // The quotients of `from` go into one table of twice as many, or in their order into two of as many.
  // Requires: these are empty and alike, with slots as wide as in `from` or wider; two have whole blocks of quotients.
  table_split(const Table& from, std::span<Table* const> into, Code from_code, Code code)
      : from_(from),
        into_(into),
        from_code_(from_code),
        code_(code),
        top_(from.width() - 1),
        up_(into[0]->width() - from.width() + 1),
        void_(std::uint64_t{1} << top_),
        new_void_(std::uint64_t{1} << (into[0]->width() - 1)),
        to_(into[0]),
        left_(quotients_of(0)) {}

  // A void, an entry without a bit to give, and an escape are the caller's: split(quotient, run, halves), which answers a
  // status, is called for runs that may have one, in their order, and fills `halves`. False if there are too few slots.
  template <class Split>
  result<bool> run(Split split) {
    std::uint64_t done = 0;  // slots before this one have moved
    for (std::uint64_t block = 0; block < from_.blocks(); ++block) {
      const std::uint64_t base = block * block_slots;
      alignas(64) Word values[block_slots];
      read(block, values);
      const words seen = look_at(values);
      const block_header header = from_.header(block);
      const std::uint64_t used = ~Table::free_slots(header) & ~low_mask(slots_before(done, base));
      const std::uint64_t ends = header.runends & used;
      // What goes run by run: the last run if it goes on in the next block, and all of them where one may vanish or not fit.
      const bool is_plain = ((seen.voids | ~seen.nonzero) & used) == 0;
      const std::uint64_t last_quotient = std::min(2 * (base + block_slots) - first_quotient_, to_->quotients());
      const bool fits = std::max(end_, last_quotient) + block_slots <= to_->slots();
      const std::uint64_t whole = is_plain && fits ? low_mask(static_cast<unsigned>(std::bit_width(ends))) : 0;
      move_whole(values, used & whole, ends & whole, seen.ones);
      voids_ += popcount(seen.next_voids & used & whole);
      for (std::uint64_t left = used & ~whole; left != 0; left &= ~low_mask(slots_before(done, base))) {
        const std::uint64_t first = base + static_cast<unsigned>(std::countr_zero(left));
        done = from_.runend_after(first, 1) + 1;
        TAMIS_TRY(const bool fit, move_run({first, done}, split));
        if (!fit) return false;
      }
    }
    end_block();
    to_->note_appended(used_);
    return true;
  }

  // An entry with a bit to give as it stands in the new tables.
  TAMIS_INLINE std::uint64_t moved(std::uint64_t slot) const { return (slot & (void_ - 1)) << up_; }
  bool has_no_bit(std::uint64_t slot) const { return (slot & (void_ - 1)) == 0; }  // a void, or an escape
  std::uint64_t first_bit(std::uint64_t slot) const { return slot >> top_; }

  std::uint64_t voids() const { return voids_; }  // of the new tables

 private:
  // How many of a block's slots are before `end`.
  static TAMIS_INLINE unsigned slots_before(std::uint64_t end, std::uint64_t base) {
    return static_cast<unsigned>(std::min<std::uint64_t>(end - std::min(end, base), block_slots));
  }
  TAMIS_INLINE void read(std::uint64_t block, Word* values) const {
    from_.read_block(block, values);
    for (unsigned i = 0; i < block_slots; ++i) values[i] = static_cast<Word>(from_code_.from_stored(values[i]));
  }

  // Bit i is about value i.
  struct words {
    std::uint64_t nonzero = 0;
    std::uint64_t ones = 0;  // first bits
    std::uint64_t voids = 0;
    std::uint64_t next_voids = 0;  // it has no other bit than the first
  };
  TAMIS_INLINE words look_at(const Word* values) const {
    words w;
    if constexpr (has_equal_under_mask && sizeof(Word) == 2) {
      const auto all = [&](std::uint16_t mask, std::uint16_t value) { return equal_under_mask(values, mask, value); };
      const auto payload = static_cast<std::uint16_t>(void_);
      w.nonzero = ~all(0xffff, 0);
      w.ones = all(payload, payload);
      w.voids = all(0xffff, payload);
      w.next_voids = all(static_cast<std::uint16_t>(~payload), static_cast<std::uint16_t>(void_ >> 1));
      return w;
    }
    for (unsigned i = 0; i < block_slots; ++i) {
      w.nonzero |= static_cast<std::uint64_t>(values[i] != 0) << i;
      w.ones |= static_cast<std::uint64_t>(values[i] >> top_) << i;
      w.voids |= static_cast<std::uint64_t>(values[i] == void_) << i;
      w.next_voids |= static_cast<std::uint64_t>((values[i] & (void_ - 1)) == void_ >> 1) << i;
    }
    return w;
  }

  // The quotients of half a block of `from`, which are those of a block of `to_`.
  TAMIS_INLINE std::uint64_t quotients_of(std::uint64_t block) const {
    const std::uint64_t halves = first_quotient_ / block_slots + block;
    return from_.header(halves / 2).occupied >> (halves % 2 * half) & low_mask(half);
  }
  // The quotient of the next run: its number in its half block.  Requires: there is one.
  TAMIS_INLINE unsigned quotient_in_half() {
    while (left_ == 0) next_block();
    return static_cast<unsigned>(std::countr_zero(left_));
  }
  void end_block() { to_->append_block(block_, occupied_, end_); }
  void next_block() {
    end_block();
    occupied_ = 0;
    if (++block_ * block_slots == to_->quotients()) next_table();
    left_ = quotients_of(block_);
  }
  void next_table() {
    to_->note_appended(used_);
    first_quotient_ += to_->quotients();
    to_ = into_.back();
    block_ = end_ = used_ = 0;
  }
  // Runs that end in the block. Which slots are used, and which of these end runs.
  void move_whole(Word* values, std::uint64_t used, std::uint64_t ends, std::uint64_t ones) {
    const std::uint64_t inside = used & ~ends;  // the next slot is of the same run
    for (std::uint64_t wrong; (wrong = inside & ones & ~(ones >> 1)) != 0;) {
      const auto i = static_cast<unsigned>(std::countr_zero(wrong));
      std::swap(values[i], values[i + 1]);
      ones ^= std::uint64_t{3} << i;
    }
    const whole_runs runs{used, ends, ends | (inside & ~ones & ones >> 1), ones};
    for (unsigned i = 0; i < block_slots; ++i) values[i] = static_cast<Word>(code_.stored(moved(values[i])));
    if (to_->is_of_bytes()) {  // what an entry that has just lost a bit has elsewhere is zero
      std::array<std::uint8_t, block_slots> bytes;
      for (unsigned i = 0; i < block_slots; ++i) bytes[i] = static_cast<std::uint8_t>(values[i]);
      move_to_blocks(runs, [&bytes](Table& to) {
        return [&bytes, low = to.low_bytes()](std::uint64_t slot, unsigned i) { low[slot] = bytes[i]; };
      });
    } else {
      move_to_blocks(runs, [values](Table& to) {
        return [&to, values](std::uint64_t slot, unsigned i) { to.append_value(slot, values[i]); };
      });
    }
  }
  struct whole_runs {
    std::uint64_t slots;
    std::uint64_t ends;
    std::uint64_t new_ends;
    std::uint64_t ones;
  };
  // writer_of(table) makes a function that writes value i of the block to a slot.
  template <class WriterOf>
  TAMIS_INLINE void move_to_blocks(whole_runs runs, WriterOf writer_of) {
    while (runs.slots != 0) {
      while (left_ == 0) next_block();
      runs.slots = move_to_block(runs, writer_of(*to_));
    }
  }
  // As many of these slots as have quotients in the block of `to_`. Answers the others.
  template <class Write>
  TAMIS_INLINE std::uint64_t move_to_block(const whole_runs& runs, Write write) {
    const std::uint64_t base = block_ * block_slots;
    std::uint64_t slots = runs.slots;
    std::uint64_t left = left_;
    std::uint64_t occupied = occupied_;
    std::uint64_t end = end_;
    std::uint64_t runends_of = end / block_slots;  // a block of slots
    std::uint64_t runends = 0;
    while (slots != 0 && left != 0) {
      const auto i = static_cast<unsigned>(std::countr_zero(slots));
      const std::uint64_t in_block = 2 * static_cast<unsigned>(std::countr_zero(left)) + (runs.ones >> i & 1);
      const std::uint64_t slot = std::max(end, base + in_block);
      write(slot, i);
      if (slot / block_slots != runends_of) {
        to_->append_runends(runends_of, runends);
        runends_of = slot / block_slots;
        runends = 0;
      }
      runends |= (runs.new_ends >> i & 1) << (slot % block_slots);
      occupied |= std::uint64_t{1} << in_block;
      end = slot + 1;
      left &= left - (runs.ends >> i & 1);
      slots &= slots - 1;
    }
    to_->append_runends(runends_of, runends);
    used_ += popcount(runs.slots ^ slots);
    left_ = left;
    occupied_ = occupied;
    end_ = end;
    return slots;
  }

  template <class Split>
  result<bool> move_run(slot_range run, Split split) {
    const unsigned i = quotient_in_half();
    left_ &= left_ - 1;
    split_run halves;
    TAMIS_CHECK(split(first_quotient_ / 2 + block_ * half + i, run, halves));
    for (unsigned bit = 0; bit < 2; ++bit) {
      if (halves[bit].empty()) continue;
      const std::uint64_t in_block = std::uint64_t{2} * i + bit;
      std::uint64_t slot = std::max(end_, block_ * block_slots + in_block);
      end_ = slot + halves[bit].size();
      if (end_ > to_->slots()) return false;
      for (const std::uint64_t value : halves[bit]) {
        to_->append_value(slot++, code_.stored(value));
        voids_ += static_cast<std::uint64_t>(value == new_void_);
      }
      to_->append_runends((end_ - 1) / block_slots, std::uint64_t{1} << ((end_ - 1) % block_slots));
      occupied_ |= std::uint64_t{1} << in_block;
      used_ += halves[bit].size();
    }
    return true;
  }

  const Table& from_;
  const std::span<Table* const> into_;
  const Code from_code_;
  const Code code_;
  const unsigned top_;
  const unsigned up_;
  const std::uint64_t void_;
  const std::uint64_t new_void_;
  Table* to_;                         // of `into_`, what is being written
  std::uint64_t first_quotient_ = 0;  // of `to_`, among those of all tables
  std::uint64_t block_ = 0;           // of `to_`, whose runs are being written
  std::uint64_t left_ = 0;            // its quotients, in `from`, that are still to come
  std::uint64_t occupied_ = 0;        // of the block
  std::uint64_t end_ = 0;             // of all runs
  std::uint64_t used_ = 0;
  std::uint64_t voids_ = 0;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
