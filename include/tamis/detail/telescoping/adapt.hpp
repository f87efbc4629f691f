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

// Without a look at the run's slots, if it is not to be fixed.
template <class Scheme>
adapt_result answer_for(const coded_slots<Scheme>& all, digest d, const remote_ref& stored) {
  if (!all.may_contain(d)) return adapt_result::not_positive;
  return holds(stored, d) ? adapt_result::is_member : adapt_result::unfixable;
}

// Fixes go group by group, and a reset cannot be taken back otherwise.
struct slot_before {
  std::uint64_t slot;
  std::uint64_t value;
  std::uint64_t code;  // of its block, or the slot's label
};
template <class Scheme>
std::vector<slot_before> save_blocks(const coded_slots<Scheme>& all, std::uint64_t first, std::uint64_t last) {
  std::vector<slot_before> saved;
  for (std::uint64_t slot = first * all.block_slots; slot < (last + 1) * all.block_slots; ++slot) {
    if constexpr (coded_slots<Scheme>::coded) {
      saved.push_back({slot, all.table.value(slot), all.table.code(slot / all.block_slots)});
    } else {
      saved.push_back({slot, all.table.value(slot), all.table.label(slot)});
    }
  }
  return saved;
}
template <class Scheme>
void restore(coded_slots<Scheme>& all, const std::vector<slot_before>& saved) {
  for (const slot_before& s : saved) {
    all.table.set_value(s.slot, s.value);
    if constexpr (coded_slots<Scheme>::coded) {
      all.table.set_code(s.slot / all.block_slots, s.code);
    } else {
      all.table.set_label(s.slot, static_cast<typename coded_slots<Scheme>::symbol>(s.code));
    }
  }
}

inline bool all_owned(const std::vector<std::uint64_t>& slots, slot_range run, const slot_owners& behind) {
  return std::all_of(slots.begin(), slots.end(), [&](std::uint64_t slot) { return behind[slot - run.first].has_value(); });
}
// New symbols and values under which the slots accept their owners, but not y. False if there are none.
template <class Scheme>
bool advance(const coded_slots<Scheme>& all, const std::vector<std::uint64_t>& wrong, slot_range run, const slot_owners& behind,
             const hash_suffix& y, typename coded_slots<Scheme>::block_symbols& symbols, slot_changes& c) {
  for (const std::uint64_t slot : wrong) {
    const hash_suffix x(*behind[slot - run.first], all.table.quotients());
    const auto next = all.scheme.advance(symbols[slot % all.block_slots], x, y, all.table.width());
    if (!next) return false;
    symbols[slot % all.block_slots] = *next;
    c.values.emplace_back(slot, Scheme::value(x, all.table.width(), *next));
  }
  return true;
}
// Writes the symbols of one group and the values that go with them, if they can be coded.
template <class Scheme>
bool write_group(coded_slots<Scheme>& all, std::uint64_t block, slot_range slots,
                 const typename coded_slots<Scheme>::block_symbols& symbols, const slot_changes& c) {
  if constexpr (coded_slots<Scheme>::coded) {
    const auto group = static_cast<unsigned>(slots.first % all.block_slots / all.group_slots());
    const auto code = all.scheme.code().encode(
        std::span<const typename coded_slots<Scheme>::symbol>(symbols).subspan(slots.first % all.block_slots, slots.size()));
    if (!code) return false;
    all.table.set_code(block, with_group_code(all.table.code(block), all.groups(), group, *code));
  } else {
    for (std::uint64_t slot = slots.first; slot < slots.last; ++slot)
      all.table.set_label(slot, symbols[slot % all.block_slots]);
  }
  apply_values(all, c);
  return true;
}

