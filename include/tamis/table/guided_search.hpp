#pragma once

// Room among full bins, led by labels: a search for a short chain of moves that ends in an empty slot. The label of a bin
// estimates how many moves lead from there to an empty slot (Khosla, "Balls into bins made faster", ESA 2013, where the key to
// be moved follows the smallest label and pushes on whoever is there). Keys come from slow memory, which answers eight
// questions in little more than the time of one, so eight bins go ahead side by side:
//
//   labels     3   2   1                     the roots
//                  │
//              3   1   2   3   3   2   …     where their keys could be: the eight with the smallest labels go on
//                  │
//              2   0                         an empty slot: the keys move along the way that led here
//
// A bin whose key is read gets its label put right: one more than the least of those where its key could be.
//
// Labels are hints. Whatever they say, a chain visits no bin twice, ends in a slot that is empty, and has at most `most_levels`
// moves; nothing is written before it is known. Where none is found, table/slot_search.hpp has the last word.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>

#include "tamis/bits/byte_column.hpp"
#include "tamis/table/bin_labels.hpp"
#include "tamis/table/slot_search.hpp"

namespace tamis::inline TAMIS_LEVEL {

class guided_search {
 public:
  static constexpr unsigned most_levels = 16;

  // As slot_search::make_room, and never by moves that the table would rather not make. The roots are one place for every
  // table, or slot_search::nowhere.
  template <class Table, class Log>
  std::optional<slot_at> make_room(Table table, std::span<const std::uint64_t> roots, std::uint64_t avoided, Log* log) {
    for (const std::uint64_t root : roots) {
      if (root != slot_search::nowhere) table.prefetch_keys(root);
    }
    labels_.fill(no_way);
    for (unsigned t = 0; t < roots.size(); ++t) {
      if (roots[t] == slot_search::nowhere) continue;
      if (const auto offset = table.empty_offset(roots[t])) return slot_at{roots[t], *offset};
      places_[t] = roots[t];
      labels_[t] = static_cast<std::uint8_t>(std::max(1u, table.label(roots[t])));
    }
    for (unsigned level = 0; level < most_levels; ++level) {
      const unsigned count = choose(table, level);
      for (unsigned n = 0; n < count; ++n) {
        for (unsigned offset = 0; offset < table.b(); ++offset) {
          const unsigned first = (n * table.b() + offset) * table.k();
          if (read(table, nodes_[level][n], offset, first) != 0) continue;
          for (unsigned way = first; way < first + table.k(); ++way) {
            if (labels_[way] != 0) continue;
            const auto empty = table.empty_offset(places_[way]);
            if (empty && is_chain(table, level, way, avoided)) {
              const slot_at freed = move_along(table, level, way, *empty, log);
              if (table.b() == 1) relabel(table, freed.place, roots);
              return freed;
            }
            labels_[way] = empty ? no_way : 1;
            if (!empty) table.set_label(places_[way], 1);
          }
        }
      }
    }
    return std::nullopt;
  }

 private:
  static constexpr unsigned side_by_side = 8;
  static constexpr unsigned most_ways = 64;  // that the keys of a level have
  static constexpr std::uint8_t no_way = 255;

  struct node {
    std::uint64_t place;
    unsigned from;  // the way that led here: (node of the level above · b + slot) · k + table, of roots their table
  };

  // The places with the smallest labels go on to this level.
  template <class Table>
  TAMIS_INLINE unsigned choose(const Table& table, unsigned level) {
    const unsigned most = std::min(side_by_side, most_ways / (table.k() * table.b()));
    unsigned count = 0;
    for (unsigned label = 1; label <= bin_labels::largest && count != most; ++label) {
      std::uint64_t ways = equal_bytes(labels_.data(), static_cast<std::uint8_t>(label));
      for (; ways != 0 && count != most; ways &= ways - 1) {
        const auto way = static_cast<unsigned>(std::countr_zero(ways));
        table.prefetch_keys(places_[way]);
        nodes_[level][count++] = {places_[way], way};
      }
    }
    labels_.fill(no_way);
    return count;
  }

  // Where else the key of a slot could be, from way `first` on. Returns the least label, and corrects that of the bin.
  template <class Table>
  TAMIS_INLINE unsigned read(Table& table, const node n, unsigned offset, unsigned first) {
    unsigned nearest = (offset == 0 ? bin_labels::largest : table.label(n.place)) - 1;
    table.for_each_place({n.place, offset}, n.from % table.k(), [&](unsigned t, std::uint64_t other, unsigned closed) {
      const unsigned label = table.label(other) | ((0 - closed) & no_way);
      nearest = label < nearest ? label : nearest;
      table.prefetch_keys(label <= 1 ? other : n.place);  // those will go on; the rest is asked for when it is chosen
      places_[first + t] = other;
      labels_[first + t] = static_cast<std::uint8_t>(label);
    });
    table.set_label(n.place, nearest + 1);
    return nearest;
  }

  // Calls `visit` with the slots whose keys would move, the last one first.
  template <class Table, class Visit>
  void for_each_source(const Table& table, unsigned level, unsigned way, Visit visit) const {
    for (;; --level) {
      const node& n = nodes_[level][way / (table.k() * table.b())];
      visit(slot_at{n.place, way / table.k() % table.b()});
      if (level == 0) return;
      way = n.from;
    }
  }

  // Does the way lead through different bins, none of which is the one to be avoided, and are there keys to move? A label that
  // is wrong may lead through an empty slot.
  template <class Table>
  bool is_chain(const Table& table, unsigned level, unsigned way, std::uint64_t avoided) const {
    std::array<std::uint64_t, most_levels + 2> visited{avoided, places_[way]};
    unsigned size = 2;
    bool good = places_[way] != avoided;
    for_each_source(table, level, way, [&](slot_at source) {
      for (unsigned i = 0; i < size; ++i) good &= visited[i] != source.place;
      good &= !table.is_empty(source);
      visited[size++] = source.place;
    });
    return good;
  }

  // The last key of the chain goes into the empty slot, the one before it into the gap, and so on.
  template <class Table, class Log>
  slot_at move_along(Table& table, unsigned level, unsigned way, unsigned offset, Log* log) const {
    slot_at gap{places_[way], offset};
    for_each_source(table, level, way, [&](slot_at source) {
      table.move(source, gap, log);
      gap = source;
    });
    return gap;
  }

  // The bin is about to have a key whose other places are the roots.
  template <class Table>
  static void relabel(Table& table, std::uint64_t place, std::span<const std::uint64_t> roots) {
    unsigned nearest = bin_labels::largest - 1;
    for (const std::uint64_t root : roots) {
      if (root != place && root != slot_search::nowhere) nearest = std::min(nearest, table.label(root));
    }
    table.set_label(place, nearest + 1);
  }

  std::array<std::uint64_t, most_ways> places_;
  std::array<std::uint8_t, most_ways> labels_;  // of the places
  std::array<std::array<node, side_by_side>, most_levels> nodes_;
};

}  // namespace tamis::inline TAMIS_LEVEL
