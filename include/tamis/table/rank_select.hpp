#pragma once

// The engine of the quotient family: a table of runs (table/run_search.hpp draws them) whose slots have columns. The table
// knows nothing about what its slots mean. It offers the run of a quotient and opens or closes one slot of it; all columns move
// along. There is no wrap-around: behind the last quotient's own slot lie spare slots, and a run that does not fit is refused.
// Readers may share a table; a writer must be alone.

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "tamis/table/run_cursor.hpp"
#include "tamis/table/run_map.hpp"
#include "tamis/table/slot_values.hpp"

namespace tamis::inline TAMIS_LEVEL {

// What is chosen at compile time. The values' width and the number of quotients are chosen at run time.
struct rank_select_layout {
  unsigned block_slots = 64;  // at most 64
  bool coded = false;         // 56 more bits per block, for what the filter codes about the block's slots
  bool labels = false;        // a further byte per slot
  bool topped = false;        // the highest bit of values of nine bits or more stands in the headers, not beside the others

  constexpr header_kind headers() const {
    return coded ? header_kind::coded : topped ? header_kind::topped : header_kind::plain;
  }
};

template <rank_select_layout Layout = rank_select_layout{}>
class rank_select : public run_map<Layout.block_slots, Layout.headers()> {
  using base = run_map<Layout.block_slots, Layout.headers()>;
  using base::headers_;
  using base::one;
  using base::quotients_;
  using base::used_;

 public:
  using base::block_slots;
  using base::blocks;
  using base::find_far;
  using base::slots;
  using typename base::gap;
  using cursor = run_cursor<rank_select>;
  static constexpr bool is_in_words = Layout.block_slots == word_bits && !Layout.topped;  // values are whole, and 64 a block
  // May a slot move to another block without its filter? If not, or if a code says something about it, it stays.
  static constexpr bool moves_blocks = Layout.block_slots == word_bits && !Layout.labels;

  // An empty table: every quotient below `quotients` has a slot of its own, and at least `spare` slots follow the last of them.
  static result<rank_select> make(std::uint64_t quotients, std::uint64_t spare, unsigned width) {
    rank_select made;
    TAMIS_CHECK(made.reset(quotients, spare));
    made.has_tops_ = Layout.topped && width > 8;
    TAMIS_TRY(made.values_, slot_values::make(made.slots(), width - made.has_tops_));
    if constexpr (Layout.labels) {
      TAMIS_TRY(made.labels_, byte_column::make(made.slots()));
    }
    return made;
  }

  TAMIS_INLINE unsigned width() const { return values_.width() + (Layout.topped && has_tops_); }
  std::uint64_t bits() const { return headers_.bits() + values_.bits() + labels_.bits(); }

  const std::uint8_t* header_bytes() const { return headers_.data(); }

  // Columns.
  // `Width`, here and below, may say how wide values are.
  const slot_values& values() const { return values_; }  // but for the bits that stand in the headers
  template <unsigned Width = 0>
  TAMIS_INLINE std::uint64_t value(std::uint64_t slot) const {
    if constexpr (Layout.topped) return values_.get(slot) | (has_tops_ ? top(slot) << values_.width() : 0);
    return values_.template get<Width>(slot);
  }
  template <unsigned Width = 0>
  TAMIS_INLINE void set_value(std::uint64_t slot, std::uint64_t value) {
    if constexpr (Layout.topped) {
      if (has_tops_) {
        set_top(slot, value >> values_.width() & 1);
        value &= low_mask(values_.width());
      }
    }
    values_.template set<Width>(slot, value);
  }
  // All values of a block.  Requires: they fit a Word.
  template <class Word>
  TAMIS_INLINE void read_block(std::uint64_t block, Word* out) const requires(Layout.block_slots == word_bits) {
    values_.read_block(block * block_slots, out);
    if constexpr (Layout.topped) {
      if (has_tops_) add_bits(out, headers_.tops(block), values_.width());
    }
  }
  TAMIS_INLINE std::uint64_t code(std::uint64_t block) const requires(Layout.coded) { return headers_.code(block); }
  TAMIS_INLINE void set_code(std::uint64_t block, std::uint64_t code) requires(Layout.coded) { headers_.set_code(block, code); }
  TAMIS_INLINE std::uint8_t label(std::uint64_t slot) const requires(Layout.labels) { return labels_.get(slot); }
  TAMIS_INLINE void set_label(std::uint64_t slot, std::uint8_t label) requires(Layout.labels) { labels_.set(slot, label); }
  // Which of the block's slots have this label.
  TAMIS_INLINE std::uint64_t labelled(std::uint64_t block, std::uint8_t label) const requires(Layout.labels) {
    return labels_.equal(block * block_slots, label);
  }

