#pragma once

// The two buckets of a key, compared at once. An answer is a mask of eight bits: bits 0 to 3 are the slots of the first bucket,
// bits 4 to 7 those of the second.
//
// `marks` is the same as `equal`, but with marks_per_slot bits for each slot where that is cheaper.
//
// With AVX2 they become one vector (detail/simd/bucket_vectors.hpp), for widths up to 25 bits; what remains, and plain builds,
// compares one word per bucket.

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tamis/detail/cuckoo/buckets.hpp"
#include "tamis/detail/simd/bucket_vectors.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// Word by word.
template <class Table>
class word_pair {
 public:
  TAMIS_INLINE word_pair(const Table& table, std::uint64_t first, std::uint64_t second)
      : lanes_(table.lanes()), first_(table.load(first)), second_(table.load(second)) {}

  TAMIS_INLINE bool any_equal(std::uint64_t fingerprint) const {
    return lanes_.any_equal(first_, second_, lanes_.repeat(fingerprint));
  }
  TAMIS_INLINE unsigned equal(std::uint64_t fingerprint) const {
    const auto pattern = lanes_.repeat(fingerprint);
    return lanes_.mask(lanes_.equal(first_, pattern)) | lanes_.mask(lanes_.equal(second_, pattern)) << slots_per_bucket;
  }
  static constexpr unsigned marks_per_slot = 1;
  TAMIS_INLINE unsigned marks(std::uint64_t fingerprint) const { return equal(fingerprint); }
  TAMIS_INLINE unsigned empty() const {
    return lanes_.mask(lanes_.empty(first_)) | lanes_.mask(lanes_.empty(second_)) << slots_per_bucket;
  }

 private:
  using lanes = typename Table::lanes_type;
  lanes lanes_;
  typename lanes::word first_;
  typename lanes::word second_;
};

// In one vector.
template <class Table, unsigned Width>
struct vector_pair : bucket_vector<Width> {
  TAMIS_INLINE vector_pair(const Table& table, std::uint64_t first, std::uint64_t second)
      : bucket_vector<Width>(table.first_byte(first), table.first_byte(second)) {}
};
template <class Table>
struct wide_vector_pair : wide_bucket_vector<sizeof(typename Table::word)> {
  TAMIS_INLINE wide_vector_pair(const Table& table, std::uint64_t first, std::uint64_t second)
      : wide_bucket_vector<sizeof(typename Table::word)>(table.lanes().width(), table.first_byte(first),
                                                         first & table.lanes().width() & 1, table.first_byte(second),
                                                         second & table.lanes().width() & 1) {}
};

template <class Table>
auto choose_pair() {
  using lanes = typename Table::lanes_type;
  constexpr unsigned width = lanes::fixed_width;
  if constexpr (has_bucket_vectors && (width == 8 || width == 12 || width == 16)) {
    return std::type_identity<vector_pair<Table, width>>{};
  } else if constexpr (has_bucket_vectors && lanes::most_width <= most_spread_bits) {
    return std::type_identity<wide_vector_pair<Table>>{};
  } else {
    return std::type_identity<word_pair<Table>>{};
  }
}

template <class Table>
using bucket_pair = typename decltype(choose_pair<Table>())::type;

// The slot to fill, for every mask of empty slots but 0: the first of the emptier bucket, so that fewer inserts need a search.
inline constexpr auto slot_of_emptier_bucket = [] {
  std::array<std::uint8_t, 256> table{};
  for (unsigned empty = 1; empty < 256; ++empty) {
    const unsigned second = empty >> slots_per_bucket;
    const bool use_second = std::popcount(second) > std::popcount(empty & 15u);
    table[empty] =
        static_cast<std::uint8_t>(use_second ? int{slots_per_bucket} + std::countr_zero(second) : std::countr_zero(empty));
  }
  return table;
}();

}  // namespace tamis::detail::inline TAMIS_LEVEL
