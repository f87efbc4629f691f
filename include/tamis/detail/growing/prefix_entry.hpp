#pragma once

// Entries of different lengths in slots of one width. An entry is what a table remembers of a key behind its place: the first
// `length` bits that follow there. With W-bit slots, up to F = W - 1 bits fit into one:
//
//   short   | payload | 1 | 0 … 0 |                  the last one ends the payload: a shift makes it one bit shorter
//   long    | 0 … 0 | F bits, 1 | F bits, 1 | … | F bits, 0 |      a zero slot, then chunks; their last bit says: more follow
//
// The chunks of a long entry hold, one behind the other: a kind bit; if it is set, a count of two or more (Elias gamma); the
// payload; a one; zeros to the end. A count stands for that many equal entries. No chunk is zero: a zero slot always begins a
// long entry.

#include <bit>
#include <cassert>
#include <cstdint>
#include <optional>

#include "tamis/detail/base/compiler.hpp"
#include "tamis/detail/base/short_list.hpp"

namespace tamis::detail {

struct prefix_entry {
  static constexpr unsigned longest = 64;

  std::uint64_t bits = 0;  // the payload, left-aligned, zero behind its end
  unsigned length = 0;
  std::uint64_t count = 1;

  // The first `length` bits of `suffix`.
  static constexpr prefix_entry of(std::uint64_t suffix, unsigned length, std::uint64_t count = 1) {
    assert(length <= longest);
    return {length == 0 ? 0 : suffix >> (longest - length) << (longest - length), length, count};
  }

  TAMIS_INLINE constexpr bool matches(std::uint64_t suffix) const {
    return length == 0 || (bits ^ suffix) >> (longest - length) == 0;
  }
  // Is this one as long as `other` or longer, and the same as far as both go?
  constexpr bool extends(const prefix_entry& other) const { return length >= other.length && other.matches(bits); }
  constexpr bool same_prefix(const prefix_entry& other) const { return bits == other.bits && length == other.length; }

  friend constexpr bool operator==(const prefix_entry&, const prefix_entry&) = default;
};

// The entries of a run, and its slots.
using entry_list = short_list<prefix_entry, 24>;
using slot_list = short_list<std::uint64_t, 32>;

class entry_code {
 public:
  static constexpr std::uint64_t escape = 0;

  // `is_uniform`: all entries of the table have F bits and one slot, of which the last bit, always a one, is not stored.
  explicit constexpr entry_code(unsigned width, bool is_uniform = false) : width_(width), is_uniform_(is_uniform) {
    assert(2 <= width && width <= 57);
  }

  constexpr unsigned slot_payload() const { return width_ - 1; }  // F

  // The slot of a short entry, and back.
  TAMIS_INLINE constexpr std::uint64_t fresh(std::uint64_t suffix) const { return suffix >> (64 - width_) | 1; }
  constexpr std::uint64_t slot_of(const prefix_entry& e) const {
    assert(e.length < width_ && e.count == 1);
    return e.bits >> (64 - width_) | std::uint64_t{1} << (width_ - 1 - e.length);
  }
  TAMIS_INLINE constexpr unsigned length_of(std::uint64_t slot) const {
    assert(slot != escape);
    return width_ - 1 - static_cast<unsigned>(std::countr_zero(slot));
  }
  constexpr prefix_entry entry_of(std::uint64_t slot) const {
    return {(slot & (slot - 1)) << (64 - width_), length_of(slot), 1};
  }
  // Does a short entry's slot match? `asked` are the first W bits of what follows the key's place; the last of them is ignored.
  TAMIS_INLINE static constexpr bool slot_matches(std::uint64_t slot, std::uint64_t asked) {
    return ((slot ^ asked) & ~(slot ^ (slot - 1))) == 0;
  }

  // How a slot wider than a byte stands in a table, and back. Tables compare the low eight bits of all slots at once and keep
  // the others in another place, so a slot's first eight bits come to stand there. Of nine bits only the last one is then
  // elsewhere: an entry whose eight bits are those of the query matches, whatever that bit is.
  TAMIS_INLINE constexpr std::uint64_t stored(std::uint64_t slot) const {
    slot >>= is_uniform_;
    if (stored_bits() <= 8) return slot;
    const unsigned others = stored_bits() - 8;
    return slot >> others | (slot & ((std::uint64_t{1} << others) - 1)) << 8;
  }
  TAMIS_INLINE constexpr std::uint64_t from_stored(std::uint64_t stored) const {
    if (stored_bits() > 8) stored = (stored & 0xff) << (stored_bits() - 8) | stored >> 8;
    return stored << is_uniform_ | is_uniform_;
  }
  TAMIS_INLINE constexpr unsigned stored_bits() const { return width_ - is_uniform_; }

