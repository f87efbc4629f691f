#pragma once

// The engine of the classic quotient filter: runs marked by three flags a slot (detail/quotient/three_bit_runs.hpp draws them),
// and a value of 0 to 64 bits in each slot. It offers what detail/quotient/rank_select.hpp offers, at 3 bits a slot beside the
// value instead of 2.125: no offset has to be kept, but finding a run means going back to the beginning of its cluster. The
// order of the values in a run is left open. Readers may share a table; a writer must be alone.

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/quotient/end_room.hpp"
#include "tamis/detail/quotient/run_cursor.hpp"
#include "tamis/detail/quotient/slot_values.hpp"
#include "tamis/detail/quotient/three_bit_runs.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

class three_bit : public three_bit_runs {
 public:
  using cursor = run_cursor<three_bit>;

  // An empty table: every quotient below `quotients` has a slot of its own, and at least `spare` slots follow the last of them.
  static result<three_bit> make(std::uint64_t quotients, std::uint64_t spare, unsigned width) {
    three_bit made;
    TAMIS_CHECK(made.reset(quotients, spare));
    if (width != 0) {
      TAMIS_TRY(made.values_, slot_values::make(made.slots(), width));
    }
    return made;
  }

  // The same table with at least `spare` slots behind the last quotient's own.  Requires: no fewer than now.
  result<three_bit> widened(std::uint64_t spare) const {
    three_bit wider;
    TAMIS_CHECK(wider.take_widened(*this, spare));
    if (has_values()) {
      TAMIS_TRY(wider.values_, values_.lengthened(wider.slots()));
    }
    return wider;
  }

  unsigned width() const { return has_values() ? values_.width() : 0; }
  std::uint64_t bits() const { return words_.bytes() * 8 + values_.bits(); }

  TAMIS_INLINE std::uint64_t value(std::uint64_t slot) const { return has_values() ? values_.get(slot) : 0; }
  TAMIS_INLINE void set_value(std::uint64_t slot, std::uint64_t value) {
    if (has_values()) values_.set(slot, value);
  }

  TAMIS_INLINE void prefetch(std::uint64_t quotient) const {
    const std::uint64_t* words = words_.data() + columns * (quotient / block_slots);
    prefetch_read(words);
    const bool begins_before = quotient % block_slots < before && quotient >= block_slots;
    prefetch_read(begins_before ? words - 1 : words + columns - 1);
    if (has_values()) values_.prefetch(quotient);
  }

  // Does a slot of the quotient's run hold this value?
  TAMIS_INLINE bool contains(std::uint64_t quotient, std::uint64_t value) const {
    const run_in_window run = find_in_window(quotient);
    if (run.leaves) return contains_far(quotient, value);
    if (!has_values()) return run.slots != 0;
    return values_.matches_of_sixteen(quotient, run.slots, value) != 0;
  }

  // The first slot of the range that holds this value, or range.last.
  std::uint64_t find_value(slot_range range, std::uint64_t value) const {
    for (std::uint64_t slot = range.first; slot < range.last; ++slot) {
      if (this->value(slot) == value) return slot;
    }
    return range.last;
  }

  // Makes the slot g.at, of which the caller sets the value.
  void open(std::uint64_t quotient, const gap& g) {
    if (has_values()) values_.move_up(g.at, g.free);
    open_run(quotient, g);
  }

  // Removes a slot of the quotient's run: the last one takes its place, and goes.
  void close(std::uint64_t quotient, slot_range run, std::uint64_t slot) {
    assert(run.first <= slot && slot < run.last);
    const std::uint64_t end = end_of_close(run);
    if (has_values()) {
      values_.set(slot, values_.get(run.last - 1));
      values_.move_down(run.last, end);
      values_.set(end - 1, 0);
    }
    close_run(quotient, run, end);
  }

  // Calls visit(quotient, run) for every run, in order.
  template <class Visit>
  void for_each_run(Visit visit) const {
    for_each_run_of(*this, visit);
  }

  // Builds a table in the order of its quotients: a run of `size` slots, of which the caller sets the values. None if it does
  // not fit. Requires: all quotients so far were smaller, and only append has been used.
  std::optional<slot_range> append(std::uint64_t quotient, std::uint64_t size, std::uint64_t& end) {
    return append_run(quotient, size, end);
  }

  // All slots of both tables, in one pass through each. An error if they do not fit.
  // Requires: as many quotients, as wide values.
  static result<three_bit> merged(const three_bit& a, const three_bit& b) {
    TAMIS_TRY(three_bit made, make(a.quotients_, std::max(a.slots(), b.slots()) - a.quotients_, a.width()));
    std::uint64_t end = 0;
    const bool fits = for_each_run_of_both(a, b, [&](std::uint64_t quotient, slot_range x, slot_range y) {
      const auto run = append_with_room(made, quotient, x.size() + y.size(), end);
      if (!run) return false;
      std::uint64_t to = run->first;
      for (; !x.empty(); ++x.first) made.set_value(to++, a.value(x.first));
      for (; !y.empty(); ++y.first) made.set_value(to++, b.value(y.first));
      return true;
    });
    if (!fits) return failure{"the two filters together do not fit into one of their size"};
    return made;
  }

  friend bool operator==(const three_bit&, const three_bit&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.quotients_, self.used_, self.words_, self.values_);
  }
  // Fields from outside: after this, every operation stays inside the table and ends.
  status validate() const {
    if (is_wrong(words_.size() % columns != 0) || is_wrong(words_.size() / columns < 2) ||
        is_wrong(has_values() && values_.size() != slots())) {
      return failure{"the table has " + std::to_string(values_.size()) + " slots and " + std::to_string(words_.size()) +
                     " words of flags"};
    }
    return validate_runs();
  }

 private:
  TAMIS_INLINE bool has_values() const { return values_.size() != 0; }

  TAMIS_NOINLINE bool contains_far(std::uint64_t quotient, std::uint64_t value) const {
    const slot_range run = find(quotient);
    return find_value(run, value) != run.last;
  }

  slot_values values_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
