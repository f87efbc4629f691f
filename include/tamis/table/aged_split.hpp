#pragma once

// How a table of aged entries (table/aged_table.hpp) doubles: the first bit of an entry says in which half of its cell it
// stands from now on. One pass, a block of slots at a time. Branches on such bits would be guessed wrong half of the time;
// here they are looked at in words of 64, and the loop over the entries has no branch.
//
//   slot             0   1   2   3   4         where a one stands before a zero of the same run,
//   first bit        1   0 | 0   1 | 1         the two change places
//   sorted           0   1 | 0   1 | 1
//   new runs         0 | 1 | 0 | 1 | 1

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "tamis/base/status.hpp"
#include "tamis/table/rank_select.hpp"

namespace tamis::inline TAMIS_LEVEL {

// Word: what holds a value of `from`.
template <class Word>
class aged_split {
  using table = rank_select<>;
  static constexpr unsigned block_slots = table::block_slots;
  static constexpr unsigned half = block_slots / 2;
  static_assert(block_slots == word_bits);

 public:
  // Requires: `to` is empty, has twice as many quotients and values as wide or wider.
  aged_split(const table& from, table& to)
      : from_(from),
        to_(to),
        top_(from.width() - 1),
        up_(to.width() - from.width() + 1),
        void_(std::uint64_t{1} << top_),
        new_void_(std::uint64_t{1} << (to.width() - 1)) {
    left_ = cells_of(0);
  }

  // Calls on_void(cell), which answers a status, for every void, in order. False if there are too few slots.
  template <class OnVoid>
  result<bool> run(OnVoid on_void) {
    std::uint64_t done = 0;  // slots before this one have moved
    for (std::uint64_t block = 0; block < from_.blocks(); ++block) {
      const std::uint64_t base = block * block_slots;
      alignas(16) Word values[block_slots];
      from_.values().read_block(base, values);
      const auto [nonzero, ones, voids] = look_at(values);
      const std::uint64_t used =
          done <= base ? nonzero
                       : nonzero & ~low_mask(static_cast<unsigned>(std::min<std::uint64_t>(done - base, block_slots)));
      const std::uint64_t ends = from_.header(block).runends & used;
      // What goes run by run: the last run if it goes on in the next block, and all of them where one may vanish or not fit.
      const bool fits = std::max(end_, 2 * (base + block_slots)) + block_slots <= to_.slots();
      const std::uint64_t whole = voids == 0 && fits ? low_mask(static_cast<unsigned>(std::bit_width(ends))) : 0;
      move_whole(values, used & whole, ends & whole, ones);
      for (std::uint64_t left = used & ~whole; left != 0;) {
        const std::uint64_t first = base + static_cast<unsigned>(std::countr_zero(left));
        done = from_.runend_after(first, 1) + 1;
        TAMIS_TRY(const bool fit, move_run({first, done}, on_void));
        if (!fit) return false;
        left &= ~low_mask(static_cast<unsigned>(std::min<std::uint64_t>(done - base, block_slots)));
      }
    }
    to_.append_block(block_, occupied_, end_);
    to_.note_appended(used_);
    return true;
  }

  std::uint64_t voids() const { return voids_; }  // of the new table

 private:
  // Bit i is about value i.
  struct words {
    std::uint64_t nonzero = 0;
    std::uint64_t ones = 0;  // first bits
    std::uint64_t voids = 0;
  };
  TAMIS_INLINE words look_at(const Word* values) const {
    words w;
#if TAMIS_HAS_AVX2
    if constexpr (sizeof(Word) == 2) {
      const __m128i zero = _mm_setzero_si128();
      const __m128i no_payload = _mm_set1_epi16(static_cast<short>(void_));
      const auto bits = [](__m128i low, __m128i high) {
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high))));
      };
      for (unsigned i = 0; i < block_slots; i += 16) {
        const __m128i low = _mm_load_si128(reinterpret_cast<const __m128i*>(values + i));
        const __m128i high = _mm_load_si128(reinterpret_cast<const __m128i*>(values + i + 8));
        const auto have = [&](__m128i x) { return _mm_cmpeq_epi16(_mm_and_si128(x, no_payload), no_payload); };
        w.nonzero |= bits(_mm_cmpeq_epi16(low, zero), _mm_cmpeq_epi16(high, zero)) << i;
        w.ones |= bits(have(low), have(high)) << i;
        w.voids |= bits(_mm_cmpeq_epi16(low, no_payload), _mm_cmpeq_epi16(high, no_payload)) << i;
      }
      w.nonzero = ~w.nonzero;
      return w;
    }