  // Those of eight slots, a byte each.
  TAMIS_INLINE std::uint64_t eight_labels(std::uint64_t first) const requires(Layout.labels) {
    std::uint64_t labels;
    std::memcpy(&labels, labels_.data() + first, sizeof labels);
    return labels;
  }

  TAMIS_INLINE void prefetch(std::uint64_t quotient) const {
    headers_.prefetch(quotient / block_slots);
    values_.prefetch(quotient / block_slots * block_slots);
    values_.prefetch(quotient + 8);
    if constexpr (Layout.labels) labels_.prefetch(quotient / block_slots * block_slots);
  }

  // For who looks at `count` slots from the quotient's own on, instead of the whole block.  Requires: 1 <= count <= 64.
  TAMIS_INLINE void prefetch_from(std::uint64_t quotient, unsigned count) const requires(!Layout.labels) {
    headers_.prefetch(quotient / block_slots);
    values_.prefetch(quotient);
    values_.prefetch(quotient + count - 1);
  }

  // What an insert or an erase touches: all planes of the slots, from the quotient's own on.
  TAMIS_INLINE void prefetch_update(std::uint64_t quotient) const {
    headers_.prefetch(quotient / block_slots);
    values_.prefetch_whole(quotient);
    if constexpr (Layout.labels) labels_.prefetch(quotient);
  }

  // The quotient's own slot, without the header.
  template <unsigned Width = 0>
  TAMIS_INLINE void prefetch_slot(std::uint64_t quotient) const {
    values_.template prefetch<Width>(quotient);
    if constexpr (Layout.labels) labels_.prefetch(quotient);
  }

  // Does a slot of the quotient's run hold this value?
  template <unsigned Width = 0>
  TAMIS_INLINE bool contains(std::uint64_t quotient, std::uint64_t value) const requires(!Layout.topped) {
#if !TAMIS_HAS_AVX2
    if (width() >= 8) return contains_by_rank(quotient, value);
#endif
    const std::uint64_t block = quotient / block_slots;
    const auto run = base::find_in_block(headers_[block], quotient % block_slots);
    if (values_.template matches<Width>(block * block_slots, run.slots, value) != 0) return true;
    return run.leaves() && contains_behind(quotient, value);
  }

  // The first slot of the range that holds this value, or range.last.
  std::uint64_t find_value(slot_range range, std::uint64_t value) const requires(!Layout.topped) {
    std::uint64_t slot = range.first;
    for (; slot < range.last; slot += block_slots) {
      const std::uint64_t left = std::min<std::uint64_t>(range.last - slot, block_slots);
      const std::uint64_t found = values_.matches(slot, low_mask(static_cast<unsigned>(left)), value);
      if (found != 0) return slot + static_cast<unsigned>(std::countr_zero(found));
    }
    return range.last;
  }

  // A slot with this value in the quotient's run, if its block has a free one behind it: what most inserts need, without a
  // branch that depends on how the runs lie, for a free slot is one of zeros. False, and nothing has changed, if not.
  // Requires: no value in use is zero.
  TAMIS_INLINE bool insert_in_block(std::uint64_t quotient, std::uint64_t value) requires(!Layout.labels && !Layout.topped &&
                                                                                          Layout.block_slots == word_bits) {
    const std::uint64_t first = quotient / block_slots * block_slots;
    const unsigned at = this->gap_in_block(quotient);
    const unsigned free = values_.insert_before_zero(first, at, value);
    if (free == word_bits) return false;
    base::open_in_block(quotient, at, free);
    return true;
  }

