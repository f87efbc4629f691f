#pragma once

// How symbols and values change together when slots move, when a group of symbols is reset, and when two tables become one.
// Changes are planned first, so that what fails has changed nothing.
//
// A reset sets a group of symbols to 0, when they cannot be coded any more. Where a value depends on its symbol, the slot must
// then hold what its own digest has under symbol 0, so that somebody must say whose slot it is: the remote. Without one that is
// impossible, and the change is refused.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tamis/detail/telescoping/coded_slots.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

struct slot_changes {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> values;  // slot, new value
  std::vector<std::pair<std::uint64_t, std::uint64_t>> codes;   // block, new code
  std::uint64_t resets = 0;
};
template <class Scheme>
void apply_values(coded_slots<Scheme>& all, const slot_changes& c) {
  for (const auto& [slot, value] : c.values) all.table.set_value(slot, value);
  all.resets += c.resets;
}
template <class Scheme>
void apply_codes(coded_slots<Scheme>& all, const slot_changes& c) {
  if constexpr (coded_slots<Scheme>::coded) {
    for (const auto& [block, code] : c.codes) all.table.set_code(block, code);
  }
}

template <class Scheme>
bool all_codes_zero(const coded_slots<Scheme>& all, std::uint64_t first, std::uint64_t last) {
  std::uint64_t together = 0;
  for (std::uint64_t block = first / all.block_slots; block <= last / all.block_slots; ++block)
    together |= all.table.code(block);
  return together == 0;
}

// Adds to `c` the values that slots get when their symbols become 0.  Requires: all in one block.
template <class Scheme>
bool plan_reset(const coded_slots<Scheme>& all, const std::vector<std::uint64_t>& slots, const owner_inquiry& ask,
                slot_changes& c) {
  if (!Scheme::value_depends_on_symbol || slots.empty()) return true;
  if (ask.stored == nullptr) return false;
  bool known = true;
  all.table.for_each_run_in(slots.front() / all.block_slots, [&](std::uint64_t quotient, slot_range run) {
    const auto inside = [&](std::uint64_t slot) { return run.first <= slot && slot < run.last; };
    if (!known || std::none_of(slots.begin(), slots.end(), inside)) return;
    const auto behind = all.owners_of(quotient, run, ask);
    known = behind.has_value();
    if (!known) return;
    for (const std::uint64_t slot : slots) {
      if (!inside(slot) || !(*behind)[slot - run.first]) continue;
      const hash_suffix bits(*(*behind)[slot - run.first], all.table.quotients());
      c.values.emplace_back(slot, bits.head(all.table.width()));
    }
  });
  return known;
}

// Values are changed before slots move, so the slots are named by where they are now; one of them may be in the next block.
template <class Scheme>
bool plan_reset_of_moved(const coded_slots<Scheme>& all, std::uint64_t block, unsigned group,
                         const typename coded_slots<Scheme>::block_symbols& symbols, slot_range moved, int step,
                         const owner_inquiry& ask, slot_changes& c) {
  std::vector<std::uint64_t> own;
  std::vector<std::uint64_t> others;
  for (unsigned i = group * all.group_slots(); i < (group + 1) * all.group_slots(); ++i) {
    if (symbols[i] == 0) continue;
    std::uint64_t slot = block * all.block_slots + i;
    if (moved.first <= slot && slot < moved.last) slot += static_cast<std::uint64_t>(static_cast<std::int64_t>(step));
    (slot / all.block_slots == block ? own : others).push_back(slot);
  }
  ++c.resets;
  return (own.empty() || plan_reset(all, own, ask, c)) && (others.empty() || plan_reset(all, others, ask, c));
}

// The codes of blocks whose symbols move: slots [first, last) get the symbols `after`, which slots moved by `step` have now.
template <class Scheme>
bool plan_move(const coded_slots<Scheme>& all, slot_range moved, const std::vector<typename coded_slots<Scheme>::symbol>& after,
               int step, const owner_inquiry& ask, slot_changes& c) {
  for (std::uint64_t block = moved.first / all.block_slots; block <= (moved.last - 1) / all.block_slots; ++block) {
    auto symbols = all.symbols_of_block(block);
    const slot_range here{std::max(moved.first, block * all.block_slots), std::min(moved.last, (block + 1) * all.block_slots)};
    for (std::uint64_t slot = here.first; slot < here.last; ++slot) symbols[slot % all.block_slots] = after[slot - moved.first];
    std::uint64_t code = 0;
    for (unsigned group = 0; group < all.groups(); ++group) {
      const auto part = std::span(symbols).subspan(group * all.group_slots(), all.group_slots());
      auto encoded = all.scheme.code().encode(part);
      if (!encoded) {
        encoded = 0;
        if (!plan_reset_of_moved(all, block, group, symbols, here, step, ask, c)) return false;
      }
      code = with_group_code(code, all.groups(), group, *encoded);
    }
    c.codes.emplace_back(block, code);
  }
  return true;
}

}  // namespace tamis::detail::inline TAMIS_LEVEL
