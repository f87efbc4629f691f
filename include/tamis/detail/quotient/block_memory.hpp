#pragma once

// The memory of a quotient table whose blocks have 64 quotients and S slots of `width` bits. All of a block stands in its
// record, so that a lookup reads one or two lines of memory. A slot is its value and its runend bit; nobody but this file knows
// where their bits stand:
//
//   record   | occupied: 8 bytes | offset: 1 | columns of S bits | S bytes |
//
//   width 1 to 6   runends and all bits of the values in columns, no bytes     9 + (width + 1)·S/8 bytes, rounded up
//   width 7        the value in a byte, and its runend the highest bit         9 + S
//   width 8        runends in a column, and the value a byte                   9 + S/8 + S
//   width 10       runends, bits 8 and 9 in columns, and a byte                9 + 3·S/8 + S
//
// 64 bytes are compared at once. A column compares S slots in three instructions and moves like the runends.

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/base/zeroed_array.hpp"
#include "tamis/detail/bits/byte_column.hpp"
#include "tamis/detail/quotient/slot_format.hpp"
#include "tamis/detail/quotient/spacing.hpp"
#include "tamis/memory.hpp"

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
    bytes_at_ = fixed_bytes + (s.slots() * columns() + 7) / 8;
    record_bytes_ = bytes_at_ + (has_bytes() ? s.slots() : 0);
  }

  TAMIS_INLINE constexpr spacing spaced() const { return spacing_; }
  TAMIS_INLINE constexpr unsigned slots() const { return spacing_.slots(); }
  // `Width`, here and in everything that stands on this, may say the width.
  template <unsigned Width = 0>
  TAMIS_INLINE constexpr unsigned width() const {
    assert(Width == 0 || Width == width_);
    return Width != 0 ? Width : width_;
  }
  // Bits of a value that stand in its byte.
  template <unsigned Width = 0>
  TAMIS_INLINE constexpr unsigned byte_bits() const {
    return bits_in_byte(width<Width>());
  }
  template <unsigned Width = 0>
  TAMIS_INLINE constexpr bool has_bytes() const {
    return byte_bits<Width>() != 0;
  }
  // Is the highest bit of a byte the slot's runend?
  template <unsigned Width = 0>
  TAMIS_INLINE constexpr bool ends_in_bytes() const {
    return byte_bits<Width>() == 7;
  }
  // The runends, if they are one, and those for bits of the values.
  template <unsigned Width = 0>
  TAMIS_INLINE constexpr unsigned columns() const {
    return columns_of(width<Width>());
  }
  // Calls use(k) for every column from `First` on; with constants, and unrolled, if the width is known. Column 0 is the
  // runends, column k has bit byte_bits() + k - 1 of the values.
  template <unsigned Width, unsigned First = 0, class Use>
  TAMIS_INLINE constexpr void for_columns(Use use) const {
    if constexpr (Width == 0) {
      for (unsigned k = First; k < columns(); ++k) use(k);
    } else if constexpr (columns_of(Width) > First) {
      [&]<unsigned... K>(std::integer_sequence<unsigned, K...>) TAMIS_INLINE_LAMBDA {
        (use(std::integral_constant<unsigned, First + K>()), ...);
      }
      (std::make_integer_sequence<unsigned, columns_of(Width) - First>());
    }
  }
  TAMIS_INLINE constexpr unsigned bytes_at() const { return bytes_at_; }  // in the record
  TAMIS_INLINE constexpr unsigned record_bytes() const { return record_bytes_; }

  friend constexpr bool operator==(const block_layout&, const block_layout&) = default;

  static constexpr unsigned fixed_bytes = 9;

 private:
  static constexpr unsigned bits_in_byte(unsigned width) { return width < 7 ? 0 : width == 7 ? 7 : 8; }
  static constexpr unsigned columns_of(unsigned width) { return width == 7 ? 0 : width - bits_in_byte(width) + 1; }

  spacing spacing_;
  unsigned width_ = 8;
  unsigned bytes_at_ = fixed_bytes + 8;
  unsigned record_bytes_ = fixed_bytes + 8 + 64;
};