#endif
    for (unsigned i = 0; i < block_slots; ++i) {
      w.nonzero |= static_cast<std::uint64_t>(values[i] != 0) << i;
      w.ones |= static_cast<std::uint64_t>(values[i] >> top_) << i;
      w.voids |= static_cast<std::uint64_t>(values[i] == void_) << i;
    }
    return w;
  }

  // The cells of half a block of `from`, which are those of a block of `to`.
  TAMIS_INLINE std::uint64_t cells_of(std::uint64_t block) const {
    return from_.header(block / 2).occupied >> (block % 2 * half) & low_mask(half);
  }
  // The cell of the next run: its number in its half block.  Requires: there is one.
  TAMIS_INLINE unsigned cell_in_half() {
    while (left_ == 0) {
      to_.append_block(block_, occupied_, end_);
      occupied_ = 0;
      left_ = cells_of(++block_);
    }
    return static_cast<unsigned>(std::countr_zero(left_));
  }
  TAMIS_INLINE void write(std::uint64_t slot, std::uint64_t value) {
    const std::uint64_t moved = (value & (void_ - 1)) << up_;
    to_.append_value(slot, moved);
    voids_ += static_cast<std::uint64_t>(moved == new_void_);
  }

  // Runs that end in the block. Which slots are used, and which of these end runs.
  TAMIS_INLINE void move_whole(Word* values, std::uint64_t used, std::uint64_t ends, std::uint64_t ones) {
    const std::uint64_t inside = used & ~ends;  // the next slot is of the same run
    for (std::uint64_t wrong; (wrong = inside & ones & ~(ones >> 1)) != 0;) {
      const auto i = static_cast<unsigned>(std::countr_zero(wrong));
      std::swap(values[i], values[i + 1]);
      ones ^= std::uint64_t{3} << i;
    }
    const std::uint64_t new_ends = ends | (inside & ~ones & ones >> 1);
    used_ += popcount(used);
    for (; used != 0; used &= used - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(used));
      const std::uint64_t in_block = 2 * cell_in_half() + (ones >> i & 1);
      const std::uint64_t slot = std::max(end_, block_ * block_slots + in_block);
      write(slot, values[i]);
      to_.append_runend(slot, new_ends >> i & 1);
      occupied_ |= std::uint64_t{1} << in_block;
      end_ = slot + 1;
      left_ &= left_ - (ends >> i & 1);
    }
  }

  template <class OnVoid>
  result<bool> move_run(slot_range run, OnVoid on_void) {
    const unsigned i = cell_in_half();
    left_ &= left_ - 1;
    std::uint64_t sizes[2] = {0, 0};
    for (std::uint64_t slot = run.first; slot < run.last; ++slot) {
      const std::uint64_t value = from_.value(slot);
      if (value == void_) {
        TAMIS_CHECK(on_void(block_ * half + i));
      } else {
        ++sizes[value >> top_];
      }
    }
    std::uint64_t next[2] = {0, 0};
    for (unsigned bit = 0; bit < 2; ++bit) {
      if (sizes[bit] == 0) continue;
      next[bit] = std::max(end_, block_ * block_slots + std::uint64_t{2} * i + bit);
      if (next[bit] + sizes[bit] > to_.slots()) return false;
      end_ = next[bit] + sizes[bit];
      to_.append_runend(end_ - 1, 1);
      occupied_ |= std::uint64_t{1} << (2 * i + bit);
      used_ += sizes[bit];
    }
    for (std::uint64_t slot = run.first; slot < run.last; ++slot) {
      const std::uint64_t value = from_.value(slot);
      if (value != void_) write(next[value >> top_]++, value);
    }
    return true;
  }

  const table& from_;
  table& to_;
  const unsigned top_;
  const unsigned up_;
  const std::uint64_t void_;
  const std::uint64_t new_void_;
  std::uint64_t block_ = 0;     // of `to`, whose runs are being written
  std::uint64_t left_ = 0;      // its cells, in `from`, that are still to come
  std::uint64_t occupied_ = 0;  // of the block
  std::uint64_t end_ = 0;       // of all runs
  std::uint64_t used_ = 0;
  std::uint64_t voids_ = 0;
};

}  // namespace tamis::inline TAMIS_LEVEL
