#pragma once

// A rank-and-select table whose entries have different lengths, each in one slot of W = longest + 1 bits: the short form of
// detail/growing/prefix_entry.hpp. The age of an entry, how many bits it is shorter than the longest, is the number of zeros at
// its end:
//
//   | payload | 1 | 0 … 0 |            a void has no payload: 1 0 … 0
//
// No entry is zero, and a slot that is not in use always is.
//
// A table of twice as many quotients takes the first bit of every payload into the place, one of half as many gives it back:
//
//   quotient c, payload b·p   ◄── doubled, halved ──►   quotient 2c + b, payload p
//
// Both are one pass in the order of the quotients. Doubling changes no answer; a void has no bit to give and is handed to the
// caller. Halving cuts the last bit of what is too long afterwards. What quotient and payload mean is the caller's: all
// functions take a quotient and the 64 bits that follow its place. Readers may share a table; a writer must be alone.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/growing/prefix_entry.hpp"
#include "tamis/detail/growing/table_split.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tamis/detail/quotient/rank_select.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

class variable_length_table {
 public:
  static constexpr unsigned longest_payload = 56;

  // An empty table; at least `spare` slots follow the last quotient's own.
  static result<variable_length_table> make(std::uint64_t quotients, std::uint64_t spare, unsigned longest) {
    variable_length_table made;
    TAMIS_TRY(made.table_, rank_select<>::make(quotients, spare, longest + 1));
    return made;
  }

  std::uint64_t quotients() const { return table_.quotients(); }
  TAMIS_INLINE std::uint64_t used() const { return table_.used(); }
  // Can 64 entries certainly be inserted, wherever they go?
  TAMIS_INLINE bool has_free_end() const { return table_.has_free_end(); }
  std::uint64_t spare() const { return table_.slots() - quotients(); }  // slots behind the last quotient's own
  std::uint64_t voids() const { return voids_; }
  unsigned longest() const { return table_.width() - 1; }
  std::uint64_t bits() const { return table_.bits(); }

  TAMIS_INLINE void prefetch(std::uint64_t quotient) const { table_.prefetch_from(quotient, window_slots); }
  TAMIS_INLINE void prefetch_update(std::uint64_t quotient) const { table_.prefetch_update(quotient); }

  bool contains(std::uint64_t quotient, std::uint64_t suffix) const {
    return is_wide(longest()) ? wide_contains(quotient, suffix) : contains_somewhere(quotient, asked_of(suffix));
  }
  // The same in a table whose slots have at least eight bits. One branch depends on what is read, and it is hardly ever taken
  // where nothing matches: the processor goes on to the next lookup, and its memory, while it waits for this one's.
  TAMIS_INLINE bool wide_contains(std::uint64_t quotient, std::uint64_t suffix) const {
    const std::uint64_t asked = asked_of(suffix);
    const std::uint64_t run = rank_select<>::find_from(table_.header(quotient / rank_select<>::block_slots), quotient);
    const std::uint64_t near = run & (table_.values().prefix_candidates_of_sixteen(quotient, asked) | ~low_mask(window_slots));
    return near != 0 && contains_one_of(quotient, asked, near);
  }
  // Do slots for payloads of up to `longest` bits have eight bits?
  static bool is_wide(unsigned longest) { return longest + 1 >= 8; }
  // How many entries match.
  std::uint64_t count(std::uint64_t quotient, std::uint64_t suffix) const {
    std::uint64_t matches = 0;
    for_each_match(table_.find(quotient), asked_of(suffix), [&](std::uint64_t, std::uint64_t) { return ++matches == 0; });
    return matches;
  }

  // A new entry of the longest kind, one of `length` bits, or a void. False, and nothing has changed, if there is no room.
  TAMIS_INLINE bool insert(std::uint64_t quotient, std::uint64_t suffix) {
    const std::uint64_t slot = code().fresh(suffix);
    return table_.insert_in_block(quotient, slot) || insert_slot(quotient, slot);
  }
  bool insert_prefix(std::uint64_t quotient, std::uint64_t suffix, unsigned length) {
    return insert_slot(quotient, code().slot_of(prefix_entry::of(suffix, length)));
  }
  bool insert_void(std::uint64_t quotient) { return insert_slot(quotient, void_slot()); }

  // Takes out the longest entry that matches. False if none does.
  bool erase(std::uint64_t quotient, std::uint64_t suffix) {
    const slot_range run = table_.find(quotient);
    const std::uint64_t slot = find_longest(run, asked_of(suffix));
    if (slot == run.last) return false;
    voids_ -= static_cast<std::uint64_t>(table_.value(slot) == void_slot());
    table_.close(quotient, run, slot);
    return true;
  }
  // Gives the longest entry that matches all the bits it can have. False if none does.
  bool renew(std::uint64_t quotient, std::uint64_t suffix) {
    const slot_range run = table_.find(quotient);
    const std::uint64_t slot = find_longest(run, asked_of(suffix));
    if (slot == run.last) return false;
    voids_ -= static_cast<std::uint64_t>(table_.value(slot) == void_slot());
    table_.set_value(slot, code().fresh(suffix));
    return true;
  }

