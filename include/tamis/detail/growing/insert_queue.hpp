#pragma once

// Keys that were accepted and are on their way into a table that is larger than the caches. A key arrives, its memory is asked
// for, and it is put into its place when some others have arrived, so that nobody waits:
//
//   arrives ──► | 7 | 6 | 5 | 4 | 3 | 2 | 1 | 0 | ──► due: its lines are there by now
//
// Whoever has insert_queue must show them in every answer and have room for all of them: the owner's business. A lookup asks
// with one comparison whether any of them may concern it.

#include <cstdint>

#include "tamis/detail/base/compiler.hpp"

#if TAMIS_HAS_AVX2
#include <immintrin.h>
#endif

namespace tamis::detail::inline TAMIS_LEVEL {

// Readers may share it; a writer must be alone.
class insert_queue {
 public:
  static constexpr unsigned most = 8;  // more are no faster, four cost a tenth of the time of inserts out of cache
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};

  struct key {
    std::uint64_t cell = nowhere;
    std::uint64_t following = 0;  // what comes behind the cell in the key's stream
  };

  unsigned size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // The key goes in, and the one that is due comes out; its cell is `nowhere` while there are fewer than `most`.
  TAMIS_INLINE key exchange(std::uint64_t cell, std::uint64_t following) {
    const unsigned at = next_;
    const key due = keys_[at];
    keys_[at] = {cell, following};
    ends_[at] = static_cast<std::uint32_t>(cell);
    next_ = (at + 1) % most;
    size_ += static_cast<unsigned>(due.cell == nowhere);
    return due;
  }

  // Is one of them in this cell? Also says yes for one cell in 2^29 that has none.
  TAMIS_INLINE bool may_have(std::uint64_t cell) const {
    const auto end = static_cast<std::uint32_t>(cell);
#if TAMIS_HAS_AVX2
    static_assert(most == 8);
    const __m256i all = _mm256_load_si256(reinterpret_cast<const __m256i*>(ends_));
    const __m256i same = _mm256_cmpeq_epi32(all, _mm256_set1_epi32(static_cast<int>(end)));
    return _mm256_testz_si256(same, same) == 0;
#else
    unsigned same = 0;
    for (const std::uint32_t e : ends_) same |= static_cast<unsigned>(e == end);
    return same != 0;
#endif
  }

  // Calls visit(key) for all, in the order in which they came.
  template <class Visit>
  void for_each(Visit visit) const {
    for (unsigned i = most - size_; i < most; ++i) visit(keys_[(next_ + i) % most]);
  }
  // How many are in this cell and agree with `following` in its first `length` bits.  Requires: 1 <= length <= 64.
  std::uint64_t count(std::uint64_t cell, std::uint64_t following, unsigned length) const {
    std::uint64_t found = 0;
    for (const key& k : keys_) {
      found += static_cast<std::uint64_t>(k.cell == cell && (k.following ^ following) >> (64 - length) == 0);
    }
    return found;
  }

 private:
  alignas(32) std::uint32_t ends_[most] = {};  // of the cells
  key keys_[most];
  unsigned next_ = 0;  // where the next one goes, and where the one is that is due if there are as many as there can be
  unsigned size_ = 0;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
