#pragma once

// Runs in which some entries are longer than a slot, without a flag, a reserved value or a wider slot. An entry is a prefix of
// what follows the quotient in its key's stream:
//
//   level 0    | x: r bits |                                         one slot: x
//   level 1    | x | e: r - 2 bits |                                 two slots
//   level L    | x | e | L - 1 chunks of r - 1 bits |                L + 1 slots; one more if all bits of e are ones
//
// With M = 2^r, a lengthened entry begins with a strictly descending pair {x, o}, the larger first, where o is ahead of x,
// modulo M, by 1 to M/4 at level 1 (1 + e) and by M/4 + 1 to M/2 above (1 + M/4 + e). Whoever sees a > b takes b for x if they
// are less than M/2 apart, and a if they are more; at exactly M/2 one more slot says whether it is a. Then come chunks, the
// highest bit of which says "more". Lengthened entries stand first in their run, and of the plain ones the first two do not
// descend. So
//
//   - a run is plain if and only if it has one slot or its first does not exceed its second;
//   - x is always literally in one of the slots: a run without such a slot has no match, and nothing has to be parsed.
//
// A lengthened entry costs one slot more than a plain one, with probability 2^-(r-2) two.
//
// That is the uniform format. In the aged one (detail/quotient/slot_format.hpp) an entry may have any length, as it loses bits
// one by one: a plain one is payload · 1 · 0…0. A lengthened one is coded as if its stream had a 1 behind the first r - 1 bits,
// so that x is the slot of a plain entry with all its bits, and 1 · 0…0 behind its last one.

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <optional>

#include "tamis/detail/base/compiler.hpp"
#include "tamis/detail/base/short_list.hpp"
#include "tamis/detail/bits/word.hpp"
#include "tamis/detail/quotient/slot_format.hpp"

namespace tamis::detail {

// A prefix of what follows a quotient.
struct run_entry {
  uint128 bits = 0;  // left-aligned, zero behind the end
  unsigned level = 0;
  unsigned lost = 0;  // bits that it lacks of those that its level could have; only in the aged format

  friend constexpr bool operator==(const run_entry&, const run_entry&) = default;
};

using run_slots = short_list<std::uint64_t, 64>;
using run_entries = short_list<run_entry, 24>;

class pair_code {
 public:
  static constexpr unsigned least_width = 4;
  static constexpr unsigned stream_bits = 128;  // so many are known of every key

  // Requires: least_width <= width <= 56.
  TAMIS_INLINE constexpr explicit pair_code(unsigned width, slot_format format = slot_format::uniform)
      : width_(width), terminator_(format == slot_format::aged ? 1 : 0) {
    assert(least_width <= width && width <= 56);
  }

  constexpr unsigned width() const { return width_; }
  static constexpr uint128 first_bits(uint128 bits, unsigned length) {
    return length == 0 ? 0 : bits >> (stream_bits - length) << (stream_bits - length);
  }
  // Bits of an entry that has lost none.
  constexpr unsigned length(unsigned level) const { return coded_length(level) - (level == 0 ? 1 : 2) * terminator_; }
  constexpr unsigned length(const run_entry& e) const { return length(e.level) - e.lost; }
  constexpr unsigned plain_length() const { return width_ - terminator_; }
  constexpr unsigned highest_level() const { return 1 + (stream_bits - (2 * width_ - 2)) / (width_ - 1); }
  // The least level at which an entry has `bits` bits or more.
  constexpr unsigned level_of(unsigned bits) const {
    unsigned level = 0;
    while (length(level) < bits) ++level;
    return level;
  }

  // Requires: level <= highest_level().
  constexpr run_entry prefix(uint128 stream, unsigned level) const { return {first_bits(stream, length(level)), level}; }
  // The longest entry of at most `bits` bits, of no higher level.  Requires: in the uniform format plain_length() <= bits.
  constexpr run_entry prefix_within(uint128 stream, unsigned bits, unsigned level) const {
    if (bits >= length(level)) return prefix(stream, level);
    while (level != 0 && length(level - 1) >= bits) --level;
    if (terminator_ != 0) return {first_bits(stream, bits), level, length(level) - bits};
    return prefix(stream, length(level) <= bits ? level : level - 1);
  }
  constexpr bool matches(const run_entry& e, uint128 stream) const { return first_bits(e.bits ^ stream, length(e)) == 0; }
  // What a query compares with slots.
  constexpr std::uint64_t x_of(uint128 stream) const { return field(stream, 0, width_); }

  unsigned slots_of(const run_entry& e) const {
    if (e.level <= 1) return 1 + e.level;
    return 1 + e.level + (field(opened(e), width_, width_ - 2) == quarter() - 1);
  }

  // The slot of a plain entry.
  constexpr std::uint64_t plain_slot(const run_entry& e) const { return x_of(e.bits) | std::uint64_t{terminator_} << e.lost; }
  // The entry of a plain slot.  Requires: in the aged format it is not 0.
  constexpr run_entry plain_entry(std::uint64_t slot) const {
    if (terminator_ == 0) return {place(slot, 0, width_), 0};
    return {place(slot & (slot - 1), 0, width_), 0, static_cast<unsigned>(std::countr_zero(slot))};
  }