// What is wrong: y is accepted by the run, in which these digests are.
struct run_mistake {
  slot_range run;
  const std::vector<digest>& digests;
  const hash_suffix& y;
};
// Makes the wrong slots of one group refuse y; if their symbols do not fit, after a reset of the group. `behind`, who stands
// behind the run's slots, stays right: a slot accepts its owner under its new symbol, too.
template <class Scheme>
bool fix_group(coded_slots<Scheme>& all, std::uint64_t group, const std::vector<std::uint64_t>& wrong, const run_mistake& m,
               slot_owners& behind, const owner_inquiry& ask) {
  const slot_range run = m.run;
  const std::uint64_t block = group * all.group_slots() / all.block_slots;
  const slot_range slots{group * all.group_slots(), (group + 1) * all.group_slots()};
  auto symbols = all.symbols_of_block(block);
  slot_changes c;
  if (!all_owned(wrong, run, behind)) return false;
  if (advance(all, wrong, run, behind, m.y, symbols, c) && write_group(all, block, slots, symbols, c)) {
    ask.work.slots += wrong.size();
    return true;
  }

  symbols = all.symbols_of_block(block);
  c = {};
  c.resets = 1;
  std::vector<std::uint64_t> nonzero;
  for (std::uint64_t slot = slots.first; slot < slots.last; ++slot) {
    if (std::exchange(symbols[slot % all.block_slots], typename coded_slots<Scheme>::symbol{0}) != 0) nonzero.push_back(slot);
  }
  if (nonzero.empty() || !plan_reset(all, nonzero, ask, c)) return false;
  write_group(all, block, slots, symbols, c);  // always fits: all symbols are 0
  ask.work.slots += nonzero.size();

  // The reset may have paired the run in another way: pair it anew.
  std::vector<std::uint64_t> still;
  for (std::uint64_t slot = std::max(slots.first, run.first); slot < std::min(slots.last, run.last); ++slot) {
    if (Scheme::accepts(all.table.value(slot), typename coded_slots<Scheme>::symbol{0}, m.y, all.table.width()))
      still.push_back(slot);
  }
  c = {};
  auto again = all.pair(run, m.digests, ask.work);
  if (!again) return false;
  behind = *std::move(again);
  ask.work.slots += still.size();
  return all_owned(still, run, behind) && advance(all, still, run, behind, m.y, symbols, c) &&
         write_group(all, block, slots, symbols, c);
}

// What adapt() of the filters does (concepts.hpp). What is not fixed has changed nothing.
template <class Scheme>
adapt_result adapt_slots(coded_slots<Scheme>& all, digest d, const remote_ref& stored, adapt_work& work) {
  const hash_suffix y(d, all.table.quotients());
  const slot_range run = all.table.find(y.quotient());
  if (run.size() > adapt_work::most_slots) return answer_for(all, d, stored);
  const auto symbols = all.symbols_of(run);
  std::vector<std::uint64_t> wrong;
  for (std::uint64_t slot = run.first; slot < run.last; ++slot) {
    if (Scheme::accepts(all.table.value(slot), symbols[slot - run.first], y, all.table.width())) wrong.push_back(slot);
  }
  if (wrong.empty()) return adapt_result::not_positive;
  // Digests that are more than the slots cannot be paired with them.
  const auto digests = digests_of_quotient(y.quotient(), all.table.quotients(), stored, run.size(), work);
  if (!digests) return answer_for(all, d, stored);
  if (std::find(digests->begin(), digests->end(), d) != digests->end()) return adapt_result::is_member;
  auto behind = all.pair(run, *digests, work);
  if (!behind) return adapt_result::unfixable;
  const std::vector<slot_before> before = save_blocks(all, wrong.front() / all.block_slots, wrong.back() / all.block_slots);
  const std::uint64_t resets_before = all.resets;
  const auto take_back = [&] {
    restore(all, before);
    all.resets = resets_before;
  };
  try {
    for (auto first = wrong.begin(); first != wrong.end();) {
      const std::uint64_t group = *first / all.group_slots();
      const auto last = std::find_if(first, wrong.end(), [&](std::uint64_t slot) { return slot / all.group_slots() != group; });
      if (!fix_group(all, group, {first, last}, {run, *digests, y}, *behind, {&stored, std::nullopt, work})) {
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

}  // namespace tamis::detail::inline TAMIS_LEVEL
