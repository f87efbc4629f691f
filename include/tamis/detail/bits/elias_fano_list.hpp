#pragma once

// Up to 13 items, each with one of 64 places, in 56 bits, found without walking (P. Elias 1974, R. M. Fano 1971): 16 groups of
// four places, of which a one begins each and every item adds a zero, and from the top down two bits per item that say which of
// the four.
//
//   items at 1, 6 and 6:   | 01 | 10 | 10 | … unused: 0 … | 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 | 0 0 1 | 0 1 |      bit 0 is always
//   1
//                            item 0, 1, 2                   group 15 and what ends it … 2 | group 1 | group 0

#include <bit>
#include <cassert>
#include <cstdint>

#include "tamis/detail/bits/word.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

class elias_fano_list {
 public:
  static constexpr unsigned most_items = 13;
  static constexpr unsigned groups = 16;
  static constexpr unsigned code_bits = 56;

  TAMIS_INLINE explicit elias_fano_list(std::uint64_t code) : code_(code) { assert((code & 1) != 0); }
  TAMIS_INLINE std::uint64_t code() const { return code_; }

  // count(place): how many items there are.  Requires: at most most_items in all.
  template <class Count>
  static elias_fano_list make(Count count) {
    std::uint64_t code = 1;
    unsigned bit = 1;
    unsigned lowest = code_bits;
    for (unsigned place = 0; place < 64; ++place) {
      for (unsigned left = count(place); left != 0; --left, ++bit) {
        lowest -= 2;
        code |= std::uint64_t{place % 4} << lowest;
      }
      if (place % 4 == 3) code |= std::uint64_t{1} << bit++;
    }
    assert(bit <= lowest);
    return elias_fano_list(code);
  }

  // The unused bits are those from here on, as many as 39 - 3 · size().
  TAMIS_INLINE unsigned end() const { return select(code_, groups) + 1; }
  unsigned size() const { return end() - groups - 1; }

  // The places of a list from outside, bit by bit; none if make() makes no such list of at most `most` items at one place.
  // What stands between the groups and the items is not looked at.
  static std::uint64_t places_if_made(std::uint64_t code, unsigned most) {
    if ((code & 1) == 0 || code >> code_bits != 0 || popcount(code) <= groups) return 0;
    const elias_fano_list list(code);
    if (list.end() > groups + 1 + most_items) return 0;
    std::uint64_t places = 0;
    std::uint64_t fields = code << (64 - code_bits);
    unsigned items = 0;
    unsigned last = 0;
    unsigned here = 0;  // items at the last place
    for (std::uint64_t zeros = ~code & low_mask(list.end()); zeros != 0; zeros &= zeros - 1, fields <<= 2, ++items) {
      const unsigned group = static_cast<unsigned>(std::countr_zero(zeros)) - 1 - items;
      const unsigned place = group * 4 + static_cast<unsigned>(fields >> 62);
      if (items != 0 && place < last) return 0;
      here = items != 0 && place == last ? here + 1 : 1;
      if (here > most) return 0;
      last = place;
      places |= std::uint64_t{1} << place;
    }
    return places;
  }
  // The bits between the groups and the items: 39 - 3 · size() of them.  Requires: made by make(), but for these.
  std::uint64_t unused() const { return code_ >> end() & low_mask(code_bits - 2 * size() - end()); }

  // Calls visit(place) for each item, in order.
  template <class Visit>
  void for_each(Visit visit) const {
    std::uint64_t fields = code_ << (64 - code_bits);
    unsigned group = 0;
    for (std::uint64_t rest = code_ >> 1; group < groups && rest != 0; rest >>= 1) {
      if ((rest & 1) != 0) {
        ++group;
      } else {
        visit(group * 4 + static_cast<unsigned>(fields >> 62));
        fields <<= 2;
      }
    }
  }

  // The items at one place: numbers [first, first + count).
  struct items {
    unsigned first;
    unsigned count;
  };
  TAMIS_INLINE items at(unsigned place) const {
    const unsigned group = place / 4;
    const std::uint64_t bounds = select_pair(code_, group);
    const auto begin = static_cast<unsigned>(std::countr_zero(bounds));
    const unsigned before = begin - group;
    const unsigned inside = static_cast<unsigned>(std::countr_zero(bounds & (bounds - 1))) - begin - 1;
    // Two bits for each item of the group, from bit 63 down; pairs of zeros where they say `place`.
    const std::uint64_t differ = (code_ << (64 - code_bits + 2 * before)) ^ every_pair * (place % 4);
    const std::uint64_t same = (~(differ | differ >> 1) & every_pair) >> 1 >> (63 - 2 * inside);
    const auto after = static_cast<unsigned>(std::bit_width(same) + 1) / 2;  // items of the group, from the first such on
    return {before + inside - after, popcount(same)};
  }

 private:
  static constexpr std::uint64_t every_pair = 0x5555555555555555u;

  std::uint64_t code_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
