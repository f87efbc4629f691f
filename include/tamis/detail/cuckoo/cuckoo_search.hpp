#pragma once

// Room for one more fingerprint when both of its buckets are full (detail/cuckoo/room_search.hpp). Nearly all searches end
// within three moves, and these levels of the tree have a form of their own: what is moved where is found for sixteen moves at
// once, before any of their buckets is looked at. The few that go deeper begin anew with the whole tree.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>

#include "tamis/detail/cuckoo/bucket_pair.hpp"
#include "tamis/detail/cuckoo/room_search.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// The moves of the whole tree. A slot is named by its offset.
template <class Table, class Alternate>
struct bucket_moves {
  static constexpr unsigned most_visits = 2000;  // at a load of 0.95 it needs a dozen; this many lead a little beyond 0.97
  static constexpr unsigned seen_bits = 8192;
  static constexpr bool looks_in_turn = true;

  std::optional<unsigned> empty_slot(std::uint64_t bucket) const {
    const auto empty = table.lanes().empty(table.load(bucket));
    return empty == 0 ? std::nullopt : std::optional(table.lanes().first(empty));
  }
  void prefetch(std::uint64_t bucket) const { table.prefetch(bucket); }
  template <class Visit>
  void for_each_move(std::uint64_t bucket, Visit visit) const {
    for (unsigned slot = 0; slot < slots_per_bucket; ++slot) {
      const unsigned offset = slot * table.lanes().width();
      visit(alternate(bucket, table.get(bucket, offset)), offset);
    }
  }
  void move(slot_at from, slot_at to) const { table.set(to.place, to.slot, table.get(from.place, from.slot)); }

  const Table table;
  const Alternate alternate;
};

// Moves that are found before any of them is looked at: about as many lines as a processor can wait for at once.
inline constexpr std::size_t cuckoo_group = 16;

// A level of the tree: Moves fingerprints and the buckets that they could move to.
template <class Table, std::size_t Moves>
class cuckoo_level {
 public:
  // Moves number 4·at to 4·at + 3: out of the slots of `bucket`.
  template <class Alternate>
  TAMIS_INLINE void expand(const Table& table, std::size_t at, std::uint64_t bucket, Alternate alternate) {
    const auto slots = table.load(bucket);
    for (unsigned slot = 0; slot < slots_per_bucket; ++slot) {
      const std::size_t i = at * slots_per_bucket + slot;
      fingerprints_[i] = table.lanes().get(slots, slot * table.lanes().width());
      targets_[i] = alternate(bucket, fingerprints_[i]);
      if constexpr (Moves > std::size_t{2} * slots_per_bucket) table.prefetch(targets_[i]);  // fewer are read at once anyway
    }
  }

  // Does one of a group, from number `first` on, that leads to an empty slot; the answer is its number, or `none`.
  TAMIS_INLINE std::size_t move_one(const Table& table, std::size_t first) const {
    constexpr std::size_t together = std::size_t{2} * slots_per_bucket;
    for (std::size_t i = first; i < first + std::min(Moves, cuckoo_group); i += together) {
      std::uint32_t empty = 0;
      for (std::size_t j = 0; j < together; j += 2) {
        empty |= bucket_pair<Table>(table, targets_[i + j], targets_[i + j + 1]).empty() << (j * slots_per_bucket);
      }
      if (empty == 0) continue;
      const auto slot = static_cast<unsigned>(std::countr_zero(empty));
      const std::size_t chosen = i + slot / slots_per_bucket;
      table.set(targets_[chosen], slot % slots_per_bucket * table.lanes().width(), fingerprints_[chosen]);
      return chosen;
    }
    return none;
  }
  static constexpr std::size_t none = Moves;

  TAMIS_INLINE std::uint64_t target(std::size_t move) const { return targets_[move]; }
  TAMIS_INLINE std::uint64_t fingerprint(std::size_t move) const { return fingerprints_[move]; }

 private:
  std::array<std::uint64_t, Moves> targets_;
  std::array<std::uint64_t, Moves> fingerprints_;
};

// Frees a slot of one of the two buckets by moving fingerprints on. `alternate(bucket, fingerprint)` is the other bucket
// of a fingerprint.  Requires: both buckets are full and differ.  Ensures: if there is none that can be freed, the table is
// unchanged; else the caller overwrites the slot, which still shows what was moved on.
template <class Table, class Alternate>
TAMIS_NOINLINE slot_place cuckoo_make_room(const Table table, std::uint64_t first, std::uint64_t second, Alternate alternate) {
  constexpr std::size_t ones = std::size_t{2} * slots_per_bucket;
  constexpr std::size_t twos = ones * slots_per_bucket;
  constexpr std::size_t parents = cuckoo_group / slots_per_bucket;  // of a group
  const auto offset_of = [&table](std::size_t move) {
    return static_cast<std::uint32_t>(move % slots_per_bucket * table.lanes().width());
  };
  const auto expand = [&](auto& level, std::size_t at, const auto& from, std::size_t parent) {
    for (std::size_t i = 0; i < parents; ++i) level.expand(table, at + i, from.target(parent + i), alternate);
  };
  // One move. Its target has an empty slot, so it is neither of the two buckets.
  cuckoo_level<Table, ones> one;
  one.expand(table, 0, first, alternate);
  one.expand(table, 1, second, alternate);
  const auto freed = [&](std::size_t move) {
    return slot_place{move < slots_per_bucket ? first : second, offset_of(move), true};
  };
  if (const std::size_t moved = one.move_one(table, 0); moved != one.none) return freed(moved);
  // Two moves, the second one first. All buckets but the last one are full, and a fingerprint never moves to its own bucket:
  // the three differ.
  cuckoo_level<Table, twos> two;
  const auto move_before = [&](std::size_t moved) {  // the first move, into the slot that the second has freed
    const std::size_t before = moved / slots_per_bucket;
    table.set(one.target(before), offset_of(moved), one.fingerprint(before));
    return freed(before);
  };
  for (std::size_t parent = 0; parent < ones; parent += parents) {
    expand(two, parent, one, parent);
    const std::size_t moved = two.move_one(table, parent * slots_per_bucket);
    if (moved != two.none) return move_before(moved);
  }
  // Three moves. If the second leads back to where the first began, the third finds nothing: it is one of the first, and these
  // have been looked at. So the four differ, too.
  cuckoo_level<Table, cuckoo_group> three;
  for (std::size_t parent = 0; parent < twos; parent += parents) {
    expand(three, 0, two, parent);
    const std::size_t moved = three.move_one(table, 0);
    if (moved == three.none) continue;
    const std::size_t before = parent + moved / slots_per_bucket;
    table.set(two.target(before), offset_of(moved), two.fingerprint(before));
    return move_before(before);
  }
  bucket_moves<Table, Alternate> moves{table, alternate};
  room_search<bucket_moves<Table, Alternate>> search;  // its 33 KiB stay uninitialised
  const auto room = search.make_room(moves, std::array{first, second});
  return room ? slot_place{room->place, room->slot, true} : slot_place{0, 0, false};
}

}  // namespace tamis::detail::inline TAMIS_LEVEL