  // Makes the slot `at`, of which the caller sets the columns. `at` may be moved within [run.first, run.last] before.
  void open(std::uint64_t quotient, const gap& g) {
    values_.move_up(g.at, g.free);
    if constexpr (Layout.topped) {
      if (has_tops_) this->open_top(g);
    }
    if constexpr (Layout.labels) labels_.move_up(g.at, g.free);
    this->open_run(quotient, g);
  }

  // Removes a slot of the quotient's run.
  void close(std::uint64_t quotient, slot_range run, std::uint64_t slot, std::uint64_t end) {
    values_.move_down(slot + 1, end);
    values_.set(end - 1, 0);
    if constexpr (Layout.topped) {
      if (has_tops_) this->close_top(slot, end);
    }
    if constexpr (Layout.labels) {
      labels_.move_down(slot + 1, end);
      labels_.set(end - 1, 0);
    }
    this->close_run(quotient, run, slot, end);
  }
  void close(std::uint64_t quotient, slot_range run, std::uint64_t slot) {
    close(quotient, run, slot, this->end_of_close(slot));
  }

  // open() with the quotient's own gap, for a slot with this value and no label, if no slot of another block has to move: most
  // often, and with one branch that depends on how the runs lie. False, and nothing has changed, if not.
  template <unsigned Width = 0>
  TAMIS_INLINE bool open_in_block(std::uint64_t quotient, std::uint64_t value) requires(is_in_words) {
    const std::uint64_t block = quotient / block_slots;
    const block_header header = headers_[block];
    const unsigned at = this->gap_in_block(quotient);
    const unsigned free = first_balanced(header.occupied, header.ended(), at);
    if (free >= block_slots) return false;
    base::open_in_block(quotient, at, free);
    values_.template insert_among<Width>(block * block_slots, at, free, value);
    if constexpr (Layout.labels) labels_.insert_among(block * block_slots, at, free, 0);
    return true;
  }
  // The same with slots of other blocks, where the run ends in its own block or the next. False, and nothing has changed, if it
  // does not, or if there is no free slot, or where a code says something about slots that would move.
  template <unsigned Width = 0>
  TAMIS_INLINE bool open_near(std::uint64_t quotient, std::uint64_t value) requires(is_in_words&& moves_blocks) {
    const std::uint64_t block = quotient / block_slots;
    const block_header header = headers_[block];
    const auto i = static_cast<unsigned>(quotient % block_slots);
    const unsigned end = std::max(i, select(header.bounds(), popcount(header.occupied & low_mask(i + 1))));
    const unsigned at = end - static_cast<unsigned>(header.occupied >> i & 1);
    const unsigned free = first_balanced(header.occupied, header.ended(), at);
    if (free >= block_slots) return open_ahead<Width>(quotient, end, value);
    base::open_in_block(quotient, at, free);
    values_.template insert_among<Width>(block * block_slots, at, free, value);
    return true;
  }
  // close() for the first slot of the quotient's run with this value, on the same condition as open_in_block. True if it is
  // gone, false if there is none in the run; none, and nothing has changed, if another block would have to be looked at.
  template <unsigned Width = 0>
  TAMIS_INLINE std::optional<bool> erase_in_block(std::uint64_t quotient, std::uint64_t value) requires(is_in_words) {
    const block_header header = headers_[quotient / block_slots];
    const auto run = base::find_in_block(header, quotient % block_slots);
    const std::uint64_t found = values_.template matches<Width>(quotient / block_slots * block_slots, run.slots, value);
    if (found == 0) return run.leaves() ? std::nullopt : std::optional(false);
    const auto at = static_cast<unsigned>(std::countr_zero(found));
    return close_in_block<Width>(quotient, header, run.slots, at) ? std::optional(true) : std::nullopt;
  }
  // The same with other blocks. None, and nothing has changed, if the run does not end in its own block or the next, if the
  // next has a code that the run goes by, or if slots cannot be moved, as in close_ahead.
  template <unsigned Width = 0>
  TAMIS_INLINE std::optional<bool> erase_near(std::uint64_t quotient,
                                              std::uint64_t value) requires(is_in_words&& moves_blocks) {
    const std::uint64_t block = quotient / block_slots;
    const block_header header = headers_[block];
    const auto run = base::find_in_block(header, quotient % block_slots);
    const std::uint64_t found = values_.template matches<Width>(block * block_slots, run.slots, value);
    if (found != 0 && close_in_block<Width>(quotient, header, run.slots, first_of(found))) return true;
    if (run.leaves()) return erase_ahead<Width>(quotient, value);
    if (found == 0) return false;
    const bool is_more = (run.slots & (run.slots - 1)) != 0;
    return close_at<Width>(quotient, block * block_slots + first_of(found), is_more) ? std::optional(true) : std::nullopt;
  }

