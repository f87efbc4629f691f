#pragma once

// The runs of a quotient table without the gaps between them: which quotients have runs, and the slots of all runs, one behind
// the other, in the same columns as in a table. A table is laid out from this with any number of slots per block, a whole block
// at a time: so a table gets more or fewer slots, and one is built from entries that come in order.

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <span>

#include "tamis/detail/base/table_list.hpp"
#include "tamis/detail/quotient/spaced_table.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

class dense_runs {
 public:
  // Without runs.
  dense_runs(std::uint64_t quotients, unsigned width)
      : quotients_(quotients),
        width_(width),
        byte_bits_(block_layout(spacing(), width).byte_bits()),
        ends_in_bytes_(block_layout(spacing(), width).ends_in_bytes()),
        occupied_(divide_up(quotients, block_quotients)),
        columns_(std::max(1u, block_layout(spacing(), width).columns())) {}

  // Those of a table.
  static dense_runs of(const spaced_table& table) {
    dense_runs made(table.quotients(), table.width());
    made.reserve(table.used());
    const block_memory& memory = table.memory();
    const spacing s = table.spaced();
    for (std::uint64_t block = 0; block < table.blocks(); ++block) {
      const std::uint8_t* const record = memory.record(block);
      if (block < made.occupied_.size()) made.occupied_[block] = block_memory::occupied(record);
      const std::uint64_t used = s.all_slots() & ~used_by_nobody(memory.header(record), s);
      or_bits(made.columns_[0], made.size_, pext(memory.runends(record), used));
      for (unsigned k = 1; k < made.columns_.size(); ++k) {
        or_bits(made.columns_[k], made.size_, pext(memory.column(record, k), used));
      }
      if (made.has_bytes()) made.append_bytes(memory.slot_bytes(record), used);
      made.size_ += popcount(used);
    }
    return made;
  }

  std::uint64_t size() const { return size_; }  // slots

  // Room for so many slots: until they are full, nothing else asks for memory.
  void reserve(std::uint64_t slots) {
    for (auto& column : columns_) column.resize(slots / word_bits + 2);
    if (has_bytes()) bytes_.resize(slots + word_bits);
  }
  // A run behind all others; finish() follows the last one.  Requires: all quotients so far were smaller; there is a value, and
  // room for all.
  template <class Values>
  void append(std::uint64_t quotient, const Values& values) {
    append(quotient, values.size(), [&](std::size_t i) { return values[i]; });
  }
  // The same with values that a call value_of(i) answers.
  template <class ValueOf>
  TAMIS_INLINE void append(std::uint64_t quotient, std::size_t size, ValueOf value_of) {
    assert(quotient < quotients_ && size != 0);
    occupied_[quotient / block_quotients] |= std::uint64_t{1} << (quotient % block_quotients);
    const std::uint64_t last = size_ + size - 1;
    if (has_only_bytes()) {
      std::uint8_t* const to = bytes_.data() + size_;
      for (std::size_t i = 0; i < size; ++i) to[i] = static_cast<std::uint8_t>(value_of(i));
      if (ends_in_bytes_) to[size - 1] |= 0x80;  // it is written as it will stand
      size_ += size;
    } else {
      for (std::size_t i = 0; i < size; ++i) {
        waiting_[size_ % word_bits] = value_of(i);
        if (++size_ % word_bits == 0) write_values(size_ - word_bits);
      }
    }
    columns_[0][last / word_bits] |= std::uint64_t{1} << (last % word_bits);
  }

  void finish() {
    if (has_only_bytes() || size_ % word_bits == 0) return;
    std::fill(waiting_.begin() + static_cast<std::ptrdiff_t>(size_ % word_bits), waiting_.end(), 0);
    write_values(size_ / word_bits * word_bits);
  }

  // The runs, in order.
  class cursor {
   public:
    explicit cursor(const dense_runs& of) : of_(of), values_(of), left_(of.occupied_[0]) { find(); }

