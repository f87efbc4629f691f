#pragma once

// What the telescoping and the extension adaptive filters share. A slot has a value and a symbol; the symbol says which bits of
// the key's digest the slot stands for. All symbols are 0 at first; `adapt` changes the symbols of slots that were wrong. A
// Scheme says what symbols mean (filters/taf.hpp, utaf.hpp, exaf.hpp) and how they are stored: in a coded column, 56 bits per
// 64 slots, or as labels:
//
//   create(params, r)                        an error for options that it does not have
//   code()                                   of a coded column: encodes and decodes a block's symbols
//   add_settings(all)                        its options in force
//   value(x, r, symbol) → r bits             what a slot of digest x holds under this symbol
//   accepts(stored, symbol, y, r)            does a slot with this value and symbol say "maybe" to y?
//   advance(symbol, x, y, r) → symbol        another one under which a slot of x no longer accepts y; none: there is none
//   visit, validate_for(r) → status          saved, and checked when it is loaded
//
// The invariant: there is a pairing of stored digests and slots of their quotients in which every slot accepts its digest.
// Every operation keeps it, so no member is ever lost:
//   insert   adds a slot that accepts the new digest; the others move with their symbols
//   adapt    pairs the run's slots with the remote's digests and changes a slot only to what its partner asks for
//   reset    sets a group of symbols to 0 when it cannot be coded any more. Where a value depends on its symbol, the value is
//            taken anew from the slot's partner; without a remote that is impossible, and the operation is refused
//   merge    puts the slots of both filters side by side, each with its partner
//   erase    removes the slot that is paired with the digest: the rest of the pairing stays

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "tamis/concepts.hpp"
#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tamis/detail/math/quotient.hpp"
#include "tamis/detail/quotient/quotient_fingerprints.hpp"
#include "tamis/detail/telescoping/merge.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

template <class Scheme>
class adaptive_quotient {
  using slots = coded_slots<Scheme>;
  using symbol = typename slots::symbol;
  static constexpr bool coded = slots::coded;

 public:
  using options = typename Scheme::options;
  static constexpr const filter_info& info = Scheme::info;

  static result<adaptive_quotient> create(const filter_params& params) {
    TAMIS_TRY(const quotient_shape shape, quotient_shape_of(info, params, Scheme::metadata));
    adaptive_quotient made;
    TAMIS_TRY(made.slots_.scheme, Scheme::create(params, shape.remainder));
    TAMIS_TRY(made.slots_.table, slots::table_type::make(shape.quotients, shape.spare, shape.remainder));
    made.capacity_ = params.capacity;
    return made;
  }

  TAMIS_INLINE bool may_contain(digest d) const { return slots_.may_contain(d); }

