#pragma once

// Where the runs of a block lie, from its header alone (Pandey, Bender, Johnson and Patro, "A general-purpose counting filter",
// SIGMOD 2017, section 3), for blocks whose slots are apart from their quotients. Runs lie in the order of their quotients,
// none before its home, and without a gap unless one would.
//
//   quotient   0 1 2 3 4 5 6 7        S = 48: homes 0 0 1 2 3 3 4 5
//   occupied   . 1 1 . . . 1 .        quotients 1, 2 and 6 have runs
//   slot       0 1 2 3 4 5
//   value      a b c . d .            of two, one and one slots: the j-th run ends at the j-th runend
//   runend     . 1 1 . 1 .            quotient 2 stands one slot behind its home; 3 is free, for 4 is the home of quotient 6

#include <algorithm>
#include <bit>
#include <cstdint>

#include "tamis/detail/bits/balance.hpp"
#include "tamis/detail/quotient/block_memory.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// The part of a run that lies in its quotient's own block: what nearly every lookup needs, without a branch.
struct run_in_block {
  std::uint64_t slots;  // bit x: slot x of the block belongs to the run; without the last of 64
  // May more of it follow in the next blocks? (With 64 slots a run that ends with the block is taken for one that does.)
  bool leaves;
};

// Requires: i < 64.
TAMIS_INLINE run_in_block find_in_block(const record_header& header, spacing s, std::uint64_t i) {
  const std::uint64_t up_to = header.occupied << (63 - i);  // its sign: has the quotient a run?
  const auto from_run = static_cast<std::uint64_t>(static_cast<std::int64_t>(up_to) >> 63);
  const std::uint64_t pair = select_pair(header.bounds(), popcount(up_to << 1) % word_bits);
  const std::uint64_t end = pair & (pair - 1);
  const std::uint64_t begin = lowest_bit(pair);
  const std::uint64_t from_home = ~std::uint64_t{0} << s.home(static_cast<unsigned>(i));
  // A bound above S is none. If the end is at most S, then end - 1 has no bit from S on.
  const std::uint64_t within = s.bounded_slots();
  return {(end - begin) & from_home & from_run & within, ((end - 1) & from_run) > within};
}

// Hops: with k runs begun up to slot x, the first slot that can be free is the one behind the k-th runend.
inline unsigned first_free_by_hops(const record_header& header, spacing s, unsigned from) {
  const std::uint64_t ends = header.own_runends();
  for (unsigned x = std::max(from, header.offset); x < s.slots();) {
    const unsigned begun = rank(header.occupied, s.quotients_before(x + 1));
    if (begun == rank(ends, x)) return x;
    x = select(ends, begun - 1) + 1;
  }
  return s.slots();
}
inline unsigned first_closed_by_hops(const record_header& header, spacing s, unsigned from) {
  const std::uint64_t ends = header.own_runends();
  for (unsigned x = std::max(from, header.offset); x < s.slots();) {
    const unsigned begun = rank(header.occupied, s.quotients_before(x));
    if (begun == rank(ends, x)) return x;
    x = select(ends, begun - 1) + 1;
  }
  return s.slots();
}

// Bit x: slot x belongs to no run. All runs that have their home up to x have then ended before it. In the word of quotients,
// slot x stands for the last quotient of its home.
TAMIS_INLINE std::uint64_t free_slots(const record_header& header, spacing s) {
  const std::uint64_t ended = header.own_runends() << 1 & s.all_slots();
  const std::uint64_t last = s.last_of_homes();
  return high_bits(pext(balanced(header.occupied, pdep(ended, last)), last), header.offset);
}
// Bit x: all runs that have their home before slot x have ended before it. It is free, or a run stands there in its home and
// cannot move down.
TAMIS_INLINE std::uint64_t closed_slots(const record_header& header, spacing s) {
  const std::uint64_t last = s.last_of_homes();
  const std::uint64_t behind = pext(balanced(header.occupied, pdep(header.own_runends(), last)), last);
  return high_bits((behind << 1 | 1) & s.all_slots(), header.offset);
}

// The first such slot from `from` on; S or more if there is none.
TAMIS_INLINE unsigned first_free(const record_header& header, spacing s, unsigned from) {
  if constexpr (has_balanced) return static_cast<unsigned>(std::countr_zero(high_bits(free_slots(header, s), from)));
  return first_free_by_hops(header, s, from);
}
TAMIS_INLINE unsigned first_closed(const record_header& header, spacing s, unsigned from) {
  if constexpr (has_balanced) return static_cast<unsigned>(std::countr_zero(high_bits(closed_slots(header, s), from)));
  return first_closed_by_hops(header, s, from);
}

}  // namespace tamis::detail::inline TAMIS_LEVEL
