#pragma once

// A piece of a filter whose entries are prefixes of their keys' bit streams: a rank-and-select table of entries
// (detail/growing/prefix_entry.hpp). The segment has the keys whose streams begin with its own `depth` bits; the next
// `cell_bits` say the cell, that is the run; what is stored follows behind:
//
//   stream   | depth: which segment | cell_bits: which run | payload: 0 to F bits in a slot, more behind an escape |
//
// Entries that are shorter than a cell's place stand in a list beside the table, each with the cells it covers: the coverings.
// They appear only where a segment grew and nobody could say which bit comes next.
//
// A segment is plain while all its entries are as they came, with F bits each. Then the slots are F bits wide: the one behind
// them says nothing, and is put in when the first other entry comes.
//
// What the cell and the payload mean is the caller's: all functions take a cell and the 64 bits that follow its place.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tamis/detail/growing/covering_prefixes.hpp"
#include "tamis/detail/growing/prefix_entry.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tamis/detail/quotient/rank_select.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

struct segment_shape {
  std::uint32_t depth = 0;
  std::uint32_t cell_bits = 0;
  std::uint32_t fingerprint = 0;  // F
};

// Short entries of nine bits or more have the first bit behind the byte that is compared in the header of their block: lookups
// that have to look at it have the header already.
using prefix_table = rank_select<rank_select_layout{.high_bit_in_header = true}>;
using prefix_headers = block_headers<header_kind::high_bit_in_header>;

// Aligned: what a change reads of a segment's own fields is then two cache lines.
class alignas(cache_line_bytes) prefix_segment {
 public:
  static constexpr unsigned longest_fingerprint = 56;
  static constexpr unsigned common_width = 9;  // of slots, F = 8: changes of those are compiled for it,
  static constexpr unsigned plain_width = 8;   // and for what plain segments have of them
  static constexpr unsigned most_cell_bits = 20;
  static constexpr unsigned deepest = 40;

  // `plain`: if that is possible, for who will add entries with F bits. Narrower slots are slower to look into.
  static result<prefix_segment> make(segment_shape shape, std::uint64_t spare, bool plain = true) {
    prefix_segment made;
    const std::uint64_t cells = std::uint64_t{1} << shape.cell_bits;
    made.is_plain_ = plain && shape.fingerprint >= 8;
    TAMIS_TRY(made.table_, made.is_plain_ ? prefix_table::make(cells, spare, shape.fingerprint, false)
                                          : prefix_table::make(cells, spare, shape.fingerprint + 1));
    made.depth_ = shape.depth;
    made.cell_bits_ = shape.cell_bits;
    return made;
  }

  segment_shape shape() const { return {depth_, cell_bits_, fingerprint()}; }
  unsigned depth() const { return depth_; }
  unsigned cell_bits() const { return cell_bits_; }
  TAMIS_INLINE unsigned place_bits() const { return depth_ + cell_bits_; }  // of the stream, before the payload
  TAMIS_INLINE std::uint64_t cells() const { return std::uint64_t{1} << cell_bits_; }
  TAMIS_INLINE unsigned slot_width() const { return table_.width() + is_plain_; }  // of an entry, with what is not stored
  unsigned fingerprint() const { return slot_width() - 1; }
  std::uint64_t used() const { return table_.used(); }
  std::uint64_t spare() const { return table_.slots() - table_.quotients(); }
  std::uint64_t bits() const { return table_.bits() + 8 * (sizeof *this + coverings_.bytes()); }
  const prefix_table& table() const { return table_; }
  const table_list<covering_prefix>& coverings() const { return coverings_.list(); }
  // `Width`, here and below, may say how wide the table's slots are: common_width or plain_width, for F = 8.
  template <unsigned Width = 0>
  TAMIS_INLINE entry_code code() const {
    return Width != 0 ? entry_code(common_width, Width == plain_width) : entry_code(slot_width(), is_plain_);
  }

  // All entries, each as often as it counts.
  std::uint64_t entries() const {
    std::uint64_t all = is_plain_ ? used() : 0;
    if (!is_plain_) {
      const auto add = [&](const prefix_entry& e, std::uint64_t, std::uint64_t) { all = saturating_add(all, e.count); };
      table_.for_each_run([&](std::uint64_t, slot_range run) { for_each_entry(run, add); });
    }
    return saturating_add(all, coverings_.count());
  }
  // Those for all of its cells or more. Either half of the segment may have their keys.
  std::uint64_t entries_for_all_cells() const { return coverings_.count_for(cell_bits_); }

