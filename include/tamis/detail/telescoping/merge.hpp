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
class merging_slots : protected adapting_slots<Scheme> {
 protected:
  using base = adapting_slots<Scheme>;
  using base::block_slots;
  using base::coded;
  using base::digests_of;
  using base::group_slots;
  using base::groups;
  using base::resets_;
  using base::scheme_;
  using base::table_;
  using typename base::owners;
  using typename base::symbol;
  using typename base::symbol_reader;

  // Takes in the slots of `other`, or is an error with nothing changed.  Requires: same shape, same scheme.
  status merge_slots(const merging_slots& other, const remote_ref* stored) {
    merging_slots both;
    both.scheme_ = scheme_;
    both.resets_ = resets_ + other.resets_;
    const std::uint64_t slots = std::max(table_.slots(), other.table_.slots());
    TAMIS_TRY(both.table_, base::table::make(table_.quotients(), slots - table_.quotients(), table_.width()));
    table_list<symbol> symbols;
    if (!both.copy_slots(*this, other, symbols)) return failure{"the two filters together do not fit into one of their size"};
    symbols.resize(both.table_.slots());
    TAMIS_CHECK(both.write_symbols(symbols, stored));
    *this = std::move(both);
    return {};
  }

 private:
  bool copy_slots(const merging_slots& a, const merging_slots& b, table_list<symbol>& symbols) {
    symbol_reader symbol_in_a(a);
    symbol_reader symbol_in_b(b);
    std::uint64_t end = 0;
    return for_each_run_of_both(a.table_, b.table_, [&](std::uint64_t quotient, slot_range x, slot_range y) {
      const auto run = append_with_room(table_, quotient, x.size() + y.size(), end);
      if (!run) return false;
      symbols.resize(table_.slots());
      std::uint64_t to = run->first;
      const auto copy = [&](const merging_slots& from, slot_range slots, symbol_reader& symbol_in) {
        for (std::uint64_t slot = slots.first; slot < slots.last; ++slot, ++to) {
          table_.set_value(to, from.table_.value(slot));
          symbols[to] = symbol_in(slot);
        }
      };
      copy(a, x, symbol_in_a);
      copy(b, y, symbol_in_b);
      return true;
    });
  }

  status write_symbols(table_list<symbol>& symbols, const remote_ref* stored) {
    if constexpr (!coded) {
      for (std::uint64_t slot = 0; slot < table_.slots(); ++slot) table_.set_label(slot, symbols[slot]);
    } else {
      for (std::uint64_t block = 0; block < table_.blocks(); ++block) {
        std::uint64_t code = 0;
        for (unsigned group = 0; group < groups(); ++group) {
          const std::uint64_t first = block * block_slots + group * group_slots();
          const auto encoded = scheme_.code().encode(std::span<const symbol>(symbols).subspan(first, group_slots()));
          if (encoded) {
            code = with_group_code(code, groups(), group, *encoded);
          } else {
            TAMIS_CHECK(reset({first, first + group_slots()}, symbols, stored));
          }
        }
        table_.set_code(block, code);
      }
    }
    return {};
  }

  // Sets the symbols of one group to 0.
  status reset(slot_range group, table_list<symbol>& symbols, const remote_ref* stored) {
    if constexpr (Scheme::value_depends_on_symbol) {
      if (stored == nullptr) {
        return failure{"the selectors of both filters do not fit the code of block " +
                       std::to_string(group.first / block_slots) + ": merging these needs the store with their keys"};
      }
      bool known = true;
      table_.for_each_run_in(group.first / block_slots, [&](std::uint64_t quotient, slot_range run) {
        const slot_range here{std::max(run.first, group.first), std::min(run.last, group.last)};
        if (here.first >= here.last) return;
        // However much it costs: a merge does it once, and otherwise fails as a whole.
        constexpr std::uint64_t any = ~std::uint64_t{0};
        adapt_work work;
        const auto digests = digests_of(quotient, table_.quotients(), *stored, run.size(), work);
        std::optional<owners> behind;
        if (digests) {
          behind = this->pair(run, *digests, std::span<const symbol>(symbols).subspan(run.first, run.size()), any, work);
        }
        known = known && behind;
        if (!known) return;
        for (std::uint64_t slot = here.first; slot < here.last; ++slot) {
          const auto& owner = (*behind)[slot - run.first];
          if (symbols[slot] == 0 || !owner) continue;
          table_.set_value(slot, hash_suffix(*owner, table_.quotients()).head(table_.width()));
        }
      });
      if (!known) return failure{"the store holds other keys than the two filters"};
    }
    std::fill_n(symbols.begin() + static_cast<std::ptrdiff_t>(group.first), group.size(), symbol{0});
    ++resets_;
    return {};
  }
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
