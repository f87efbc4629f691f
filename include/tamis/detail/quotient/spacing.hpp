#pragma once

// How the slots of a block are spread under its quotients. A block has 64 quotients and S slots; quotient i of the block has
// its home at slot i·S / 64, so a slot is the home of one or two quotients. Fewer slots than quotients make a fuller table of
// shorter remainders, or one that follows its keys in small steps; no fingerprint changes with S.
//
//   quotient   0 1 2 3 4 5 6 7      S = 48: three slots for every four quotients
//   home       0 0 1 2 3 3 4 5      the last quotients of their slots: 1, 2, 3, 5, 6, 7

#include <array>
#include <cassert>
#include <cstdint>

#include "tamis/detail/bits/word.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

inline constexpr unsigned block_quotients = 64;

class spacing {
 public:
  static constexpr unsigned least = 32;
  static constexpr unsigned most = 64;
  static constexpr unsigned step = 2;

  // Columns of S bits lie one behind the other, and each is within the eight bytes from its first one on: 62 is not possible.
  static constexpr bool allows(std::uint64_t slots) {
    return least <= slots && slots <= most && slots % step == 0 && slots != 62;
  }
  // The next larger one; most + 2 if there is none.
  static constexpr unsigned after(unsigned slots) { return slots == 60 ? 64 : slots + step; }
  // An eighth of the quotients more slots, as far as there are.
  static constexpr unsigned raised(unsigned slots) { return slots + 8 == 62 || slots + 8 > most ? most : slots + 8; }

  spacing() = default;
  // Requires: allows(slots).
  TAMIS_INLINE constexpr explicit spacing(unsigned slots)
      : slots_(slots), bounded_slots_(low_mask(slots < most ? slots : most - 1)) {
    assert(allows(slots));
  }

  TAMIS_INLINE constexpr unsigned slots() const { return slots_; }
  TAMIS_INLINE constexpr std::uint64_t all_slots() const { return low_mask(slots_); }
  // The slots that may be the last of a run which has a bound behind it in the block's word: all, or all but the last of 64.
  TAMIS_INLINE constexpr std::uint64_t bounded_slots() const { return bounded_slots_; }
  // Requires: i < 64.
  TAMIS_INLINE constexpr unsigned home(unsigned i) const { return i * slots_ / block_quotients; }

  // Bit c: quotient c is the last one of its home.
  TAMIS_INLINE constexpr std::uint64_t last_of_homes() const { return last_of_homes_of[(slots_ - least) / step]; }
  // How many quotients have their home before slot x.  Requires: x <= slots().
  TAMIS_INLINE constexpr unsigned quotients_before(unsigned x) const { return x == 0 ? 0 : select(last_of_homes(), x - 1) + 1; }

  friend constexpr bool operator==(spacing, spacing) = default;

 private:
  static constexpr std::array<std::uint64_t, (most - least) / step + 1> make_last_of_homes() {
    std::array<std::uint64_t, (most - least) / step + 1> made{};
    for (unsigned slots = least; slots <= most; slots += step) {
      for (unsigned i = 0; i < block_quotients; ++i) {
        const bool is_last = i + 1 == block_quotients || i * slots / block_quotients != (i + 1) * slots / block_quotients;
        made[(slots - least) / step] |= static_cast<std::uint64_t>(is_last) << i;
      }
    }
    return made;
  }
  static const std::array<std::uint64_t, (most - least) / step + 1> last_of_homes_of;

  unsigned slots_ = most;
  std::uint64_t bounded_slots_ = plain::low_mask(most - 1);
};

inline constexpr std::array<std::uint64_t, (spacing::most - spacing::least) / spacing::step + 1> spacing::last_of_homes_of =
    spacing::make_last_of_homes();

}  // namespace tamis::detail::inline TAMIS_LEVEL
