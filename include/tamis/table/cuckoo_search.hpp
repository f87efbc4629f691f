#pragma once

// Room for one more fingerprint when both of its buckets are full: a breadth-first search for the shortest chain of moves that
// ends in an empty slot. Nothing is written before the whole chain is known, so a search that gives up leaves every bit as it
// was.
//
//   roots    first ─┬──┬──┬──┐   second ─┬──┬──┬──┐      both full
//   moves           .  .  .  .           .  .  .  .      where each of their fingerprints could go instead
//                         │
//                         └─► empty slot                 move the fingerprint there, then its predecessor into the gap, ...
//
// No bucket occurs twice in the tree, so no move of a chain touches a slot that another one has changed.

#include <array>
#include <cstdint>

#include "tamis/table/buckets.hpp"

namespace tamis::inline TAMIS_LEVEL {

class cuckoo_search {
 public:
  // Buckets that a search looks at before it gives up. At a load of 0.95 it needs a dozen; this many lead a little beyond 0.97.
  static constexpr unsigned most_visits = 2000;

  // Frees a slot of one of the two buckets by moving fingerprints on. `alternate(bucket, fingerprint)` is the other bucket
  // of a fingerprint.  Requires: both buckets are full and differ.  Ensures: if there is none that can be freed,
  // the table is unchanged; else the caller overwrites the slot, which still shows what was moved on.
  template <class Table, class Alternate>
  slot_place make_room(const Table table, std::uint64_t first, std::uint64_t second, Alternate alternate) {
    size_ = 0;
    seen_.fill(0);
    for (const std::uint64_t root : {first, second}) {
      mark(root);
      nodes_[size_++] = {root, none, 0};
    }
    // The roots are full; every other bucket is looked at when its turn comes, while those behind it are being fetched.
    for (unsigned turn = 0; turn < size_; ++turn) {
      const auto slots = table.load(nodes_[turn].bucket);
      const auto empty = table.lanes().empty(slots);
      if (empty != 0) {
        return move_along(table, {nodes_[turn].bucket, table.lanes().first(empty), true}, turn);
      }
      for (unsigned slot = 0; slot < slots_per_bucket; ++slot) {
        const unsigned offset = slot * table.lanes().width();
        const std::uint64_t next = alternate(nodes_[turn].bucket, table.lanes().get(slots, offset));
        if (add(next, turn, offset)) table.prefetch(next);
      }
    }
    return {0, 0, false};
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr unsigned seen_bits = 8192;

  struct node {
    std::uint64_t bucket;
    std::uint32_t from;    // the node whose slot would be moved here
    std::uint32_t offset;  // of that slot
  };

  // Buckets are remembered modulo seen_bits: exactly in small tables, where chains meet often; in large ones a bucket is now
  // and then taken for one seen before, which only makes the search pass it by.
  bool mark(std::uint64_t bucket) {
    std::uint64_t& word = seen_[bucket % seen_bits / word_bits];
    const std::uint64_t bit = std::uint64_t{1} << (bucket % word_bits);
    const bool is_new = (word & bit) == 0;
    word |= bit;
    return is_new;
  }
  bool add(std::uint64_t bucket, std::uint32_t from, unsigned offset) {
    if (size_ == most_visits || !mark(bucket)) return false;
    nodes_[size_++] = {bucket, from, offset};
    return true;
  }

  // Moves the last fingerprint of the chain into the empty slot, the one before it into the gap, and so on; says which slot of
  // a root is free in the end.
  template <class Table>
  slot_place move_along(const Table& table, slot_place gap, std::uint32_t last) const {
    for (std::uint32_t at = last; nodes_[at].from != none; at = nodes_[at].from) {
      const slot_place source{nodes_[nodes_[at].from].bucket, nodes_[at].offset, true};
      table.set(gap.bucket, gap.offset, table.get(source.bucket, source.offset));
      gap = source;
    }
    return gap;
  }

  unsigned size_ = 0;
  std::array<std::uint64_t, seen_bits / word_bits> seen_;
  std::array<node, most_visits> nodes_;
};

}  // namespace tamis::inline TAMIS_LEVEL
