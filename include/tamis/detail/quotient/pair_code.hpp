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

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <optional>

#include "tamis/detail/base/compiler.hpp"
#include "tamis/detail/base/short_list.hpp"

namespace tamis::detail {

// A prefix of what follows a quotient.
struct run_entry {
  uint128 bits = 0;  // left-aligned, zero behind the end
  unsigned level = 0;

  friend constexpr bool operator==(const run_entry&, const run_entry&) = default;
};

using run_slots = short_list<std::uint64_t, 64>;
using run_entries = short_list<run_entry, 24>;

class pair_code {
 public:
  static constexpr unsigned least_width = 4;
  static constexpr unsigned stream_bits = 128;  // so many are known of every key

  // Requires: least_width <= width <= 56.
  TAMIS_INLINE constexpr explicit pair_code(unsigned width) : width_(width) { assert(least_width <= width && width <= 56); }

  constexpr unsigned width() const { return width_; }
  // Bits of an entry.
  constexpr unsigned length(unsigned level) const { return level == 0 ? width_ : 2 * width_ - 2 + (level - 1) * (width_ - 1); }
  constexpr unsigned highest_level() const { return 1 + (stream_bits - (2 * width_ - 2)) / (width_ - 1); }
  // The least level at which an entry has `bits` bits or more.
  constexpr unsigned level_of(unsigned bits) const {
    unsigned level = 0;
    while (length(level) < bits) ++level;
    return level;
  }

  // Requires: level <= highest_level().
  constexpr run_entry prefix(uint128 stream, unsigned level) const {
    const unsigned behind = stream_bits - length(level);
    return {stream >> behind << behind, level};
  }
  constexpr bool matches(const run_entry& e, uint128 stream) const {
    return (e.bits ^ stream) >> (stream_bits - length(e.level)) == 0;
  }
  constexpr std::uint64_t x_of(uint128 stream) const { return field(stream, 0, width_); }

  unsigned slots_of(const run_entry& e) const {
    if (e.level <= 1) return 1 + e.level;
    return 1 + e.level + (field(e.bits, width_, width_ - 2) == quarter() - 1);
  }

  // The slots of a run with these entries.
  void encode(const run_entries& entries, run_slots& slots) const {
    slots.clear();
    for (const run_entry& e : entries) {
      if (e.level != 0) append_long(e, slots);
    }
    const std::size_t plain = slots.size();
    for (const run_entry& e : entries) {
      if (e.level == 0) slots.push_back(x_of(e.bits));
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
        found.entry.bits |= place(chunk & (half() - 1), length(found.entry.level), width_ - 1);
        ++found.entry.level;
        more = chunk >= half();
      }
    }
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
    for (; from < size; ++from) entries.push_back({place(at(from), 0, width_), 0});
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

  void append_long(const run_entry& e, run_slots& slots) const {
    const std::uint64_t x = x_of(e.bits);
    const std::uint64_t extension = field(e.bits, width_, width_ - 2);
    const std::uint64_t ahead = 1 + extension + (e.level > 1 ? quarter() : 0);
    const std::uint64_t other = (x + ahead) & (2 * half() - 1);
    slots.push_back(std::max(x, other));
    slots.push_back(std::min(x, other));
    if (e.level == 1) return;
    if (ahead == half()) slots.push_back(static_cast<std::uint64_t>(x > other));
    for (unsigned level = 1; level < e.level; ++level) {
      const std::uint64_t more = level + 1 < e.level ? half() : 0;
      slots.push_back(field(e.bits, length(level), width_ - 1) | more);
    }
  }

  unsigned width_;
};

}  // namespace tamis::detail