// The metadata of one block, read once.
struct record_header {
  std::uint64_t occupied;  // bit i: quotient i of the block has a run
  std::uint64_t runends;   // bit x: slot x is the last of a run. Bits from S on say nothing.
  unsigned offset;         // how many slots of this block and the next ones belong to runs of earlier blocks; 255: at least 255

  // Bit x: a run of this block may begin at slot x, since the one before has ended. The run of rank k lies between the k-th of
  // these bounds and the next, as far as its home lets it. With 64 slots there is no bit for the bound behind the last one.
  TAMIS_INLINE std::uint64_t bounds() const { return high_bits((runends << 1) | 1, offset); }
  TAMIS_INLINE std::uint64_t own_runends() const { return high_bits(runends, offset); }
};

// One allocation: the records, and a few bytes so that words and vectors may be read from the last slot on.
class block_memory {
 public:
  static constexpr unsigned spare_bytes = 64;

  static result<block_memory> make(block_layout layout, std::uint64_t blocks) {
    TAMIS_TRY(const std::uint64_t bytes, bytes_of(layout, blocks));
    block_memory made;
    made.layout_ = layout;
    made.blocks_ = blocks;
    TAMIS_TRY(made.bytes_, zeroed_array<std::uint8_t>::make(bytes));
    return made;
  }
  // A copy with empty blocks behind it.  Requires: blocks >= blocks().
  result<block_memory> lengthened(std::uint64_t blocks) const {
    TAMIS_TRY(const std::uint64_t bytes, bytes_of(layout_, blocks));
    block_memory longer;
    longer.layout_ = layout_;
    longer.blocks_ = blocks;
    TAMIS_TRY(longer.bytes_, bytes_.lengthened(bytes));
    return longer;
  }
  static result<std::uint64_t> bytes_of(block_layout layout, std::uint64_t blocks) {
    const auto bytes = checked_multiply(blocks, layout.record_bytes());
    const auto all = bytes ? checked_add(*bytes, spare_bytes) : bytes;
    if (!all) return failure{"a table of " + std::to_string(blocks) + " blocks cannot be addressed"};
    return *all;
  }

  // Tables of one size stand side by side in the default memory, the first at the highest address. (One of another owner, or
  // one for which there is no memory, stays where it is.)
  bool is_behind(const block_memory& other) const { return std::less<>()(bytes_.data(), other.bytes_.data()); }
  void move_up() noexcept {
    if (memory_resource* const from = memory_scope::in_force(); from != nullptr && from != &huge_page_memory()) return;
    try {
      zeroed_array<std::uint8_t> copy = bytes_;
      if (std::less<>()(bytes_.data(), copy.data())) bytes_ = std::move(copy);
    } catch (const std::bad_alloc&) {
    }
  }

  const block_layout& layout() const { return layout_; }
  std::uint64_t blocks() const { return blocks_; }
  std::uint64_t bits() const { return bytes_.bytes() * 8; }

  TAMIS_INLINE const std::uint8_t* record(std::uint64_t block) const { return bytes_.data() + block * layout_.record_bytes(); }
  TAMIS_INLINE std::uint8_t* record(std::uint64_t block) { return bytes_.data() + block * layout_.record_bytes(); }
  TAMIS_INLINE void prefetch(std::uint64_t block) const {
    const std::uint8_t* const first = record(block);
    prefetch_read(first);
    prefetch_read(first + layout_.record_bytes() - 1);
  }

