#pragma once

// Room behind the last quotient. Runs do not wrap around, so that slots must follow the last quotient's own: as many as evenly
// spread keys need, when a table is made (detail/math/quotient.hpp). Keys that somebody chose may need more. The table then
// gets more of them, as long as it has fewer slots in use than quotients: any quotient's run can become as long as that,
// wherever it is.
//
//   | quotients' own slots            | spare |                       made
//   | quotients' own slots            | spare · · · · · · · |         a run at the end has grown
//
// Every time there are twice as many spare slots as before, or a sixteenth of the table more, and never more than quotients. So
// five times are enough for the longest run, and a table becomes at most twice as large. Lookups do not know how many there
// are.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "tamis/detail/quotient/run_search.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// Slots that quotients own: one each, or those that are homes.
template <class Table>
std::uint64_t own_slots(const Table& table) {
  if constexpr (requires { table.homes(); }) {
    return table.homes();
  } else {
    return table.quotients();
  }
}

// The same table with room for `more` slots in use, of whatever quotients. None if it is full or there is no memory.
template <class Table>
std::optional<Table> with_end_room(const Table& table, std::uint64_t more) {
  const std::uint64_t own = own_slots(table);
  if (more > own || table.used() > own - more) return std::nullopt;
  const std::uint64_t spare = table.slots() - own;
  const std::uint64_t wanted = std::max(2 * spare, spare + table.slots() / 16);
  auto wider = table.widened(std::max(spare, std::min(wanted, own)) + more);
  if (!wider) return std::nullopt;
  return *std::move(wider);
}
// Gives it to the table. False, and nothing has changed, if there is none.
template <class Table>
bool make_end_room(Table& table, std::uint64_t more) {
  auto wider = with_end_room(table, more);
  if (!wider) return false;
  table = *std::move(wider);
  return true;
}

// table.find_gap(quotient), with more room if need be. None if the table is full or there is no memory.
template <class Table>
auto find_or_make_gap(Table& table, std::uint64_t quotient) {
  auto gap = table.find_gap(quotient);
  if (!gap && make_end_room(table, 1)) gap = table.find_gap(quotient);
  return gap;
}

// The same for table.append(quotient, size, end).
template <class Table>
std::optional<slot_range> append_with_room(Table& table, std::uint64_t quotient, std::uint64_t size, std::uint64_t& end) {
  auto run = table.append(quotient, size, end);
  if (!run && make_end_room(table, size)) run = table.append(quotient, size, end);
  return run;
}

}  // namespace tamis::detail::inline TAMIS_LEVEL
