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

template <class Scheme>
class recoding_slots : protected coded_slots<Scheme> {
 protected:
  using base = coded_slots<Scheme>;
  using base::block_slots;
  using base::coded;
  using base::group_slots;
  using base::groups;
  using base::owners_of;
  using base::scheme_;
  using base::symbols_of_block;
  using base::table_;

  using typename base::block_symbols;
  using typename base::inquiry;
  using typename base::owners;
  using typename base::symbol;

  struct change {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> values;  // slot, new value
    std::vector<std::pair<std::uint64_t, std::uint64_t>> codes;   // block, new code
    std::uint64_t resets = 0;
  };
  void apply_values(const change& c) {
    for (const auto& [slot, value] : c.values) table_.set_value(slot, value);
    resets_ += c.resets;
  }
  void apply_codes(const change& c) {
    if constexpr (coded) {
      for (const auto& [block, code] : c.codes) table_.set_code(block, code);
    }
  }

  bool all_codes_zero(std::uint64_t first, std::uint64_t last) const requires coded {
    std::uint64_t all = 0;
    for (std::uint64_t block = first / block_slots; block <= last / block_slots; ++block) all |= table_.code(block);
    return all == 0;
  }

  // Adds to `c` the values that slots get when their symbols become 0.  Requires: all in one block.
  bool plan_reset(const std::vector<std::uint64_t>& slots, const inquiry& ask, change& c) const {
    if (!Scheme::value_depends_on_symbol || slots.empty()) return true;
    if (ask.stored == nullptr) return false;
    bool known = true;
    table_.for_each_run_in(slots.front() / block_slots, [&](std::uint64_t quotient, slot_range run) {
      const auto inside = [&](std::uint64_t slot) { return run.first <= slot && slot < run.last; };
      if (!known || std::none_of(slots.begin(), slots.end(), inside)) return;
      const auto behind = owners_of(quotient, run, ask);
      known = behind.has_value();
      if (!known) return;
      for (const std::uint64_t slot : slots) {
        if (!inside(slot) || !(*behind)[slot - run.first]) continue;
        const hash_suffix bits(*(*behind)[slot - run.first], table_.quotients());
        c.values.emplace_back(slot, bits.head(table_.width()));
      }
    });
    return known;
  }

  // The codes of blocks whose symbols move: slots [first, last) get the symbols `after`, which slots moved by `step` have now.
  bool plan_move(slot_range moved, const std::vector<symbol>& after, int step, const inquiry& ask,
                 change& c) const requires coded {
    for (std::uint64_t block = moved.first / block_slots; block <= (moved.last - 1) / block_slots; ++block) {
      block_symbols symbols = symbols_of_block(block);
      const slot_range here{std::max(moved.first, block * block_slots), std::min(moved.last, (block + 1) * block_slots)};
      for (std::uint64_t slot = here.first; slot < here.last; ++slot) symbols[slot % block_slots] = after[slot - moved.first];
      std::uint64_t code = 0;
      for (unsigned group = 0; group < groups(); ++group) {
        const auto part = std::span(symbols).subspan(group * group_slots(), group_slots());
        auto encoded = scheme_.code().encode(part);
        if (!encoded) {
          encoded = 0;
          if (!plan_reset_of_moved(block, group, symbols, here, step, ask, c)) return false;
        }
        code = with_group_code(code, groups(), group, *encoded);
      }
      c.codes.emplace_back(block, code);
    }
    return true;
  }
  // Values are changed before slots move, so the slots are named by where they are now; one of them may be in the next block.
  bool plan_reset_of_moved(std::uint64_t block, unsigned group, const block_symbols& symbols, slot_range moved, int step,
                           const inquiry& ask, change& c) const {
    std::vector<std::uint64_t> own;
    std::vector<std::uint64_t> others;
    for (unsigned i = group * group_slots(); i < (group + 1) * group_slots(); ++i) {
      if (symbols[i] == 0) continue;
      std::uint64_t slot = block * block_slots + i;
      if (moved.first <= slot && slot < moved.last) slot += static_cast<std::uint64_t>(static_cast<std::int64_t>(step));
      (slot / block_slots == block ? own : others).push_back(slot);
    }
    ++c.resets;
    return (own.empty() || plan_reset(own, ask, c)) && (others.empty() || plan_reset(others, ask, c));
  }

  std::uint64_t resets_ = 0;  // of groups: each has forgotten the fixes of its slots
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
