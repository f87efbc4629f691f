#pragma once

// How a false positive is fixed: all slots of its run that accept it get other symbols, group by group, under which they still
// accept their owners. A group whose new symbols cannot be coded is reset first. Runs that are too long for that
// (detail/remote/adapt_work.hpp) stay as they are.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tamis/concepts.hpp"
#include "tamis/detail/telescoping/recode.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

template <class Scheme>
class adapting_slots : protected recoding_slots<Scheme> {
 protected:
  using base = recoding_slots<Scheme>;
  using base::apply_values;
  using base::block_slots;
  using base::coded;
  using base::digests_of;
  using base::group_slots;
  using base::groups;
  using base::pair;
  using base::plan_reset;
  using base::resets_;
  using base::scheme_;
  using base::symbols_of;
  using base::symbols_of_block;
  using base::table_;
  using typename base::block_symbols;
  using typename base::change;
  using typename base::inquiry;
  using typename base::owners;
  using typename base::symbol;

  adapt_result adapt_with(digest d, const remote_ref& stored, adapt_work& work) {
    const hash_suffix y(d, table_.quotients());
    const slot_range run = table_.find(y.quotient());
    if (run.size() > adapt_work::most_slots) return answer_for(d, stored);
    const std::vector<symbol> symbols = symbols_of(run);
    std::vector<std::uint64_t> wrong;
    for (std::uint64_t slot = run.first; slot < run.last; ++slot) {
      if (Scheme::accepts(table_.value(slot), symbols[slot - run.first], y, table_.width())) wrong.push_back(slot);
    }
    if (wrong.empty()) return adapt_result::not_positive;
    // Digests that are more than the slots cannot be paired with them.
    const auto digests = digests_of(y.quotient(), table_.quotients(), stored, run.size(), work);
    if (!digests) return answer_for(d, stored);
    if (std::find(digests->begin(), digests->end(), d) != digests->end()) return adapt_result::is_member;
    auto behind = pair(run, *digests, work);
    if (!behind) return adapt_result::unfixable;
    const std::vector<saved_slot> before = save_blocks(wrong.front() / block_slots, wrong.back() / block_slots);
    const std::uint64_t resets_before = resets_;
    const auto take_back = [&] {
      restore(before);
      resets_ = resets_before;
    };
    try {
      for (auto first = wrong.begin(); first != wrong.end();) {
        const std::uint64_t group = *first / group_slots();
        const auto last = std::find_if(first, wrong.end(), [&](std::uint64_t slot) { return slot / group_slots() != group; });
        if (!fix_group(group, {first, last}, {run, *digests, y}, *behind, {&stored, std::nullopt, work})) {
          take_back();
          return adapt_result::unfixable;
        }
        first = last;
      }
    } catch (...) {  // no memory, or a remote that could not be read
      take_back();
      throw;
    }
    return adapt_result::fixed;
  }

 private:
  // Without a look at the run's slots, if it is not to be fixed.
  adapt_result answer_for(digest d, const remote_ref& stored) const {
    if (!this->may_contain(d)) return adapt_result::not_positive;
    return holds(stored, d) ? adapt_result::is_member : adapt_result::unfixable;
  }

  // Fixes go group by group, and a reset cannot be taken back otherwise.
  struct saved_slot {
    std::uint64_t slot;
    std::uint64_t value;
    std::uint64_t code;  // of its block, or the slot's label
  };
  std::vector<saved_slot> save_blocks(std::uint64_t first, std::uint64_t last) const {
    std::vector<saved_slot> saved;
    for (std::uint64_t slot = first * block_slots; slot < (last + 1) * block_slots; ++slot) {
      if constexpr (coded) {
        saved.push_back({slot, table_.value(slot), table_.code(slot / block_slots)});
      } else {
        saved.push_back({slot, table_.value(slot), table_.label(slot)});
      }
    }
    return saved;
  }
  void restore(const std::vector<saved_slot>& saved) {
    for (const saved_slot& s : saved) {
      table_.set_value(s.slot, s.value);
      if constexpr (coded) {
        table_.set_code(s.slot / block_slots, s.code);
      } else {
        table_.set_label(s.slot, static_cast<symbol>(s.code));
      }
    }
  }

