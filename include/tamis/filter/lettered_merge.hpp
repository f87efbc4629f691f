#pragma once

// Two tables become one: every slot keeps its value and its letter, and with them its partner. Only the codes may be too short
// for the letters of both; a group that overflows is reset.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tamis/filter/lettered_fixes.hpp"

namespace tamis::inline TAMIS_LEVEL {

template <class Scheme>
class lettered_merge : protected lettered_fixes<Scheme> {
 protected:
  using base = lettered_fixes<Scheme>;
  using base::block_slots;
  using base::coded;
  using base::digests_of;
  using base::group_slots;
  using base::groups;
  using base::resets_;
  using base::scheme_;
  using base::table_;
  using typename base::letter;
  using typename base::letter_reader;

  // Takes in the slots of `other`, or is an error with nothing changed.  Requires: same shape, same scheme.
  status merge_slots(const lettered_merge& other, const remote_ref* stored) {
    lettered_merge both;
    both.scheme_ = scheme_;
    both.resets_ = resets_ + other.resets_;
    TAMIS_TRY(both.table_, base::table::make(table_.quotients(), table_.slots() - table_.quotients(), table_.width()));
    std::vector<letter> letters(both.table_.slots());
    if (!both.copy_slots(*this, other, letters)) return error{"the two filters together do not fit into one of their size"};
    TAMIS_CHECK(both.write_letters(letters, stored));
    *this = std::move(both);
    return {};
  }

 private:
  bool copy_slots(const lettered_merge& a, const lettered_merge& b, std::vector<letter>& letters) {
    letter_reader letter_in_a(a);
    letter_reader letter_in_b(b);
    std::uint64_t end = 0;
    return for_each_run_of_both(a.table_, b.table_, [&](std::uint64_t quotient, slot_range x, slot_range y) {
      const auto run = table_.append(quotient, x.size() + y.size(), end);
      if (!run) return false;
      std::uint64_t to = run->first;
      const auto copy = [&](const lettered_merge& from, slot_range slots, letter_reader& letter_in) {
        for (std::uint64_t slot = slots.first; slot < slots.last; ++slot, ++to) {
          table_.set_value(to, from.table_.value(slot));
          letters[to] = letter_in(slot);
        }
      };
      copy(a, x, letter_in_a);
      copy(b, y, letter_in_b);
      return true;
    });
  }

  status write_letters(std::vector<letter>& letters, const remote_ref* stored) {
    if constexpr (!coded) {
      for (std::uint64_t slot = 0; slot < table_.slots(); ++slot) table_.set_label(slot, letters[slot]);
    } else {
      for (std::uint64_t block = 0; block < table_.blocks(); ++block) {
        std::uint64_t code = 0;
        for (unsigned group = 0; group < groups(); ++group) {
          const std::uint64_t first = block * block_slots + group * group_slots();
          const auto encoded = scheme_.code().encode(std::span<const letter>(letters).subspan(first, group_slots()));
          if (encoded) {
            code = with_group_code(code, groups(), group, *encoded);
          } else {
            TAMIS_CHECK(reset({first, first + group_slots()}, letters, stored));
          }
        }
        table_.set_code(block, code);
      }
    }
    return {};
  }

  // Sets the letters of one group to 0.
  status reset(slot_range group, std::vector<letter>& letters, const remote_ref* stored) {
    if constexpr (Scheme::value_depends_on_letter) {
      if (stored == nullptr) {
        return error{"the selectors of both filters do not fit the code of block " + std::to_string(group.first / block_slots) +
                     ": merging these needs the store with their keys"};
      }
      bool known = true;
      table_.for_each_run_in(group.first / block_slots, [&](std::uint64_t quotient, slot_range run) {
        const slot_range here{std::max(run.first, group.first), std::min(run.last, group.last)};
        if (here.first >= here.last) return;
        const auto behind = this->pair(run, digests_of(quotient, table_.quotients(), *stored),
                                       std::span<const letter>(letters).subspan(run.first, run.size()));
        known = known && behind;
        if (!known) return;
        for (std::uint64_t slot = here.first; slot < here.last; ++slot) {
          const auto& owner = (*behind)[slot - run.first];
          if (letters[slot] == 0 || !owner) continue;
          table_.set_value(slot, following_bits(*owner, table_.quotients()).head(table_.width()));
        }
      });
      if (!known) return error{"the store holds other keys than the two filters"};
    }
    std::fill_n(letters.begin() + static_cast<std::ptrdiff_t>(group.first), group.size(), letter{0});
    ++resets_;
    return {};
  }
};

}  // namespace tamis::inline TAMIS_LEVEL
