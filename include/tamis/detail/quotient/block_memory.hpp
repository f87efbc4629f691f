#pragma once

// The memory of a quotient table whose blocks have 64 quotients and S slots of `width` bits. All of a block stands in its
// record, but for the low eight bits of slots that have as many: these are a column of bytes, of which 64 are compared at once.
//
//   record   | occupied: 8 bytes | offset: 1 | runends: S bits | bit column: S bits | … |      rounded up to whole bytes
//
//   width 7    seven bit columns, no bytes         9 + S bytes
//   width 8    no bit column, and a byte a slot    9 + S/8 bytes, and S
//   width 10   bits 8 and 9 in bit columns         9 + 3·S/8 bytes, and S
//
// A bit column compares S slots in three instructions and moves like the runends, which are one more such column. So narrow
// slots need no wide registers, and a lookup of theirs reads one record and nothing else.

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "tamis/detail/base/zeroed_array.hpp"
#include "tamis/detail/bits/byte_column.hpp"
#include "tamis/detail/quotient/spacing.hpp"

#define TAMIS_INLINE_LAMBDA __attribute__((always_inline))

namespace tamis::detail::inline TAMIS_LEVEL {

inline constexpr unsigned longest_offset = 255;  // this one and all above

// What decides where the bits of a block stand.
class block_layout {
 public:
  static constexpr unsigned widest = 56;

  block_layout() = default;
  // Requires: 1 <= width <= widest.
  TAMIS_INLINE constexpr block_layout(spacing s, unsigned width) : spacing_(s), width_(width) {
    assert(1 <= width && width <= widest);
    record_bytes_ = fixed_bytes + (s.slots() * (1 + bit_columns()) + 7) / 8;
  }

  TAMIS_INLINE constexpr spacing spaced() const { return spacing_; }
  TAMIS_INLINE constexpr unsigned slots() const { return spacing_.slots(); }
  // `Width`, here and in everything that stands on this, may say the width.
  template <unsigned Width = 0>
  TAMIS_INLINE constexpr unsigned width() const {
    assert(Width == 0 || Width == width_);
    return Width != 0 ? Width : width_;
  }
  template <unsigned Width = 0>
  TAMIS_INLINE constexpr bool has_bytes() const {
    return width<Width>() >= 8;
  }
  template <unsigned Width = 0>
  TAMIS_INLINE constexpr unsigned bit_columns() const {
    return has_bytes<Width>() ? width<Width>() - 8 : width<Width>();
  }
  // Calls use(k) for the runends, 0, and every bit column; with constants, and unrolled, if the width is known.
  template <unsigned Width, unsigned First = 0, class Use>
  TAMIS_INLINE constexpr void for_columns(Use use) const {
    if constexpr (Width == 0) {
      for (unsigned k = First; k < 1 + bit_columns(); ++k) use(k);
    } else {
      constexpr unsigned last = Width >= 8 ? Width - 7 : Width + 1;
      [&]<unsigned... K>(std::integer_sequence<unsigned, K...>) TAMIS_INLINE_LAMBDA {
        (use(std::integral_constant<unsigned, First + K>()), ...);
      }
      (std::make_integer_sequence<unsigned, last - First>());
    }
  }
  TAMIS_INLINE constexpr unsigned record_bytes() const { return record_bytes_; }
  // Of one block.
  constexpr unsigned block_bytes() const { return record_bytes_ + (has_bytes() ? slots() : 0); }

  friend constexpr bool operator==(const block_layout&, const block_layout&) = default;

  static constexpr unsigned fixed_bytes = 9;

 private:
  spacing spacing_;
  unsigned width_ = 8;
  unsigned record_bytes_ = fixed_bytes + 8;
};

// The metadata of one block, read once.
struct record_header {
  std::uint64_t occupied;  // bit i: quotient i of the block has a run
  std::uint64_t runends;   // bit x: slot x is the last of a run
  unsigned offset;         // how many slots of this block and the next ones belong to runs of earlier blocks; 255: at least 255

  // Bit x: a run of this block may begin at slot x, since the one before has ended. The run of rank k lies between the k-th of
  // these bounds and the next, as far as its home lets it. With 64 slots there is no bit for the bound behind the last one.
  TAMIS_INLINE std::uint64_t bounds() const { return high_bits((runends << 1) | 1, offset); }
  TAMIS_INLINE std::uint64_t own_runends() const { return high_bits(runends, offset); }
};

// One allocation: records, byte column, and a few bytes so that words and vectors may be read from the last slot on.
class block_memory {
 public:
  static constexpr unsigned spare_bytes = 40;

