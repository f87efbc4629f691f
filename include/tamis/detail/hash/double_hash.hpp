#pragma once

// The k places of a Bloom filter from one digest: double hashing (Kirsch and Mitzenmacher), h1 + i·h2, with each sum mixed
// before it is reduced to the table. Unmixed, two keys with nearly equal h2 share nearly all places; in a table of a few
// thousand cells that alone gives a rate of about 2kn/m², far above a target of 1e-6. One multiplication per place removes it.

#include <cstdint>

#include "tamis/detail/hash/place.hpp"
#include "tamis/digest.hpp"

namespace tamis::detail {

class double_hash {
 public:
  TAMIS_INLINE constexpr explicit double_hash(digest d) : sum_(d.high), step_(d.low | 1) {}

  // The next place in a table of `cells` cells.
  TAMIS_INLINE constexpr std::uint64_t next(std::uint64_t cells) {
    sum_ += step_;
    return reduce((sum_ ^ (sum_ >> 32)) * 0x9fb21c651e98df25u, cells);
  }

 private:
  std::uint64_t sum_;
  std::uint64_t step_;
};

// Does every one of the k places of `d` pass `test`? They are tested in threes without a branch between: with half of the cells
// empty, where a negative lookup would stop is a coin toss at every place, and a wrong guess costs more than two more tests.
inline constexpr unsigned places_at_once = 3;

template <class Test>
TAMIS_INLINE constexpr bool all_places(digest d, unsigned k, std::uint64_t cells, Test test) {
  double_hash places(d);
  for (; k >= places_at_once; k -= places_at_once) {
    static_assert(places_at_once == 3);  // written out: around atomic loads, GCC 12 leaves a loop of three as it is
    const std::uint64_t a = places.next(cells), b = places.next(cells), c = places.next(cells);
    if ((unsigned{test(a)} & unsigned{test(b)} & unsigned{test(c)}) == 0) return false;
  }
  for (; k > 0; --k) {
    if (!test(places.next(cells))) return false;
  }
  return true;
}

}  // namespace tamis::detail