  // How far the caller's last pass over the segment has come; 0 after growth.
  std::uint32_t swept() const { return swept_; }
  void set_swept(std::uint32_t swept) { swept_ = swept; }

  TAMIS_INLINE void prefetch(std::uint64_t cell) const { table_.prefetch(cell); }

  bool contains(std::uint64_t cell, std::uint64_t following) const {
    const slot_range run = table_.find(cell);
    if (run.size() > word_bits) return contains_slowly(cell, following);
    const std::uint64_t asked = following >> (64 - slot_width());
    const std::uint64_t all = low_mask(static_cast<unsigned>(run.size()));
    // In the order of the slots: an escape is met before its chunks, which are no entries though they may look like some.
    for (std::uint64_t left = table_.values().prefix_candidates(run.first, all, code().stored(asked)); left != 0;
         left &= left - 1) {
      const std::uint64_t slot = value(run.first + first_of(left));
      if (slot == entry_code::escape) return contains_slowly(cell, following);
      if (entry_code::slot_matches(slot, asked)) return true;
    }
    return coverings_.covers(cell);
  }

  // How many entries match, each as often as it counts.
  TAMIS_NOINLINE std::uint64_t count(std::uint64_t cell, std::uint64_t following) const {
    std::uint64_t copies = 0;
    for_each_entry(table_.find(cell), [&](const prefix_entry& e, std::uint64_t, std::uint64_t) {
      if (e.matches(following)) copies = saturating_add(copies, e.count);
    });
    return saturating_add(copies, coverings_.count_over(cell));
  }

  // A new entry with all F bits. False, and nothing has changed, if there is no room.
  bool insert(std::uint64_t cell, std::uint64_t following) {
    return insert_near(cell, code().fresh(following)) || insert_into_run(cell, following);
  }
  // The same for its slot, if the run is short and ends in its block. The segment stays plain if it was.
  template <unsigned Width = 0>
  TAMIS_INLINE bool insert_near(std::uint64_t cell, std::uint64_t slot) {
    if (table_.open_own(cell)) {
      table_.template set_value<Width>(cell, code<Width>().stored(slot));
      return true;
    }
    return table_.template insert_first<Width>(cell, code<Width>().stored(slot), long_run);
  }
  TAMIS_NOINLINE bool insert_into_run(std::uint64_t cell, std::uint64_t following) {
    auto gap = table_.find_gap(cell);
    if (!gap) return false;
    if (gap->run.size() >= long_run) return add(cell, prefix_entry::of(following, fingerprint()));
    gap->at = gap->run.first;  // never inside an entry of several slots
    table_.open(cell, *gap);
    set_value(gap->at, code().fresh(following));
    return true;
  }
  // Any entry. Equal ones are put together where that is shorter.
  bool add(std::uint64_t cell, const prefix_entry& e) {
    entry_list all = entries_of(cell);
    all.push_back(e);
    fold(all);
    return assign(cell, all);
  }
  void add(const covering_prefix& e) { coverings_.add(e, cell_bits_); }

