#pragma once

// The runs of a classic quotient table: every slot has three flags and no block has an offset (Bender et al., "Don't thrash:
// how to cache your hash on flash", PVLDB 2012; InfiniFilter paper, section 2). The slots' values are the business of
// detail/quotient/three_bit.hpp.
//
//   quotient      0   1   2   3   4   5   6   7
//   occupied      0   1   0   1   1   0   0   0      is a key of this quotient in?        stays where it is
//   continuation  0   0   1   0   1   0   0   0      the slot's run began further left    moves with the slot's value
//   shifted       0   0   1   0   1   1   0   0      the value is right of its quotient   moves with the slot's value
//   value             a1  a1  b3  b3  c4
//                     └ cluster ──────────┘          no empty slot between its first run and its last
//
// A slot is empty if none of its flags is set; a cluster begins at a slot that is not shifted. The run of a quotient is found
// from the beginning of its cluster: as many runs as there are occupied quotients before it have to be passed by. The flags of
// 64 slots lie in three words side by side, so that all this is done a word at a time. There is no wrap-around: behind the last
// quotient's own slot lie spare slots.

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <optional>
#include <string>

#include "tamis/detail/base/checked.hpp"
#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/base/zeroed_array.hpp"
#include "tamis/detail/bits/word.hpp"
#include "tamis/detail/quotient/run_search.hpp"
#include "tamis/result.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

class three_bit_runs {
 protected:
  enum column : unsigned { occupied, continuation, shifted };
  static constexpr unsigned columns = 3;
  static constexpr unsigned window_slots = 16;
  static constexpr std::uint64_t before = word_bits - window_slots;

 public:
  static constexpr unsigned block_slots = word_bits;

  struct flags {
    std::uint64_t occupied;
    std::uint64_t continuation;
    std::uint64_t shifted;

    std::uint64_t used() const { return occupied | continuation | shifted; }
  };

  std::uint64_t quotients() const { return quotients_; }
  std::uint64_t used() const { return used_; }  // slots that belong to runs
  std::uint64_t blocks() const { return words_.size() / columns - 1; }
  std::uint64_t slots() const { return blocks() * block_slots; }

  TAMIS_INLINE flags header(std::uint64_t block) const {
    const std::uint64_t* words = words_.data() + columns * block;
    return {words[occupied], words[continuation], words[shifted]};
  }

  // The run of a quotient; empty, and where it would begin, if there is none.
  slot_range find(std::uint64_t quotient) const {
    const std::uint64_t cluster = last_unshifted(quotient);
    const std::uint64_t first = run_after(cluster, occupied_between(cluster, quotient));
    return {first, is_occupied(quotient) ? run_after(first + 1, 0) : first};
  }

  // The run of a quotient as far as a window of 64 slots shows it, 48 of them before the quotient's own: at load 0.8 most
  // clusters begin there.
  struct run_in_window {
    std::uint64_t slots;  // quotient + {bits}, below 2^16
    bool leaves;          // the run, or its cluster, is not only in the window: `slots` means nothing
  };
  TAMIS_INLINE run_in_window find_in_window(std::uint64_t quotient) const {
    const std::uint64_t first = std::max(quotient, before) - before;
    const auto i = static_cast<unsigned>(quotient - first);
    const flags f = window(first);
    const std::uint64_t is_in = f.occupied >> i & 1;
    const std::uint64_t unshifted = ~f.shifted & low_mask(i + 1);
    const std::uint64_t behind = ~std::uint64_t{0} << (word_bits - 1 - static_cast<unsigned>(std::countl_zero(unshifted | 1)));
    const unsigned runs = popcount(f.occupied & low_mask(i + 1) & behind);
    // Where the run and the one after it begin; without meaning if there is none.
    const std::uint64_t ends = select_pair(~f.continuation & behind, (runs - 1) % word_bits);
    const std::uint64_t last = ends & (ends - 1);
    const std::uint64_t run = (last - (lowest_bit(ends))) >> i;
    // One condition only, and a quotient without a run goes on as if it had one: which half of them it is cannot be predicted.
    const bool seen = static_cast<bool>(static_cast<unsigned>(unshifted != 0) & static_cast<unsigned>(last != 0) &
                                        static_cast<unsigned>(run >> window_slots == 0));
    return {run & (~is_in + 1), (is_in & static_cast<std::uint64_t>(!seen)) != 0};
  }