  // Without a remote, an insert that overflows the code of a block is refused.
  [[nodiscard]] insert_result insert(digest d) { return insert_with(d, nullptr); }
  // The remote holds all keys of this filter, and may or may not hold `d` already.
  template <remote R>
  [[nodiscard]] insert_result insert(digest d, const R& stored) {
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

  // `unfixable` also where it would cost more than detail/remote/adapt_work.hpp allows.
  template <remote R>
  adapt_result adapt(digest d, const R& stored) {
    adapt_work work;
    return adapt(d, stored, work);
  }
  // The same, and says what it has cost.
  template <remote R>
  adapt_result adapt(digest d, const R& stored, adapt_work& work) {
    work = {};
    return adapt_slots(slots_, d, remote_ref(stored), work);
  }

  // Every slot of both, with its symbol, so that what either has fixed it still refuses; in one pass through each. Where
  // symbols of two blocks do not fit one code, they are reset; if that needs a remote, it is an error, and nothing has changed.
  static constexpr bool merging_may_need_a_remote = coded && Scheme::value_depends_on_symbol;
  status merge(const adaptive_quotient& other) { return merge_with(other, nullptr); }
  // The remote holds all keys of both filters.
  template <remote R>
  status merge(const adaptive_quotient& other, const R& stored) {
    const remote_ref ref(stored);
    return merge_with(other, &ref);
  }

  // Without keys, of the same shape.
  result<adaptive_quotient> emptied() const {
    adaptive_quotient made;
    TAMIS_TRY(made.slots_.table, emptied_table(slots_.table));
    made.slots_.scheme = slots_.scheme;
    made.capacity_ = capacity_;
    return made;
  }

  std::uint64_t keys() const { return keys_; }
  std::uint64_t capacity() const { return capacity_; }
  double expected_fpr() const {
    return quotient_rate(slots_.table.quotients(), static_cast<std::uint64_t>(std::ceil(slots_.accepted_weight())),
                         slots_.table.width());
  }
  memory_bits bits() const { return {slots_.table.bits()}; }
  option_list settings() const {
    option_list all = {{"remainder", std::to_string(slots_.table.width())}};
    slots_.scheme.add_settings(all);
    return all;
  }

  // Group resets so far: each has forgotten the fixes of up to 64 slots.
  std::uint64_t resets() const { return slots_.resets; }
  // Calls visit(symbol) for every slot in use.
  template <class Visit>
  void for_each_symbol(Visit visit) const {
    slots_.table.for_each_run([&](std::uint64_t, slot_range run) {
      for (const symbol l : slots_.symbols_of(run)) visit(l);
    });
  }

  // Batches (batch.hpp).
  struct coded_view {
    const adaptive_quotient& f;

    TAMIS_INLINE word_placed locate(digest d) const { return place_of_word(d.high, f.slots_.table.quotients()); }
    TAMIS_INLINE void prefetch(const word_placed& p) const { f.slots_.table.prefetch(p.place); }
    template <class Again>
    TAMIS_INLINE bool test(const word_placed& p, Again again) const {
      return f.slots_.may_contain_coded(p, again);
    }
  };
  struct labelled_view {
    const adaptive_quotient& f;

    TAMIS_INLINE hash_suffix locate(digest d) const { return {d, f.slots_.table.quotients()}; }
    TAMIS_INLINE void prefetch(const hash_suffix& bits) const { f.slots_.table.prefetch(bits.quotient()); }
    TAMIS_INLINE bool test(const hash_suffix& bits) const { return f.slots_.may_contain_labelled(bits); }
  };
  template <class Use>
  void with_view(Use use) const {
    use(std::conditional_t<coded, coded_view, labelled_view>{*this});
  }
  TAMIS_INLINE void prefetch(digest d) const { slots_.table.prefetch(place_of_word(d.high, slots_.table.quotients()).place); }

  friend bool operator==(const adaptive_quotient& a, const adaptive_quotient& b) {
    return a.capacity_ == b.capacity_ && a.keys_ == b.keys_ && a.slots_.resets == b.slots_.resets &&
           a.slots_.scheme == b.slots_.scheme && a.slots_.table == b.slots_.table;
  }

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.capacity_, self.keys_, self.slots_.resets, self.slots_.scheme, self.slots_.table);
  }
  status validate() const {
    if (is_wrong(slots_.table.width() > longest_remainder)) return failure{"the remainders have more than 56 bits"};
    if (is_wrong(keys_ > slots_.table.used())) return failure{"it holds more keys than slots"};
    TAMIS_CHECK(slots_.scheme.validate_for(slots_.table.width()));
    return slots_.validate_symbols();
  }

 private:
  status merge_with(const adaptive_quotient& other, const remote_ref* stored) {
    TAMIS_CHECK(same_shape(slots_.table, other.slots_.table, info));
    if (slots_.scheme != other.slots_.scheme)
      return failure{"the two " + std::string(info.id) + " filters have different codes"};
    TAMIS_CHECK(merge_slots(slots_, other.slots_, stored));
    keys_ += other.keys_;
    return {};
  }

  insert_result insert_with(digest d, const remote_ref* stored) {
    const hash_suffix bits(d, slots_.table.quotients());
    slots_.table.prefetch_update(bits.quotient());  // header and slots: wait for both at once
    if (insert_in_block(bits)) return insert_result::inserted;
    const auto gap = slots_.table.find_gap(bits.quotient());
    if (!gap) return insert_with_room(d, stored);
    slot_changes c;
    if constexpr (coded) {
      if (!all_codes_zero(slots_, gap->at, gap->free)) {
        std::vector<symbol> after = slots_.symbols_of({gap->at, gap->free});
        after.insert(after.begin(), symbol{0});
        adapt_work work;
        const owner_inquiry ask{stored, digest_in_doubt{d, false}, work};
        if (!plan_move(slots_, {gap->at, gap->free + 1}, after, -1, ask, c)) return insert_result::full;
      }
    }
    apply_values(slots_, c);
    slots_.table.open(bits.quotient(), *gap);
    apply_codes(slots_, c);
    slots_.table.set_value(gap->at, bits.head(slots_.table.width()));
    if constexpr (!coded) slots_.table.set_label(gap->at, 0);
    ++keys_;
    return insert_result::inserted;
  }
  // The same with more slots behind the last quotient (detail/quotient/end_room.hpp). Where it fails all the same, the table
  // keeps its size.
  TAMIS_NOINLINE insert_result insert_with_room(digest d, const remote_ref* stored) {
    auto other = with_end_room(slots_.table, 1);
    if (!other) return insert_result::full;
    std::swap(slots_.table, *other);
    insert_result answer = insert_result::full;
    try {
      answer = insert_with(d, stored);
    } catch (...) {  // no memory, or a remote that could not be read
      std::swap(slots_.table, *other);
      throw;
    }
    if (answer == insert_result::full) std::swap(slots_.table, *other);
    return answer;
  }
  // The common case: no symbols that would have to be coded anew.
  bool insert_in_block(const hash_suffix& bits) {
    if constexpr (coded) {
      if (slots_.table.code(bits.quotient() / slots::table_type::block_slots) != 0) return false;
    }
    const std::uint64_t value = bits.head(slots_.table.width());
    if (slots_.table.open_at_home(bits.quotient())) {
      slots_.table.set_value(bits.quotient(), value);
      if constexpr (!coded) slots_.table.set_label(bits.quotient(), 0);
    } else if constexpr (coded) {
      if (!slots_.table.open_in_two(bits.quotient(), value)) return false;
    } else {
      if (!slots_.table.open_in_block(bits.quotient(), value)) return false;
    }
    ++keys_;
    return true;
  }
  erase_result erase_with(digest d, const remote_ref* stored) {
    const hash_suffix bits(d, slots_.table.quotients());
    slots_.table.prefetch_update(bits.quotient());
    if constexpr (coded) {
      if (const auto gone = erase_in_block(bits)) return *gone ? erase_result::erased : erase_result::absent;
    }
    const slot_range run = slots_.table.find(bits.quotient());
    if (run.empty()) return erase_result::absent;
    if (erase_uncoded(bits, run)) return erase_result::erased;
    const std::vector<symbol> symbols = slots_.symbols_of(run);
    std::vector<std::uint64_t> accepting;
    for (std::uint64_t slot = run.first; slot < run.last; ++slot) {
      if (Scheme::accepts(slots_.table.value(slot), symbols[slot - run.first], bits, slots_.table.width()))
        accepting.push_back(slot);
    }
    if (accepting.empty()) return erase_result::absent;
    const auto erased = [this] {
      keys_ -= keys_ != 0;
      return erase_result::erased;
    };
    const auto slot = slot_to_erase(d, bits.quotient(), run, symbols, accepting, stored);
    if (!slot) return erased();  // the slot stays, with nobody behind it
    const std::uint64_t end = slots_.table.end_of_close(*slot);
    slot_changes c;
    if constexpr (coded) {
      if (!all_codes_zero(slots_, *slot, end - 1)) {
        std::vector<symbol> after = slots_.symbols_of({*slot + 1, end});
        after.push_back(symbol{0});
        adapt_work work;
        const owner_inquiry ask{stored, digest_in_doubt{d, true}, work};
        if (!plan_move(slots_, {*slot, end}, after, 1, ask, c)) return erased();
      }
    }
    apply_values(slots_, c);
    slots_.table.close(bits.quotient(), run, *slot, end);
    apply_codes(slots_, c);
    return erased();
  }
  // The common case: all in blocks without symbols. Equal values are then equal slots.
  std::optional<bool> erase_in_block(const hash_suffix& bits) requires coded {
    if (slots_.table.code(bits.quotient() / slots::table_type::block_slots) != 0) return std::nullopt;
    const auto gone = slots_.table.erase_in_two(bits.quotient(), bits.head(slots_.table.width()));
    keys_ -= gone.value_or(false) && keys_ != 0;
    return gone;
  }
  // No symbols in the run, nor any that would have to be coded anew.
  bool erase_uncoded(const hash_suffix& bits, slot_range run) {
    const std::uint64_t slot = slots_.table.find_value(run, bits.head(slots_.table.width()));
    if (slot == run.last) return false;
    const std::uint64_t end = slots_.table.end_of_close(slot);
    if constexpr (coded) {
      if (!all_codes_zero(slots_, run.first, end - 1)) return false;
    } else {
      for (std::uint64_t s = run.first; s < run.last; ++s) {
        if (slots_.table.label(s) != 0) return false;
      }
    }
    slots_.table.close(bits.quotient(), run, slot, end);
    keys_ -= keys_ != 0;
    return true;
  }
  // None if that cannot be known.
  std::optional<std::uint64_t> slot_to_erase(digest d, std::uint64_t quotient, slot_range run,
                                             const std::vector<symbol>& symbols, const std::vector<std::uint64_t>& accepting,
                                             const remote_ref* stored) const {
    const auto of = [&](std::uint64_t slot) { return symbols[slot - run.first]; };
    const auto longest =
        *std::max_element(accepting.begin(), accepting.end(), [&](std::uint64_t a, std::uint64_t b) { return of(a) < of(b); });
    if (!Scheme::value_depends_on_symbol) return longest;  // prefixes are nested: who had the longest can take any other
    if (accepting.size() == 1) return longest;             // it can only be the digest's own
    if (stored == nullptr) {                               // equal slots are as good as each other
      const auto equal = [&](std::uint64_t slot) { return of(slot) == of(longest); };
      return std::all_of(accepting.begin(), accepting.end(), equal) ? std::optional(longest) : std::nullopt;
    }
    adapt_work work;
    const auto behind = slots_.owners_of(quotient, run, {stored, digest_in_doubt{d, true}, work});
    if (!behind) return std::nullopt;
    const auto at = std::find(behind->begin(), behind->end(), std::optional(d));
    if (at == behind->end()) return std::nullopt;
    return run.first + static_cast<std::uint64_t>(at - behind->begin());
  }

  friend stored_access;
  adaptive_quotient() = default;

  slots slots_;
  std::uint64_t capacity_ = 0;
  std::uint64_t keys_ = 0;  // slots in use, without those that have nobody behind them
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