  // Takes out the longest entry that matches, one copy of it. False if none does.
  TAMIS_INLINE bool erase(std::uint64_t cell, std::uint64_t following) {
    if (slot_width() != common_width) return erase_wide(cell, following);
    return is_plain_ ? erase_as<plain_width>(cell, following) : erase_as<common_width>(cell, following);
  }
  TAMIS_NOINLINE bool erase_wide(std::uint64_t cell, std::uint64_t following) { return erase_as<0>(cell, following); }
  template <unsigned Width>
  TAMIS_INLINE bool erase_as(std::uint64_t cell, std::uint64_t following) {
    const std::uint64_t asked = following >> (64 - (Width != 0 ? common_width : slot_width()));
    if (table_.is_alone(cell) && entry_code::slot_matches(value<Width>(cell), asked)) {
      table_.template close_alone<Width>(cell);
      return true;
    }
    const block_header header = table_.header(cell / 64);
    const auto run = prefix_table::find_in_block(header, cell % 64);
    constexpr bool exact = Width == plain_width;
    const std::uint64_t near =
        exact ? table_.values().template matches<plain_width>(cell / 64 * 64, run.slots, code<Width>().stored(asked))
              : table_.values().prefix_candidates(cell / 64 * 64, run.slots, code<Width>().stored(asked));
    // Nearly always there is one candidate. If that is no escape, there is none in the run.
    if (near != 0 && (exact || (near & (near - 1)) == 0) && run.end != 0) {
      const std::uint64_t slot = value<Width>(cell / 64 * 64 + first_of(near));
      if ((exact || (slot != entry_code::escape && entry_code::slot_matches(slot, asked))) &&
          (table_.template close_in_block<Width>(cell, header, run.slots, first_of(near)) ||
           table_.template close_ahead<Width>(cell, header, run.slots, first_of(near)))) {
        return true;
      }
    }
    return erase_from_run(cell, following);
  }
  TAMIS_NOINLINE bool erase_from_run(std::uint64_t cell, std::uint64_t following) {
    const std::uint64_t asked = following >> (64 - slot_width());
    const std::uint64_t base = cell / prefix_table::block_slots * prefix_table::block_slots;
    const auto run =
        prefix_table::find_in_block(table_.header(cell / prefix_table::block_slots), cell % prefix_table::block_slots);
    std::uint64_t longest = none;
    int zeros = 64;
    for (std::uint64_t near = table_.values().prefix_candidates(base, run.slots, code().stored(asked)); near != 0;
         near &= near - 1) {
      const std::uint64_t slot = value(base + first_of(near));
      if (slot == entry_code::escape) return take_longest(cell, following);
      if (!entry_code::slot_matches(slot, asked) || std::countr_zero(slot) >= zeros) continue;
      zeros = std::countr_zero(slot);
      longest = base + first_of(near);
    }
    if (run.leaves() || longest == none) return take_longest(cell, following);
    table_.close(cell, table_.find(cell), longest);
    return true;
  }

  // The longest entry that matches gets at least F bits: `following` is a key's, so it may be taken for that key's entry.
  // False if nothing matches. Changes nothing where it cannot.
  bool rejuvenate(std::uint64_t cell, std::uint64_t following) {
    entry_list all = entries_of(cell);
    prefix_entry* const longest = find_longest(all, following);
    const prefix_entry renewed = prefix_entry::of(following, fingerprint());
    if (longest != all.end()) {
      if (longest->length >= fingerprint()) return true;
      if (--longest->count == 0) all.erase(longest);
      all.push_back(renewed);
      assign(cell, all);
      return true;
    }
    if (!coverings_.covers(cell)) return false;
    all.push_back(renewed);
    if (assign(cell, all)) coverings_.remove_over(cell, cell_bits_);
    return true;
  }

  const covering_prefix* outermost_covering(std::uint64_t index, std::uint32_t shift) const {
    return coverings_.outermost(index, shift);
  }

  // The entries of a cell, in the order of their slots.
  entry_list entries_of(std::uint64_t cell) const { return entries_in(table_.find(cell)); }
  entry_list entries_in(slot_range run) const {
    entry_list all;
    for_each_entry(run, [&](const prefix_entry& e, std::uint64_t, std::uint64_t) { all.push_back(e); });
    return all;
  }
  // Has a run an entry of less than `length` bits?
  bool has_shorter(slot_range run, unsigned length) const {
    bool found = false;
    for_each_entry(run, [&](const prefix_entry& e, std::uint64_t, std::uint64_t) { found = found || e.length < length; });
    return found;
  }
  // Gives a cell other entries. False, and nothing has changed, if there is no room, as when memory runs out. The segment may
  // get other memory.
  bool assign(std::uint64_t cell, const entry_list& entries) { return assign(cell, slots_of(entries)); }
  bool assign(std::uint64_t cell, const slot_list& slots) {
    if (is_plain_ && !std::all_of(slots.begin(), slots.end(), is_plain_slot)) return assign_other(cell, slots);
    std::uint64_t have = table_.find(cell).size();
    for (const std::uint64_t before = have; have < slots.size(); ++have) {
      if (open_first(cell)) continue;
      for (; have > before; --have) close_first(cell);
      return false;
    }
    for (; have > slots.size(); --have) close_first(cell);
    std::uint64_t at = table_.find(cell).first;
    for (const std::uint64_t slot : slots) set_value(at++, slot);
    return true;
  }
  // What entries are in slots.
  slot_list slots_of(const entry_list& entries) const {
    slot_list slots;
    for (const prefix_entry& e : entries) code().append(e, slots);
    return slots;
  }
  void set_coverings(table_list<covering_prefix> list) { coverings_.assign(std::move(list), cell_bits_); }