  // What is wrong: y is accepted by the run, in which these digests are.
  struct mistake {
    slot_range run;
    const std::vector<digest>& digests;
    const hash_suffix& y;
  };
  // Makes the wrong slots of one group refuse y; if their symbols do not fit, after a reset of the group. `behind`, who stands
  // behind the run's slots, stays right: a slot accepts its owner under its new symbol, too.
  bool fix_group(std::uint64_t group, const std::vector<std::uint64_t>& wrong, const mistake& m, owners& behind,
                 const inquiry& ask) {
    const slot_range run = m.run;
    const std::uint64_t block = group * group_slots() / block_slots;
    const slot_range slots{group * group_slots(), (group + 1) * group_slots()};
    block_symbols symbols = symbols_of_block(block);
    change c;
    if (!all_owned(wrong, run, behind)) return false;
    if (advance(wrong, run, behind, m.y, symbols, c) && write(block, slots, symbols, c)) {
      ask.work.slots += wrong.size();
      return true;
    }

    symbols = symbols_of_block(block);
    c = {};
    c.resets = 1;
    std::vector<std::uint64_t> nonzero;
    for (std::uint64_t slot = slots.first; slot < slots.last; ++slot) {
      if (std::exchange(symbols[slot % block_slots], symbol{0}) != 0) nonzero.push_back(slot);
    }
    if (nonzero.empty() || !plan_reset(nonzero, ask, c)) return false;
    write(block, slots, symbols, c);  // always fits: all symbols are 0
    ask.work.slots += nonzero.size();

    // The reset may have paired the run in another way: pair it anew.
    std::vector<std::uint64_t> still;
    for (std::uint64_t slot = std::max(slots.first, run.first); slot < std::min(slots.last, run.last); ++slot) {
      if (Scheme::accepts(table_.value(slot), symbol{0}, m.y, table_.width())) still.push_back(slot);
    }
    c = {};
    auto again = pair(run, m.digests, ask.work);
    if (!again) return false;
    behind = *std::move(again);
    ask.work.slots += still.size();
    return all_owned(still, run, behind) && advance(still, run, behind, m.y, symbols, c) && write(block, slots, symbols, c);
  }
  static bool all_owned(const std::vector<std::uint64_t>& slots, slot_range run, const owners& behind) {
    return std::all_of(slots.begin(), slots.end(), [&](std::uint64_t slot) { return behind[slot - run.first].has_value(); });
  }
  // New symbols and values under which the slots accept their owners, but not y. False if there are none.
  bool advance(const std::vector<std::uint64_t>& wrong, slot_range run, const owners& behind, const hash_suffix& y,
               block_symbols& symbols, change& c) const {
    for (const std::uint64_t slot : wrong) {
      const hash_suffix x(*behind[slot - run.first], table_.quotients());
      const auto next = scheme_.advance(symbols[slot % block_slots], x, y, table_.width());
      if (!next) return false;
      symbols[slot % block_slots] = *next;
      c.values.emplace_back(slot, Scheme::value(x, table_.width(), *next));
    }
    return true;
  }
  // Writes the symbols of one group and the values that go with them, if they can be coded.
  bool write(std::uint64_t block, slot_range slots, const block_symbols& symbols, const change& c) {
    if constexpr (coded) {
      const auto group = static_cast<unsigned>(slots.first % block_slots / group_slots());
      const auto code =
          scheme_.code().encode(std::span<const symbol>(symbols).subspan(slots.first % block_slots, slots.size()));
      if (!code) return false;
      table_.set_code(block, with_group_code(table_.code(block), groups(), group, *code));
    } else {
      for (std::uint64_t slot = slots.first; slot < slots.last; ++slot) table_.set_label(slot, symbols[slot % block_slots]);
    }
    apply_values(c);
    return true;
  }
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
