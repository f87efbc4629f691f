#pragma once

// Segments (detail/growing/prefix_segment.hpp) that grow and shrink. Growing moves one bit of every entry from its payload into
// its place; it is one pass in order, and changes no answer, since an entry stays the same prefix:
//
//   cell c, payload b·p   ─ split ─►      cell 2c + b, payload p, in one of two segments with the same number of cells
//                         ─ doubled ─►    the same in one segment with twice the cells
//
// A void, an entry without payload, has no bit to give. `resolve` may know whose it is; otherwise it becomes an covering, for
// both cells. Joining two segments is the way back, and the one change that loses bits: see `join`.

#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tamis/detail/growing/prefix_segment.hpp"
#include "tamis/detail/growing/table_split.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

class segment_growth {
 public:
  // resolve(cell, entries) gets the entries of a cell that has voids and may give some of them more bits.
  // None if the entries do not fit into the new segments.
  template <class Resolve>
  static result<std::optional<std::pair<prefix_segment, prefix_segment>>> split(const prefix_segment& from,
                                                                                unsigned fingerprint, Resolve resolve) {
    const segment_shape shape{from.depth_ + 1, from.cell_bits_, fingerprint};
    std::vector<prefix_segment> halves;
    for (int i = 0; i < 2; ++i) {
      TAMIS_TRY(prefix_segment half, prefix_segment::make(shape, from.spare(), from.used() == 0));
      halves.push_back(std::move(half));
    }
    TAMIS_TRY(const bool fits, spread(from, halves, resolve));
    if (!fits) return std::optional<std::pair<prefix_segment, prefix_segment>>();
    return std::optional(std::pair(std::move(halves[0]), std::move(halves[1])));
  }
  template <class Resolve>
  static result<std::optional<prefix_segment>> doubled(const prefix_segment& from, unsigned fingerprint, std::uint64_t spare,
                                                       Resolve resolve) {
    std::vector<prefix_segment> whole;
    TAMIS_TRY(prefix_segment made,
              prefix_segment::make({from.depth_, from.cell_bits_ + 1, fingerprint}, spare, from.used() == 0));
    whole.push_back(std::move(made));
    TAMIS_TRY(const bool fits, spread(from, whole, resolve));
    if (!fits) return std::optional<prefix_segment>();
    return std::optional(std::move(whole[0]));
  }

  // The same entries with more slots behind the last cell, for runs there that are too long.
  static result<prefix_segment> widened(const prefix_segment& from, std::uint64_t spare) {
    TAMIS_TRY(prefix_segment made, prefix_segment::make(from.shape(), spare, from.is_plain()));
    builder to(made);
    from.table_.for_each_run([&](std::uint64_t cell, slot_range run) {
      std::uint64_t next = to.append(cell, run.size())->first;  // always fits: it did with fewer slots
      for (std::uint64_t slot = run.first; slot < run.last; ++slot) to.set(next++, from.value(slot));
    });
    made.set_coverings(from.coverings());
    made.set_swept(from.swept_);
    return made;
  }

  // Undoes a split: payloads get a bit of the place back. Short entries that have all their F bits lose the last one, so that
  // they match more than before; longer ones keep everything. None if the entries do not fit.  Requires: two halves of a split.
  static result<std::optional<prefix_segment>> join(const prefix_segment& low, const prefix_segment& high) {
    const unsigned fingerprint = std::max(low.fingerprint(), high.fingerprint());
    TAMIS_TRY(prefix_segment whole, prefix_segment::make({low.depth_ - 1, low.cell_bits_, fingerprint}, low.spare(), false));
    std::vector<covering_prefix> voids;
    for (const prefix_segment* half : {&low, &high}) {
      for (const covering_prefix& e : half->coverings()) {
        const std::uint64_t index = e.index + (half == &high ? high.cells() >> e.shift : 0);
        if (e.shift == 1) {
          voids.push_back({index, 0, e.count});
        } else {
          whole.add(covering_prefix{index, e.shift - 1, e.count});
        }
      }
    }
    std::sort(voids.begin(), voids.end(), [](const covering_prefix& a, const covering_prefix& b) { return a.index < b.index; });
    auto next_void = voids.begin();
    builder table(whole);
    for (std::uint64_t cell = 0; cell < whole.cells(); ++cell) {
      const prefix_segment& half = 2 * cell < low.cells() ? low : high;
      entry_list entries;
      for (const std::uint64_t bit : {std::uint64_t{0}, std::uint64_t{1}}) {
        for (const prefix_entry& e : half.entries_of((2 * cell + bit) % half.cells())) {
          const unsigned longest = e.length > half.fingerprint() ? prefix_entry::longest : fingerprint;
          entries.push_back(prefix_entry::of(bit << 63 | e.bits >> 1, std::min(e.length + 1, longest), e.count));
        }
      }
      for (; next_void != voids.end() && next_void->index == cell; ++next_void) entries.push_back({0, 0, next_void->count});
      prefix_segment::fold(entries);
      if (!table.append(cell, entries)) return std::optional<prefix_segment>();
    }
    return std::optional(std::move(whole));
  }

