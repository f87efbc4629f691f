#pragma once

// Entries of a segment whose keys are looked up in the remote: all that extend one prefix, either a cell's own or that of an
// covering that no other covers. The keys that the remote has under this prefix are then exactly the owners of these entries
// (docs/filters/evergreen.md), so that a pairing exists, and a paired entry may be given any bits of its key.

#include <algorithm>
#include <utility>
#include <vector>

#include "tamis/detail/growing/match_prefixes.hpp"
#include "tamis/detail/growing/segment_trie.hpp"
#include "tamis/detail/remote/adapt_work.hpp"
#include "tamis/remote.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// The streams of the stored digests that begin with a prefix, in order. A stream and its root say the digest.
class stored_keys {
 public:
  using list = short_list<uint128, 24>;

  // `cells`: how many the prefix covers. A few times as many keys as evenly spread ones would be are read, and no more.
  stored_keys(const segment_trie& forest, const stream_prefix& under, std::uint64_t cells, const remote_ref& stored)
      : places_(forest.places()), under_(under) {
    const std::uint64_t most = adapt_work::most_slots + 2 * cells;
    stored.for_each_in(places_.digests_of(under), [&](digest d) {
      if (const stream_places::position p = places_.stream_of(d); is_under(p)) streams_.push_back(p.stream);
      return ++read_ <= most;
    });
    are_all_ = read_ <= most;
    std::sort(streams_.begin(), streams_.end());
  }

  const list& streams() const { return streams_; }
  std::uint64_t read() const { return read_; }  // digests
  bool are_all() const { return are_all_; }     // or only the first ones
  bool contains(digest d) const {
    const stream_places::position p = places_.stream_of(d);
    return is_under(p) && std::binary_search(streams_.begin(), streams_.end(), p.stream);
  }
  // Takes out one copy, if there is one.
  void remove(digest d) {
    const stream_places::position p = places_.stream_of(d);
    uint128* const at = std::lower_bound(streams_.begin(), streams_.end(), p.stream);
    if (is_under(p) && at != streams_.end() && *at == p.stream) streams_.erase(at);
  }

 private:
  bool is_under(const stream_places::position& p) const { return p.root == under_.root && under_.matches(p.stream); }

  const stream_places& places_;
  stream_prefix under_;
  list streams_;
  std::uint64_t read_ = 0;
  bool are_all_ = false;
};

class adapt_group {
 public:
  struct item {
    std::uint64_t cell;
    prefix_entry entry;       // of the cell; a copy each, however often it counts
    std::uint32_t shift = 0;  // not 0: an covering, of index `cell`
    std::size_t owner = nobody;
  };

  // The entries of one cell.
  adapt_group(const segment_trie& forest, std::uint64_t at, std::uint64_t cell, const entry_list& entries,
              const stored_keys& keys)
      : forest_(&forest), at_(at) {
    add(cell, entries, keys.streams().size());
    pair(keys);
  }
  // The entries of the cells with cell >> shift == index, and the coverings there; with shift = cell_bits, the whole segment.
  adapt_group(const segment_trie& forest, std::uint64_t at, std::uint64_t index, std::uint32_t shift, const stored_keys& keys)
      : forest_(&forest), at_(at) {
    const prefix_segment& segment = forest.segments()[at];
    const std::uint64_t cells = shift < segment.cell_bits() ? std::uint64_t{1} << shift : segment.cells();
    for (std::uint64_t cell = index << shift; cell < (index << shift) + cells; ++cell) {
      add(cell, segment.entries_of(cell), keys.streams().size());
    }
    for (const covering_prefix& e : segment.coverings()) {
      const bool inside = e.shift <= shift ? e.index >> (shift - e.shift) == index : shift == segment.cell_bits();
      if (inside) {
        add({e.index, {0, 0, e.count}, e.shift}, keys.streams().size());
      } else {
        other_coverings_.push_back(e);
      }
    }
    pair(keys);
  }

  // False if the remote has a key that no entry is left for: then filter and remote disagree, and nothing may be done. Also if
  // not all of its keys were read.
  bool agrees() const { return agrees_; }
  short_list<item, 24>& items() { return items_; }
  stream_prefix prefix_of(const item& i) const {
    if (i.shift != 0) return forest_->prefix_of(at_, covering_prefix{i.cell, i.shift, 1});
    return forest_->prefix_of(at_, i.cell, i.entry);
  }

