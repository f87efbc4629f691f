#pragma once

// Small counters that stick at the top: a counter that has reached its largest value may stand for more, so it never goes down
// again. With atomic_access (access.hpp) they may be changed while others read and change them.

#include <cstdint>
#include <cstring>

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

  template <class Access = plain_access>
  TAMIS_INLINE unsigned get(std::uint64_t i) const {
    return in(Access::load(bytes_[i / per_byte]), i);
  }
  TAMIS_INLINE bool stuck(std::uint64_t i) const { return get(i) == top; }

  template <class Access = plain_access>
  TAMIS_INLINE void increment(std::uint64_t i) {
    Access::update(bytes_[i / per_byte], [i](std::uint8_t byte) {
      return static_cast<std::uint8_t>(byte + (unsigned{in(byte, i) != top} << shift(i)));
    });
  }
  // Requires: get(i) != 0.
  TAMIS_INLINE void decrement(std::uint64_t i) {
    assert(get(i) != 0);
    bytes_[i / per_byte] = static_cast<std::uint8_t>(bytes_[i / per_byte] - (unsigned{!stuck(i)} << shift(i)));
  }
  // A counter of 0 stays one.
  template <class Access = plain_access>
  TAMIS_INLINE void decrement_if_any(std::uint64_t i) {
    Access::update(bytes_[i / per_byte], [i](std::uint8_t byte) {
      const unsigned now = in(byte, i);
      return static_cast<std::uint8_t>(byte - (unsigned{now != 0 && now != top} << shift(i)));
    });
  }
  // Adds a counter of another table. Sums beyond the top stick.
  template <class Access = plain_access>
  void add(std::uint64_t i, unsigned amount) {
    Access::update(bytes_[i / per_byte], [i, amount](std::uint8_t byte) {
      const unsigned sum = std::min(in(byte, i) + amount, top);
      return static_cast<std::uint8_t>((byte & ~(top << shift(i))) | sum << shift(i));
    });
  }

  template <class Access>
  sticky_counters copied() const {
    sticky_counters copy;
    copy.size_ = size_;
    copy.bytes_ = bytes_.template copied<Access>();
    return copy;
  }

  // Bit j: is counter first + j more than 0?  Requires: first is a multiple of 32; 32 counters from there on exist.
  std::uint32_t nonzero_of_32(std::uint64_t first) const requires(Bits == 4) {
    std::uint32_t all = 0;
    for (unsigned half = 0; half < 2; ++half) {
      std::uint64_t x;
      std::memcpy(&x, bytes_.data() + first / per_byte + std::size_t{8} * half, sizeof x);
      x = (x | x >> 1 | x >> 2 | x >> 3) & 0x1111111111111111u;
      // The lowest bits of sixteen counters move together, in twos, fours, eights.
      x = (x | x >> 3) & 0x0303030303030303u;
      x = (x | x >> 6) & 0x000f000f000f000fu;
      x = (x | x >> 12) & 0x000000ff000000ffu;
      all |= static_cast<std::uint32_t>((x | x >> 24) & 0xffff) << (16 * half);
    }
    return all;
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
  static constexpr unsigned in(std::uint8_t byte, std::uint64_t i) { return byte >> shift(i) & top; }
  static constexpr unsigned shift(std::uint64_t i) { return static_cast<unsigned>(i % per_byte) * Bits; }

  std::uint64_t size_ = 0;
  zeroed_array<std::uint8_t> bytes_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