  TAMIS_INLINE static std::uint64_t occupied(const std::uint8_t* record) { return load(record); }
  TAMIS_INLINE static void set_occupied(std::uint8_t* record, std::uint64_t word) { store(record, word); }
  TAMIS_INLINE static unsigned offset(const std::uint8_t* record) { return record[8]; }
  TAMIS_INLINE static void set_offset(std::uint8_t* record, std::uint64_t offset) {
    record[8] = static_cast<std::uint8_t>(offset < longest_offset ? offset : longest_offset);
  }
  template <unsigned Width = 0>
  TAMIS_INLINE record_header header(const std::uint8_t* record) const {
    return {occupied(record), word_of_runends<Width>(record), offset(record)};
  }
  template <unsigned Width = 0>
  TAMIS_INLINE record_header header(std::uint64_t block) const {
    return header<Width>(record(block));
  }
  template <unsigned Width = 0>
  TAMIS_INLINE std::uint64_t runends(const std::uint8_t* record) const {
    return low_bits(word_of_runends<Width>(record), layout_.slots());
  }
  void flip_runend(std::uint8_t* record, unsigned i) {
    if (layout_.ends_in_bytes()) {
      record[layout_.bytes_at() + i] ^= 0x80;
    } else {
      store(record + column_byte(0), load(record + column_byte(0)) ^ std::uint64_t{1} << i);
    }
  }