    bool is_at_one() const { return block_ < of_.occupied_.size(); }
    // Requires: is_at_one(), here and below.
    std::uint64_t quotient() const { return block_ * block_quotients + static_cast<unsigned>(std::countr_zero(left_)); }
    // They stay there until next().
    std::span<const std::uint64_t> values() { return values_.at(at_, size_); }
    void next() {
      at_ += size_;
      left_ &= left_ - 1;
      find();
    }

   private:
    // Values of slots that are asked for in order, of which it has so many as stay in the cache, or a whole run.
    class window {
     public:
      static constexpr std::uint64_t slots = 2048;

      explicit window(const dense_runs& of) : of_(of), values_(std::min(slots, of.size_ + word_bits)) {}
      std::span<const std::uint64_t> at(std::uint64_t first, std::uint64_t size) {
        if (first + size > end_) read(first, size);
        return {values_.data() + (first - begin_), size};
      }

     private:
      void read(std::uint64_t first, std::uint64_t size) {
        begin_ = end_ = first / word_bits * word_bits;
        const std::uint64_t needed = divide_up(first + size, word_bits) * word_bits - begin_;
        if (values_.size() < needed) values_.resize(needed);
        for (; end_ < of_.size_ && end_ + word_bits <= begin_ + values_.size(); end_ += word_bits) {
          of_.read_values(end_, values_.data() + (end_ - begin_));
        }
      }

      const dense_runs& of_;
      table_list<std::uint64_t> values_;
      std::uint64_t begin_ = 0;
      std::uint64_t end_ = 0;
    };

    void find() {
      while (left_ == 0) {
        if (++block_ == of_.occupied_.size()) return;
        left_ = of_.occupied_[block_];
      }
      size_ = of_.run_from(at_);
    }

    const dense_runs& of_;
    window values_;
    std::uint64_t left_;  // occupied bits of the block
    std::uint64_t block_ = 0;
    std::uint64_t at_ = 0;  // the run's first slot
    std::uint64_t size_ = 0;
  };

  // Calls visit(quotient, values) for every run, in order. The values are there while they are visited.
  template <class Visit>
  void for_each_run(Visit visit) const {
    for (cursor run(*this); run.is_at_one(); run.next()) visit(run.quotient(), run.values());
  }

  // A table of these runs. An error if they do not fit, or if there is no memory for it.
  result<spaced_table> laid_out(std::uint64_t spare, spacing s) const {
    TAMIS_TRY(spaced_table made, spaced_table::make(quotients_, spare, s, width_));
    table_list<std::uint64_t> used(made.blocks());
    if (!place(made, s, used)) return failure{"the runs do not fit into the table"};
    fill(made, used);
    made.used_ = size_;
    return made;
  }

