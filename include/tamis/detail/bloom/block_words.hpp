#pragma once

// The table of one-memory-access Bloom filters: blocks of W = 32, 64, 128, 256 or 512 bits that never cross a cache line, in
// which a key owns k bits (detail/simd/block_places.hpp).

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "tamis/detail/base/access.hpp"
#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/base/zeroed_array.hpp"
#include "tamis/detail/hash/place.hpp"
#include "tamis/detail/simd/block_places.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// A table of blocks whose width is chosen at run time.
class block_words {
 public:
  // Requires: width is one of 32, 64, 128, 256, 512.
  static result<block_words> make(std::uint64_t blocks, unsigned width) {
    block_words made;
    const auto lanes = checked_multiply(blocks, width / 32);
    if (!lanes) return failure{"a table of " + std::to_string(blocks) + " words cannot be addressed"};
    TAMIS_TRY(made.lanes_, zeroed_array<std::uint32_t>::make(*lanes));
    made.width_ = width;
    made.blocks_ = blocks;
    return made;
  }

  static constexpr bool is_width(std::uint64_t width) { return std::has_single_bit(width) && width >= 32 && width <= 512; }

  std::uint64_t blocks() const { return blocks_; }
  unsigned width() const { return width_; }
  std::uint64_t bits() const { return lanes_.size() * 32; }

  TAMIS_INLINE std::uint64_t block_of(digest d) const { return reduce(d.high, blocks_); }
  TAMIS_INLINE void prefetch_for_write(std::uint64_t i) const { prefetch_write(lanes_.data() + i * (width_ / 32)); }
  template <unsigned W>
  TAMIS_INLINE std::uint32_t* block(std::uint64_t i) {
    return lanes_.data() + i * (W / 32);
  }
  template <unsigned W>
  TAMIS_INLINE const std::uint32_t* block(std::uint64_t i) const {
    return lanes_.data() + i * (W / 32);
  }

  // Calls `use` with the width as a constant: one branch per call (or per batch) instead of a width in every shift.
  template <class Use>
  TAMIS_INLINE decltype(auto) with_width(Use use) const {
    if (width_ == 512) return use(std::integral_constant<unsigned, 512>());
    switch (width_) {
      case 32: return use(std::integral_constant<unsigned, 32>());
      case 64: return use(std::integral_constant<unsigned, 64>());
      case 128: return use(std::integral_constant<unsigned, 128>());
      default: return use(std::integral_constant<unsigned, 256>());
    }
  }

  // Sets every bit that is set in `other`.  Requires: same width and number of blocks.
  template <class Access = plain_access>
  void unite(const block_words& other) {
    assert(width_ == other.width_ && blocks_ == other.blocks_);
    for (std::uint64_t i = 0; i < lanes_.size(); ++i) Access::add_bits(lanes_[i], Access::load(other.lanes_[i]));
  }

  template <class Access>
  block_words copied() const {
    block_words copy;
    copy.width_ = width_;
    copy.blocks_ = blocks_;
    copy.lanes_ = lanes_.template copied<Access>();
    return copy;
  }

  // Every `by` blocks united to one.  Requires: by divides blocks().
  result<block_words> folded(std::uint64_t by) const {
    assert(blocks_ % by == 0);
    TAMIS_TRY(block_words smaller, make(blocks_ / by, width_));
    const unsigned each = width_ / 32;
    for (std::uint64_t i = 0; i < lanes_.size(); ++i) smaller.lanes_[i / each / by * each + i % each] |= lanes_[i];
    return smaller;
  }

  // The rate of the present content: a block with X of its W bits set passes k random places with (X / W)^k.
  double rate(unsigned k) const {
    if (blocks_ == 0) return 0.0;
    std::uint64_t with_ones[513] = {};
    const unsigned lanes_each = width_ / 32;
    for (std::uint64_t i = 0; i < lanes_.size(); i += lanes_each) {
      unsigned ones = 0;
      for (unsigned lane = 0; lane < lanes_each; ++lane) ones += static_cast<unsigned>(std::popcount(lanes_[i + lane]));
      ++with_ones[ones];
    }
    double sum = 0.0;
    for (unsigned ones = 1; ones <= width_; ++ones) {
      sum += static_cast<double>(with_ones[ones]) * std::pow(static_cast<double>(ones) / width_, k);
    }
    return sum / static_cast<double>(blocks_);
  }

  // The same if every key has one place in each eighth of its block: a block passes with the product of their shares.
  // Requires: blocks of 256 or 512 bits.
  double split_rate() const {
    const unsigned halves = width_ / 256;
    double sum = 0.0;
    for (std::uint64_t i = 0; i < lanes_.size(); i += std::uint64_t{halves} * places_per_seed) {
      double passes = 1.0;
      for (unsigned lane = 0; lane < places_per_seed; ++lane) {
        int ones = std::popcount(lanes_[i + lane]);
        if (halves == 2) ones += std::popcount(lanes_[i + places_per_seed + lane]);
        passes *= ones / (32.0 * halves);
      }
      sum += passes;
    }
    return blocks_ == 0 ? 0.0 : sum / static_cast<double>(blocks_);
  }

  friend bool operator==(const block_words&, const block_words&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.width_, self.blocks_, self.lanes_);
  }
  status validate() const {
    if (is_wrong(!is_width(width_))) return failure{"words of " + std::to_string(width_) + " bits do not exist"};
    const auto lanes = checked_multiply(blocks_, width_ / 32);
    if (is_wrong(blocks_ == 0) || is_wrong(lanes != lanes_.size()))
      return failure{"the number of words does not fit their table"};
    return {};
  }

 private:
  unsigned width_ = 0;
  std::uint64_t blocks_ = 0;
  zeroed_array<std::uint32_t> lanes_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
