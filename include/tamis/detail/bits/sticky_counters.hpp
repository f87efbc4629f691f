#pragma once

// Small counters that stick at the top: a counter that has reached its largest value may stand for more, so it never goes down
// again.

#include <cstdint>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/base/zeroed_array.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// Counters of Bits bits (a power of two up to 8), packed into bytes.
template <unsigned Bits>
class sticky_counters {
  static_assert(Bits == 1 || Bits == 2 || Bits == 4 || Bits == 8);

 public:
  static constexpr unsigned top = (1u << Bits) - 1;

  static result<sticky_counters> make(std::uint64_t size) {
    sticky_counters made;
    TAMIS_TRY(made.bytes_, zeroed_array<std::uint8_t>::make(divide_up(size, per_byte)));
    made.size_ = size;
    return made;
  }

  std::uint64_t size() const { return size_; }
  std::uint64_t bits() const { return bytes_.size() * 8; }

  TAMIS_INLINE unsigned get(std::uint64_t i) const { return bytes_[i / per_byte] >> shift(i) & top; }
  TAMIS_INLINE bool stuck(std::uint64_t i) const { return get(i) == top; }

  TAMIS_INLINE void increment(std::uint64_t i) {
    bytes_[i / per_byte] = static_cast<std::uint8_t>(bytes_[i / per_byte] + (unsigned{!stuck(i)} << shift(i)));
  }
  // Requires: get(i) != 0.
  TAMIS_INLINE void decrement(std::uint64_t i) {
    assert(get(i) != 0);
    bytes_[i / per_byte] = static_cast<std::uint8_t>(bytes_[i / per_byte] - (unsigned{!stuck(i)} << shift(i)));
  }
  // Adds a counter of another table. Sums beyond the top stick.
  void add(std::uint64_t i, unsigned amount) {
    const unsigned sum = std::min(get(i) + amount, top);
    bytes_[i / per_byte] = static_cast<std::uint8_t>((bytes_[i / per_byte] & ~(top << shift(i))) | sum << shift(i));
  }

  TAMIS_INLINE void prefetch(std::uint64_t i) const { prefetch_read(bytes_.data() + i / per_byte); }

  std::uint64_t count_nonzero() const {
    std::uint64_t nonzero = 0;
    for (std::uint64_t i = 0; i < size_; ++i) nonzero += get(i) != 0;
    return nonzero;
  }

  friend bool operator==(const sticky_counters&, const sticky_counters&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.size_, self.bytes_);
  }
  status validate() const {
    if (is_wrong(bytes_.size() != divide_up(size_, per_byte)))
      return failure{"the number of counters does not fit their table"};
    if (is_wrong(size_ % per_byte != 0 && bytes_[bytes_.size() - 1] >> (size_ % per_byte * Bits) != 0)) {
      return failure{"there are counters behind the last one"};
    }
    return {};
  }

 private:
  static constexpr unsigned per_byte = 8 / Bits;
  static constexpr unsigned shift(std::uint64_t i) { return static_cast<unsigned>(i % per_byte) * Bits; }

  std::uint64_t size_ = 0;
  zeroed_array<std::uint8_t> bytes_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
