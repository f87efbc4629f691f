#pragma once

// The engine of the quotient family: a table of runs (detail/quotient/run_search.hpp draws them) whose slots have columns. The
// table knows nothing about what its slots mean. It offers the run of a quotient and opens or closes one slot of it; all
// columns move along. There is no wrap-around: behind the last quotient's own slot lie spare slots. What does not fit is
// refused; whoever wants it to fit takes a wider copy (detail/quotient/end_room.hpp). Readers may share a table; a writer must
// be alone.

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/quotient/block_moves.hpp"
#include "tamis/detail/quotient/end_room.hpp"
#include "tamis/detail/quotient/run_cursor.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

template <rank_select_layout Layout = rank_select_layout{}>
class rank_select : public block_moves<Layout> {
  using base = block_moves<Layout>;
  using base::has_code;
  using base::headers_;
  using base::labels_;
  using base::one;
  using base::quotients_;
  using base::used_;
  using base::values_;

 public:
  using base::block_slots;
  using base::blocks;
  using base::find_far;
  using base::set_value;
  using base::slots;
  using base::width;
  using typename base::gap;
  using cursor = run_cursor<rank_select>;
  static constexpr bool is_in_words =
      Layout.block_slots == word_bits && !Layout.high_bit_in_header;  // values are whole, and 64 a block
  // May a slot move to another block without its filter? If not, or if a code says something about it, it stays.
  static constexpr bool moves_blocks = Layout.block_slots == word_bits && !Layout.labels;

  // An empty table: every quotient below `quotients` has a slot of its own, and at least `spare` slots follow the last of them.
  static result<rank_select> make(std::uint64_t quotients, std::uint64_t spare, unsigned width) {
    return make(quotients, spare, width, Layout.high_bit_in_header && width > 8);
  }
  // `with_high_bits`: the highest bit of every value stands in the headers.
  static result<rank_select> make(std::uint64_t quotients, std::uint64_t spare, unsigned width, bool with_high_bits) {
    assert(!with_high_bits || (Layout.high_bit_in_header && width > 8));
    rank_select made;
    TAMIS_CHECK(made.reset(quotients, spare, with_high_bits));
    TAMIS_CHECK(made.reset_columns(width));
    return made;
  }

  // The same table with at least `spare` slots behind the last quotient's own.  Requires: no fewer than now.
  result<rank_select> widened(std::uint64_t spare) const {
    const auto needed = checked_add(quotients_, spare);
    if (!needed) return failure{"a table of 2^64 slots or more cannot be addressed"};
    rank_select wider;
    TAMIS_TRY(wider.headers_, headers_.lengthened(divide_up(*needed, block_slots)));
    TAMIS_TRY(wider.values_, values_.lengthened(wider.slots()));
    if constexpr (Layout.labels) {
      TAMIS_TRY(wider.labels_, labels_.lengthened(wider.slots()));
    }
    wider.quotients_ = quotients_;
    wider.used_ = used_;
    return wider;
  }

  // Does a slot of the quotient's run hold this value?
  template <unsigned Width = 0>
  TAMIS_INLINE bool contains(std::uint64_t quotient, std::uint64_t value) const requires(!Layout.high_bit_in_header) {
    if (!has_pdep && width() >= 8) return contains_by_rank(quotient, value);
    const std::uint64_t block = quotient / block_slots;
    const auto run = base::find_in_block(headers_[block], quotient % block_slots);
    if (values_.template matches<Width>(block * block_slots, run.slots, value) != 0) return true;
    return run.leaves() && contains_behind(quotient, value);
  }