 private:
  // Fills a segment in the order of its cells.
  class builder {
   public:
    explicit builder(prefix_segment& to) : to_(&to) {}

    // Room for a run of so many slots.
    std::optional<slot_range> append(std::uint64_t cell, std::uint64_t size) {
      if (size == 0) return slot_range{};
      return to_->table_.append(cell, size, end_);
    }
    bool append(std::uint64_t cell, const entry_list& entries) {
      const slot_list slots = to_->slots_of(entries);
      const auto run = append(cell, slots.size());
      if (!run) return false;
      for (std::size_t i = 0; i < slots.size(); ++i) set(run->first + i, slots[i]);
      return true;
    }
    TAMIS_INLINE void set(std::uint64_t slot, std::uint64_t value) { to_->set_value(slot, value); }
    prefix_segment& segment() { return *to_; }

   private:
    prefix_segment* to_;
    std::uint64_t end_ = 0;
  };

  // Moves all entries into one segment of twice as many cells, or two halves.
  template <class Resolve>
  static result<bool> spread(const prefix_segment& from, std::span<prefix_segment> into, Resolve& resolve) {
    for (const covering_prefix& e : from.coverings()) spread_covering(from, e, into);
    if (from.used() == 0) return true;
    if (from.is_plain()) {
      TAMIS_TRY(const prefix_segment whole, from.whole());
      return spread_whole(whole, into, resolve);
    }
    return spread_whole(from, into, resolve);
  }
  template <class Resolve>
  static bool spread_whole(const prefix_segment& from, std::span<prefix_segment> into, Resolve& resolve) {
    return into[0].table_.width() <= 16 ? spread_entries<std::uint16_t>(from, into, resolve)
                                        : spread_entries<std::uint64_t>(from, into, resolve);
  }
  template <class Word, class Resolve>
  static bool spread_entries(const prefix_segment& from, std::span<prefix_segment> into, Resolve& resolve) {
    std::array<prefix_table*, 2> tables = {};
    for (std::size_t i = 0; i < into.size(); ++i) tables[i] = &into[i].table_;
    table_split<Word, prefix_table, entry_code> split(from.table_, std::span(tables).first(into.size()), from.code(),
                                                      into[0].code());
    const auto split_one = [&](std::uint64_t cell, slot_range run, split_run& halves) -> status {
      if (!split_plain(from, run, split, halves)) split_any(from, cell, run, into, halves, resolve);
      return {};
    };
    return split.run(split_one).value();
  }
  // False unless every slot of the run is an entry that has a bit to give.
  template <class Split>
  static bool split_plain(const prefix_segment& from, slot_range run, const Split& split, split_run& halves) {
    for (std::uint64_t slot = run.first; slot < run.last; ++slot) {
      if (split.has_no_bit(from.value(slot))) return false;
    }
    for (std::uint64_t slot = run.first; slot < run.last; ++slot) {
      const std::uint64_t value = from.value(slot);
      halves[split.first_bit(value)].push_back(split.moved(value));
    }
    return true;
  }
  template <class Resolve>
  static void split_any(const prefix_segment& from, std::uint64_t cell, slot_range run, std::span<prefix_segment> into,
                        split_run& halves, Resolve& resolve) {
    entry_list entries = from.entries_in(run);
    const auto is_void = [](const prefix_entry& e) { return e.length == 0; };
    if (std::any_of(entries.begin(), entries.end(), is_void)) resolve(cell, entries);
    prefix_segment& to = into[into.size() == 1 ? 0 : cell >> (from.cell_bits_ - 1)];
    for (const prefix_entry& e : entries) {
      if (is_void(e)) {
        to.add(covering_prefix{cell & (to.cells() / 2 - 1), 1, e.count});
      } else {
        to.code().append({e.bits << 1, e.length - 1, e.count}, halves[e.bits >> 63]);
      }
    }
  }

  static void spread_covering(const prefix_segment& from, const covering_prefix& e, std::span<prefix_segment> into) {
    if (into.size() == 1) return into[0].add(covering_prefix{e.index, e.shift + 1, e.count});
    if (e.shift >= from.cell_bits_) {  // it covers the whole segment: either half may have its key
      for (prefix_segment& to : into) to.add(covering_prefix{0, e.shift + 1, e.count});
      return;
    }
    const std::uint64_t half = from.cells() >> 1 >> e.shift;
    const bool upper = e.index >= half;
    into[upper].add(covering_prefix{e.index - (upper ? half : 0), e.shift + 1, e.count});
  }
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
