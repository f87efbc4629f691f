#pragma once

// Room for one more key when all its places are full: a breadth-first search for the shortest chain of moves that ends in an
// empty slot. Nothing is written before the whole chain is known, so a search that gives up leaves every bit as it was.
//
//   roots    first ─┬──┬──┬──┐   second ─┬──┬──┬──┐      all full
//   moves           .  .  .  .           .  .  .  .      where each of their keys could go instead
//                         │
//                         └─► empty slot                 move the key there, then its predecessor into the gap, ...
//
// No place occurs twice in a chain, so no move touches a slot that another one has changed.
//
// What a table's places and slots are, and what of its memory is far away, its Moves say:
//
//   most_visits                      places that a search looks at before it gives up
//   seen_bits                        a power of two: places are remembered modulo this
//   looks_in_turn                    true: a place is far away. It is looked at for an empty slot when its turn comes, and
//                                    asked for when it is found.
//                                    false: only its keys are. It is looked at when it is found, and asked for a few turns
//                                    ahead
//   empty_slot(place) → optional     of an empty slot there
//   prefetch(place)                  asks for what for_each_move will read
//   for_each_move(place, visit)      visit(other place, slot) for every move out of a slot of the place
//   move(from, to)                   one slot's key into another slot, which is empty or has been moved on

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "tamis/detail/bits/word.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

struct slot_at {
  std::uint64_t place;
  unsigned slot;  // as the table names it
};
inline constexpr std::uint64_t nowhere = ~std::uint64_t{0};  // no place

template <class Moves>
class room_search {
 public:
  // Frees a slot of one of the roots, of which some may be `nowhere`. The chain never enters the place `avoided`.
  // Ensures: if there is none that can be freed, the table is unchanged; else the caller overwrites the slot, which still
  // shows what was moved on.
  TAMIS_NOINLINE std::optional<slot_at> make_room(Moves table, std::span<const std::uint64_t> roots,
                                                  std::uint64_t avoided = nowhere) {
    size_ = 0;
    seen_.fill(0);
    if (avoided != nowhere) mark(avoided);
    for (const std::uint64_t root : roots) {
      if (root != nowhere) add({root, none, 0});
    }
    if constexpr (!Moves::looks_in_turn) {
      if (const auto room = look(table, 0)) return room;
      for (unsigned n = 0; n < size_; ++n) table.prefetch(nodes_[n].place);
    }
    for (unsigned turn = 0; turn < size_; ++turn) {
      const std::uint64_t place = nodes_[turn].place;
      if constexpr (Moves::looks_in_turn) {
        if (const auto empty = table.empty_slot(place)) return move_along(table, {place, *empty}, turn);
      } else if (turn + ahead < size_) {
        table.prefetch(nodes_[turn + ahead].place);
      }
      const unsigned first = size_;
      table.for_each_move(place, [&](std::uint64_t next, unsigned slot) {
        const bool is_new = add({next, turn, slot});
        if (Moves::looks_in_turn && is_new) table.prefetch(next);
      });
      if constexpr (!Moves::looks_in_turn) {
        if (const auto room = look(table, first)) return room;
      }
    }
    return std::nullopt;
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr unsigned ahead = 4;

  struct node {
    std::uint64_t place;
    std::uint32_t from;  // the node whose slot would be moved here
    std::uint32_t slot;  // of that node
  };

  // Exactly in small tables, where chains meet often; in large ones a place is now and then taken for one seen before, which
  // only makes the search pass it by.
  bool mark(std::uint64_t place) {
    std::uint64_t& word = seen_[place % Moves::seen_bits / word_bits];
    const std::uint64_t bit = std::uint64_t{1} << (place % word_bits);
    const bool is_new = (word & bit) == 0;
    word |= bit;
    return is_new;
  }
  bool add(const node& n) {
    if (size_ == Moves::most_visits || !mark(n.place)) return false;
    nodes_[size_++] = n;
    return true;
  }

  // An empty slot in one of the places from number `first` on.
  std::optional<slot_at> look(Moves& table, unsigned first) {
    for (unsigned n = first; n < size_; ++n) {
      if (const auto empty = table.empty_slot(nodes_[n].place)) return move_along(table, {nodes_[n].place, *empty}, n);
    }
    return std::nullopt;
  }

  // The last key of the chain goes into the empty slot, the one before it into the gap, and so on; says which slot of a root
  // is free in the end.
  slot_at move_along(Moves& table, slot_at gap, std::uint32_t last) const {
    for (std::uint32_t at = last; nodes_[at].from != none; at = nodes_[at].from) {
      const slot_at source{nodes_[nodes_[at].from].place, nodes_[at].slot};
      table.move(source, gap);
      gap = source;
    }
    return gap;
  }

  unsigned size_ = 0;
  std::array<std::uint64_t, Moves::seen_bits / word_bits> seen_;
  std::array<node, Moves::most_visits> nodes_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
