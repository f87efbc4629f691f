#pragma once

// Which slots of a quotient table are new, gone or moved: found by comparing two tables from the front, and coded as
//
//   copied slots, and then one that is inserted (with its value) or some that are skipped; and so on, up to the last slot
//
// A mistake of the search costs bytes, not correctness: what the edits do not say, the changed bits do.

#include <array>

#include "bit_coder.hpp"
#include "slot_table.hpp"

namespace tamis::difference {

// Both ends of the code.
class slot_edit_models {
 public:
  void put_copy(bit_encoder& to, const slot_editor& at, std::uint64_t slots) { copies_[direction(at)].put(to, slots); }
  void put_insert(bit_encoder& to, const slot_editor& at, std::uint64_t value, unsigned width);
  void put_skip(bit_encoder& to, const slot_editor& at, std::uint64_t slots);

  // Makes all slots of the table. False for a code that no difference has.
  bool replay(bit_decoder& from, slot_editor& into, const slot_table& table);

 private:
  // Old slots go on here, earlier or later than they were.
  static unsigned direction(const slot_editor& at) { return at.at() == at.from() ? 0 : at.at() > at.from() ? 1 : 2; }

  std::array<number_model, 3> copies_;
  std::array<bit_model, 3> inserts_;
  std::array<bit_model, 64> value_bits_;
  number_model skips_;
};

// Codes what makes the new slots of the old ones, and does it to `made`.  Requires: the table lies in all three payloads, and
// `made` has the old slots.
void put_slot_edits(bit_encoder& to, const slot_table& table, std::span<const std::byte> old, std::span<const std::byte> wanted,
                    std::span<std::byte> made);

}  // namespace tamis::difference