  // Puts equal entries together, and the entries in the order of their streams.
  static void fold(entry_list& all) {
    std::sort(all.begin(), all.end(), in_order);
    std::size_t kept = 0;
    for (std::size_t i = 1; i < all.size(); ++i) {
      if (all[kept].same_prefix(all[i])) {
        all[kept].count = saturating_add(all[kept].count, all[i].count);
      } else {
        all[++kept] = all[i];
      }
    }
    if (!all.empty()) all.shorten(kept + 1);
  }
  static bool in_order(const prefix_entry& a, const prefix_entry& b) {
    return a.bits != b.bits ? a.bits < b.bits : a.length < b.length;
  }

  const std::uint32_t* marks() const { return coverings_.marks(); }

  // Is every slot in use a short entry with all F bits, and nothing else stored? False also if that was not so once.
  bool is_plain() const { return is_plain_; }
  // The table with whole slots.
  result<prefix_table> whole_table() const {
    if (!is_plain_) return table_;
    const auto whole = [uniform = code(), whole = entry_code(slot_width())](std::uint64_t stored) {
      return whole.stored(uniform.from_stored(stored));
    };
    return table_.with_values(slot_width(), true, whole);
  }
  // The same segment with whole slots.
  result<prefix_segment> whole() const {
    prefix_segment made;
    TAMIS_TRY(made.table_, whole_table());
    made.depth_ = depth_, made.cell_bits_ = cell_bits_, made.swept_ = swept_;
    made.coverings_ = coverings_;
    return made;
  }

  friend bool operator==(const prefix_segment& a, const prefix_segment& b) {
    if (a.is_plain_ != b.is_plain_) return a.is_plain_ ? a.whole().value() == b : a == b.whole().value();
    return a.depth_ == b.depth_ && a.cell_bits_ == b.cell_bits_ && a.swept_ == b.swept_ && a.table_ == b.table_ &&
           a.coverings_ == b.coverings_;
  }