  // The same for the one slot of a quotient that is alone.
  void close_alone(std::uint64_t quotient) requires(!Layout.labels) {
    set_value(quotient, 0);
    this->close_alone_run(quotient);
  }

  // A slot with this value at the beginning of the quotient's run, if that ends in its block and is shorter than `longest`.
  // False, and nothing has changed, if not, or if there is no free slot.
  TAMIS_INLINE bool insert_first(std::uint64_t quotient, std::uint64_t value,
                                 unsigned longest) requires(Layout.topped&& Layout.block_slots == word_bits) {
    const std::uint64_t block = quotient / block_slots;
    const block_header header = headers_[block];
    const auto i = static_cast<unsigned>(quotient % block_slots);
    const auto run = base::find_in_block(header, i);
    if (run.begin == 0 || popcount(run.slots) >= longest || run.leaves()) return false;
    const unsigned at = std::max(i, static_cast<unsigned>(std::countr_zero(run.begin)));
    const unsigned free = first_balanced(header.occupied, header.ended(), at);
    if (free >= block_slots) return push_up(quotient, block * block_slots + at, value);
    this->open_first_in_block(quotient, header, run.own, at, free);
    insert_value_among(block, at, free, value);
    return true;
  }
  // Removes slot `at` of the quotient's block if no slot of another block has to move. False, and nothing has changed, if not.
  // Requires: the block's header, and the slots of a run that ends there.
  template <unsigned Width = 0>
  TAMIS_INLINE bool close_in_block(std::uint64_t quotient, const block_header& header, std::uint64_t run,
                                   unsigned at) requires(Layout.block_slots == word_bits) {
    const std::uint64_t block = quotient / block_slots;
    const unsigned end = first_balanced(header.occupied << 1, header.ended(), at + 1);
    if (end >= block_slots) return false;
    base::close_in_block(quotient, header, run, at, end);
    remove_value_among<Width>(block, at, end);
    if constexpr (Layout.labels) labels_.remove_among(block * block_slots, at, end);
    return true;
  }

  // The same where slots of other blocks have to move: whole blocks go down by one slot, each with the first of the next one
  // behind it. False, and nothing has changed, at the end of the table and where an offset does not fit its byte.
  bool close_ahead(std::uint64_t quotient, const block_header&, std::uint64_t run, unsigned at) requires(moves_blocks) {
    return close_at(quotient, quotient / block_slots * block_slots + at, (run & (run - 1)) != 0);
  }

  // Calls visit(quotient, run) for every run, in order.
  template <class Visit>
  void for_each_run(Visit visit) const {
    for_each_run_of(*this, visit);
  }
  // The same for the runs that have a slot in the block.
  template <class Visit>
  void for_each_run_in(std::uint64_t block, Visit visit) const {
    for_each_run_of_block(*this, block, visit);
  }

  // Builds a table in the order of its quotients: a run of `size` slots, of which the caller sets the columns. None if it does
  // not fit. Requires: all quotients so far were smaller, and only append has been used.
  std::optional<slot_range> append(std::uint64_t quotient, std::uint64_t size, std::uint64_t& end) {
    return this->append_run(quotient, size, end);
  }
  using base::append_block;
  using base::append_runends;
  using base::note_appended;
  // Where values have no bits but the low eight, and one in the headers; those bytes.
  TAMIS_INLINE bool is_of_bytes() const { return values_.width() == 8; }
  TAMIS_INLINE std::uint8_t* low_bytes() requires(!Layout.labels) { return values_.low_bytes(); }
  // Requires: the slot is zero.
  TAMIS_INLINE void append_value(std::uint64_t slot, std::uint64_t value) {
    if constexpr (Layout.topped) {
      if (has_tops_) {
        if (value >> values_.width() != 0) set_top(slot, 1);
        value &= low_mask(values_.width());
      }
    }
    values_.set_zero(slot, value);
  }

