#pragma once

// What the telescoping and the extension adaptive filters share. A slot has a value and a letter; the letter says which bits of
// the key's digest the slot stands for. All letters are 0 at first; `adapt` changes the letters of slots that were wrong. A
// Scheme says what letters mean (filter/taf.hpp, utaf.hpp, exaf.hpp) and how they are stored: in a coded column, 56 bits per 64
// slots, or as labels.
//
// The invariant: there is a pairing of stored digests and slots of their quotients in which every slot accepts its digest.
// Every operation keeps it, so no member is ever lost:
//   insert   adds a slot that accepts the new digest; the others move with their letters
//   adapt    pairs the run's slots with the remote's digests and changes a slot only to what its partner asks for
//   reset    sets a group of letters to 0 when it cannot be coded any more. Where a value depends on its letter, the value is
//            taken anew from the slot's partner; without a remote that is impossible, and the operation is refused
//   erase    removes the slot that is paired with the digest: the rest of the pairing stays

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tamis/filter/concepts.hpp"
#include "tamis/filter/lettered_slots.hpp"
#include "tamis/io/archive.hpp"
#include "tamis/math/quotient.hpp"

namespace tamis::inline TAMIS_LEVEL {

template <class Scheme>
class adaptive_quotient : lettered_slots<Scheme> {
  using base = lettered_slots<Scheme>;
  using base::block_slots;
  using base::coded;
  using base::digests_of;
  using base::group_slots;
  using base::groups;
  using base::letters_of;
  using base::letters_of_block;
  using base::owners_of;
  using base::pair;
  using base::scheme_;
  using base::table_;
  using typename base::block_letters;
  using typename base::doubt;
  using typename base::letter;
  using typename base::owners;

 public:
  static constexpr const filter_info& info = Scheme::info;

  static result<adaptive_quotient> create(const filter_params& params) {
    TAMIS_CHECK(check_params(info, params));
    TAMIS_TRY(const std::uint64_t remainder, number_option(params, "remainder", 0, 1, longest_remainder));
    const auto r = static_cast<unsigned>(remainder);
    TAMIS_TRY(const quotient_shape shape,
              params.fpr ? quotient_shape_for_rate(params.capacity, *params.fpr, r)
                         : quotient_shape_for_bits(params.capacity, *params.bits_per_key, Scheme::metadata, r));
    adaptive_quotient made;
    TAMIS_TRY(made.scheme_, Scheme::create(params, shape.remainder));
    TAMIS_TRY(made.table_, base::table::make(shape.quotients, shape.spare, shape.remainder));
    made.capacity_ = params.capacity;
    return made;
  }

  TAMIS_INLINE bool contains(digest d) const { return base::contains(following_bits(d, table_.quotients())); }

  // Without a remote, an insert that overflows the code of a block is refused.
  insert_result insert(digest d) { return insert_with(d, nullptr); }
  // The remote holds all keys of this filter, and may or may not hold `d` already.
  template <remote R>
  insert_result insert(digest d, const R& stored) {
    const remote_ref ref(stored);
    return insert_with(d, &ref);
  }

  // Without a remote, a slot that cannot be told from another key's stays, and the key may still be found: nothing is lost.
  erase_result erase(digest d) { return erase_with(d, nullptr); }
  // Exact. The remote holds all keys of this filter; whether it still holds `d` does not matter.
  template <remote R>
  erase_result erase(digest d, const R& stored) {
    const remote_ref ref(stored);
    return erase_with(d, &ref);
  }

  template <remote R>
  adapt_result adapt(digest d, const R& stored) {
    return adapt_with(d, remote_ref(stored));
  }

  std::uint64_t keys() const { return keys_; }
  std::uint64_t capacity() const { return capacity_; }
  double expected_fpr() const {
    return quotient_rate(table_.quotients(), static_cast<std::uint64_t>(std::ceil(this->accepted_weight())), table_.width());
  }
  memory_bits bits() const { return {table_.bits()}; }
  option_list settings() const {
    option_list all = {{"remainder", std::to_string(table_.width())}};
    scheme_.add_settings(all);
    return all;
  }

  // Group resets so far: each has forgotten the fixes of up to 64 slots.
  std::uint64_t resets() const { return resets_; }
  // Calls visit(letter) for every slot in use.
  template <class Visit>
  void for_each_letter(Visit visit) const {
    table_.for_each_run([&](std::uint64_t, slot_range run) {
      for (const letter l : letters_of(run)) visit(l);
    });
  }

  // Batches (batch/pipeline.hpp).
  struct view {
    const adaptive_quotient& f;

