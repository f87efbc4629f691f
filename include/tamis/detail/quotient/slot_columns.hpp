#pragma once

// The columns of a quotient table's slots, beside its runs (detail/quotient/run_map.hpp): values, and what a layout has
// besides. Of values of nine bits or more a high_bit_in_header layout may keep the highest bit in the headers, where every
// lookup has it at hand:
//
//   header   | occupied | runends | offset | high_bits or code |          values   | low bytes |  the other bits, packed |

#include <cstdint>
#include <cstring>

#include "tamis/detail/quotient/run_map.hpp"
#include "tamis/detail/quotient/slot_values.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// What is chosen at compile time. The values' width and the number of quotients are chosen at run time.
struct rank_select_layout {
  unsigned block_slots = 64;  // at most 64
  bool coded = false;         // 56 more bits per block, for what the filter codes about the block's slots
  bool labels = false;        // a further byte per slot
  bool high_bit_in_header =
      false;  // the highest bit of values of nine bits or more may stand in the headers, not beside the others

  constexpr header_kind headers() const {
    return coded ? header_kind::coded : high_bit_in_header ? header_kind::high_bit_in_header : header_kind::plain;
  }
};

template <rank_select_layout Layout>
class slot_columns : public run_map<Layout.block_slots, Layout.headers()> {
  using base = run_map<Layout.block_slots, Layout.headers()>;

 public:
  using base::block_slots;
  using base::slots;

  TAMIS_INLINE unsigned width() const { return values_.width() + headers_.has_high_bits(); }
  std::uint64_t bits() const { return headers_.bits() + values_.bits() + labels_.bits(); }

  const std::uint8_t* header_bytes() const { return headers_.data(); }
  unsigned bytes_of_header() const { return headers_.bytes_each(); }

  // `Width`, here and below, may say how wide values are; of high_bit_in_header layouts, those of nine bits or more have one in
  // the headers then.
  const slot_values& values() const { return values_; }  // but for the bits that stand in the headers
  template <unsigned Width = 0>
  TAMIS_INLINE std::uint64_t value(std::uint64_t slot) const {
    std::uint64_t value = values_.template get<plane_width(Width)>(slot);
    if constexpr (Layout.high_bit_in_header) {
      if (has_high_bits<Width>()) value |= top(slot) << top_at<Width>();
    }
    return value;
  }
  template <unsigned Width = 0>
  TAMIS_INLINE void set_value(std::uint64_t slot, std::uint64_t value) {
    if constexpr (Layout.high_bit_in_header) {
      if (has_high_bits<Width>()) {
        set_top(slot, value >> top_at<Width>() & 1);
        value &= low_mask(top_at<Width>());
      }
    }
    values_.template set<plane_width(Width)>(slot, value);
  }
  // All values of a block.  Requires: they fit a Word.
  template <class Word>
  TAMIS_INLINE void read_block(std::uint64_t block, Word* out) const requires(Layout.block_slots == word_bits) {
    values_.read_block(block * block_slots, out);
    if constexpr (Layout.high_bit_in_header) {
      if (headers_.has_high_bits()) add_bits(out, headers_.high_bits(block), values_.width());
    }
  }
  TAMIS_INLINE std::uint64_t code(std::uint64_t block) const requires(Layout.coded) { return headers_.code(block); }
  TAMIS_INLINE void set_code(std::uint64_t block, std::uint64_t code) requires(Layout.coded) { headers_.set_code(block, code); }
  TAMIS_INLINE std::uint8_t label(std::uint64_t slot) const requires(Layout.labels) { return labels_.get(slot); }
  TAMIS_INLINE void set_label(std::uint64_t slot, std::uint8_t label) requires(Layout.labels) { labels_.set(slot, label); }
  // Which of the block's slots have this label.
  TAMIS_INLINE std::uint64_t labelled(std::uint64_t block, std::uint8_t label) const requires(Layout.labels) {
    return labels_.equal(block * block_slots, label);
  }

  // Those of eight slots, a byte each.
  TAMIS_INLINE std::uint64_t eight_labels(std::uint64_t first) const requires(Layout.labels) {
    std::uint64_t labels;
    std::memcpy(&labels, labels_.data() + first, sizeof labels);
    return labels;
  }

  TAMIS_INLINE void prefetch(std::uint64_t quotient) const {
    headers_.prefetch(quotient / block_slots);
    values_.prefetch(quotient / block_slots * block_slots);
    values_.prefetch(quotient + 16);
    if constexpr (Layout.labels) labels_.prefetch(quotient / block_slots * block_slots);
  }

  // For who looks at `count` slots from the quotient's own on, instead of the whole block.  Requires: 1 <= count <= 64.
  TAMIS_INLINE void prefetch_from(std::uint64_t quotient, unsigned count) const requires(!Layout.labels) {
    headers_.prefetch(quotient / block_slots);
    values_.prefetch(quotient);
    values_.prefetch(quotient + count - 1);
  }

  // What an insert or an erase touches: all planes of the slots, from the quotient's own on.
  TAMIS_INLINE void prefetch_update(std::uint64_t quotient) const {
    headers_.prefetch(quotient / block_slots);
    values_.prefetch_whole(quotient);
    if constexpr (Layout.labels) labels_.prefetch(quotient);
  }

  TAMIS_INLINE void prefetch_header(std::uint64_t quotient) const { headers_.prefetch(quotient / block_slots); }
  // Is the table so full that slots which move often leave their block? And what they may reach then.
  TAMIS_INLINE bool moves_far() const { return base::used_ >= base::quotients_ - base::quotients_ / 8; }
  TAMIS_INLINE void prefetch_ahead(std::uint64_t quotient) const {
    headers_.prefetch_ahead(quotient / block_slots);
    values_.prefetch(quotient + block_slots);
    values_.prefetch(quotient + 2 * block_slots);
  }