  // All slots of both tables, in one pass through each. An error if they do not fit.  Requires: same shape; no codes.
  static result<rank_select> merged(const rank_select& a, const rank_select& b) requires(!Layout.coded) {
    TAMIS_TRY(rank_select made, make(a.quotients_, a.slots() - a.quotients_, a.width()));
    std::uint64_t end = 0;
    const bool fits = for_each_run_of_both(a, b, [&](std::uint64_t quotient, slot_range x, slot_range y) {
      const auto run = made.append(quotient, x.size() + y.size(), end);
      if (!run) return false;
      made.copy_run(a, x, run->first);
      made.copy_run(b, y, run->first + x.size());
      return true;
    });
    if (!fits) return error{"the two filters together do not fit into one of their size"};
    return made;
  }

  friend bool operator==(const rank_select&, const rank_select&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    if constexpr (Layout.topped) {
      visit_topped(self, archive);
    } else {
      archive(self.quotients_, self.used_, self.headers_, self.values_);
      if constexpr (Layout.labels) archive(self.labels_);
    }
  }
  // A table whose blocks are saved with other codes: change(code).
  template <class Change>
  struct with_codes {
    const rank_select& of;
    Change change;

    template <class Self, class Archive>
    static void visit(Self& self, Archive& archive) {
      block_headers<header_kind::coded> headers = self.of.headers_;
      headers.change_codes(self.change);
      archive(self.of.quotients_, self.of.used_, headers, self.of.values_);
    }
  };
  template <class Change>
  void change_codes(Change change) requires(Layout.coded) {
    headers_.change_codes(change);
  }
  // Fields from outside: after this, every operation stays inside the table and ends.
  status validate() const {
    if (values_.size() / block_slots != blocks() || values_.size() % block_slots != 0) {
      return error{"the table has " + std::to_string(values_.size()) + " slots in " + std::to_string(blocks()) + " blocks"};
    }
    if constexpr (Layout.labels) {
      if (labels_.size() != slots()) return error{"the number of labels is not that of the slots"};
    }
    return this->validate_runs();
  }

 private:
  template <rank_select_layout>
  friend class rank_select;

  TAMIS_INLINE std::uint64_t top(std::uint64_t slot) const requires(Layout.topped) {
    return headers_.tops(slot / block_slots) >> (slot % block_slots) & 1;
  }
  TAMIS_INLINE void set_top(std::uint64_t slot, std::uint64_t bit) requires(Layout.topped) {
    const std::uint64_t others = headers_.tops(slot / block_slots) & ~(std::uint64_t{1} << (slot % block_slots));
    headers_.set_tops(slot / block_slots, others | bit << (slot % block_slots));
  }

