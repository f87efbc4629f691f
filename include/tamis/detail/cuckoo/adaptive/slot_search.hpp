#pragma once

// Room among full bins, for keys with any number of places: a breadth-first search for the shortest chain of moves that ends in
// an empty slot. Nothing is written before the whole chain is known.
//
// The same search as detail/cuckoo/cuckoo_search.hpp, for tables whose keys are read from a mirror: that memory is slow, so the
// keys of a bin are asked for a few bins before its turn.

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "tamis/detail/bits/word.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

struct slot_at {
  std::uint64_t place;
  unsigned offset;
};

class slot_search {
 public:
  // Bins that a search looks at before it gives up. At a load of 0.95 with k = 4, b = 1 it needs about 90, and the keys of 30.
  static constexpr unsigned most_visits = 4000;
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};

  // Frees a slot of one of the roots. `anywhere`: also by moves that the table would rather not make. The chain never enters
  // the place `avoided`.  Ensures: if there is none that can be freed, the table is unchanged; else the caller overwrites the
  // slot, which still shows what was moved on.
  template <class Table, class Log>
  std::optional<slot_at> make_room(Table& table, std::span<const std::uint64_t> roots, std::uint64_t avoided, Log* log,
                                   bool anywhere = false) {
    size_ = 0;
    seen_.fill(0);
    if (avoided != nowhere) mark(avoided);
    for (const std::uint64_t root : roots) {
      if (root != nowhere) add({root, none, 0});
    }
    for (unsigned n = 0; n < size_; ++n) {
      if (const auto empty = table.empty_offset(nodes_[n].place)) return slot_at{nodes_[n].place, *empty};
      table.prefetch_keys(nodes_[n].place);
    }
    // A bin is looked at as soon as it is found, and its keys are read when its turn comes: the values are small and near, the
    // keys are not.
    constexpr unsigned ahead = 4;
    for (unsigned turn = 0; turn < size_; ++turn) {
      if (turn + ahead < size_) table.prefetch_keys(nodes_[turn + ahead].place);
      for (unsigned offset = 0; offset < table.b(); ++offset) {
        const unsigned first = size_;
        table.for_each_other_place({nodes_[turn].place, offset}, anywhere, [&](std::uint64_t next) {
          add({next, turn, offset});
        });
        for (unsigned n = first; n < size_; ++n) {
          if (const auto empty = table.empty_offset(nodes_[n].place))
            return move_along(table, {nodes_[n].place, *empty}, n, log);
        }
      }
    }
    return std::nullopt;
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr unsigned seen_bits = 16384;

  struct node {
    std::uint64_t place;
    std::uint32_t from;    // the node whose key would be moved here
    std::uint32_t offset;  // of that key's slot
  };

  // Modulo seen_bits: exactly in small tables, where chains meet often; in large ones a bin is now and then taken for one seen
  // before, which only makes the search pass it by.
  bool mark(std::uint64_t place) {
    std::uint64_t& word = seen_[place % seen_bits / word_bits];
    const std::uint64_t bit = std::uint64_t{1} << (place % word_bits);
    const bool is_new = (word & bit) == 0;
    word |= bit;
    return is_new;
  }
  void add(const node& n) {
    if (size_ != most_visits && mark(n.place)) nodes_[size_++] = n;
  }

  // The last key of the chain goes into the empty slot, the one before it into the gap, and so on.
  template <class Table, class Log>
  slot_at move_along(Table& table, slot_at gap, std::uint32_t last, Log* log) const {
    for (std::uint32_t at = last; nodes_[at].from != none; at = nodes_[at].from) {
      const slot_at source{nodes_[nodes_[at].from].place, nodes_[at].offset};
      table.move(source, gap, log);
      gap = source;
    }
    return gap;
  }

  unsigned size_ = 0;
  std::array<std::uint64_t, seen_bits / word_bits> seen_;
  std::array<node, most_visits> nodes_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
