#pragma once

// Two tables become one: every slot keeps its value and its symbol, and with them its partner. Only the codes may be too short
// for the symbols of both; a group that overflows is reset.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "tamis/detail/base/table_list.hpp"
#include "tamis/detail/telescoping/adapt.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

template <class Scheme>
bool copy_slots(coded_slots<Scheme>& all, const coded_slots<Scheme>& a, const coded_slots<Scheme>& b,
                table_list<typename coded_slots<Scheme>::symbol>& symbols) {
  using reader = typename coded_slots<Scheme>::symbol_reader;
  reader symbol_in_a(a);
  reader symbol_in_b(b);
  std::uint64_t end = 0;
  return for_each_run_of_both(a.table, b.table, [&](std::uint64_t quotient, slot_range x, slot_range y) {
    const auto run = append_with_room(all.table, quotient, x.size() + y.size(), end);
    if (!run) return false;
    symbols.resize(all.table.slots());
    std::uint64_t to = run->first;
    const auto copy = [&](const coded_slots<Scheme>& from, slot_range slots, reader& symbol_in) {
      for (std::uint64_t slot = slots.first; slot < slots.last; ++slot, ++to) {
        all.table.set_value(to, from.table.value(slot));
        symbols[to] = symbol_in(slot);
      }
    };
    copy(a, x, symbol_in_a);
    copy(b, y, symbol_in_b);
    return true;
  });
}

// Sets the symbols of one group to 0.
template <class Scheme>
status reset_group(coded_slots<Scheme>& all, slot_range group, table_list<typename coded_slots<Scheme>::symbol>& symbols,
                   const remote_ref* stored) {
  if constexpr (Scheme::value_depends_on_symbol) {
    if (stored == nullptr) {
      return failure{"the selectors of both filters do not fit the code of block " +
                     std::to_string(group.first / all.block_slots) + ": merging these needs the store with their keys"};
    }
    bool known = true;
    all.table.for_each_run_in(group.first / all.block_slots, [&](std::uint64_t quotient, slot_range run) {
      const slot_range here{std::max(run.first, group.first), std::min(run.last, group.last)};
      if (here.first >= here.last) return;
      // However much it costs: a merge does it once, and otherwise fails as a whole.
      constexpr std::uint64_t any = ~std::uint64_t{0};
      adapt_work work;
      const auto digests = digests_of_quotient(quotient, all.table.quotients(), *stored, run.size(), work);
      std::optional<slot_owners> behind;
      if (digests) {
        behind =
            all.pair(run, *digests,
                     std::span<const typename coded_slots<Scheme>::symbol>(symbols).subspan(run.first, run.size()), any, work);
      }
      known = known && behind;
      if (!known) return;
      for (std::uint64_t slot = here.first; slot < here.last; ++slot) {
        const auto& owner = (*behind)[slot - run.first];
        if (symbols[slot] == 0 || !owner) continue;
        all.table.set_value(slot, hash_suffix(*owner, all.table.quotients()).head(all.table.width()));
      }
    });
    if (!known) return failure{"the store holds other keys than the two filters"};
  }
  std::fill_n(symbols.begin() + static_cast<std::ptrdiff_t>(group.first), group.size(),
              typename coded_slots<Scheme>::symbol{0});
  ++all.resets;
  return {};
}

template <class Scheme>
status write_symbols(coded_slots<Scheme>& all, table_list<typename coded_slots<Scheme>::symbol>& symbols,
                     const remote_ref* stored) {
  if constexpr (!coded_slots<Scheme>::coded) {
    for (std::uint64_t slot = 0; slot < all.table.slots(); ++slot) all.table.set_label(slot, symbols[slot]);
  } else {
    for (std::uint64_t block = 0; block < all.table.blocks(); ++block) {
      std::uint64_t code = 0;
      for (unsigned group = 0; group < all.groups(); ++group) {
        const std::uint64_t first = block * all.block_slots + group * all.group_slots();
        const auto encoded = all.scheme.code().encode(
            std::span<const typename coded_slots<Scheme>::symbol>(symbols).subspan(first, all.group_slots()));
        if (encoded) {
          code = with_group_code(code, all.groups(), group, *encoded);
        } else {
          TAMIS_CHECK(reset_group(all, {first, first + all.group_slots()}, symbols, stored));
        }
      }
      all.table.set_code(block, code);
    }
  }
  return {};
}

// Takes in the slots of `other`, or is an error with nothing changed.  Requires: same shape, same scheme.
template <class Scheme>
status merge_slots(coded_slots<Scheme>& all, const coded_slots<Scheme>& other, const remote_ref* stored) {
  coded_slots<Scheme> both;
  both.scheme = all.scheme;
  both.resets = all.resets + other.resets;
  const std::uint64_t slots = std::max(all.table.slots(), other.table.slots());
  TAMIS_TRY(both.table,
            coded_slots<Scheme>::table_type::make(all.table.quotients(), slots - all.table.quotients(), all.table.width()));
  table_list<typename coded_slots<Scheme>::symbol> symbols;
  if (!copy_slots(both, all, other, symbols)) return failure{"the two filters together do not fit into one of their size"};
  symbols.resize(both.table.slots());
  TAMIS_CHECK(write_symbols(both, symbols, stored));
  all = std::move(both);
  return {};
}

}  // namespace tamis::detail::inline TAMIS_LEVEL