    TAMIS_INLINE following_bits locate(digest d) const { return {d, f.table_.quotients()}; }
    TAMIS_INLINE void prefetch(const following_bits& bits) const { f.table_.prefetch(bits.place()); }
    TAMIS_INLINE bool test(const following_bits& bits) const { return f.base::contains(bits); }
  };
  template <class Use>
  void with_view(Use use) const {
    use(view{*this});
  }
  TAMIS_INLINE void prefetch(digest d) const { table_.prefetch(place_of(d, table_.quotients()).place); }

  friend bool operator==(const adaptive_quotient& a, const adaptive_quotient& b) {
    return a.capacity_ == b.capacity_ && a.keys_ == b.keys_ && a.resets_ == b.resets_ && a.scheme_ == b.scheme_ &&
           a.table_ == b.table_;
  }

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.capacity_, self.keys_, self.resets_, self.scheme_, self.table_);
  }
  status validate() const {
    if (table_.width() > longest_remainder) return error{"the remainders have more than 56 bits"};
    if (keys_ > table_.used()) return error{"it holds more keys than slots"};
    TAMIS_CHECK(scheme_.validate_for(table_.width()));
    return this->validate_codes();
  }

 private:
  // ── changes: planned first, so that what fails has changed nothing ──

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

  // Adds to `c` the values that slots get when their letters become 0.  Requires: all in one block.
  bool plan_reset(const std::vector<std::uint64_t>& slots, const remote_ref* stored, const std::optional<doubt>& about,
                  change& c) const {
    if (!Scheme::value_depends_on_letter || slots.empty()) return true;
    if (stored == nullptr) return false;
    bool known = true;
    table_.for_each_run_in(slots.front() / block_slots, [&](std::uint64_t quotient, slot_range run) {
      const auto inside = [&](std::uint64_t slot) { return run.first <= slot && slot < run.last; };
      if (!known || std::none_of(slots.begin(), slots.end(), inside)) return;
      const auto behind = owners_of(quotient, run, digests_of(quotient, table_.quotients(), *stored), about);
      known = behind.has_value();
      if (!known) return;
      for (const std::uint64_t slot : slots) {
        if (!inside(slot) || !(*behind)[slot - run.first]) continue;
        const following_bits bits(*(*behind)[slot - run.first], table_.quotients());
        c.values.emplace_back(slot, bits.head(table_.width()));
      }
    });
    return known;
  }

  // The codes of blocks whose letters move: slots [first, last) get the letters `after`, which slots moved by `step` have now.
  bool plan_move(slot_range moved, const std::vector<letter>& after, int step, const remote_ref* stored, doubt about,
                 change& c) const requires coded {
    for (std::uint64_t block = moved.first / block_slots; block <= (moved.last - 1) / block_slots; ++block) {
      block_letters letters = letters_of_block(block);
      const slot_range here{std::max(moved.first, block * block_slots), std::min(moved.last, (block + 1) * block_slots)};
      for (std::uint64_t slot = here.first; slot < here.last; ++slot) letters[slot % block_slots] = after[slot - moved.first];
      std::uint64_t code = 0;
      for (unsigned group = 0; group < groups(); ++group) {
        const auto part = std::span(letters).subspan(group * group_slots(), group_slots());
        auto encoded = scheme_.code().encode(part);
        if (!encoded) {
          encoded = 0;
          if (!plan_reset_of_moved(block, group, letters, here, step, stored, about, c)) return false;
        }
        code = with_group_code(code, groups(), group, *encoded);
      }
      c.codes.emplace_back(block, code);
    }
    return true;
  }
  // Values are changed before slots move, so the slots are named by where they are now; one of them may be in the next block.
  bool plan_reset_of_moved(std::uint64_t block, unsigned group, const block_letters& letters, slot_range moved, int step,
                           const remote_ref* stored, const std::optional<doubt>& about, change& c) const {
    std::vector<std::uint64_t> own;
    std::vector<std::uint64_t> others;
    for (unsigned i = group * group_slots(); i < (group + 1) * group_slots(); ++i) {
      if (letters[i] == 0) continue;
      std::uint64_t slot = block * block_slots + i;
      if (moved.first <= slot && slot < moved.last) slot += static_cast<std::uint64_t>(static_cast<std::int64_t>(step));
      (slot / block_slots == block ? own : others).push_back(slot);
    }
    ++c.resets;
    return (own.empty() || plan_reset(own, stored, about, c)) && (others.empty() || plan_reset(others, stored, about, c));
  }

  // ── operations ──

  insert_result insert_with(digest d, const remote_ref* stored) {
    const following_bits bits(d, table_.quotients());
    const auto gap = table_.find_gap(bits.place());
    if (!gap) return insert_result::full;
    change c;
    if constexpr (coded) {
      if (!all_codes_zero(gap->at, gap->free)) {
        std::vector<letter> after = letters_of({gap->at, gap->free});
        after.insert(after.begin(), letter{0});
        if (!plan_move({gap->at, gap->free + 1}, after, -1, stored, {d, false}, c)) return insert_result::full;
      }
    }
    apply_values(c);
    table_.open(bits.place(), *gap);
    apply_codes(c);
    table_.set_value(gap->at, bits.head(table_.width()));
    if constexpr (!coded) table_.set_label(gap->at, 0);
    ++keys_;
    return insert_result::inserted;
  }
  bool all_codes_zero(std::uint64_t first, std::uint64_t last) const requires coded {
    std::uint64_t all = 0;
    for (std::uint64_t block = first / block_slots; block <= last / block_slots; ++block) all |= table_.code(block);
    return all == 0;
  }

  erase_result erase_with(digest d, const remote_ref* stored) {
    const following_bits bits(d, table_.quotients());
    const slot_range run = table_.find(bits.place());
    if (run.empty()) return erase_result::absent;
    if (erase_unlettered(bits, run)) return erase_result::erased;
    const std::vector<letter> letters = letters_of(run);
    std::vector<std::uint64_t> accepting;
    for (std::uint64_t slot = run.first; slot < run.last; ++slot) {
      if (Scheme::accepts(table_.value(slot), letters[slot - run.first], bits, table_.width())) accepting.push_back(slot);
    }
    if (accepting.empty()) return erase_result::absent;
    keys_ -= keys_ != 0;
    const auto slot = slot_to_erase(d, bits.place(), run, letters, accepting, stored);
    if (!slot) return erase_result::erased;  // the slot stays, with nobody behind it
    const std::uint64_t end = table_.end_of_close(*slot);
    change c;
    if constexpr (coded) {
      if (!all_codes_zero(*slot, end - 1)) {
        std::vector<letter> after = letters_of({*slot + 1, end});
        after.push_back(letter{0});
        if (!plan_move({*slot, end}, after, 1, stored, {d, true}, c)) return erase_result::erased;
      }
    }
    apply_values(c);
    table_.close(bits.place(), run, *slot, end);
    apply_codes(c);
    return erase_result::erased;
  }
  // The common case: no letters in the run, nor any that would have to be coded anew. Equal values are then equal slots.
  bool erase_unlettered(const following_bits& bits, slot_range run) {
    const std::uint64_t slot = table_.find_value(run, bits.head(table_.width()));
    if (slot == run.last) return false;
    const std::uint64_t end = table_.end_of_close(slot);
    if constexpr (coded) {
      if (!all_codes_zero(run.first, end - 1)) return false;
    } else {
      for (std::uint64_t s = run.first; s < run.last; ++s) {
        if (table_.label(s) != 0) return false;
      }
    }
    table_.close(bits.place(), run, slot, end);
    keys_ -= keys_ != 0;
    return true;
  }
  // None if that cannot be known.
  std::optional<std::uint64_t> slot_to_erase(digest d, std::uint64_t quotient, slot_range run,
                                             const std::vector<letter>& letters, const std::vector<std::uint64_t>& accepting,
                                             const remote_ref* stored) const {
    const auto of = [&](std::uint64_t slot) { return letters[slot - run.first]; };
    const auto longest =
        *std::max_element(accepting.begin(), accepting.end(), [&](std::uint64_t a, std::uint64_t b) { return of(a) < of(b); });
    if (!Scheme::value_depends_on_letter) return longest;  // prefixes are nested: who had the longest can take any other
    if (accepting.size() == 1) return longest;             // it can only be the digest's own
    if (stored == nullptr) {                               // equal slots are as good as each other
      const auto equal = [&](std::uint64_t slot) { return of(slot) == of(longest); };
      return std::all_of(accepting.begin(), accepting.end(), equal) ? std::optional(longest) : std::nullopt;
    }
    const auto behind = owners_of(quotient, run, digests_of(quotient, table_.quotients(), *stored), doubt{d, true});
    if (!behind) return std::nullopt;
    const auto at = std::find(behind->begin(), behind->end(), std::optional(d));
    if (at == behind->end()) return std::nullopt;
    return run.first + static_cast<std::uint64_t>(at - behind->begin());
  }

  adapt_result adapt_with(digest d, const remote_ref& stored) {
    const following_bits y(d, table_.quotients());
    const slot_range run = table_.find(y.place());
    const std::vector<letter> letters = letters_of(run);
    std::vector<std::uint64_t> wrong;
    for (std::uint64_t slot = run.first; slot < run.last; ++slot) {
      if (Scheme::accepts(table_.value(slot), letters[slot - run.first], y, table_.width())) wrong.push_back(slot);
    }
    if (wrong.empty()) return adapt_result::not_positive;
    const std::vector<digest> digests = digests_of(y.place(), table_.quotients(), stored);
    if (std::find(digests.begin(), digests.end(), d) != digests.end()) return adapt_result::is_member;
    const std::vector<saved_slot> before = save_blocks(wrong.front() / block_slots, wrong.back() / block_slots);
    const std::uint64_t resets_before = resets_;
    for (auto first = wrong.begin(); first != wrong.end();) {
      const std::uint64_t group = *first / group_slots();
      const auto last = std::find_if(first, wrong.end(), [&](std::uint64_t slot) { return slot / group_slots() != group; });
      if (!fix_group(group, {first, last}, run, digests, y, stored)) {
        restore(before);
        resets_ = resets_before;
        return adapt_result::unfixable;
      }
      first = last;
    }
    return adapt_result::fixed;
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
        table_.set_label(s.slot, static_cast<letter>(s.code));
      }
    }
  }

  // Makes the wrong slots of one group refuse y; if their letters do not fit, after a reset of the group.
  bool fix_group(std::uint64_t group, const std::vector<std::uint64_t>& wrong, slot_range run,
                 const std::vector<digest>& digests, const following_bits& y, const remote_ref& stored) {
    const std::uint64_t block = group * group_slots() / block_slots;
    const slot_range slots{group * group_slots(), (group + 1) * group_slots()};
    block_letters letters = letters_of_block(block);
    change c;
    auto behind = pair(run, digests);
    if (!behind || !all_owned(wrong, run, *behind)) return false;
    if (advance(wrong, run, *behind, y, letters, c) && write(block, slots, letters, c)) return true;

    letters = letters_of_block(block);
    c = {};
    c.resets = 1;
    std::vector<std::uint64_t> lettered;
    for (std::uint64_t slot = slots.first; slot < slots.last; ++slot) {
      if (std::exchange(letters[slot % block_slots], letter{0}) != 0) lettered.push_back(slot);
    }
    if (lettered.empty() || !plan_reset(lettered, &stored, std::nullopt, c)) return false;
    write(block, slots, letters, c);  // always fits: all letters are 0

    // The reset may have paired the run in another way: pair it anew.
    std::vector<std::uint64_t> still;
    for (std::uint64_t slot = std::max(slots.first, run.first); slot < std::min(slots.last, run.last); ++slot) {
      if (Scheme::accepts(table_.value(slot), letter{0}, y, table_.width())) still.push_back(slot);
    }
    c = {};
    behind = pair(run, digests);
    return behind && all_owned(still, run, *behind) && advance(still, run, *behind, y, letters, c) &&
           write(block, slots, letters, c);
  }
  static bool all_owned(const std::vector<std::uint64_t>& slots, slot_range run, const owners& behind) {
    return std::all_of(slots.begin(), slots.end(), [&](std::uint64_t slot) { return behind[slot - run.first].has_value(); });
  }
  // New letters and values under which the slots accept their owners, but not y. False if there are none.
  bool advance(const std::vector<std::uint64_t>& wrong, slot_range run, const owners& behind, const following_bits& y,
               block_letters& letters, change& c) const {
    for (const std::uint64_t slot : wrong) {
      const following_bits x(*behind[slot - run.first], table_.quotients());
      const auto next = scheme_.advance(letters[slot % block_slots], x, y, table_.width());
      if (!next) return false;
      letters[slot % block_slots] = *next;
      c.values.emplace_back(slot, Scheme::value(x, table_.width(), *next));
    }
    return true;
  }
  // Writes the letters of one group and the values that go with them, if they can be coded.
  bool write(std::uint64_t block, slot_range slots, const block_letters& letters, const change& c) {
    if constexpr (coded) {
      const auto group = static_cast<unsigned>(slots.first % block_slots / group_slots());
      const auto code =
          scheme_.code().encode(std::span<const letter>(letters).subspan(slots.first % block_slots, slots.size()));
      if (!code) return false;
      table_.set_code(block, with_group_code(table_.code(block), groups(), group, *code));
    } else {
      for (std::uint64_t slot = slots.first; slot < slots.last; ++slot) table_.set_label(slot, letters[slot % block_slots]);
    }
    apply_values(c);
    return true;
  }

  friend stored_access;
  adaptive_quotient() = default;

  std::uint64_t capacity_ = 0;
  std::uint64_t keys_ = 0;  // slots in use, without those that have nobody behind them
  std::uint64_t resets_ = 0;
};

}  // namespace tamis::inline TAMIS_LEVEL