  // The same entries with more slots behind the last quotient, for runs there that are too long.
  status widen() {
    TAMIS_TRY(table_, table_.widened(2 * spare() + rank_select<>::block_slots));
    return {};
  }

  // Twice the quotients. Calls on_void(quotient), which answers a status, for every void, in order; the new table has none of
  // them. Requires: longest() <= longest.
  template <class OnVoid>
  result<variable_length_table> doubled(std::uint64_t spare, unsigned longest, OnVoid on_void) const {
    std::uint64_t given = 0;  // voids, by all attempts
    while (true) {
      TAMIS_TRY(variable_length_table made, make(2 * quotients(), spare, longest));
      std::uint64_t met = 0;
      const auto once = [&](std::uint64_t quotient) -> status {
        if (++met <= given) return {};
        ++given;
        return on_void(quotient);
      };
      TAMIS_TRY(const bool fits,
                longest < 16 ? made.take_split<std::uint16_t>(*this, once) : made.take_split<std::uint64_t>(*this, once));
      if (fits) return made;
      spare = 2 * (made.table_.slots() - made.quotients()) + rank_select<>::block_slots;
    }
  }
  // Half the quotients. Entries that would be longer than `longest` afterwards lose bits at their end.
  // Requires: an even number of quotients; longest <= longest().
  result<variable_length_table> halved(std::uint64_t spare, unsigned longest) const {
    TAMIS_TRY(variable_length_table made, make(quotients() / 2, spare, longest));
    TAMIS_CHECK(made.take_joined(*this));
    return made;
  }

  // Calls visit(quotient, entry) for all entries, in the order of their quotients.
  template <class Visit>
  void for_each(Visit visit) const {
    table_.for_each_run([&](std::uint64_t quotient, slot_range run) {
      for (std::uint64_t slot = run.first; slot < run.last; ++slot) visit(quotient, code().entry_of(table_.value(slot)));
    });
  }

  // The share of all quotients and bits behind them that some entry matches.
  double accepted() const {
    double sum = 0.0;
    std::vector<prefix_entry> entries;
    table_.for_each_run([&](std::uint64_t, slot_range run) {
      entries.clear();
      for (std::uint64_t slot = run.first; slot < run.last; ++slot) entries.push_back(code().entry_of(table_.value(slot)));
      sum += accepted_by(entries);
    });
    return sum / static_cast<double>(quotients());
  }