  // Where a value of the quotient can be added: the slots [at, free) have to go up by one.
  struct gap {
    slot_range run;
    std::uint64_t at;
    std::uint64_t free;
  };
  std::optional<gap> find_gap(std::uint64_t quotient) const {
    const slot_range run = find(quotient);
    const std::uint64_t free = first_empty(run.last);
    if (free == slots()) return std::nullopt;
    return gap{run, run.last, free};
  }

  // For cursors (detail/quotient/run_cursor.hpp).
  std::uint64_t runs_before([[maybe_unused]] std::uint64_t block) const {
    assert(block == 0);
    return 0;
  }
  std::uint64_t runend_after(std::uint64_t first, [[maybe_unused]] unsigned runs) const {
    assert(runs == 1);
    return run_after(first + 1, 0) - 1;
  }

  friend bool operator==(const three_bit_runs&, const three_bit_runs&) = default;

 protected:
  three_bit_runs() = default;

  // No runs yet: every quotient has a slot of its own, and at least `spare` slots follow the last of them.
  status reset(std::uint64_t quotients, std::uint64_t spare) {
    assert(quotients != 0);
    const auto needed = checked_add(quotients, spare);
    if (!needed) return failure{"a table of 2^64 slots or more cannot be addressed"};
    TAMIS_TRY(words_, zeroed_array<std::uint64_t>::make(columns * (divide_up(*needed, block_slots) + 1)));
    quotients_ = quotients;
    used_ = 0;
    return {};
  }

  // The runs of another table, with at least `spare` slots behind the last quotient's own.  Requires: no fewer than there.
  status take_widened(const three_bit_runs& from, std::uint64_t spare) {
    const auto needed = checked_add(from.quotients_, spare);
    if (!needed) return failure{"a table of 2^64 slots or more cannot be addressed"};
    TAMIS_TRY(words_, from.words_.lengthened(columns * (divide_up(*needed, block_slots) + 1)));
    quotients_ = from.quotients_;
    used_ = from.used_;
    return {};
  }

  // The last slot of the quotient's run comes into being; what goes up by one is shifted afterwards.
  void open_run(std::uint64_t quotient, const gap& g) {
    assert(g.at == g.run.last && g.at <= g.free);
    for (std::uint64_t block = g.free / block_slots;; --block) {
      const std::uint64_t here = word(continuation, block);
      const std::uint64_t below = block > g.at / block_slots ? word(continuation, block - 1) >> (word_bits - 1) : 0;
      const std::uint64_t moved = mask_of(block, g.at + 1, g.free + 1);
      word(continuation, block) = blend(here, here << 1 | below, moved);
      word(shifted, block) |= moved;
      if (block == g.at / block_slots) break;
    }
    assign(continuation, g.at, !g.run.empty());
    assign(shifted, g.at, g.at != quotient);
    assign(occupied, quotient, true);
    ++used_;
  }

  // The slot behind what moves when the run's last slot goes: empty, or the beginning of another cluster.
  std::uint64_t end_of_close(slot_range run) const {
    return first_slot(run.last, [](const flags& f) { return ~f.shifted; });
  }

  // The run's last slot goes, those up to `end` go down by one. A run that comes to its own quotient is not shifted any more.
  void close_run(std::uint64_t quotient, slot_range run, std::uint64_t end) {
    const std::uint64_t hole = run.last - 1;
    for (std::uint64_t block = hole / block_slots; block <= (end - 1) / block_slots; ++block) {
      const std::uint64_t here = word(continuation, block);
      const std::uint64_t above = block < (end - 1) / block_slots ? word(continuation, block + 1) << (word_bits - 1) : 0;
      const std::uint64_t moved = mask_of(block, hole, end - 1);
      word(continuation, block) = blend(here, here >> 1 | above, moved);
      word(shifted, block) |= moved;
    }
    assign(continuation, end - 1, false);
    assign(shifted, end - 1, false);
    if (run.size() == 1) assign(occupied, quotient, false);
    for (std::uint64_t slot = run_after(hole, 0); slot < end - 1; slot = run_after(slot + 1, 0)) {
      quotient = next_occupied(quotient + 1);
      if (slot == quotient) assign(shifted, slot, false);
    }
    --used_;
  }

