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
#include <vector>

#include "tamis/base/compiler.hpp"

namespace tamis {

struct prefix_entry {
  static constexpr unsigned longest = 64;

  std::uint64_t bits = 0;  // the payload, left-aligned, zero behind its end
  unsigned length = 0;
  std::uint64_t count = 1;

  // The first `length` bits of `following`.
  static constexpr prefix_entry of(std::uint64_t following, unsigned length, std::uint64_t count = 1) {
    assert(length <= longest);
    return {length == 0 ? 0 : following >> (longest - length) << (longest - length), length, count};
  }

  TAMIS_INLINE constexpr bool matches(std::uint64_t following) const {
    return length == 0 || (bits ^ following) >> (longest - length) == 0;
  }
  // Is this one as long as `other` or longer, and the same as far as both go?
  constexpr bool extends(const prefix_entry& other) const { return length >= other.length && other.matches(bits); }
  constexpr bool same_prefix(const prefix_entry& other) const { return bits == other.bits && length == other.length; }

  friend constexpr bool operator==(const prefix_entry&, const prefix_entry&) = default;
};

class entry_code {
 public:
  static constexpr std::uint64_t escape = 0;

  explicit constexpr entry_code(unsigned width) : width_(width) { assert(2 <= width && width <= 57); }

  constexpr unsigned slot_payload() const { return width_ - 1; }  // F

  // The slot of a short entry, and back.
  TAMIS_INLINE constexpr std::uint64_t fresh(std::uint64_t following) const { return following >> (64 - width_) | 1; }
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

  // Appends the slots of an entry, in the shorter of its two forms.
  void append(const prefix_entry& e, std::vector<std::uint64_t>& slots) const {
    if (e.length >= width_) {
      if (e.count == 1 || long_slots(e) < e.count * long_slots({e.bits, e.length, 1})) return append_long(e, slots);
      for (std::uint64_t i = 0; i < e.count; ++i) append_long({e.bits, e.length, 1}, slots);
    } else if (e.count <= long_slots(e)) {
      slots.insert(slots.end(), e.count, slot_of({e.bits, e.length, 1}));
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
    std::vector<bool> stream;
    std::uint64_t slot = from + 1;
    for (bool more = true; more; ++slot) {
      if (slot == last || slot - from > longest_chunks) return std::nullopt;
      const std::uint64_t chunk = at(slot);
      for (unsigned bit = width_; bit-- > 1;) stream.push_back((chunk >> bit & 1) != 0);
      more = (chunk & 1) != 0;
    }
    const auto entry = read(stream);
    if (!entry || (entry->count == 1 && entry->length < width_)) return std::nullopt;
    return parsed{*entry, slot - from};
  }

 private:
  static constexpr unsigned longest_stream = 1 + 127 + prefix_entry::longest + 1;  // kind, count, payload, end
  static constexpr std::uint64_t longest_chunks = longest_stream + 1;              // one bit a chunk at worst

  std::uint64_t long_slots(const prefix_entry& e) const {
    const unsigned count_bits = e.count == 1 ? 0 : 2 * static_cast<unsigned>(std::bit_width(e.count)) - 1;
    return 1 + (1 + count_bits + e.length + 1 + slot_payload() - 1) / slot_payload();
  }

  void append_long(const prefix_entry& e, std::vector<std::uint64_t>& slots) const {
    std::vector<bool> stream = {e.count != 1};
    if (e.count != 1) {
      const auto size = static_cast<unsigned>(std::bit_width(e.count));
      stream.insert(stream.end(), size - 1, false);
      for (unsigned bit = size; bit-- > 0;) stream.push_back((e.count >> bit & 1) != 0);
    }
    for (unsigned i = 0; i < e.length; ++i) stream.push_back((e.bits >> (63 - i) & 1) != 0);
    stream.push_back(true);
    while (stream.size() % slot_payload() != 0) stream.push_back(false);
    slots.push_back(escape);
    for (std::size_t first = 0; first < stream.size(); first += slot_payload()) {
      std::uint64_t chunk = 0;
      for (unsigned i = 0; i < slot_payload(); ++i) chunk = chunk << 1 | static_cast<std::uint64_t>(stream[first + i]);
      slots.push_back(chunk << 1 | static_cast<std::uint64_t>(first + slot_payload() < stream.size()));
    }
  }

  std::optional<prefix_entry> read(const std::vector<bool>& stream) const {
    std::size_t end = stream.size();
    while (end != 0 && !stream[end - 1]) --end;
    if (end < 2 || end + slot_payload() <= stream.size()) return std::nullopt;  // no end, or a chunk of zeros only
    --end;
    prefix_entry e;
    std::size_t at = 1;
    if (stream[0]) {
      unsigned size = 0;
      while (at < end && !stream[at]) ++at, ++size;
      if (size == 0 || size > 63 || at + size >= end) return std::nullopt;
      e.count = 0;
      for (unsigned i = 0; i <= size; ++i) e.count = e.count << 1 | static_cast<std::uint64_t>(stream[at++]);
    }
    if (end - at > prefix_entry::longest) return std::nullopt;
    e.length = static_cast<unsigned>(end - at);
    for (unsigned i = 0; i < e.length; ++i) e.bits |= static_cast<std::uint64_t>(stream[at + i]) << (63 - i);
    return e;
  }

  unsigned width_;
};

}  // namespace tamis