  friend bool operator==(const variable_length_table&, const variable_length_table&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.voids_, self.table_);
  }
  status validate() const {
    if (is_wrong(table_.width() < 2) || is_wrong(table_.width() > longest_payload + 1)) {
      return failure{"entries in slots of " + std::to_string(table_.width()) + " bits: 2 to 57 are allowed"};
    }
    std::uint64_t voids = 0;
    for (std::uint64_t block = 0; block < table_.blocks(); ++block) {
      const std::uint64_t first = block * rank_select<>::block_slots;
      const std::uint64_t free = rank_select<>::free_slots(table_.header(block));
      if (is_wrong(!table_.values().are_zero(first, free))) return failure{"a slot that is not in use holds something"};
      if (is_wrong(table_.values().matches(first, ~free, entry_code::escape) != 0))
        return failure{"a slot in use holds no entry"};
      voids += popcount(table_.values().matches(first, ~free, void_slot()));
    }
    if (is_wrong(voids != voids_))
      return failure{"the table has " + std::to_string(voids) + " voids, not " + std::to_string(voids_)};
    return {};
  }

 private:
  friend stored_access;
  variable_length_table() = default;

  static constexpr unsigned window_slots = 16;  // behind a quotient: its run has hardly ever others

  entry_code code() const { return entry_code(table_.width()); }
  TAMIS_INLINE std::uint64_t asked_of(std::uint64_t suffix) const { return suffix >> (-table_.width() % word_bits); }
  std::uint64_t void_slot() const { return std::uint64_t{1} << (table_.width() - 1); }
  static TAMIS_INLINE unsigned first_of(std::uint64_t mask) { return static_cast<unsigned>(std::countr_zero(mask)); }

  TAMIS_NOINLINE bool insert_slot(std::uint64_t quotient, std::uint64_t value) {
    if (table_.open_at_home(quotient)) {
      table_.set_value(quotient, value);
    } else {
      const auto gap = table_.find_gap(quotient);
      if (!gap) return false;
      table_.open(quotient, *gap);
      table_.set_value(gap->at, value);
    }
    voids_ += static_cast<std::uint64_t>(value == void_slot());
    return true;
  }

  // Calls visit(slot, value) for the slots of a run that match until it answers true, which is the answer then.
  template <class Visit>
  TAMIS_INLINE bool for_each_match(slot_range run, std::uint64_t asked, Visit visit) const {
    for (std::uint64_t base = run.first; base < run.last; base += word_bits) {
      const auto left = static_cast<unsigned>(std::min<std::uint64_t>(run.last - base, word_bits));
      for (auto near = table_.values().prefix_candidates(base, low_mask(left), asked); near != 0; near &= near - 1) {
        const std::uint64_t slot = base + first_of(near);
        const std::uint64_t value = table_.value(slot);
        if (entry_code::slot_matches(value, asked) && visit(slot, value)) return true;
      }
    }
    return false;
  }
  // Does one of these near slots match, of which bit i is quotient + i? If there are others, does any slot of the quotient's
  // run?
  TAMIS_NOINLINE bool contains_one_of(std::uint64_t quotient, std::uint64_t asked, std::uint64_t slots) const {
    if (slots >> window_slots != 0) return contains_somewhere(quotient, asked);
    for (; slots != 0; slots &= slots - 1) {
      if (entry_code::slot_matches(table_.value(quotient + first_of(slots)), asked)) return true;
    }
    return false;
  }
  TAMIS_NOINLINE bool contains_somewhere(std::uint64_t quotient, std::uint64_t asked) const {
    return for_each_match(table_.find(quotient), asked, [](std::uint64_t, std::uint64_t) { return true; });
  }
  // The slot of the longest match, the run's end if there is none.
  std::uint64_t find_longest(slot_range run, std::uint64_t asked) const {
    std::uint64_t longest = run.last;
    int age = static_cast<int>(word_bits);
    for_each_match(run, asked, [&](std::uint64_t slot, std::uint64_t value) {
      if (std::countr_zero(value) < age) age = std::countr_zero(value), longest = slot;
      return age == 0;
    });
    return longest;
  }

  // After a run did not fit behind all others: the same with more slots.
  TAMIS_COLD status append_wider(std::uint64_t quotient, std::uint64_t size, std::uint64_t& end,
                                 std::optional<slot_range>& run) {
    while (!run) {
      TAMIS_CHECK(widen());
      run = table_.append(quotient, size, end);
    }
    return {};
  }

  template <class Word, class OnVoid>
  result<bool> take_split(const variable_length_table& from, OnVoid on_void) {
    rank_select<>* const into[] = {&table_};
    table_split<Word, rank_select<>, slots_as_they_are> split(from.table_, into, {}, {});
    const auto hand_out_voids = [&](std::uint64_t quotient, slot_range run, split_run& halves) -> status {
      for (std::uint64_t slot = run.first; slot < run.last; ++slot) {
        const std::uint64_t value = from.table_.value(slot);
        if (value == from.void_slot()) {
          TAMIS_CHECK(on_void(quotient));
        } else {
          halves[split.first_bit(value)].push_back(split.moved(value));
        }
      }
      return {};
    };
    TAMIS_TRY(const bool fits, split.run(hand_out_voids));
    voids_ = split.voids();
    return fits;
  }

  status take_joined(const variable_length_table& from) {
    std::uint64_t end = 0;
    for (rank_select<>::cursor at(from.table_); at;) {
      const std::uint64_t quotient = at.quotient() / 2;
      slot_range halves[2];
      for (; at && at.quotient() / 2 == quotient; at.next()) halves[at.quotient() % 2] = at.run();
      const std::uint64_t size = halves[0].size() + halves[1].size();
      auto run = table_.append(quotient, size, end);
      if (!run) TAMIS_CHECK(append_wider(quotient, size, end, run));
      std::uint64_t to = run->first;
      for (const unsigned bit : {0u, 1u}) {
        for (std::uint64_t slot = halves[bit].first; slot < halves[bit].last; ++slot) {
          table_.set_value(to++, joined(bit, from.table_.value(slot), from.table_.width()));
        }
      }
    }
    return {};
  }
  // A slot of `width` bits with one more in front, in a slot of this table: at its end, bits that do not fit become its one.
  std::uint64_t joined(std::uint64_t bit, std::uint64_t value, unsigned width) const {
    const std::uint64_t whole = bit << width | value;
    const unsigned down = width + 1 - table_.width();
    return whole >> down | static_cast<std::uint64_t>((whole & low_mask(down)) != 0);
  }

  // The share of a quotient that these entries match together.
  static double accepted_by(std::vector<prefix_entry>& entries) {
    std::sort(entries.begin(), entries.end(), [](const prefix_entry& a, const prefix_entry& b) {
      return a.bits != b.bits ? a.bits < b.bits : a.length < b.length;
    });
    double sum = 0.0;
    const prefix_entry* last = nullptr;  // all that begin like it follow it
    for (const prefix_entry& e : entries) {
      if (last != nullptr && e.extends(*last)) continue;
      last = &e;
      sum += std::ldexp(1.0, -static_cast<int>(e.length));
    }
    return sum;
  }

  std::uint64_t voids_ = 0;  // entries without payload
  rank_select<> table_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