  // Appends the slots of an entry, in the shorter of its two forms.
  void append(const prefix_entry& e, slot_list& slots) const {
    if (e.length >= width_) {
      // In the form that takes fewer slots: the one with a count, or one by one. Divided, for the product may not fit a word.
      if (e.count == 1 || long_slots(e) / long_slots({e.bits, e.length, 1}) < e.count) return append_long(e, slots);
      for (std::uint64_t i = 0; i < e.count; ++i) append_long({e.bits, e.length, 1}, slots);
    } else if (e.count <= long_slots(e)) {
      slots.append(e.count, slot_of({e.bits, e.length, 1}));
    } else {
      append_long(e, slots);
    }
  }

  struct parsed {
    prefix_entry entry;
    std::uint64_t slots;
  };
  // The entry that begins at slot `from` of slots [from, last), where at(i) is slot i. None if these are no entry.
  template <class At>
  std::optional<parsed> parse(At at, std::uint64_t from, std::uint64_t last) const {
    if (at(from) != escape) return parsed{entry_of(at(from)), 1};
    bit_buffer stream;
    std::uint64_t slot = from + 1;
    for (bool more = true; more; ++slot) {
      if (slot == last || stream.size() >= longest_stream) return std::nullopt;
      const std::uint64_t chunk = at(slot);
      stream.append(chunk >> 1, slot_payload());
      more = (chunk & 1) != 0;
    }
    const auto entry = read(stream);
    if (!entry || (entry->count == 1 && entry->length < width_)) return std::nullopt;
    return parsed{*entry, slot - from};
  }

 private:
  static constexpr unsigned longest_stream = 1 + 127 + prefix_entry::longest + 1;  // kind, count, payload, end

  // Bits one behind the other: a few words, in order from their high ends.
  class bit_buffer {
   public:
    unsigned size() const { return size_; }
    bool operator[](unsigned i) const { return (words_[i / 64] >> (63 - i % 64) & 1) != 0; }
    // The low `width` bits.  Requires: width < 64.
    void append(std::uint64_t bits, unsigned width) {
      bits <<= 64 - width;
      words_[size_ / 64] |= bits >> (size_ % 64);
      if (size_ % 64 + width > 64) words_[size_ / 64 + 1] |= bits << (64 - size_ % 64);
      size_ += width;
    }
    // 64 bits from bit i on.
    std::uint64_t from(unsigned i) const {
      const std::uint64_t low = i % 64 == 0 ? 0 : words_[i / 64 + 1] >> (64 - i % 64);
      return words_[i / 64] << (i % 64) | low;
    }
    // One behind the last one; 0 if there is none.
    unsigned end_of_ones() const {
      unsigned end = size_;
      while (end != 0 && !(*this)[end - 1]) --end;
      return end;
    }

   private:
    std::uint64_t words_[longest_stream / 64 + 3] = {};
    unsigned size_ = 0;
  };

  std::uint64_t long_slots(const prefix_entry& e) const {
    const unsigned count_bits = e.count == 1 ? 0 : 2 * static_cast<unsigned>(std::bit_width(e.count)) - 1;
    return 1 + (1 + count_bits + e.length + 1 + slot_payload() - 1) / slot_payload();
  }

  void append_long(const prefix_entry& e, slot_list& slots) const {
    bit_buffer stream;
    stream.append(static_cast<std::uint64_t>(e.count != 1), 1);
    const auto half = [&](std::uint64_t bits, unsigned width) {  // up to 64 bits in two parts
      stream.append(bits >> (width / 2), width - width / 2);
      if (width / 2 != 0) stream.append(bits & ((std::uint64_t{1} << width / 2) - 1), width / 2);
    };
    if (e.count != 1) {
      const auto size = static_cast<unsigned>(std::bit_width(e.count));
      half(0, size - 1);
      half(e.count, size);
    }
    if (e.length != 0) half(e.bits >> (64 - e.length), e.length);
    stream.append(1, 1);
    slots.push_back(escape);
    for (unsigned first = 0; first < stream.size(); first += slot_payload()) {
      const std::uint64_t more = first + slot_payload() < stream.size() ? 1 : 0;
      slots.push_back(stream.from(first) >> (64 - slot_payload()) << 1 | more);
    }
  }

  std::optional<prefix_entry> read(const bit_buffer& stream) const {
    unsigned end = stream.end_of_ones();
    if (end < 2 || end + slot_payload() <= stream.size()) return std::nullopt;  // no end, or a chunk of zeros only
    --end;
    prefix_entry e;
    unsigned at = 1;
    if (stream[0]) {
      unsigned size = 0;
      while (at < end && !stream[at]) ++at, ++size;
      if (size == 0 || size > 63 || at + size >= end) return std::nullopt;
      e.count = stream.from(at) >> (63 - size);
      at += size + 1;
    }
    if (end - at > prefix_entry::longest) return std::nullopt;
    return prefix_entry::of(stream.from(at), end - at, e.count);
  }

  unsigned width_;
  bool is_uniform_;
};

}  // namespace tamis::detail
