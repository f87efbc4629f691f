#pragma once

// Has this mistake been made before? A table of fixed size in which every slot remembers the last mistake that fell into it.

#include <atomic>
#include <memory>

#include "tamis/detail/base/random.hpp"
#include "tamis/detail/hash/place.hpp"
#include "tamis/digest.hpp"

namespace tamis {

class repeats {
 public:
  explicit repeats(std::uint32_t slots) : slots_(slots), last_(std::make_unique<std::atomic<std::uint64_t>[]>(slots)) {}

  // Remembers `d` and says whether it was the one remembered in its slot.
  bool again(digest d) {
    if (slots_ == 0) return false;
    const std::uint64_t mark = d.low | 1;  // never 0, which is an empty slot
    // Mixed: mistakes of a quotient filter that collide with one key share the first bits of their digests.
    return last_[detail::reduce(detail::mix64(d.high + d.low), slots_)].exchange(mark, std::memory_order_relaxed) == mark;
  }

 private:
  std::uint32_t slots_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> last_;
};

}  // namespace tamis
