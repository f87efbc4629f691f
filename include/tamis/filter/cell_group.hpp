#pragma once

// Entries of a segment whose keys are looked up in the remote: all that extend one prefix, either a cell's own or that of an
// elder that no other covers. The keys that the remote has under this prefix are then exactly the owners of these entries
// (docs/filters/evergreen.md), so that a pairing exists, and a paired entry may be given any bits of its key.

#include <map>
#include <utility>
#include <vector>

#include "tamis/filter/prefix_forest.hpp"
#include "tamis/filter/prefix_pairing.hpp"
#include "tamis/remote/remote.hpp"

namespace tamis::inline TAMIS_LEVEL {

// The stored digests whose streams begin with a prefix, in order.
class stored_keys {
 public:
  stored_keys(const prefix_forest& forest, const stream_prefix& under, const remote_ref& stored) {
    stored.for_each_in(forest.places().digests_of(under), [&](digest d) {
      const stream_places::position p = forest.places().stream_of(d);
      if (p.root == under.root && under.matches(p.stream)) found_.emplace_back(p.stream, d);
    });
    std::sort(found_.begin(), found_.end());
    streams_.reserve(found_.size());
    for (const auto& [stream, d] : found_) streams_.push_back(stream);
  }

  const std::vector<uint128>& streams() const { return streams_; }
  bool contains(digest d) const {
    return std::any_of(found_.begin(), found_.end(), [d](const auto& f) { return f.second == d; });
  }
  // Takes out one copy, if there is one.
  void remove(digest d) {
    const auto at = std::find_if(found_.begin(), found_.end(), [d](const auto& f) { return f.second == d; });
    if (at == found_.end()) return;
    streams_.erase(streams_.begin() + (at - found_.begin()));
    found_.erase(at);
  }

 private:
  std::vector<std::pair<uint128, digest>> found_;
  std::vector<uint128> streams_;
};

class cell_group {
 public:
  struct item {
    std::uint64_t cell;
    prefix_entry entry;       // of the cell; a copy each, however often it counts
    std::uint32_t shift = 0;  // not 0: an elder, of index `cell`
    std::size_t owner = nobody;
  };

  // The entries of one cell.
  cell_group(const prefix_forest& forest, std::uint64_t at, std::uint64_t cell, const std::vector<prefix_entry>& entries,
             const stored_keys& keys)
      : forest_(&forest), at_(at) {
    add(cell, entries, keys.streams().size());
    pair(keys);
  }
  // The entries of the cells with cell >> shift == index, and the elders there; with shift = cell_bits, the whole segment.
  cell_group(const prefix_forest& forest, std::uint64_t at, std::uint64_t index, std::uint32_t shift, const stored_keys& keys)
      : forest_(&forest), at_(at) {
    const prefix_segment& segment = forest.segments()[at];
    const std::uint64_t cells = shift < segment.cell_bits() ? std::uint64_t{1} << shift : segment.cells();
    for (std::uint64_t cell = index << shift; cell < (index << shift) + cells; ++cell) {
      add(cell, segment.entries_of(cell), keys.streams().size());
    }
    for (const elder_entry& e : segment.elders()) {
      const bool inside = e.shift <= shift ? e.index >> (shift - e.shift) == index : shift == segment.cell_bits();
      if (inside) {
        add({e.index, {0, 0, e.count}, e.shift}, keys.streams().size());
      } else {
        other_elders_.push_back(e);
      }
    }
    pair(keys);
  }

  // False if the remote has a key that no entry is left for: then filter and remote disagree, and nothing may be done.
  bool agrees() const { return agrees_; }
  std::vector<item>& items() { return items_; }
  stream_prefix prefix_of(const item& i) const {
    if (i.shift != 0) return forest_->prefix_of(at_, elder_entry{i.cell, i.shift, 1});
    return forest_->prefix_of(at_, i.cell, i.entry);
  }