  // Builds a table in the order of its quotients: a run of `size` slots, none if it does not fit.
  // Requires: all quotients so far were smaller, and only this function has been used.
  std::optional<slot_range> append_run(std::uint64_t quotient, std::uint64_t size, std::uint64_t& end) {
    assert(quotient < quotients_ && size != 0);
    const slot_range run{std::max(end, quotient), std::max(end, quotient) + size};
    if (run.first > slots() || size > slots() - run.first) return std::nullopt;
    for (std::uint64_t block = run.first / block_slots; block <= (run.last - 1) / block_slots; ++block) {
      word(continuation, block) |= mask_of(block, run.first + 1, run.last);
      word(shifted, block) |= mask_of(block, run.first == quotient ? run.first + 1 : run.first, run.last);
    }
    assign(occupied, quotient, true);
    used_ += size;
    end = run.last;
    return run;
  }

  // Fields from outside: after this, every operation stays inside the table and ends. Every run has one occupied quotient and
  // one slot where it begins, the first in the same order as the second. Where all runs of quotients before a slot have begun
  // before it, a run that begins there does so in its quotient's own slot; anywhere else it is shifted, and stands behind
  // another slot in use.
  status validate_runs() const {
    if (is_wrong(quotients_ == 0) || is_wrong(quotients_ > slots()) || is_wrong(header(blocks()).used() != 0)) {
      return failure{"the table has " + std::to_string(slots()) + " slots for " + std::to_string(quotients_) + " quotients"};
    }
    std::uint64_t open = 0;       // quotients of earlier blocks whose runs have not begun yet
    std::uint64_t used_last = 0;  // is the slot before the block in use?
    std::uint64_t used = 0;
    for (std::uint64_t block = 0; block < blocks(); ++block) {
      const flags f = header(block);
      const std::uint64_t in_use = f.used();
      if (is_wrong((f.continuation & ~f.shifted) != 0)) return wrong_runs();
      if (is_wrong((f.shifted & ~(in_use << 1 | used_last)) != 0)) return wrong_runs();
      if (is_wrong(f.occupied != 0 && block * block_slots + std::bit_width(f.occupied) > quotients_)) return wrong_runs();
      const std::uint64_t begins = in_use & ~f.continuation;
      const std::uint64_t own = begun_before(f.occupied, begins, open);
      if (is_wrong((begins & (own ^ ~f.shifted)) != 0)) return wrong_runs();
      open += popcount(f.occupied) - std::uint64_t{popcount(begins)};
      used += popcount(in_use);
      used_last = in_use >> (word_bits - 1);
    }
    if (is_wrong(open != 0)) return wrong_runs();
    if (is_wrong(used != used_))
      return failure{"the table says that " + std::to_string(used_) + " slots are in use, but they are " +
                     std::to_string(used)};
    return {};
  }

  std::uint64_t quotients_ = 0;
  std::uint64_t used_ = 0;
  zeroed_array<std::uint64_t> words_;  // of each block: occupied, continuation, shifted; a spare block for windows at the end

 private:
  static constexpr std::uint64_t one(std::uint64_t slot) { return std::uint64_t{1} << (slot % block_slots); }
  std::uint64_t& word(column which, std::uint64_t block) { return words_[columns * block + which]; }
  std::uint64_t word(column which, std::uint64_t block) const { return words_[columns * block + which]; }
  bool get(column which, std::uint64_t slot) const { return (word(which, slot / block_slots) & one(slot)) != 0; }
  void assign(column which, std::uint64_t slot, bool to) {
    std::uint64_t& flags_of_block = word(which, slot / block_slots);
    flags_of_block = to ? flags_of_block | one(slot) : flags_of_block & ~one(slot);
  }
  bool is_occupied(std::uint64_t quotient) const { return get(occupied, quotient); }

