#pragma once

// Entries of a segment (detail/growing/prefix_segment.hpp) that are shorter than the place of a cell, so that each covers
// several cells: a list, and beside it a bit for every pair of cells, which is all that a lookup reads. Every covering covers
// whole pairs.
//
//   list    (index 1, shift 2): cells 4 to 7        marks   pairs   | . . 1 1 . . . . … |  a word per block of 64 cells

#include <algorithm>
#include <cstdint>
#include <utility>

#include "tamis/detail/base/checked.hpp"
#include "tamis/detail/base/table_list.hpp"
#include "tamis/detail/base/zeroed_array.hpp"
#include "tamis/detail/bits/word.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// An entry for all cells with cell >> shift == index.
struct covering_prefix {
  std::uint64_t index = 0;
  std::uint32_t shift = 1;
  std::uint64_t count = 1;

  constexpr bool covers(std::uint64_t cell) const { return cell >> shift == index; }
  constexpr bool has_same_cells(const covering_prefix& other) const { return index == other.index && shift == other.shift; }

  friend bool operator==(const covering_prefix&, const covering_prefix&) = default;
  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.index, self.shift, self.count);
  }
};

class covering_prefixes {
 public:
  const table_list<covering_prefix>& list() const { return list_; }
  bool empty() const { return list_.empty(); }
  std::uint64_t bytes() const { return list_.capacity() * sizeof(covering_prefix) + marks_.bytes(); }

  // The pairs of cells that coverings cover; none where there never was one. They move with the segment's other memory.
  const std::uint32_t* marks() const { return marks_.data(); }
  // Of a cell, only its last six bits have to be right.
  TAMIS_INLINE static bool is_covered(const std::uint32_t* marks, std::uint64_t block, std::uint64_t cell) {
    return (marks[block] >> (cell / 2 % 32) & 1) != 0;
  }
  bool covers(std::uint64_t cell) const { return !empty() && is_covered(marks_.data(), cell / 64, cell); }

  // The same for up to so many blocks, for who does not want to ask whether there are marks.
  static constexpr std::uint64_t most_unmarked_blocks = 1024;
  static constexpr std::uint32_t no_marks[most_unmarked_blocks] = {};

  // How often they count. Sums end at the largest number: a file may have any counts.
  std::uint64_t count() const {
    return count_if([](const covering_prefix&) { return true; });
  }
  std::uint64_t count_over(std::uint64_t cell) const {
    return count_if([cell](const covering_prefix& e) { return e.covers(cell); });
  }
  // Those for 2^shift cells or more.
  std::uint64_t count_for(std::uint32_t shift) const {
    return count_if([shift](const covering_prefix& e) { return e.shift >= shift; });
  }

  // The covering that covers all of these cells and is not covered itself, if there is one.
  const covering_prefix* outermost(std::uint64_t index, std::uint32_t shift) const {
    const covering_prefix* found = nullptr;
    for (const covering_prefix& e : list_) {
      const bool covers = e.shift >= shift && index >> (e.shift - shift) == e.index;
      if (covers && (found == nullptr || e.shift > found->shift)) found = &e;
    }
    return found;
  }

  // `cell_bits`, here and below: of the segment.
  void add(const covering_prefix& e, unsigned cell_bits) {
    mark(e, cell_bits);
    const auto at =
        std::find_if(list_.begin(), list_.end(), [&](const covering_prefix& other) { return other.has_same_cells(e); });
    if (at == list_.end()) {
      list_.push_back(e);
    } else {
      at->count = saturating_add(at->count, e.count);
    }
  }
  void assign(table_list<covering_prefix> list, unsigned cell_bits) {
    list_ = std::move(list);
    mark_all(cell_bits);
  }
  // Takes out one copy of the longest covering over the cell. False if there is none.
  bool remove_over(std::uint64_t cell, unsigned cell_bits) {
    auto longest = list_.end();
    for (auto e = list_.begin(); e != list_.end(); ++e) {
      if (e->covers(cell) && (longest == list_.end() || e->shift < longest->shift)) longest = e;
    }
    if (longest == list_.end()) return false;
    if (--longest->count == 0) {
      const pairs gone = pairs_of(*longest, cell_bits);
      list_.erase(longest);
      set_marks(gone, false);
      for (const covering_prefix& e : list_) {
        const pairs left = pairs_of(e, cell_bits);
        if (left.first < gone.last && gone.first < left.last) set_marks(left, true);
      }
    }
    return true;
  }

  friend bool operator==(const covering_prefixes& a, const covering_prefixes& b) { return a.list_ == b.list_; }

  // The list only: the marks follow from it, once it is known to be sound.
  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.list_);
  }
  void mark_all(unsigned cell_bits) {
    std::fill(marks_.begin(), marks_.end(), 0u);  // in place: others may read them where they are
    for (const covering_prefix& e : list_) mark(e, cell_bits);
  }
  // Does every one cover cells of a segment with so many bits of place?
  bool are_sound(unsigned place_bits, unsigned cell_bits) const {
    return std::all_of(list_.begin(), list_.end(), [&](const covering_prefix& e) {
      return e.shift != 0 && e.shift <= place_bits && e.index <= low_mask(cell_bits) >> e.shift && e.count != 0;
    });
  }

 private:
  // Of cells: [first, last).
  struct pairs {
    std::uint64_t first;
    std::uint64_t last;
  };
  static pairs pairs_of(const covering_prefix& e, unsigned cell_bits) {
    if (e.shift >= cell_bits) return {0, divide_up(std::uint64_t{1} << cell_bits, 2)};
    return {e.index << (e.shift - 1), (e.index + 1) << (e.shift - 1)};
  }
  void mark(const covering_prefix& e, unsigned cell_bits) {
    if (marks_.size() == 0) {
      marks_ = zeroed_array<std::uint32_t>::make(divide_up(std::uint64_t{1} << cell_bits, 64)).value();
    }
    set_marks(pairs_of(e, cell_bits), true);
  }
  void set_marks(pairs p, bool covered) {
    for (std::uint64_t word = p.first / 32; word <= (p.last - 1) / 32; ++word) {
      const auto from = static_cast<unsigned>(std::max(p.first, word * 32) - word * 32);
      const auto to = static_cast<unsigned>(std::min(p.last, word * 32 + 32) - word * 32);
      const auto bits = static_cast<std::uint32_t>(low_mask(to) & ~low_mask(from));
      marks_[word] = covered ? marks_[word] | bits : marks_[word] & ~bits;
    }
  }
  template <class Which>
  std::uint64_t count_if(Which which) const {
    std::uint64_t all = 0;
    for (const covering_prefix& e : list_) all = saturating_add(all, which(e) ? e.count : 0);
    return all;
  }

  table_list<covering_prefix> list_;
  zeroed_array<std::uint32_t> marks_;  // in the same huge pages as the segment's table
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