 private:
  // The values of 64 slots; `first` is a multiple of 64.
  void read_values(std::uint64_t first, std::uint64_t* out) const {
    const std::uint64_t byte = low_mask(byte_bits());
    for (unsigned i = 0; i < word_bits; ++i) out[i] = has_bytes() ? bytes_[first + i] & byte : 0;
    const unsigned low = byte_bits();
    for (unsigned group = 1; group < columns_.size(); group += 8) {  // eight columns become the bytes of 64 values
      for (unsigned i = 0; i < word_bits; i += 8) {
        std::uint64_t eight = 0;  // a byte of each of eight columns
        for (unsigned k = 0; k < 8 && group + k < columns_.size(); ++k) {
          eight |= (columns_[group + k][first / word_bits] >> i & 0xff) << (8 * k);
        }
        eight = transposed(eight);  // bit k of byte j: column group + k of slot first + i + j
        for (unsigned j = 0; j < 8; ++j) out[i + j] |= (eight >> (8 * j) & 0xff) << (low + group - 1);
      }
    }
  }
  // The values that wait become 64 slots from `first` on, which is a multiple of 64.
  void write_values(std::uint64_t first) {
    const unsigned low = byte_bits();
    if (low != 0) {
      for (unsigned i = 0; i < word_bits; ++i) bytes_[first + i] = static_cast<std::uint8_t>(waiting_[i]);
    }
    for (unsigned group = 1; group < columns_.size(); group += 8) {
      for (unsigned i = 0; i < word_bits; i += 8) {
        std::uint64_t eight = 0;  // a byte of each of eight values
        for (unsigned j = 0; j < 8; ++j) eight |= (waiting_[i + j] >> (low + group - 1) & 0xff) << (8 * j);
        const std::uint64_t columns = transposed(eight);
        for (unsigned k = 0; k < 8 && group + k < columns_.size(); ++k) {
          columns_[group + k][first / word_bits] |= (columns >> (8 * k) & 0xff) << i;
        }
      }
    }
  }
  // Bit k of byte j becomes bit j of byte k (H. Warren, "Hacker's Delight", 7-3).
  static constexpr std::uint64_t transposed(std::uint64_t x) {
    std::uint64_t t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aau;
    x ^= t ^ (t << 7);
    t = (x ^ (x >> 14)) & 0x0000cccc0000ccccu;
    x ^= t ^ (t << 14);
    t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0u;
    return x ^ t ^ (t << 28);
  }
  unsigned byte_bits() const { return byte_bits_; }
  bool has_bytes() const { return byte_bits_ != 0; }
  bool has_only_bytes() const { return has_bytes() && columns_.size() == 1; }
  // The free slots; all of them belong to runs of earlier blocks if the offset is longer than the block.
  static std::uint64_t used_by_nobody(const record_header& header, spacing s) {
    return header.offset < s.slots() ? free_slots(header, s) : 0;
  }
  static void or_bits(table_list<std::uint64_t>& words, std::uint64_t at, std::uint64_t bits) {
    words[at / word_bits] |= bits << (at % word_bits);
    if (at % word_bits != 0) words[at / word_bits + 1] |= bits >> (word_bits - at % word_bits);
  }
  static std::uint64_t bits_at(const table_list<std::uint64_t>& words, std::uint64_t at) {
    const std::uint64_t low = words[at / word_bits] >> (at % word_bits);
    return at % word_bits == 0 ? low : low | words[at / word_bits + 1] << (word_bits - at % word_bits);
  }

  void append_bytes(const std::uint8_t* from, std::uint64_t used) {
    pack_bytes(bytes_.data() + size_, from, used);  // the bytes behind the last one are there: bytes_ has a word more
  }

  // Occupied bits, offsets and where slots are in use. False if a run ends behind the table.
  bool place(spaced_table& made, spacing s, table_list<std::uint64_t>& used) const {
    const unsigned slots = s.slots();
    std::uint64_t at = 0;    // slots of the runs so far
    std::uint64_t end = 0;   // where they end, from the block's first slot on
    std::uint64_t ends = 0;  // runends of the slots from `at` on, as far as they are known
    for (std::uint64_t block = 0; block < made.blocks(); ++block) {
      std::uint8_t* const record = made.memory_.record(block);
      block_memory::set_offset(record, end);
      const std::uint64_t occupied = block < occupied_.size() ? occupied_[block] : 0;
      block_memory::set_occupied(record, occupied);
      std::uint64_t here = 0;
      for (std::uint64_t left = occupied; left != 0; left &= left - 1) {
        const std::uint64_t first = std::max<std::uint64_t>(end, s.home(static_cast<unsigned>(std::countr_zero(left))));
        std::uint64_t size;
        if (ends != 0) [[likely]] {
          const auto last = static_cast<unsigned>(std::countr_zero(ends));
          ends = ends >> last >> 1;
          size = last + 1;
        } else {
          size = run_from(at);
          ends = bits_at(columns_[0], at + size);
        }
        if (first + size <= slots) [[likely]] {
          here |= low_mask(static_cast<unsigned>(size)) << first;
        } else if (!mark(used, block, slots, first, size)) {
          return false;
        }
        at += size;
        end = first + size;
      }
      used[block] |= here;
      end -= std::min<std::uint64_t>(end, slots);
    }
    return at == size_;
  }
  // The size of the run that begins with this slot.
  std::uint64_t run_from(std::uint64_t at) const {
    std::uint64_t size = 0;
    while (true) {
      const std::uint64_t ends = bits_at(columns_[0], at + size);
      if (ends != 0) return size + static_cast<unsigned>(std::countr_zero(ends)) + 1;
      size += word_bits;
    }
  }
  // Slots [first, first + size), counted from the block on.
  static bool mark(table_list<std::uint64_t>& used, std::uint64_t block, unsigned slots, std::uint64_t first,
                   std::uint64_t size) {
    for (; first >= slots; first -= slots) ++block;
    for (; size != 0; ++block, first = 0) {
      if (block >= used.size()) return false;
      const auto here = static_cast<unsigned>(std::min<std::uint64_t>(size, slots - first));
      used[block] |= low_mask(here) << first;
      size -= here;
    }
    return true;
  }