  // Files have whole slots.
  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    if constexpr (std::is_const_v<Self>) {
      if (self.is_plain_) return archive(self.whole().value());
    } else {
      self.is_plain_ = false;
    }
    archive(self.depth_, self.cell_bits_, self.swept_, self.table_, self.coverings_);
    if constexpr (!std::is_const_v<Self>) {
      if (self.validate_coverings().ok()) self.coverings_.mark_all(self.cell_bits_);
      if (archive.ok() && self.has_plain_slots()) self.become_plain();
    }
  }
  status validate() const {
    if (depth_ > deepest || cell_bits_ > most_cell_bits || table_.quotients() != cells() || slot_width() < 2 ||
        slot_width() > longest_fingerprint + 1) {
      return failure{"a segment has depth " + std::to_string(depth_) + ", " + std::to_string(table_.quotients()) +
                     " cells and slots of " + std::to_string(slot_width()) + " bits"};
    }
    // Lookups read the header behind the last cell's without asking whether there is one.
    if (table_.blocks() <= (cells() - 1) / prefix_table::block_slots + 1)
      return failure{"a segment has no slots behind its cells"};
    TAMIS_CHECK(validate_coverings());
    bool sound = true;
    const auto visit = [](const prefix_entry&, std::uint64_t, std::uint64_t) {};
    table_.for_each_run([&](std::uint64_t, slot_range run) { sound = sound && for_each_entry(run, visit); });
    if (!sound) return failure{"a segment has a run that ends inside an entry"};
    return {};
  }

 private:
  friend class segment_growth;
  friend stored_access;

  status validate_coverings() const {
    if (cell_bits_ > most_cell_bits || depth_ > deepest) return failure{"a segment has an impossible shape"};
    if (!coverings_.are_sound(place_bits(), cell_bits_)) return failure{"a segment has an entry for cells that do not exist"};
    return {};
  }

  static constexpr unsigned long_run = 8;  // slots: below, looking for equal entries is not worth it
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  static TAMIS_INLINE unsigned first_of(std::uint64_t mask) { return static_cast<unsigned>(std::countr_zero(mask)); }

  template <unsigned Width = 0>
  TAMIS_INLINE std::uint64_t value(std::uint64_t slot) const {
    return code<Width>().from_stored(table_.template value<Width>(slot));
  }
  TAMIS_INLINE void set_value(std::uint64_t slot, std::uint64_t value) { table_.set_value(slot, code().stored(value)); }

  // Calls visit(entry, first slot, last slot) for every entry of a run. False if the run is damaged.
  template <class Visit>
  bool for_each_entry(slot_range run, Visit visit) const {
    const auto at = [this](std::uint64_t slot) { return value(slot); };
    for (std::uint64_t slot = run.first; slot < run.last;) {
      const auto here = code().parse(at, slot, run.last);
      if (!here) return false;
      visit(here->entry, slot, slot + here->slots);
      slot += here->slots;
    }
    return true;
  }

  static prefix_entry* find_longest(entry_list& all, std::uint64_t following) {
    prefix_entry* longest = all.end();
    for (prefix_entry* e = all.begin(); e != all.end(); ++e) {
      if (e->matches(following) && (longest == all.end() || e->length > longest->length)) longest = e;
    }
    return longest;
  }
  TAMIS_NOINLINE bool contains_slowly(std::uint64_t cell, std::uint64_t following) const {
    bool found = coverings_.covers(cell);
    const slot_range run = table_.find(cell);
    const auto at = [this](std::uint64_t slot) { return value(slot); };
    for (std::uint64_t slot = run.first; slot < run.last && !found;) {
      const auto here = code().parse(at, slot, run.last);
      if (!here) return true;
      found = here->entry.matches(following);
      slot += here->slots;
    }
    return found;
  }

  TAMIS_NOINLINE bool take_longest(std::uint64_t cell, std::uint64_t following) {
    entry_list all = entries_of(cell);
    if (prefix_entry* const longest = find_longest(all, following); longest != all.end()) {
      if (--longest->count == 0) all.erase(longest);
      const bool fits = assign(cell, all);  // it is shorter than before, or as long
      assert(fits);
      static_cast<void>(fits);
      return true;
    }
    return coverings_.remove_over(cell, cell_bits_);
  }
  // A slot at the beginning of the cell's run, which has no value yet. False if there is no room.
  bool open_first(std::uint64_t cell) {
    auto gap = table_.find_gap(cell);
    if (!gap) return false;
    gap->at = gap->run.first;
    table_.open(cell, *gap);
    return true;
  }
  void close_first(std::uint64_t cell) {
    const slot_range run = table_.find(cell);
    table_.close(cell, run, run.first);
  }

  // A short entry has its one last where it has all F bits; an escape has none, and chunks follow it.
  static constexpr bool is_plain_slot(std::uint64_t slot) { return (slot & 1) != 0; }
  // assign() where the segment stops being plain by it: on a copy, so that nothing is left half done.
  TAMIS_NOINLINE bool assign_other(std::uint64_t cell, const slot_list& slots) {
    auto changed = whole();
    if (!changed || !changed->assign(cell, slots)) return false;
    *this = *std::move(changed);
    return true;
  }
  // Requires: has_plain_slots().
  void become_plain() {
    const auto uniform = [whole = code(), uniform = entry_code(slot_width(), true)](std::uint64_t stored) {
      return uniform.stored(whole.from_stored(stored));
    };
    table_ = table_.with_values(fingerprint(), false, uniform).value();
    is_plain_ = true;
  }
  // Of whole slots: could they be plain?
  bool has_plain_slots() const {
    if (table_.width() < common_width || table_.width() > longest_fingerprint + 1) return false;
    for (run_cursor<prefix_table> at(table_); at; at.next()) {
      for (std::uint64_t slot = at.run().first; slot < at.run().last; ++slot) {
        if (!is_plain_slot(value(slot))) return false;
      }
    }
    return true;
  }

  prefix_segment() = default;

  std::uint32_t depth_ = 0;
  std::uint32_t cell_bits_ = 0;
  std::uint32_t swept_ = 0;
  bool is_plain_ = false;
  prefix_table table_;
  covering_prefixes coverings_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