  // The quotient's own slot, without the header.
  template <unsigned Width = 0>
  TAMIS_INLINE void prefetch_slot(std::uint64_t quotient) const {
    values_.template prefetch<Width>(quotient);
    if constexpr (Layout.labels) labels_.prefetch(quotient);
  }

  // Where values have no bits but the low eight, and one in the headers; those bytes.
  TAMIS_INLINE bool is_of_bytes() const { return values_.width() == 8; }
  TAMIS_INLINE std::uint8_t* low_bytes() requires(!Layout.labels) { return values_.low_bytes(); }
  // Requires: the slot is zero.
  TAMIS_INLINE void append_value(std::uint64_t slot, std::uint64_t value) {
    if constexpr (Layout.high_bit_in_header) {
      if (headers_.has_high_bits()) {
        if (value >> values_.width() != 0) set_top(slot, 1);
        value &= low_mask(values_.width());
      }
    }
    values_.set_zero(slot, value);
  }

  friend bool operator==(const slot_columns&, const slot_columns&) = default;

 protected:
  using base::headers_;

  slot_columns() = default;

  // Requires: the runs are reset.
  status reset_columns(unsigned width) {
    TAMIS_TRY(values_, slot_values::make(slots(), width - headers_.has_high_bits()));
    if constexpr (Layout.labels) {
      TAMIS_TRY(labels_, byte_column::make(slots()));
    }
    return {};
  }

  // slot_values::insert_among and remove_among, with the bits that stand in the header, which is at `here`.
  template <unsigned Width = 0>
  TAMIS_INLINE void insert_value_among(std::uint64_t block, std::uint8_t* here, unsigned at, unsigned last,
                                       std::uint64_t value) {
    if constexpr (Layout.high_bit_in_header) {
      if (has_high_bits<Width>()) {
        headers_.set_high_bits(here, with_bit_inserted(headers_.read_high_bits(here), at, last, value >> top_at<Width>() & 1));
        value &= low_mask(top_at<Width>());
      }
    }
    values_.template insert_among<plane_width(Width)>(block * block_slots, at, last, value);
  }
  template <unsigned Width = 0>
  TAMIS_INLINE void remove_value_among(std::uint64_t block, std::uint8_t* here, unsigned at, unsigned end) {
    if constexpr (Layout.high_bit_in_header) {
      if (has_high_bits<Width>()) headers_.set_high_bits(here, with_bit_removed(headers_.read_high_bits(here), at, end - 1));
    }
    values_.template remove_among<plane_width(Width)>(block * block_slots, at, end);
  }
  // The same where the first value of the next block, whose header is at `next`, comes in as the last.
  template <unsigned Width = 0>
  TAMIS_INLINE void pull_value_among(std::uint64_t block, std::uint8_t* here, const std::uint8_t* next, unsigned at) {
    if constexpr (Layout.high_bit_in_header) {
      if (has_high_bits<Width>()) {
        const std::uint64_t moved = with_bit_removed(headers_.read_high_bits(here), at, block_slots - 1);
        headers_.set_high_bits(here, moved | headers_.read_high_bits(next) << (block_slots - 1));
      }
    }
    values_.template pull_among<plane_width(Width)>(block * block_slots, at);
  }
  TAMIS_INLINE bool has_code(std::uint64_t block) const {
    if constexpr (Layout.coded) return headers_.code(block) != 0;
    return false;
  }

  // Have values of this width a bit in the headers? Which one, and how wide are they without it?
  template <unsigned Width>
  TAMIS_INLINE bool has_high_bits() const {
    if constexpr (Width != 0) return Layout.high_bit_in_header && Width > 8;
    return headers_.has_high_bits();
  }
  template <unsigned Width>
  TAMIS_INLINE unsigned top_at() const {
    if constexpr (Width != 0) return Width - 1;
    return values_.width();
  }
  static constexpr unsigned plane_width(unsigned width) { return Layout.high_bit_in_header && width > 8 ? width - 1 : width; }

  slot_values values_;
  byte_column labels_;  // empty unless Layout.labels

 private:
  TAMIS_INLINE std::uint64_t top(std::uint64_t slot) const requires(Layout.high_bit_in_header) {
    return headers_.high_bits(slot / block_slots) >> (slot % block_slots) & 1;
  }
  TAMIS_INLINE void set_top(std::uint64_t slot, std::uint64_t bit) requires(Layout.high_bit_in_header) {
    const std::uint64_t others = headers_.high_bits(slot / block_slots) & ~(std::uint64_t{1} << (slot % block_slots));
    headers_.set_high_bits(slot / block_slots, others | bit << (slot % block_slots));
  }

  // Bit i of the word becomes bit `at` of value i, where it is 0.
  template <class Word>
  TAMIS_INLINE static void add_bits(Word* values, std::uint64_t word, unsigned at) {
    if constexpr (has_pdep && sizeof(Word) == 2) {
      for (unsigned i = 0; i < word_bits; i += 4) {
        std::uint64_t four;
        std::memcpy(&four, values + i, sizeof four);
        four |= pdep(word >> i, 0x0001000100010001u) << at;
        std::memcpy(values + i, &four, sizeof four);
      }
      return;
    }
    for (unsigned i = 0; i < word_bits; ++i) values[i] = static_cast<Word>(values[i] | (word >> i & 1) << at);
  }
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