  // The block's slots that are in [first, last).
  static std::uint64_t mask_of(std::uint64_t block, std::uint64_t first, std::uint64_t last) {
    const std::uint64_t base = block * block_slots;
    const auto within = [&](std::uint64_t slot) {
      return static_cast<unsigned>(std::clamp(slot, base, base + block_slots) - base);
    };
    return low_mask(within(last)) & ~low_mask(within(first));
  }

  // The flags of 64 slots from any one on.
  TAMIS_INLINE flags window(std::uint64_t first) const {
    const std::uint64_t* words = words_.data() + columns * (first / block_slots);
    const auto down = static_cast<unsigned>(first % block_slots);
    const auto join = [&](column which) {
      return words[which] >> down | words[which + columns] << 1 << (word_bits - 1 - down);
    };
    return {join(occupied), join(continuation), join(shifted)};
  }

  // The first slot from `from` on that `wanted`, a word of a block's slots, has set; slots() if there is none.
  template <class Wanted>
  TAMIS_INLINE std::uint64_t first_slot(std::uint64_t from, Wanted wanted) const {
    std::uint64_t block = from / block_slots;
    if (block >= blocks()) return slots();
    std::uint64_t found = wanted(header(block)) & ~low_mask(static_cast<unsigned>(from % block_slots));
    while (found == 0) {
      if (++block == blocks()) return slots();
      found = wanted(header(block));
    }
    return block * block_slots + static_cast<unsigned>(std::countr_zero(found));
  }
  std::uint64_t first_empty(std::uint64_t from) const {
    return first_slot(from, [](const flags& f) { return ~f.used(); });
  }
  std::uint64_t next_occupied(std::uint64_t from) const {
    return first_slot(from, [](const flags& f) { return f.occupied; });
  }

  // The slot where the cluster that goes through `slot` begins, or `slot` itself if it is empty.
  std::uint64_t last_unshifted(std::uint64_t slot) const {
    std::uint64_t block = slot / block_slots;
    std::uint64_t unshifted = ~word(shifted, block) & low_mask(static_cast<unsigned>(slot % block_slots) + 1);
    while (unshifted == 0) unshifted = ~word(shifted, --block);  // ends: the first slot is never shifted
    return block * block_slots + word_bits - 1 - static_cast<unsigned>(std::countl_zero(unshifted));
  }
  std::uint64_t occupied_between(std::uint64_t first, std::uint64_t last) const {
    std::uint64_t block = first / block_slots;
    std::uint64_t here = word(occupied, block) & ~low_mask(static_cast<unsigned>(first % block_slots));
    std::uint64_t count = 0;
    for (; block < last / block_slots; here = word(occupied, ++block)) count += popcount(here);
    return count + popcount(here & low_mask(static_cast<unsigned>(last % block_slots)));
  }
  // Where the run begins that comes after `skip` others, from `from` on; an empty slot counts as a beginning.
  std::uint64_t run_after(std::uint64_t from, std::uint64_t skip) const {
    std::uint64_t block = from / block_slots;
    if (block >= blocks()) return slots();
    std::uint64_t begins = ~word(continuation, block) & ~low_mask(static_cast<unsigned>(from % block_slots));
    for (unsigned here = popcount(begins); skip >= here; here = popcount(begins)) {
      skip -= here;
      if (++block == blocks()) return slots();
      begins = ~word(continuation, block);
    }
    return block * block_slots + select(begins, static_cast<unsigned>(skip));
  }

  // Bit x: have the runs of all quotients before slot x begun before it? The first `open` that begin in the block are of
  // earlier quotients.
  static std::uint64_t begun_before(std::uint64_t occupied, std::uint64_t begins, std::uint64_t open) {
    if (open == 0) return balanced(occupied << 1, begins << 1);
    if (open > word_bits) return 0;
    const unsigned from = select(begins, static_cast<unsigned>(open) - 1) + 1;  // behind the last of them
    return from > word_bits ? 0 : high_bits(balanced(occupied << 1, high_bits(begins, from) << 1), from);
  }

  static failure wrong_runs() { return failure{"the flags of the table's slots do not make runs"}; }
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