  // Files have no bits of values in the headers.
  static constexpr rank_select_layout in_files{.block_slots = Layout.block_slots};
  template <class Self, class Archive>
  static void visit_topped(Self& self, Archive& archive) {
    static_assert(!Layout.labels);
    if constexpr (std::is_const_v<Self>) {
      archive(self.template copied<in_files>());
    } else {
      rank_select<in_files> read;
      archive(read);
      if (archive.ok()) self = read.template copied<Layout>();
    }
  }
  // The same runs and values in another layout, of which one is topped.
  template <rank_select_layout Other>
  rank_select<Other> copied() const {
    rank_select<Other> made = rank_select<Other>::make(quotients_, slots() - quotients_, width()).value();
    made.used_ = used_;
    const bool same_values = values_.width() == made.values_.width();  // no bit of them stands in headers, here or there
    made.values_ = same_values ? values_ : values_.low_bytes_in(made.values_.width()).value();
    for (std::uint64_t block = 0; block < blocks(); ++block) {
      const block_header header = headers_[block];
      made.headers_.set_occupied(block, header.occupied);
      made.headers_.set_runends(block, header.runends);
      made.headers_.set_offset(block, header.offset);
      if (!same_values && (header.occupied | header.offset) != 0) copy_rests(made, block);
    }
    return made;
  }
  // What stands beside the low bytes, and of the topped one in its headers.
  template <rank_select_layout Other>
  void copy_rests(rank_select<Other>& made, std::uint64_t block) const {
    const unsigned above = width() - 9;  // bits of a rest below the top
    std::uint64_t tops = 0;
    if constexpr (Layout.topped) tops = headers_.tops(block);
    for (unsigned i = 0; i < block_slots; ++i) {
      std::uint64_t rest = values_.rest(block * block_slots + i);
      if constexpr (Layout.topped) {
        rest |= (tops >> i & 1) << above;
      } else {
        tops |= (rest >> above & 1) << i;
        rest &= low_mask(above);
      }
      if (rest != 0) made.values_.set_zero_rest(block * block_slots + i, rest);
    }
    if constexpr (Other.topped) made.headers_.set_tops(block, tops);
  }

  // Without an instruction for select: compare first, and ask of what matches whether it lies in the right run.
  TAMIS_INLINE bool contains_by_rank(std::uint64_t quotient, std::uint64_t value) const {
    const std::uint64_t block = quotient / block_slots;
    const auto i = static_cast<unsigned>(quotient % block_slots);
    const block_header header = headers_[block];
    if ((header.occupied >> i & 1) == 0) return false;
    const std::uint64_t bounds = header.bounds();
    const unsigned rank = popcount(header.occupied & low_mask(i + 1));
    const std::uint64_t behind = (~std::uint64_t{0} << i) & low_mask(block_slots);
    for (std::uint64_t left = values_.matches(block * block_slots, behind, value); left != 0; left &= left - 1) {
      if (popcount(bounds & low_mask(static_cast<unsigned>(std::countr_zero(left)) + 1)) == rank) return true;
    }
    return popcount(bounds) <= rank && contains_far(quotient, value);
  }
  // In the next block, which nearly every run that leaves its own ends in.
  TAMIS_NOINLINE bool contains_behind(std::uint64_t quotient, std::uint64_t value) const {
    const auto behind = base::find_behind(quotient);
    if (!behind.known) return contains_far(quotient, value);
    return values_.matches((quotient / block_slots + 1) * block_slots, behind.slots, value) != 0;
  }
  TAMIS_NOINLINE bool contains_far(std::uint64_t quotient, std::uint64_t value) const {
    const slot_range run = find_far(quotient);
    return find_value(run, value) != run.last;
  }

  // open_near where no slot of the quotient's own block is free behind its run, which ends before slot `end` of the block if
  // that is in it.
  template <unsigned Width>
  TAMIS_NOINLINE bool open_ahead(std::uint64_t quotient, unsigned end, std::uint64_t value) {
    const std::uint64_t block = quotient / block_slots;
    const auto i = static_cast<unsigned>(quotient % block_slots);
    const std::uint64_t occupied = headers_.occupied(block);
    if (end >= block_slots) {
      const unsigned offset = headers_.offset(block);
      if (offset >= block_slots || block + 1 == blocks()) return false;
      // Runs up to its own that end there.
      const unsigned left = popcount(occupied & low_mask(i + 1)) - popcount(headers_.runends(block) & ~low_mask(offset));
      if (left != 0) end = block_slots + select(headers_.runends(block + 1), left - 1) + 1;
      if (end >= 2 * block_slots) return false;
    }
    return push_up<Width>(quotient, block * block_slots + end - (occupied >> i & 1), value);
  }
  // erase_near for a run that leaves its block.
  template <unsigned Width>
  TAMIS_NOINLINE std::optional<bool> erase_ahead(std::uint64_t quotient, std::uint64_t value) {
    const std::uint64_t block = quotient / block_slots;
    const auto [behind, known] = base::find_behind(quotient);
    if (!known || has_code(std::min(block + 1, blocks() - 1))) return std::nullopt;
    const std::uint64_t here = base::find_in_block(headers_[block], quotient % block_slots).slots;
    const bool is_more = popcount(here) + popcount(behind) > 1;
    std::uint64_t found = values_.template matches<Width>(block * block_slots, here, value);
    if (found != 0) {
      const bool gone = close_at<Width>(quotient, block * block_slots + first_of(found), is_more);
      return gone ? std::optional(true) : std::nullopt;
    }
    if (behind != 0) found = values_.template matches<Width>((block + 1) * block_slots, behind, value);
    if (found == 0) return false;
    if (!close_at<Width>(quotient, (block + 1) * block_slots + first_of(found), is_more)) return std::nullopt;
    // If that was all of the run that stood there, it now ends with its own block.
    if (behind == 1 && here != 0) headers_.set_runends(block, headers_.runends(block) | one(block_slots - 1));
    return true;
  }

