#pragma once

// The k places of a Bloom filter from one digest: double hashing (Kirsch and Mitzenmacher), h1 + i·h2, with each sum mixed
// before it is reduced to the table. Unmixed, two keys with nearly equal h2 share nearly all places; in a table of a few
// thousand cells that alone gives a rate of about 2kn/m², far above a target of 1e-6. One multiplication per place removes it.

#include <cstdint>

#include "tamis/base/digest.hpp"
#include "tamis/hash/place.hpp"

namespace tamis {

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

}  // namespace tamis
