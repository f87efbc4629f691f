#pragma once

// Where the slots of a quotient table stand in a payload. An insert moves all slots up to the next free one by one place; who
// knows the slots can say that in a few bits. Slots come in groups of 64. A slot may be spread over several planes:
//
//   plane    | group 0: 64 · width bits |  …  | group 1 |  …        `stride` bytes from one group to the next
//   offsets  | byte |  …  | byte |  …                               one per group: how far runs of earlier groups reach into it

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tamis/detail/io/archive.hpp"
#include "tamis/result.hpp"

namespace tamis::difference {

inline constexpr unsigned group_slots = 64;

struct slot_plane {
  std::uint64_t begin = 0;   // in the payload
  std::uint64_t stride = 0;  // bytes
  std::uint32_t width = 0;   // bits of a slot

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.begin, self.stride, self.width);
  }
  friend bool operator==(const slot_plane&, const slot_plane&) = default;
};

struct slot_table {
  std::uint64_t slots = 0;
  std::vector<slot_plane> planes;
  std::vector<slot_plane> offsets;  // of 8 bits for each group

  // Does all of it lie in a payload of so many bytes?
  bool lies_in(std::uint64_t bytes) const;
  unsigned width() const;  // of a slot, over all planes

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.slots, self.planes, self.offsets);
  }
  friend bool operator==(const slot_table&, const slot_table&) = default;
};

inline constexpr std::size_t most_tables = 16;

// The slot tables of a filter, as far as this kind is known to have any. What they say need not be true: a difference that is
// made with wrong ones is larger, and right all the same.
std::vector<slot_table> find_slot_tables(std::string_view kind, std::span<const std::byte> payload);

// Slot `i`, with its planes beside each other.  Requires, here and below: the table lies in the payload, i < slots.
std::uint64_t read_slot(const slot_table& table, std::span<const std::byte> payload, std::uint64_t i);
void write_slot(const slot_table& table, std::span<std::byte> payload, std::uint64_t i, std::uint64_t value);
bool same_group(const slot_table& table, std::span<const std::byte> a, std::span<const std::byte> b, std::uint64_t group);

// Makes the slots of a new table of those of an old one, from the first to the last. The new payload has the old slots already,
// each where it was; so does a slot that is copied to the place where it came from.
class slot_editor {
 public:
  slot_editor(const slot_table& table, std::span<const std::byte> old, std::span<std::byte> made)
      : table_(table), old_(old), made_(made) {}

  std::uint64_t at() const { return at_; }      // the next slot that is made
  std::uint64_t from() const { return from_; }  // the next old one
  std::uint64_t left() const { return table_.slots - at_; }

  void copy(std::uint64_t slots);                     // Requires: no more than are left. Behind the old ones there are zeros.
  void insert(std::uint64_t value);                   // Requires: left() != 0.
  void skip(std::uint64_t slots) { from_ += slots; }  // Requires: from() + slots <= table.slots
  // As after a copy, without doing it: for looking ahead.
  void pass(std::uint64_t slots) {
    at_ += slots;
    from_ += slots;
  }

 private:
  void write(std::uint64_t value);

  const slot_table& table_;
  std::span<const std::byte> old_;
  std::span<std::byte> made_;
  std::uint64_t at_ = 0;
  std::uint64_t from_ = 0;
};

}  // namespace tamis::difference