  // slot_values::insert_among and remove_among, with the bits that stand in the headers.
  template <unsigned Width = 0>
  TAMIS_INLINE void insert_value_among(std::uint64_t block, unsigned at, unsigned last, std::uint64_t value) {
    if constexpr (Layout.topped) {
      if (has_tops_) {
        headers_.set_tops(block, with_bit_inserted(headers_.tops(block), at, last, value >> values_.width() & 1));
        value &= low_mask(values_.width());
      }
    }
    values_.template insert_among<Width>(block * block_slots, at, last, value);
  }
  template <unsigned Width = 0>
  TAMIS_INLINE void remove_value_among(std::uint64_t block, unsigned at, unsigned end) {
    if constexpr (Layout.topped) {
      if (has_tops_) headers_.set_tops(block, with_bit_removed(headers_.tops(block), at, end - 1));
    }
    values_.template remove_among<Width>(block * block_slots, at, end);
  }
  TAMIS_INLINE bool has_code(std::uint64_t block) const {
    if constexpr (Layout.coded) return headers_.code(block) != 0;
    return false;
  }

  // Makes a slot of the quotient's run or at its end, in the quotient's own block or the next: whole blocks go up by one slot,
  // each with what the one before has pushed out, up to the next free one. False, and nothing has changed, if there is none or
  // a block has a code.  Requires: none is free from there on in the quotient's own block.
  template <unsigned Width = 0>
  TAMIS_NOINLINE bool push_up(std::uint64_t quotient, std::uint64_t slot, std::uint64_t value) {
    const std::uint64_t own = quotient / block_slots;
    std::uint64_t block = slot / block_slots;
    if ((Layout.coded || !this->has_free_end()) && !can_push_up(own, block)) return false;
    const std::uint64_t occupied = headers_.occupied(own);
    std::uint64_t ends_run = ~occupied >> (quotient % block_slots) & 1;
    headers_.set_occupied(own, occupied | one(quotient));
    unsigned free = block == own ? block_slots : first_free(headers_[block]);
    if (block != own) headers_.set_offset(block, headers_.offset(block) + 1);
    for (auto at = static_cast<unsigned>(slot % block_slots);; at = 0) {
      const std::uint64_t runends = headers_.runends(block);
      const std::uint64_t pushed_value = this->template value<Width>(block * block_slots + block_slots - 1);
      const unsigned last = std::min(free, block_slots - 1);
      headers_.set_runends(block, with_bit_inserted(runends, at, last, ends_run));
      insert_value_among<Width>(block, at, last, value);
      if (free < block_slots) break;
      value = pushed_value;
      ends_run = runends >> (block_slots - 1);
      ++block;
      free = first_free(headers_[block]);
      headers_.set_offset(block, headers_.offset(block) + 1);
    }
    ++used_;
    return true;
  }
  // Bit i of the word becomes bit `at` of value i, where it is 0.
  template <class Word>
  TAMIS_INLINE static void add_bits(Word* values, std::uint64_t word, unsigned at) {
#if TAMIS_HAS_AVX2
    if constexpr (sizeof(Word) == 2) {
      for (unsigned i = 0; i < word_bits; i += 4) {
        std::uint64_t four;
        std::memcpy(&four, values + i, sizeof four);
        four |= pdep(word >> i, 0x0001000100010001u) << at;
        std::memcpy(values + i, &four, sizeof four);
      }
      return;
    }
#endif
    for (unsigned i = 0; i < word_bits; ++i) values[i] = static_cast<Word>(values[i] | (word >> i & 1) << at);
  }

