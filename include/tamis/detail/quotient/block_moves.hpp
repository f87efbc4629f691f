#pragma once

// Changes of a quotient table that move slots of several blocks: at high loads the next free slot is often a block or two away,
// so whole blocks go up or down by one slot at once, a permutation of 64 bytes and a shift of the runends each.
//
//   push_up    | a b x c |  | d e f . |         x comes in, c goes on as the first of the next block, up to a free slot
//   close_at   | a b c d |  | e f . . |         x has gone, the first of the next block is the last of this one

#include <algorithm>
#include <bit>
#include <cstdint>

#include "tamis/detail/quotient/slot_columns.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

template <rank_select_layout Layout>
class block_moves : public slot_columns<Layout> {
  using base = slot_columns<Layout>;

 public:
  using base::block_slots;
  using base::blocks;

  friend bool operator==(const block_moves&, const block_moves&) = default;

 protected:
  using base::has_code;
  using base::headers_;
  using base::one;
  using base::used_;

  block_moves() = default;

  // Makes a slot of the quotient's run or at its end, in the quotient's own block or the next: whole blocks go up by one slot,
  // each with what the one before has pushed out, up to the next free one. False, and nothing has changed, if there is none or
  // a block has a code.  Requires: none is free from there on in the quotient's own block.
  template <unsigned Width = 0>
  TAMIS_NOINLINE bool push_up(std::uint64_t quotient, std::uint64_t slot, std::uint64_t value) {
    const std::uint64_t own = quotient / block_slots;
    std::uint64_t block = slot / block_slots;
    if ((Layout.coded || !this->has_free_end()) && !can_push_up(own, block)) return false;
    const std::uint64_t occupied = headers_.occupied(own);
    std::uint64_t ends_run = ~occupied >> (quotient % block_slots) & 1;
    headers_.set_occupied(own, occupied | one(quotient));
    unsigned free = block == own ? block_slots : first_free(block);
    if (block != own) headers_.set_offset(block, headers_.offset(block) + 1);
    for (auto at = static_cast<unsigned>(slot % block_slots);; at = 0) {
      std::uint8_t* const here = headers_.place(block);
      const std::uint64_t runends = headers_.runends(block);
      const std::uint64_t pushed_value = this->template value<Width>(block * block_slots + block_slots - 1);
      const unsigned last = std::min(free, block_slots - 1);
      headers_.set_runends(here, with_bit_inserted(runends, at, last, ends_run));
      this->template insert_value_among<Width>(block, here, at, last, value);
      if (free < block_slots) break;
      prefetch_values<Width>(block + 3);
      value = pushed_value;
      ends_run = runends >> (block_slots - 1);
      ++block;
      free = first_free(block);
      headers_.set_offset(block, headers_.offset(block) + 1);
    }
    ++used_;
    return true;
  }
  // Is there a free slot from block `first` on, and no code before it?
  TAMIS_NOINLINE bool can_push_up(std::uint64_t own, std::uint64_t first) const {
    const std::uint64_t behind = blocks();
    unsigned free = first == own ? block_slots : first_free(first);
    for (; free >= block_slots; free = first_free(first)) {
      if (has_code(first) || ++first == behind) return false;
    }
    return !has_code(first);
  }
  // Removes a slot of the quotient's run, in the quotient's own block or the next: whole blocks go down by one slot, each with
  // the first of the next one behind it. False, and nothing has changed, at the end of the table, where an offset does not fit
  // its byte and where a block has a code. `is_more`: the run has other slots. The caller moves the end of a run to another
  // block.
  // Requires: in the quotient's own block, all slots behind this one move.
  template <unsigned Width = 0>
  TAMIS_NOINLINE bool close_at(std::uint64_t quotient, std::uint64_t slot, bool is_more) {
    const std::uint64_t own = quotient / block_slots;
    const std::uint64_t first = slot / block_slots;
    const std::uint64_t behind = blocks();
    auto at = static_cast<unsigned>(slot % block_slots);
    std::uint64_t last = first;
    const block_header header = headers_[first];
    if (first != own && header.offset == saturated_offset) return false;
    unsigned end = first == own ? block_slots : first_closed(first);
    for (; end >= block_slots; end = first_closed(last)) {
      prefetch_values<Width>(last + 2);
      if (has_code(last) || ++last == behind || headers_.offset(last) == saturated_offset) return false;
    }
    if (end == 0) {  // nothing of that block moves
      --last;
      end = block_slots;
    }
    if (has_code(last)) return false;
    headers_.set_occupied(own, headers_.occupied(own) ^ static_cast<std::uint64_t>(!is_more) << (quotient % block_slots));
    if (first != own) headers_.set_offset(first, header.offset - 1);
    std::uint64_t runends = header.runends | (header.runends & static_cast<std::uint64_t>(is_more) << at) >> 1;
    std::uint8_t* here = headers_.place(first);
    for (std::uint64_t block = first; block < last; ++block, at = 0) {
      std::uint8_t* const next = here + headers_.bytes_each();
      const std::uint64_t next_runends = headers_.read(next).runends;
      headers_.set_runends(here, with_bit_removed(runends, at, block_slots - 1) | next_runends << (block_slots - 1));
      headers_.lower_offset(next);
      this->template pull_value_among<Width>(block, here, next, at);
      runends = next_runends;
      here = next;
    }
    headers_.set_runends(here, with_bit_removed(runends, at, end - 1));
    this->template remove_value_among<Width>(last, here, at, end);
    --used_;
    return true;
  }

 private:
  // One move in three of a full table reaches further than what was asked for before it began. The headers say so long before
  // the slots are needed.
  template <unsigned Width>
  TAMIS_INLINE void prefetch_values(std::uint64_t block) const {
    this->values_.template prefetch<Width>(block * block_slots);
  }

  // The first slot of a block that belongs to no run; 64 if there is none.
  TAMIS_INLINE unsigned first_free(std::uint64_t block) const { return first_balanced_in<false>(block); }
  // The first one before which all runs of smaller quotients have ended; 64 if there is none.
  TAMIS_INLINE unsigned first_closed(std::uint64_t block) const { return first_balanced_in<true>(block); }

  template <bool Closed>
  TAMIS_INLINE unsigned first_balanced_in(std::uint64_t block) const {
    if constexpr (has_balanced_pair) {
      const std::uint8_t* const here = headers_.data() + block * headers_.bytes_each();
      const unsigned offset = headers_.offset(block);
      return static_cast<unsigned>(std::countr_zero(high_bits(vectors::balanced_pair<Closed>(here, offset), offset)));
    } else {
      const block_header header = headers_[block];
      return first_balanced(header.occupied << Closed, header.ended(), header.offset);
    }
  }
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