  // The slots of a run with these entries.
  void encode(const run_entries& entries, run_slots& slots) const {
    slots.clear();
    for (const run_entry& e : entries) {
      if (e.level != 0) append_long(e, slots);
    }
    const std::size_t plain = slots.size();
    for (const run_entry& e : entries) {
      if (e.level == 0) slots.push_back(plain_slot(e));
    }
    if (slots.size() >= plain + 2 && slots[plain] > slots[plain + 1]) std::swap(slots[plain], slots[plain + 1]);
  }

  struct parsed {
    run_entry entry;
    std::uint64_t slots;  // that it takes
  };
  // The lengthened entry that begins at slot `from` of `size` slots, where at(i) is slot i. Its slots are 0 if plain entries
  // begin there. None if these are not slots that encode() makes.
  template <class At>
  std::optional<parsed> parse(At at, std::uint64_t from, std::uint64_t size) const {
    if (size - from < 2) return parsed{{}, 0};
    const std::uint64_t a = at(from);
    const std::uint64_t b = at(from + 1);
    if (a <= b) return parsed{{}, 0};
    std::uint64_t next = from + 2;
    bool first_is_x = a - b > half();
    if (a - b == half()) {
      if (next == size) return std::nullopt;
      const std::uint64_t says = at(next++);
      if (says > 1) return std::nullopt;
      first_is_x = says == 1;
    }
    const std::uint64_t ahead = first_is_x ? 2 * half() - (a - b) : a - b;
    parsed found{{place(first_is_x ? a : b, 0, width_), 1}, 0};
    if (ahead <= quarter()) {
      found.entry.bits |= place(ahead - 1, width_, width_ - 2);
    } else {
      found.entry.bits |= place(ahead - 1 - quarter(), width_, width_ - 2);
      for (bool more = true; more;) {
        if (next == size || found.entry.level == highest_level()) return std::nullopt;
        const std::uint64_t chunk = at(next++);
        found.entry.bits |= place(chunk & (half() - 1), coded_length(found.entry.level), width_ - 1);
        ++found.entry.level;
        more = chunk >= half();
      }
    }
    if (terminator_ != 0 && !close(found.entry)) return std::nullopt;
    found.slots = next - from;
    return found;
  }
  // All entries of a run. False if there are no such runs.
  template <class At>
  bool decode(At at, std::uint64_t size, run_entries& entries) const {
    entries.clear();
    std::uint64_t from = 0;
    while (true) {
      const auto one = parse(at, from, size);
      if (!one) return false;
      if (one->slots == 0) break;
      entries.push_back(one->entry);
      from += one->slots;
    }
    for (; from < size; ++from) {
      if (terminator_ != 0 && at(from) == 0) return false;
      entries.push_back(plain_entry(at(from)));
    }
    return true;
  }

 private:
  constexpr std::uint64_t half() const { return std::uint64_t{1} << (width_ - 1); }
  constexpr std::uint64_t quarter() const { return std::uint64_t{1} << (width_ - 2); }
  static constexpr std::uint64_t field(uint128 bits, unsigned first, unsigned width) {
    return static_cast<std::uint64_t>(bits << first >> (stream_bits - width));
  }
  static constexpr uint128 place(std::uint64_t value, unsigned first, unsigned width) {
    return static_cast<uint128>(value) << (stream_bits - width) >> first;
  }

  // Bits of a coded entry: of the stream, and of the 1 that is put in.
  constexpr unsigned coded_length(unsigned level) const {
    return level == 0 ? width_ : 2 * width_ - 2 + (level - 1) * (width_ - 1);
  }
  // What is coded of a lengthened entry.
  constexpr uint128 opened(const run_entry& e) const {
    if (terminator_ == 0) return e.bits;
    const uint128 front = first_bits(e.bits, width_ - 1);
    return front | bit(width_ - 1) | (e.bits ^ front) >> 1 | bit(coded_length(e.level) - 1 - e.lost);
  }
  // And back. False if it has no end, which only a file can have.
  constexpr bool close(run_entry& e) const {
    const uint128 front = first_bits(e.bits, width_ - 1);
    const uint128 rest = e.bits & (bit(width_ - 1) - 1);
    if ((e.bits & bit(width_ - 1)) == 0 || rest == 0) return false;
    const uint128 last = lowest_bit(rest);
    while (bit(coded_length(e.level) - 1 - e.lost) != last) ++e.lost;
    e.bits = front | (rest ^ last) << 1;
    return true;
  }
  // Bit i of a stream.
  static constexpr uint128 bit(unsigned i) { return uint128{1} << (stream_bits - 1 - i); }

  void append_long(const run_entry& e, run_slots& slots) const {
    const uint128 bits = opened(e);
    const std::uint64_t x = x_of(bits);
    const std::uint64_t extension = field(bits, width_, width_ - 2);
    const std::uint64_t ahead = 1 + extension + (e.level > 1 ? quarter() : 0);
    const std::uint64_t other = (x + ahead) & (2 * half() - 1);
    slots.push_back(std::max(x, other));
    slots.push_back(std::min(x, other));
    if (e.level == 1) return;
    if (ahead == half()) slots.push_back(static_cast<std::uint64_t>(x > other));
    for (unsigned level = 1; level < e.level; ++level) {
      const std::uint64_t more = level + 1 < e.level ? half() : 0;
      slots.push_back(field(bits, coded_length(level), width_ - 1) | more);
    }
  }

  unsigned width_;
  unsigned terminator_;  // 1 if entries say where they end
};

}  // namespace tamis::detail