  // Gives every entry that has a key and less than `least` bits the first `length` bits of its key, elders too. Answers whether
  // that changed anything.
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
  // Drops what nobody owns, and says how many keys had been counted for it. An elder over the whole segment may be a copy that
  // a split made, and counts for none.
  std::uint64_t drop_unpaired() {
    std::uint64_t dropped = 0;
    std::erase_if(items_, [&](const item& i) {
      const bool counted = i.shift < forest_->segments()[at_].cell_bits();
      dropped += i.owner == nobody && counted ? i.entry.count : 0;
      return i.owner == nobody;
    });
    return dropped;
  }

  // What the items are now, as the content of cells and as elders.
  std::vector<prefix_entry> entries_of(std::uint64_t cell) const {
    std::vector<prefix_entry> entries;
    for (const item& i : items_) {
      if (i.shift == 0 && i.cell == cell) entries.push_back(i.entry);
    }
    prefix_segment::fold(entries);
    return entries;
  }
  // Slots in use if the items were written.
  std::uint64_t slots_after(const prefix_segment& segment) const {
    std::uint64_t after = segment.used();
    for (const auto& [cell, entries] : content()) after += segment.slots_of(entries) - segment.table().find(cell).size();
    return after;
  }
  // Writes the items into the segment. False, and nothing has changed, if they do not fit below `most` slots.
  bool write(prefix_segment& segment, std::uint64_t most) const {
    if (const std::uint64_t after = slots_after(segment); after > most && after > segment.used()) return false;
    const auto cells = content();
    if (cells.size() == 1 && !has_elders_) return segment.assign(cells.begin()->first, cells.begin()->second);
    prefix_segment changed = segment;
    for (const auto& [cell, entries] : cells) {
      if (!changed.assign(cell, entries)) return false;
    }
    if (has_elders_) changed.set_elders(elders_after());
    segment = std::move(changed);
    return true;
  }

 private:
  // What the items are, cell by cell. Cells that have lost all entries are there, too.
  std::map<std::uint64_t, std::vector<prefix_entry>> content() const {
    std::map<std::uint64_t, std::vector<prefix_entry>> cells;
    for (const std::uint64_t cell : cells_) cells[cell];
    for (const item& i : items_) {
      if (i.shift == 0) cells[i.cell].push_back(i.entry);
    }
    for (auto& [cell, entries] : cells) prefix_segment::fold(entries);
    return cells;
  }

  void add(std::uint64_t cell, const std::vector<prefix_entry>& entries, std::size_t keys) {
    cells_.push_back(cell);
    for (const prefix_entry& e : entries) add({cell, e}, keys);
  }
  // Each copy for itself, as far as there can be keys for them.
  void add(item i, std::size_t keys) {
    has_elders_ = has_elders_ || i.shift != 0;
    const std::uint64_t copies = i.entry.count;
    i.entry.count = 1;
    items_.insert(items_.end(), std::min<std::uint64_t>(copies, keys + 1), i);
    if (copies > keys + 1) items_.back().entry.count = copies - keys;
  }
  void pair(const stored_keys& keys) {
    std::vector<stream_prefix> prefixes;
    for (const item& i : items_) prefixes.push_back(prefix_of(i));
    const prefix_pairing pairing = pair_longest_first(prefixes, keys.streams());
    for (std::size_t i = 0; i < items_.size(); ++i) items_[i].owner = pairing.owner[i];
    agrees_ = pairing.keys_left == 0;
  }
  std::vector<elder_entry> elders_after() const {
    std::vector<elder_entry> after = other_elders_;
    for (const item& i : items_) {
      if (i.shift == 0) continue;
      const auto equal = [&](const elder_entry& e) { return e.shift == i.shift && e.index == i.cell; };
      const auto known = std::find_if(after.begin(), after.end(), equal);
      if (known == after.end()) {
        after.push_back({i.cell, i.shift, i.entry.count});
      } else {
        known->count += i.entry.count;
      }
    }
    return after;
  }

  const prefix_forest* forest_;
  std::uint64_t at_;
  std::vector<std::uint64_t> cells_;
  std::vector<item> items_;
  std::vector<elder_entry> other_elders_;
  bool has_elders_ = false;
  bool agrees_ = false;
};

}  // namespace tamis::inline TAMIS_LEVEL