  static result<block_memory> make(block_layout layout, std::uint64_t blocks) {
    TAMIS_TRY(const std::uint64_t bytes, bytes_of(layout, blocks));
    block_memory made;
    made.set_shape(layout, blocks);
    TAMIS_TRY(made.bytes_, zeroed_array<std::uint8_t>::make(bytes));
    return made;
  }
  static result<std::uint64_t> bytes_of(block_layout layout, std::uint64_t blocks) {
    const auto bytes = checked_multiply(blocks, layout.block_bytes());
    const auto all = bytes ? checked_add(*bytes, spare_bytes) : bytes;
    if (!all) return failure{"a table of " + std::to_string(blocks) + " blocks cannot be addressed"};
    return *all;
  }

  const block_layout& layout() const { return layout_; }
  std::uint64_t blocks() const { return blocks_; }
  std::uint64_t bits() const { return bytes_.bytes() * 8; }

  TAMIS_INLINE const std::uint8_t* record(std::uint64_t block) const { return bytes_.data() + block * layout_.record_bytes(); }
  TAMIS_INLINE std::uint8_t* record(std::uint64_t block) { return bytes_.data() + block * layout_.record_bytes(); }
  // The bytes of a block's slots, and behind them those of the next block.  Requires: slots have bytes.
  TAMIS_INLINE const std::uint8_t* slot_bytes(std::uint64_t block) const {
    return bytes_.data() + slot_bytes_at_ + block * layout_.slots();
  }
  TAMIS_INLINE std::uint8_t* slot_bytes(std::uint64_t block) {
    return bytes_.data() + slot_bytes_at_ + block * layout_.slots();
  }

  TAMIS_INLINE static std::uint64_t occupied(const std::uint8_t* record) { return load(record); }
  TAMIS_INLINE static unsigned offset(const std::uint8_t* record) { return record[8]; }
  // Bits of all slots: the runends, or bit column k - 1.
  TAMIS_INLINE std::uint64_t column(const std::uint8_t* record, unsigned k) const {
    return low_bits(load(record + column_byte(k)) >> column_shift(k), layout_.slots());
  }
  // The word in which a column stands, from its bit column_shift(k) on; what else is in it belongs to its neighbours.
  TAMIS_INLINE unsigned column_byte(unsigned k) const { return block_layout::fixed_bytes + k * layout_.slots() / 8; }
  TAMIS_INLINE unsigned column_shift(unsigned k) const { return k * layout_.slots() % 8; }
  TAMIS_INLINE static std::uint64_t load(const std::uint8_t* from) {
    std::uint64_t word;
    std::memcpy(&word, from, sizeof word);
    return word;
  }
  TAMIS_INLINE static void store(std::uint8_t* to, std::uint64_t word) { std::memcpy(to, &word, sizeof word); }
  TAMIS_INLINE std::uint64_t runends(const std::uint8_t* record) const { return column(record, 0); }
  TAMIS_INLINE record_header header(const std::uint8_t* record) const {
    return {occupied(record), runends(record), offset(record)};
  }
  TAMIS_INLINE record_header header(std::uint64_t block) const { return header(record(block)); }

  TAMIS_INLINE static void set_occupied(std::uint8_t* record, std::uint64_t word) { store(record, word); }
  TAMIS_INLINE static void set_offset(std::uint8_t* record, std::uint64_t offset) {
    record[8] = static_cast<std::uint8_t>(offset < longest_offset ? offset : longest_offset);
  }
  // Requires: no bit beyond the block's slots.
  TAMIS_INLINE void set_column(std::uint8_t* record, unsigned k, std::uint64_t bits) {
    std::uint8_t* const at = record + column_byte(k);
    store(at, blend(load(at), bits << column_shift(k), layout_.spaced().all_slots() << column_shift(k)));
  }