  void fill(spaced_table& made, const table_list<std::uint64_t>& used) const {
    std::uint64_t at = 0;
    for (std::uint64_t block = 0; block < made.blocks(); ++block) {
      if (used[block] == 0) continue;
      std::uint8_t* const record = made.memory_.record(block);
      for (unsigned k = ends_in_bytes_ ? 1 : 0; k < columns_.size(); ++k) {
        made.memory_.set_column(record, k, pdep(bits_at(columns_[k], at), used[block]));
      }
      if (has_bytes()) {
        std::uint8_t* const to = made.memory_.slot_bytes(record);
        for (std::uint64_t left = used[block]; left != 0;) {  // neighbours together
          const auto first = static_cast<unsigned>(std::countr_zero(left));
          const auto size = static_cast<unsigned>(std::countr_one(left >> first));
          copy_bytes(to + first, bytes_.data() + at, size);
          at += size;
          left = high_bits(left, first + size);
        }
      } else {
        at += popcount(used[block]);
      }
    }
  }

  // Up to 64 of them, without a call.
  TAMIS_INLINE static void copy_bytes(std::uint8_t* to, const std::uint8_t* from, unsigned size) {
    const auto ends = [&]<class Word>(Word) TAMIS_INLINE_LAMBDA {  // the first and the last word, which may overlap
      Word first;
      Word last;
      std::memcpy(&first, from, sizeof first);
      std::memcpy(&last, from + size - sizeof last, sizeof last);
      std::memcpy(to, &first, sizeof first);
      std::memcpy(to + size - sizeof last, &last, sizeof last);
    };
    if (size > 16) {
      std::memcpy(to, from, size);
    } else if (size >= 8) {
      ends(std::uint64_t{});
    } else if (size >= 4) {
      ends(std::uint32_t{});
    } else if (size >= 2) {
      ends(std::uint16_t{});
    } else {
      *to = *from;
    }
  }

  std::uint64_t quotients_;
  unsigned width_;
  unsigned byte_bits_;  // of a value that stand in its byte
  bool ends_in_bytes_;
  std::uint64_t size_ = 0;
  table_list<std::uint64_t> occupied_;
  table_list<table_list<std::uint64_t>> columns_;
  table_list<std::uint8_t> bytes_;
  std::array<std::uint64_t, word_bits> waiting_{};  // values of slots that append() has not written yet
};

// The same runs with another number of slots in a block. An error if they do not fit, or if there is no memory for it; the
// table stays as it is.
inline result<spaced_table> respaced(const spaced_table& table, spacing s, std::uint64_t spare) {
  return dense_runs::of(table).laid_out(spare, s);
}

}  // namespace tamis::detail::inline TAMIS_LEVEL