  // Gives every entry that has a key and less than `least` bits the first `length` bits of its key, coverings too. Answers
  // whether that changed anything.
  bool renew(const stored_keys& keys, unsigned least, unsigned length) {
    bool changed = false;
    for (item& i : items_) {
      if (i.owner == nobody || (i.shift == 0 && i.entry.length >= least)) continue;
      lengthen(i, keys.streams()[i.owner], length);
      changed = true;
    }
    return changed;
  }
  void lengthen(item& i, uint128 stream, unsigned length) const {
    i.cell = forest_->cell_of(at_, stream);
    i.entry = prefix_entry::of(forest_->following(at_, stream), length);
    i.shift = 0;
  }
  // Drops what nobody owns, and says how many entries that were.
  std::uint64_t drop_unpaired() {
    std::uint64_t dropped = 0;
    std::size_t kept = 0;
    for (const item& i : items_) {
      if (i.owner != nobody) {
        items_[kept++] = i;
      } else {
        dropped += i.entry.count;
      }
    }
    items_.shorten(kept);
    return dropped;
  }

  // What the items are now.  Requires: a group of one cell.
  entry_list entries() const {
    assert(cells_.size() == 1 && !has_coverings_);
    entry_list entries;
    for (const item& i : items_) entries.push_back(i.entry);
    prefix_segment::fold(entries);
    return entries;
  }
  // Slots in use if the items were written.
  std::uint64_t slots_after(const prefix_segment& segment) {
    std::uint64_t after = segment.used();
    for_each_cell([&](std::uint64_t cell, const entry_list& entries) {
      after += segment.slots_of(entries).size() - segment.table().find(cell).size();
      return true;
    });
    return after;
  }
  // Writes the items into the segment. False, and nothing has changed, if they do not fit below `most` slots.
  bool write(prefix_segment& segment, std::uint64_t most) {
    if (cells_.size() == 1 && !has_coverings_) {
      const slot_list slots = segment.slots_of(entries());
      const std::uint64_t before = segment.table().find(cells_[0]).size();
      return (slots.size() <= before || segment.used() - before + slots.size() <= most) && segment.assign(cells_[0], slots);
    }
    if (const std::uint64_t after = slots_after(segment); after > most && after > segment.used()) return false;
    prefix_segment changed = segment;
    const auto assign = [&](std::uint64_t cell, const entry_list& entries) { return changed.assign(cell, entries); };
    if (!for_each_cell(assign)) return false;
    if (has_coverings_) changed.set_coverings(coverings_after());
    segment = std::move(changed);
    return true;
  }

 private:
  // Calls visit(cell, entries) for what the items are now, in cells that have lost all entries too, until a visit says false.
  // Answers whether none did.
  template <class Visit>
  bool for_each_cell(Visit visit) {
    std::sort(items_.begin(), items_.end(), [](const item& a, const item& b) { return place(a) < place(b); });
    const item* next = items_.begin();
    for (const std::uint64_t cell : cells_) {
      entry_list entries;
      for (; next != items_.end() && place(*next) == cell; ++next) entries.push_back(next->entry);
      prefix_segment::fold(entries);
      if (!visit(cell, entries)) return false;
    }
    return true;
  }
  static std::uint64_t place(const item& i) {
    return i.shift == 0 ? i.cell : ~std::uint64_t{0};
  }  // coverings: behind all cells

  void add(std::uint64_t cell, const entry_list& entries, std::size_t keys) {
    cells_.push_back(cell);
    for (const prefix_entry& e : entries) add({cell, e}, keys);
  }
  // Each copy for itself, as far as there can be keys for them.
  void add(item i, std::size_t keys) {
    has_coverings_ = has_coverings_ || i.shift != 0;
    const std::uint64_t copies = i.entry.count;
    i.entry.count = 1;
    items_.append(std::min<std::uint64_t>(copies, keys + 1), i);
    if (copies > keys + 1) items_.back().entry.count = copies - keys;
  }
  void pair(const stored_keys& keys) {
    short_list<stream_prefix, 24> prefixes;
    for (const item& i : items_) prefixes.push_back(prefix_of(i));
    const prefix_matching pairing = match_longest_first(prefixes, keys.streams());
    for (std::size_t i = 0; i < items_.size(); ++i) items_[i].owner = pairing.owner[i];
    agrees_ = keys.are_all() && pairing.keys_left == 0;
  }
  table_list<covering_prefix> coverings_after() const {
    table_list<covering_prefix> after = other_coverings_;
    for (const item& i : items_) {
      if (i.shift == 0) continue;
      const auto equal = [&](const covering_prefix& e) { return e.shift == i.shift && e.index == i.cell; };
      const auto known = std::find_if(after.begin(), after.end(), equal);
      if (known == after.end()) {
        after.push_back({i.cell, i.shift, i.entry.count});
      } else {
        known->count += i.entry.count;
      }
    }
    return after;
  }

  const segment_trie* forest_;
  std::uint64_t at_;
  short_list<std::uint64_t, 4> cells_;  // in order
  short_list<item, 24> items_;
  table_list<covering_prefix> other_coverings_;
  bool has_coverings_ = false;
  bool agrees_ = false;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