  // In all columns of a record, bits [low, high) go up by one, over what bit `high` was, and bit `low` becomes bit k of
  // `incoming` in column k.  Requires: low <= high < slots().
  template <unsigned Width>
  TAMIS_INLINE void insert_bits(std::uint8_t* record, unsigned low, unsigned high, std::uint64_t incoming) {
    const std::uint64_t all = low_mask(high + 1) & ~low_mask(low);
    const std::uint64_t move = all & (all - 1);
    layout_.for_columns<Width>([&](auto k) TAMIS_INLINE_LAMBDA {
      std::uint8_t* const at = record + column_byte(k);
      const unsigned shift = column_shift(k);
      const std::uint64_t word = load(at);
      store(at, (word & ~(all << shift)) | (word << 1 & move << shift) | (incoming >> k & 1) << (low + shift));
    });
  }
  // Bits (low, high] go down by one, over what bit `low` was, and bit `high` becomes bit k of `incoming` in column k.
  template <unsigned Width>
  TAMIS_INLINE void remove_bits(std::uint8_t* record, unsigned low, unsigned high, std::uint64_t incoming) {
    const std::uint64_t all = low_mask(high + 1) & ~low_mask(low);
    const std::uint64_t move = all >> 1 & all;
    layout_.for_columns<Width>([&](auto k) TAMIS_INLINE_LAMBDA {
      std::uint8_t* const at = record + column_byte(k);
      const unsigned shift = column_shift(k);
      const std::uint64_t word = load(at);
      store(at, (word & ~(all << shift)) | (word >> 1 & move << shift) | (incoming >> k & 1) << (high + shift));
    });
  }
  // Bit i of every column, the one of column k as bit k.
  template <unsigned Width = 0>
  TAMIS_INLINE std::uint64_t bits_of(const std::uint8_t* record, unsigned i) const {
    std::uint64_t bits = 0;
    layout_.for_columns<Width>(
        [&](auto k) TAMIS_INLINE_LAMBDA { bits |= (load(record + column_byte(k)) >> (i + column_shift(k)) & 1) << k; });
    return bits;
  }

  // A record may lie in two cache lines, and so may the slots of a block.
  TAMIS_INLINE void prefetch_record(std::uint64_t block) const {
    prefetch_read(record(block));
    prefetch_read(record(block + 1) - 1);
  }

  friend bool operator==(const block_memory&, const block_memory&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    std::uint32_t slots = self.layout_.slots();
    std::uint32_t width = self.layout_.width();
    archive(slots, width, self.blocks_, self.bytes_);
    if constexpr (!std::is_const_v<Self>) {
      if (!archive.ok()) return;
      if (!spacing::allows(slots)) return archive.fail("a table cannot have " + std::to_string(slots) + " slots in a block");
      if (width < 1 || width > block_layout::widest)
        return archive.fail("a table cannot have slots of " + std::to_string(width) + " bits");
      self.set_shape(block_layout(spacing(slots), width), self.blocks_);
    }
  }
  // Fields from outside: is every block there, and nothing beyond its slots?
  status validate() const {
    TAMIS_TRY(const std::uint64_t bytes, bytes_of(layout_, blocks_));
    if (bytes != bytes_.size() || blocks_ == 0) {
      return failure{"a table of " + std::to_string(blocks_) + " blocks has " + std::to_string(bytes_.size()) + " bytes, not " +
                     std::to_string(bytes)};
    }
    const std::uint8_t* const spare = bytes_.data() + bytes_.size() - spare_bytes;
    if (std::any_of(spare, spare + spare_bytes, [](std::uint8_t b) { return b != 0; }))
      return failure{"a table has ones behind its last block"};
    const unsigned used_bits = layout_.slots() * (1 + layout_.bit_columns()) % 8;
    if (used_bits != 0) {
      for (std::uint64_t block = 0; block < blocks_; ++block) {
        if (record(block)[layout_.record_bytes() - 1] >> used_bits != 0)
          return failure{"block " + std::to_string(block) + " of a table has ones behind its columns"};
      }
    }
    return {};
  }

 private:
  void set_shape(block_layout layout, std::uint64_t blocks) {
    layout_ = layout;
    blocks_ = blocks;
    slot_bytes_at_ = blocks * layout.record_bytes();  // of a file it may not fit: validate() finds that
  }
  block_layout layout_;
  std::uint64_t blocks_ = 0;
  std::uint64_t slot_bytes_at_ = 0;
  zeroed_array<std::uint8_t> bytes_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
