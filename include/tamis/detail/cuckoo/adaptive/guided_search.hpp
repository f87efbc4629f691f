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
// moves; nothing is written before it is known. Where none is found, detail/cuckoo/room_search.hpp has the last word.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>

#include "tamis/detail/cuckoo/adaptive/distance_hints.hpp"
#include "tamis/detail/cuckoo/room_search.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// Ways by their labels: bit i of word l for way i with label l.
using labelled_ways = std::array<std::uint64_t, distance_hints::largest + 1>;

class guided_search {
 public:
  static constexpr unsigned most_levels = 16;

  // The label of a bin whose key could go there: one more than the least.
  TAMIS_INLINE static unsigned label_before(const labelled_ways& ways) {
    static_assert(distance_hints::largest == 3);
    const auto any = [&](unsigned label) { return static_cast<unsigned>(ways[label] != 0); };
    return 1 + static_cast<unsigned>(std::countr_zero(any(0) | any(1) << 1 | 4));
  }

  // As room_search::make_room. The roots are one place for every table, or `nowhere`.
  template <class Table>
  std::optional<slot_at> make_room(Table table, std::span<const std::uint64_t> roots, std::uint64_t avoided) {
    for (const std::uint64_t root : roots) {
      if (root != nowhere) table.prefetch(root);
    }
    labelled_ways ways{};
    for (unsigned t = 0; t < roots.size(); ++t) {
      if (roots[t] == nowhere) continue;
      if (const auto offset = table.empty_slot(roots[t])) return slot_at{roots[t], *offset};
      places_[t] = roots[t];
      ways[std::max(1u, table.label(roots[t]))] |= std::uint64_t{1} << t;
    }
    for (unsigned level = 0; level < most_levels; ++level) {
      const unsigned count = choose(table, level, ways);
      ways = {};
      for (unsigned n = 0; n < count; ++n) {
        for (unsigned offset = 0; offset < table.b(); ++offset) {
          const unsigned first = (n * table.b() + offset) * table.k();
          labelled_ways here = read(table, nodes_[level][n], offset, first);
          for (; here[0] != 0; here[0] &= here[0] - 1) {
            const auto t = static_cast<unsigned>(std::countr_zero(here[0]));
            const auto empty = table.empty_slot(places_[first + t]);
            if (empty && is_chain(table, level, first + t, avoided)) {
              const slot_at freed = move_along(table, level, first + t, *empty);
              if (table.b() == 1) relabel(table, freed.place, roots);
              return freed;
            }
            if (empty) continue;
            here[1] |= std::uint64_t{1} << t;
            table.set_label(places_[first + t], 1);
          }
          for (unsigned label = 1; label <= distance_hints::largest; ++label) ways[label] |= here[label] << first;
        }
      }
    }
    return std::nullopt;
  }

 private:
  static constexpr unsigned side_by_side = 8;
  static constexpr unsigned most_ways = 64;  // that the keys of a level have

  struct node {
    std::uint64_t place;
    unsigned from;  // the way that led here: (node of the level above · b + slot) · k + table, of roots their table
  };

  // The places with the smallest labels go on to this level. Usually as many as may, which the processor foresees.
  template <class Table>
  TAMIS_INLINE unsigned choose(const Table& table, unsigned level, labelled_ways ways) {
    const unsigned most = std::min(side_by_side, most_ways / (table.k() * table.b()));
    for (unsigned count = 0; count < most; ++count) {
      const std::uint64_t far = ways[2] != 0 ? ways[2] : ways[3];
      const std::uint64_t near = ways[1] != 0 ? ways[1] : far;
      if (near == 0) return count;
      const auto way = static_cast<unsigned>(std::countr_zero(near));
      for (std::uint64_t& left : ways) left &= ~lowest_bit(near);
      table.prefetch(places_[way]);
      nodes_[level][count] = {places_[way], way};
    }
    return most;
  }

  // Where else the key of a slot could be, from way `first` on. Corrects the label of the bin.
  template <class Table>
  TAMIS_INLINE labelled_ways read(Table& table, const node n, unsigned offset, unsigned first) {
    const labelled_ways ways = table.ways({n.place, offset}, n.from % table.k(), &places_[first]);
    for (std::uint64_t next = ways[1]; next != 0;
         next &= next - 1) {  // those will go on; the rest is asked for when it is chosen
      table.prefetch(places_[first + static_cast<unsigned>(std::countr_zero(next))]);
    }
    const unsigned label = label_before(ways);
    table.set_label(n.place, offset == 0 ? label : std::min(label, table.label(n.place)));
    return ways;
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
  template <class Table>
  slot_at move_along(Table& table, unsigned level, unsigned way, unsigned offset) const {
    slot_at gap{places_[way], offset};
    for_each_source(table, level, way, [&](slot_at source) {
      table.move(source, gap);
      gap = source;
    });
    return gap;
  }

  // The bin is about to have a key whose other places are the roots.
  template <class Table>
  static void relabel(Table& table, std::uint64_t place, std::span<const std::uint64_t> roots) {
    unsigned nearest = distance_hints::largest - 1;
    for (const std::uint64_t root : roots) {
      if (root != place && root != nowhere) nearest = std::min(nearest, table.label(root));
    }
    table.set_label(place, nearest + 1);
  }

  std::array<std::uint64_t, most_ways> places_;  // where the ways of a level lead
  std::array<std::array<node, side_by_side>, most_levels> nodes_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