  // Is there a free slot from block `first` on, and no code before it?
  TAMIS_NOINLINE bool can_push_up(std::uint64_t own, std::uint64_t first) const {
    const std::uint64_t behind = blocks();
    unsigned free = first == own ? block_slots : first_free(headers_[first]);
    for (; free >= block_slots; free = first_free(headers_[first])) {
      if (has_code(first) || ++first == behind) return false;
    }
    return !has_code(first);
  }
  // Removes a slot of the quotient's run, in the quotient's own block or the next: whole blocks go down by one slot, each with
  // the first of the next one behind it. False, and nothing has changed, at the end of the table, where an offset does not fit
  // its byte and where a block has a code. `is_more`: the run has other slots. The caller moves the end of a run to another
  // block.
  // Requires: in the quotient's own block, all slots behind this one move.
  template <unsigned Width = 0>
  TAMIS_NOINLINE bool close_at(std::uint64_t quotient, std::uint64_t slot, bool is_more) {
    const std::uint64_t own = quotient / block_slots;
    const std::uint64_t first = slot / block_slots;
    const std::uint64_t behind = blocks();
    auto at = static_cast<unsigned>(slot % block_slots);
    std::uint64_t last = first;
    const block_header header = headers_[first];
    if (first != own && header.offset == saturated_offset) return false;
    unsigned end = first == own ? block_slots : first_closed(header);
    for (; end >= block_slots; end = first_closed(headers_[last])) {
      if (has_code(last) || ++last == behind || headers_.offset(last) == saturated_offset) return false;
    }
    if (end == 0) {  // nothing of that block moves
      --last;
      end = block_slots;
    }
    if (has_code(last)) return false;
    headers_.set_occupied(own, headers_.occupied(own) ^ static_cast<std::uint64_t>(!is_more) << (quotient % block_slots));
    if (first != own) headers_.set_offset(first, header.offset - 1);
    std::uint64_t runends = header.runends | (header.runends & static_cast<std::uint64_t>(is_more) << at) >> 1;
    for (std::uint64_t block = first; block < last; ++block, at = 0) {
      const std::uint64_t next_runends = headers_.runends(block + 1);
      headers_.set_runends(block, with_bit_removed(runends, at, block_slots - 1) | next_runends << (block_slots - 1));
      headers_.set_offset(block + 1, headers_.offset(block + 1) - 1);
      remove_value_among<Width>(block, at, block_slots);
      set_value<Width>(block * block_slots + block_slots - 1, this->template value<Width>((block + 1) * block_slots));
      runends = next_runends;
    }
    headers_.set_runends(last, with_bit_removed(runends, at, end - 1));
    remove_value_among<Width>(last, at, end);
    --used_;
    return true;
  }
  static TAMIS_INLINE unsigned first_of(std::uint64_t mask) { return static_cast<unsigned>(std::countr_zero(mask)); }
  // The first slot of a block that belongs to no run; 64 if there is none.
  TAMIS_INLINE static unsigned first_free(const block_header& header) {
    return header.offset < block_slots ? first_balanced(header.occupied, header.ended(), header.offset) : block_slots;
  }
  // The first one before which all runs of smaller quotients have ended; 64 if there is none.
  TAMIS_INLINE static unsigned first_closed(const block_header& header) {
    return header.offset < block_slots ? first_balanced(header.occupied << 1, header.ended(), header.offset) : block_slots;
  }

  void copy_run(const rank_select& other, slot_range run, std::uint64_t to) {
    for (std::uint64_t slot = run.first; slot < run.last; ++slot, ++to) {
      set_value(to, other.value(slot));
      if constexpr (Layout.labels) labels_.set(to, other.labels_.get(slot));
    }
  }

  slot_values values_;
  byte_column labels_;  // empty unless Layout.labels
  bool has_tops_ = false;
};

}  // namespace tamis::inline TAMIS_LEVEL