  // Bit x: slot x holds the value. Bits from S on say nothing.
  template <unsigned Width = 0>
  TAMIS_INLINE std::uint64_t equal(const std::uint8_t* record, std::uint64_t value) const {
    std::uint64_t differ = 0;
    const unsigned low = layout_.byte_bits<Width>();
    layout_.for_columns<Width, 1>([&](auto k) TAMIS_INLINE_LAMBDA {
      const auto asked = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << (64 - low - k)) >> 63);
      differ |= (load(record + column_byte(k)) >> column_shift(k)) ^ asked;
    });
    if (!layout_.has_bytes<Width>()) return ~differ;
    const std::uint8_t* const bytes = record + layout_.bytes_at();
    const auto byte = static_cast<std::uint8_t>(value);
    return ~differ & (layout_.ends_in_bytes<Width>() ? equal_below_top(bytes, byte) : equal_bytes(bytes, byte));
  }

  // Bit x: slot x agrees with the value above its own lowest one. A slot of zeros always does.
  template <unsigned Width = 0>
  TAMIS_INLINE std::uint64_t agreeing(const std::uint8_t* record, std::uint64_t value) const {
    std::uint64_t differ = 0;
    std::uint64_t above = 0;  // slots whose lowest one is below the column
    const unsigned low = layout_.byte_bits<Width>();
    if (layout_.has_bytes<Width>()) {
      const std::uint8_t* const bytes = record + layout_.bytes_at();
      const auto byte = static_cast<std::uint8_t>(value);
      std::uint64_t agree = agree_above_last_one(bytes, byte);
      if (layout_.ends_in_bytes<Width>()) agree |= agree_above_last_one(bytes, byte | 0x80);
      differ = ~agree;
      if (layout_.columns<Width>() > 1) above = ~equal_bytes(bytes, 0);
    }
    layout_.for_columns<Width, 1>([&](auto k) TAMIS_INLINE_LAMBDA {
      const auto asked = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << (64 - low - k)) >> 63);
      const std::uint64_t column = load(record + column_byte(k)) >> column_shift(k);
      differ |= above & (column ^ asked);
      above |= column;
    });
    return ~differ;
  }
  // At least the slots of matching(), from their bytes alone: nearly always none, where nothing matches.
  template <unsigned Width, slot_format Format>
  TAMIS_INLINE std::uint64_t matching_bytes(const std::uint8_t* record, std::uint64_t value) const {
    if (!layout_.has_bytes<Width>() || layout_.ends_in_bytes<Width>()) return matching<Width, Format>(record, value);
    const std::uint8_t* const bytes = record + layout_.bytes_at();
    const auto byte = static_cast<std::uint8_t>(value);
    return Format == slot_format::uniform ? equal_bytes(bytes, byte) : agree_above_last_one(bytes, byte);
  }
  // Is matching_bytes() all that there is to compare?
  template <unsigned Width>
  TAMIS_INLINE bool has_only_bytes() const {
    return layout_.columns<Width>() < 2;
  }
  // Bit x: slot x may be that of an entry which a stream with these first bits has. Bits from S on say nothing.
  template <unsigned Width, slot_format Format>
  TAMIS_INLINE std::uint64_t matching(const std::uint8_t* record, std::uint64_t value) const {
    if constexpr (Format == slot_format::uniform) return equal<Width>(record, value);
    return agreeing<Width>(record, value);
  }

  // A slot: its value, and its runend as the lowest bit.
  template <unsigned Width = 0>
  TAMIS_INLINE std::uint64_t slot(const std::uint8_t* record, unsigned i) const {
    const std::uint64_t byte = layout_.has_bytes<Width>() ? record[layout_.bytes_at() + i] : 0;
    if (layout_.ends_in_bytes<Width>()) return (byte << 1 & 0xff) | byte >> 7;
    std::uint64_t bits = 0;
    layout_.for_columns<Width>(
        [&](auto k) TAMIS_INLINE_LAMBDA { bits |= (load(record + column_byte(k)) >> (i + column_shift(k)) & 1) << k; });
    return ((bits >> 1 << layout_.byte_bits<Width>()) | byte) << 1 | (bits & 1);
  }
  template <unsigned Width = 0>
  TAMIS_INLINE std::uint64_t value(const std::uint8_t* record, unsigned i) const {
    return slot<Width>(record, i) >> 1;
  }
  template <unsigned Width = 0>
  TAMIS_INLINE void set_value(std::uint8_t* record, unsigned i, std::uint64_t value) {
    if (layout_.has_bytes<Width>()) {
      std::uint8_t& byte = record[layout_.bytes_at() + i];
      byte = static_cast<std::uint8_t>(layout_.ends_in_bytes<Width>() ? (byte & 0x80) | value : value);
    }
    const std::uint64_t columns = value >> layout_.byte_bits<Width>() << 1;
    layout_.for_columns<Width, 1>([&](auto k) TAMIS_INLINE_LAMBDA {
      std::uint8_t* const word = record + column_byte(k);
      const unsigned bit = i + column_shift(k);
      store(word, (load(word) & ~(std::uint64_t{1} << bit)) | (columns >> k & 1) << bit);
    });
  }
  // Does slot i, which is not the last of its run, exceed the next one?  Requires: i + 1 < slots().
  template <unsigned Width = 0>
  TAMIS_INLINE bool exceeds_next(const std::uint8_t* record, unsigned i) const {
    const std::uint8_t* const bytes = record + layout_.bytes_at() + i;
    if (layout_.ends_in_bytes<Width>()) return bytes[0] > (bytes[1] & 0x7f);
    // Two bits of every column at once, from the highest on: the first that differ decide.
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    layout_.for_columns<Width, 1>([&](auto k) TAMIS_INLINE_LAMBDA {
      const std::uint64_t two = load(record + column_byte(k)) >> (i + column_shift(k));
      a |= (two & 1) << (k + 7);
      b |= (two >> 1 & 1) << (k + 7);
    });
    if (layout_.has_bytes<Width>()) a |= bytes[0], b |= bytes[1];
    return a > b;
  }

  // Bit x: slot x exceeds the next one. The last slot's, and bits from S on, say nothing.
  std::uint64_t exceeding(const std::uint8_t* record) const {
    std::uint64_t exceeds = 0;
    const std::uint8_t* const bytes = record + layout_.bytes_at();
    if (layout_.ends_in_bytes()) {
      std::array<std::uint8_t, 72> values;
      for (unsigned i = 0; i < values.size(); i += 8) store(values.data() + i, load(bytes + i) & 0x7f7f7f7f7f7f7f7fu);
      exceeds = ~order_of_neighbours(values.data()).ascends;
    } else if (layout_.has_bytes()) {
      exceeds = ~order_of_neighbours(bytes).ascends;
    }
    layout_.for_columns<0, 1>([&](unsigned k) {
      const std::uint64_t column = load(record + column_byte(k)) >> column_shift(k);
      exceeds = (column & ~(column >> 1)) | (~(column ^ column >> 1) & exceeds);
    });
    return exceeds;
  }
  // Bit x: bit k of slot x's value. Bits from S on say nothing.  Requires: k is less than the width.
  std::uint64_t bits_of_values(const std::uint8_t* record, unsigned k) const {
    const unsigned low = layout_.byte_bits();
    if (k < low) return bit_of_bytes(record + layout_.bytes_at(), k);
    return load(record + column_byte(k - low + 1)) >> column_shift(k - low + 1);
  }

  // Does a run begin with two slots that descend?  Requires: `slots`, not 0, are all of the run.
  template <unsigned Width = 0>
  TAMIS_INLINE bool begins_descending(const std::uint8_t* record, std::uint64_t slots) const {
    const auto first = static_cast<unsigned>(std::countr_zero(slots));
    if (layout_.ends_in_bytes<Width>()) {
      // A run of one slot has its runend there, which makes it negative: one comparison for both.
      const std::uint8_t* const bytes = record + layout_.bytes_at() + first;
      return static_cast<std::int8_t>(bytes[0]) > static_cast<std::int8_t>(bytes[1] & 0x7f);
    }
    return static_cast<unsigned>(exceeds_next<Width>(record, first)) & static_cast<unsigned>((slots & (slots - 1)) != 0);
  }

  // Slots [low, high) go up by one, over what slot `high` was, and slot `low` becomes `incoming`.
  // Requires: low <= high < slots().
  template <unsigned Width>
  TAMIS_INLINE void insert_slot(std::uint8_t* record, unsigned low, unsigned high, std::uint64_t incoming) {
    const std::uint64_t all = low_mask(high + 1) & ~low_mask(low);
    const std::uint64_t move = all & (all - 1);
    const std::uint64_t columns = bits_in_columns<Width>(incoming);
    layout_.for_columns<Width>([&](auto k) TAMIS_INLINE_LAMBDA {
      std::uint8_t* const at = record + column_byte(k);
      const unsigned shift = column_shift(k);
      const std::uint64_t word = load(at);
      store(at, (word & ~(all << shift)) | (word << 1 & move << shift) | (columns >> k & 1) << (low + shift));
    });
    if (!layout_.has_bytes<Width>()) return;
    std::uint8_t* const bytes = record + layout_.bytes_at() + low;
    move_bytes_up(bytes, high - low);
    *bytes = byte_of<Width>(incoming);
  }
  // Slots (low, high] go down by one, over what slot `low` was, and slot `high` becomes `incoming`.
  template <unsigned Width>
  TAMIS_INLINE void remove_slot(std::uint8_t* record, unsigned low, unsigned high, std::uint64_t incoming) {
    const std::uint64_t all = low_mask(high + 1) & ~low_mask(low);
    const std::uint64_t move = all >> 1 & all;
    const std::uint64_t columns = bits_in_columns<Width>(incoming);
    layout_.for_columns<Width>([&](auto k) TAMIS_INLINE_LAMBDA {
      std::uint8_t* const at = record + column_byte(k);
      const unsigned shift = column_shift(k);
      const std::uint64_t word = load(at);
      store(at, (word & ~(all << shift)) | (word >> 1 & move << shift) | (columns >> k & 1) << (high + shift));
    });
    if (!layout_.has_bytes<Width>()) return;
    std::uint8_t* const bytes = record + layout_.bytes_at();
    move_bytes_down(bytes + low + 1, high - low);
    bytes[high] = byte_of<Width>(incoming);
  }

  // Whole columns, for those who lay out whole blocks. Those of ones that are not stored as one are empty.
  std::uint64_t column(const std::uint8_t* record, unsigned k) const {
    return low_bits(load(record + column_byte(k)) >> column_shift(k), layout_.slots());
  }
  // Requires: no bit beyond the block's slots.
  void set_column(std::uint8_t* record, unsigned k, std::uint64_t bits) {
    std::uint8_t* const at = record + column_byte(k);
    store(at, blend(load(at), bits << column_shift(k), layout_.spaced().all_slots() << column_shift(k)));
  }
  // As they stand: with runends in them or not.  Requires: slots have bytes.
  const std::uint8_t* slot_bytes(const std::uint8_t* record) const { return record + layout_.bytes_at(); }
  std::uint8_t* slot_bytes(std::uint8_t* record) const { return record + layout_.bytes_at(); }

  friend bool operator==(const block_memory&, const block_memory&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    std::uint32_t slots = self.layout_.slots();
    std::uint32_t width = self.layout_.width();
    archive(slots, width, self.blocks_, self.bytes_);
    if constexpr (!std::is_const_v<Self>) {
      if (!archive.ok()) return;
      if (is_wrong(!spacing::allows(slots)))
        return archive.fail("a table cannot have " + std::to_string(slots) + " slots in a block");
      if (is_wrong(width < 1) || is_wrong(width > block_layout::widest))
        return archive.fail("a table cannot have slots of " + std::to_string(width) + " bits");
      self.layout_ = block_layout(spacing(slots), width);
    }
  }
  // Fields from outside: is every block there, and nothing beyond its slots?
  status validate() const {
    TAMIS_TRY(const std::uint64_t bytes, bytes_of(layout_, blocks_));
    if (is_wrong(bytes != bytes_.size()) || is_wrong(blocks_ == 0)) {
      return failure{"a table of " + std::to_string(blocks_) + " blocks has " + std::to_string(bytes_.size()) + " bytes, not " +
                     std::to_string(bytes)};
    }
    const std::uint8_t* const spare = bytes_.data() + bytes_.size() - spare_bytes;
    if (is_wrong(std::any_of(spare, spare + spare_bytes, [](std::uint8_t b) { return b != 0; })))
      return failure{"a table has ones behind its last block"};
    const unsigned used_bits = layout_.slots() * layout_.columns() % 8;
    if (used_bits != 0) {
      for (std::uint64_t block = 0; block < blocks_; ++block) {
        if (is_wrong(record(block)[layout_.bytes_at() - 1] >> used_bits != 0))
          return failure{"block " + std::to_string(block) + " of a table has ones behind its columns"};
      }
    }
    return {};
  }

 private:
  TAMIS_INLINE static std::uint64_t load(const std::uint8_t* from) {
    std::uint64_t word;
    std::memcpy(&word, from, sizeof word);
    return word;
  }
  TAMIS_INLINE static void store(std::uint8_t* to, std::uint64_t word) { std::memcpy(to, &word, sizeof word); }
  // The word in which a column stands, from its bit column_shift(k) on; what else is in it belongs to its neighbours.
  TAMIS_INLINE unsigned column_byte(unsigned k) const { return block_layout::fixed_bytes + k * layout_.slots() / 8; }
  TAMIS_INLINE unsigned column_shift(unsigned k) const { return k * layout_.slots() % 8; }
  template <unsigned Width>
  TAMIS_INLINE std::uint64_t word_of_runends(const std::uint8_t* record) const {
    return layout_.ends_in_bytes<Width>() ? top_bits(record + layout_.bytes_at()) : load(record + column_byte(0));
  }
  // Of a slot: bit k for column k, and its byte.
  template <unsigned Width>
  TAMIS_INLINE std::uint64_t bits_in_columns(std::uint64_t slot) const {
    return (slot >> 1 >> layout_.byte_bits<Width>() << 1) | (slot & 1);
  }
  template <unsigned Width>
  TAMIS_INLINE std::uint8_t byte_of(std::uint64_t slot) const {
    return static_cast<std::uint8_t>(layout_.ends_in_bytes<Width>() ? (slot & 1) << 7 | slot >> 1 : slot >> 1);
  }

  block_layout layout_;
  std::uint64_t blocks_ = 0;
  zeroed_array<std::uint8_t> bytes_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