  // The first slot of the range that holds this value, or range.last.
  std::uint64_t find_value(slot_range range, std::uint64_t value) const requires(!Layout.high_bit_in_header) {
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
  TAMIS_INLINE bool insert_in_block(std::uint64_t quotient, std::uint64_t value) requires(!Layout.labels &&
                                                                                          !Layout.high_bit_in_header &&
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
    if constexpr (Layout.high_bit_in_header) {
      if (headers_.has_high_bits()) this->open_top(g);
    }
    if constexpr (Layout.labels) labels_.move_up(g.at, g.free);
    this->open_run(quotient, g);
  }

  // Removes a slot of the quotient's run.
  void close(std::uint64_t quotient, slot_range run, std::uint64_t slot, std::uint64_t end) {
    values_.move_down(slot + 1, end);
    values_.set(end - 1, 0);
    if constexpr (Layout.high_bit_in_header) {
      if (headers_.has_high_bits()) this->close_top(slot, end);
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
  TAMIS_INLINE bool open_in_two(std::uint64_t quotient, std::uint64_t value) requires(is_in_words&& moves_blocks) {
    const std::uint64_t block = quotient / block_slots;
    const block_header header = headers_[block];
    const auto i = static_cast<unsigned>(quotient % block_slots);
    const unsigned end = std::max(i, select(header.bounds(), rank(header.occupied, i + 1)));
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
  TAMIS_INLINE std::optional<bool> erase_in_two(std::uint64_t quotient,
                                                std::uint64_t value) requires(is_in_words&& moves_blocks) {
    const std::uint64_t block = quotient / block_slots;
    const block_header header = headers_[block];
    const auto run = base::find_in_block(header, quotient % block_slots);
    const std::uint64_t found = values_.template matches<Width>(block * block_slots, run.slots, value);
    if (found != 0 && close_in_block<Width>(quotient, header, run.slots, first_of(found))) return true;
    if (run.leaves()) return erase_ahead<Width>(quotient, value);
    if (found == 0) return false;
    const bool is_more = (run.slots & (run.slots - 1)) != 0;
    return this->template close_at<Width>(quotient, block * block_slots + first_of(found), is_more) ? std::optional(true)
                                                                                                    : std::nullopt;
  }

  // The same for the one slot of a quotient that is alone.
  template <unsigned Width = 0>
  void close_alone(std::uint64_t quotient) requires(!Layout.labels) {
    this->template set_value<Width>(quotient, 0);
    this->close_alone_run(quotient);
  }

  // A slot with this value at the beginning of the quotient's run, if that ends in its block and is shorter than `longest`.
  // False, and nothing has changed, if not, or if there is no free slot.
  template <unsigned Width = 0>
  TAMIS_INLINE bool insert_first(std::uint64_t quotient, std::uint64_t value,
                                 unsigned longest) requires(Layout.high_bit_in_header&& Layout.block_slots == word_bits) {
    const std::uint64_t block = quotient / block_slots;
    const block_header header = headers_[block];
    const auto i = static_cast<unsigned>(quotient % block_slots);
    const auto run = base::find_in_block(header, i);
    if (run.begin == 0 || popcount(run.slots) >= longest || run.leaves()) return false;
    const unsigned at = std::max(i, static_cast<unsigned>(std::countr_zero(run.begin)));
    const unsigned free = first_balanced(header.occupied, header.ended(), at);
    if (free >= block_slots) return this->template push_up<Width>(quotient, block * block_slots + at, value);
    std::uint8_t* const here = headers_.place(block);
    this->open_first_in_block(quotient, header, here, run.exists(), at, free);
    this->template insert_value_among<Width>(block, here, at, free, value);
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
    std::uint8_t* const here = headers_.place(block);
    base::close_in_block(quotient, header, here, run, at, end);
    this->template remove_value_among<Width>(block, here, at, end);
    if constexpr (Layout.labels) labels_.remove_among(block * block_slots, at, end);
    return true;
  }

  // The same where slots of other blocks have to move: whole blocks go down by one slot, each with the first of the next one
  // behind it. False, and nothing has changed, at the end of the table and where an offset does not fit its byte.
  template <unsigned Width = 0>
  bool close_ahead(std::uint64_t quotient, const block_header&, std::uint64_t run, unsigned at) requires(moves_blocks) {
    return this->template close_at<Width>(quotient, quotient / block_slots * block_slots + at, (run & (run - 1)) != 0);
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
  // The same runs with slots of another width: of every slot in use, change(value).
  template <class Change>
  result<rank_select> with_values(unsigned new_width, bool with_high_bits, Change change) const
      requires(!Layout.labels && !Layout.coded) {
    TAMIS_TRY(rank_select made, make(quotients_, slots() - quotients_, new_width, with_high_bits));
    copy_runs(made);
    for (std::uint64_t block = 0; block < blocks(); ++block) {
      for (std::uint64_t left = ~base::free_slots(headers_[block]); left != 0; left &= left - 1) {
        const std::uint64_t slot = block * block_slots + first_of(left);
        made.append_value(slot, change(this->value(slot)));
      }
    }
    return made;
  }
  // All slots of both tables, in one pass through each. An error if they do not fit.
  // Requires: as many quotients, as wide values; no codes.
  static result<rank_select> merged(const rank_select& a, const rank_select& b) requires(!Layout.coded) {
    TAMIS_TRY(rank_select made, make(a.quotients_, std::max(a.slots(), b.slots()) - a.quotients_, a.width()));
    std::uint64_t end = 0;
    const bool fits = for_each_run_of_both(a, b, [&](std::uint64_t quotient, slot_range x, slot_range y) {
      const auto run = append_with_room(made, quotient, x.size() + y.size(), end);
      if (!run) return false;
      made.copy_run(a, x, run->first);
      made.copy_run(b, y, run->first + x.size());
      return true;
    });
    if (!fits) return failure{"the two filters together do not fit into one of their size"};
    return made;
  }

  friend bool operator==(const rank_select&, const rank_select&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    if constexpr (Layout.high_bit_in_header) {
      visit_high_bit_in_header(self, archive);
    } else {
      archive(self.quotients_, self.used_, self.headers_, self.values_);
      if constexpr (Layout.labels) archive(self.labels_);
    }
  }
  // Fields from outside: after this, every operation stays inside the table and ends.
  status validate() const {
    if (is_wrong(values_.size() / block_slots != blocks()) || is_wrong(values_.size() % block_slots != 0)) {
      return failure{"the table has " + std::to_string(values_.size()) + " slots in " + std::to_string(blocks()) + " blocks"};
    }
    if constexpr (Layout.labels) {
      if (is_wrong(labels_.size() != slots())) return failure{"the number of labels is not that of the slots"};
    }
    return this->validate_runs();
  }

 private:
  template <rank_select_layout>
  friend class rank_select;

  // Files have no bits of values in the headers.
  static constexpr rank_select_layout in_files{.block_slots = Layout.block_slots};
  template <class Self, class Archive>
  static void visit_high_bit_in_header(Self& self, Archive& archive) {
    static_assert(!Layout.labels);
    if constexpr (std::is_const_v<Self>) {
      archive(self.template copied<in_files>());
    } else {
      rank_select<in_files> read;
      archive(read);
      if (archive.ok()) self = read.template copied<Layout>();
    }
  }
  // The same runs and values in another layout, of which one is high_bit_in_header.
  template <rank_select_layout Other>
  rank_select<Other> copied() const {
    rank_select<Other> made = rank_select<Other>::make(quotients_, slots() - quotients_, width()).value();
    copy_runs(made);
    const bool same_values = values_.width() == made.values_.width();  // no bit of them stands in headers, here or there
    made.values_ = same_values ? values_ : values_.low_bytes_in(made.values_.width()).value();
    for (std::uint64_t block = 0; block < blocks(); ++block) {
      if (!same_values && (headers_.occupied(block) | headers_.offset(block)) != 0) copy_rests(made, block);
    }
    return made;
  }
  template <rank_select_layout Other>
  void copy_runs(rank_select<Other>& made) const {
    made.used_ = used_;
    for (std::uint64_t block = 0; block < blocks(); ++block) {
      const block_header header = headers_[block];
      made.headers_.set_occupied(block, header.occupied);
      made.headers_.set_runends(block, header.runends);
      made.headers_.set_offset(block, header.offset);
    }
  }
  // What stands beside the low bytes, and of the high_bit_in_header one in its headers.
  template <rank_select_layout Other>
  void copy_rests(rank_select<Other>& made, std::uint64_t block) const {
    const unsigned above = width() - 9;  // bits of a rest below the top
    std::uint64_t high_bits = 0;
    if constexpr (Layout.high_bit_in_header) high_bits = headers_.high_bits(block);
    for (unsigned i = 0; i < block_slots; ++i) {
      std::uint64_t rest = values_.rest(block * block_slots + i);
      if constexpr (Layout.high_bit_in_header) {
        rest |= (high_bits >> i & 1) << above;
      } else {
        high_bits |= (rest >> above & 1) << i;
        rest &= low_mask(above);
      }
      if (rest != 0) made.values_.set_zero_rest(block * block_slots + i, rest);
    }
    if constexpr (Other.high_bit_in_header) made.headers_.set_high_bits(block, high_bits);
  }

  // Without an instruction for select: compare first, and ask of what matches whether it lies in the right run.
  TAMIS_INLINE bool contains_by_rank(std::uint64_t quotient, std::uint64_t value) const {
    const std::uint64_t block = quotient / block_slots;
    const auto i = static_cast<unsigned>(quotient % block_slots);
    const block_header header = headers_[block];
    if ((header.occupied >> i & 1) == 0) return false;
    const std::uint64_t bounds = header.bounds();
    const unsigned runs = rank(header.occupied, i + 1);
    const std::uint64_t behind = (~std::uint64_t{0} << i) & low_mask(block_slots);
    for (std::uint64_t left = values_.matches(block * block_slots, behind, value); left != 0; left &= left - 1) {
      if (rank(bounds, static_cast<unsigned>(std::countr_zero(left)) + 1) == runs) return true;
    }
    return popcount(bounds) <= runs && contains_far(quotient, value);
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

  // open_in_two where no slot of the quotient's own block is free behind its run, which ends before slot `end` of the block if
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
      const unsigned left = rank(occupied, i + 1) - popcount(high_bits(headers_.runends(block), offset));
      if (left != 0) end = block_slots + select(headers_.runends(block + 1), left - 1) + 1;
      if (end >= 2 * block_slots) return false;
    }
    return this->template push_up<Width>(quotient, block * block_slots + end - (occupied >> i & 1), value);
  }
  // erase_in_two for a run that leaves its block.
  template <unsigned Width>
  TAMIS_NOINLINE std::optional<bool> erase_ahead(std::uint64_t quotient, std::uint64_t value) {
    const std::uint64_t block = quotient / block_slots;
    const auto [behind, known] = base::find_behind(quotient);
    if (!known || has_code(std::min(block + 1, blocks() - 1))) return std::nullopt;
    const std::uint64_t here = base::find_in_block(headers_[block], quotient % block_slots).slots;
    const bool is_more = popcount(here) + popcount(behind) > 1;
    std::uint64_t found = values_.template matches<Width>(block * block_slots, here, value);
    if (found != 0) {
      const bool gone = this->template close_at<Width>(quotient, block * block_slots + first_of(found), is_more);
      return gone ? std::optional(true) : std::nullopt;
    }
    if (behind != 0) found = values_.template matches<Width>((block + 1) * block_slots, behind, value);
    if (found == 0) return false;
    if (!this->template close_at<Width>(quotient, (block + 1) * block_slots + first_of(found), is_more)) return std::nullopt;
    // If that was all of the run that stood there, it now ends with its own block.
    if (behind == 1 && here != 0) headers_.set_runends(block, headers_.runends(block) | one(block_slots - 1));
    return true;
  }

  static TAMIS_INLINE unsigned first_of(std::uint64_t mask) { return static_cast<unsigned>(std::countr_zero(mask)); }
  void copy_run(const rank_select& other, slot_range run, std::uint64_t to) {
    for (std::uint64_t slot = run.first; slot < run.last; ++slot, ++to) {
      set_value(to, other.value(slot));
      if constexpr (Layout.labels) labels_.set(to, other.labels_.get(slot));
    }
  }
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
