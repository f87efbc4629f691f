#pragma once

// What evergreen does with a remote: adapt, and give old entries new bits. Included by filters/evergreen.hpp.

#include "tamis/filters/evergreen.hpp"

namespace tamis::inline TAMIS_LEVEL {

inline adapt_result evergreen::adapt_with(digest d, const remote_ref& stored, detail::adapt_work& work) {
  while (true) {
    const address a = forest_.locate(d);
    detail::prefix_segment& segment = forest_[a];
    // Growth in the last round may have renewed the very entries that matched.
    if (segment.count(a.cell, a.following) == 0) {
      return work.growths != 0 ? adapt_result::fixed : adapt_result::not_positive;
    }

    // The group: the cell, or what the outermost covering over it covers.
    const detail::covering_prefix* covering = segment.outermost_covering(a.cell >> 1, 1);
    const std::uint32_t shift = covering == nullptr ? 0 : std::min<std::uint32_t>(covering->shift, segment.cell_bits());
    const std::uint64_t index = a.cell >> shift;
    const detail::stream_prefix under =
        shift == 0 ? forest_.prefix_of(a.at, a.cell) : forest_.prefix_of(a.at, detail::covering_prefix{index, shift, 1});
    const detail::stored_keys keys(forest_, under, std::uint64_t{1} << shift, stored);
    work.digests += keys.read();
    if (keys.contains(d) || (!keys.are_all() && holds(stored, d))) return adapt_result::is_member;
    if (!keys.are_all()) return adapt_result::unfixable;
    detail::adapt_group group(forest_, a.at, index, shift, keys);
    if (!group.agrees()) {
      ++missing_;
      return adapt_result::unfixable;
    }
    const std::uint64_t dropped = group.drop_unpaired();

    const detail::uint128 y = forest_.places().stream_of(d).stream;
    std::uint64_t lengthened = 0;
    for (detail::adapt_group::item& i : group.items()) {
      if (!group.prefix_of(i).matches(y)) continue;
      const detail::uint128 x = keys.streams()[i.owner];
      const unsigned until_differs = common_bits(x, y) + 1;
      const unsigned behind_place = until_differs - std::min(until_differs, segment.place_bits());
      if (behind_place > detail::prefix_entry::longest || ++lengthened > detail::adapt_work::most_matches)
        return adapt_result::unfixable;
      group.lengthen(i, x, std::max(behind_place, segment.fingerprint()));
    }
    work.slots += lengthened;
    const std::uint64_t after = group.slots_after(segment);
    if (after > adapt_limit(segment) && after > segment.used()) {
      // Growth takes other entries away, but a cell's own stay together.
      const std::uint64_t most = std::max(detail::adapt_work::most_slots, limit(forest_.segment_bits()) / 2);
      if (shift == 0 && after - segment.used() > most) return adapt_result::unfixable;
      const no_waiting for_pages;
      if (work.growths < detail::adapt_work::most_growths && grow(a.at, &stored, nullptr)) {
        ++work.growths;
        continue;
      }
    }
    if (!write(a.at, group, segment.table().slots())) {
      if (forest_.widen(a.at)) {  // no room for the runs at the segment's end
        ++work.growths;
        continue;
      }
      return adapt_result::unfixable;
    }
    // No key is uncounted by this: either keys() stays, or it becomes the number of all entries, which every key has one of.
    const std::uint64_t copies = std::min(copies_, dropped);
    copies_ -= copies;
    keys_ -= std::min(keys_, dropped - copies);
    return adapt_result::fixed;
  }
}

inline bool evergreen::write(std::uint64_t at, detail::adapt_group& group, std::uint64_t most) {
  if (!group.write(forest_.segments()[at], most)) return false;
  forest_.segments().refresh(at);
  return true;
}

inline unsigned evergreen::fingerprint_after_growth(const detail::prefix_segment& segment, bool has_remote) const {
  const bool grows = fingerprints_ == fingerprints::growing || (fingerprints_ == fingerprints::automatic && !has_remote);
  if (!grows) return segment.fingerprint();
  // Each generation's entries add half of 2^-F to the rate for ever; with two bits more whenever the number of generations
  // doubles, the sum stays below twice the first.
  const unsigned generation = segment.place_bits() + 1 - std::min(segment.place_bits(), first_cell_bits_);
  const unsigned more = 2 * (static_cast<unsigned>(std::bit_width(generation + 1)) - 1);
  return std::min(detail::prefix_segment::longest_fingerprint, std::max(segment.fingerprint(), fingerprint_ + more));
}

inline bool evergreen::grow(std::uint64_t at, const remote_ref* stored, const digest* pending) {
  const detail::prefix_segment& segment = forest_.segments()[at];
  const unsigned fingerprint = fingerprint_after_growth(segment, stored != nullptr);
  const unsigned f = segment.fingerprint();
  const auto resolve = [&](std::uint64_t cell, detail::entry_list& entries) {
    if (stored == nullptr || segment.outermost_covering(cell >> 1, 1) != nullptr) return;
    detail::stored_keys keys(forest_, forest_.prefix_of(at, cell), 1, *stored);
    // The remote may have the key already that this growth makes room for, but it has no entry yet. If it has an older copy as
    // well, then that one's entry stays as it is: the entries that the other keys leave over match it.
    if (pending != nullptr) keys.remove(*pending);
    detail::adapt_group group(forest_, at, cell, entries, keys);
    if (!group.agrees()) return;
    group.renew(keys, f + 1 - std::min(generations_, f), fingerprint + 1);  // one bit of which goes into the place
    entries = group.entries();
  };
  const std::uint64_t copied = forest_.copied_by_growth(at);
  if (!forest_.grow(at, fingerprint, detail::evergreen_spare(segment.cell_bits() + 1, threshold_), resolve)) return false;
  copies_ = detail::saturating_add(copies_, copied);
  return true;
}

// A pass over a segment's blocks while it fills from half of its limit, where growth left it, to the limit. The rate that
// inserts add is what renewing takes away, so an even pace keeps it level. Where other entries than new keys take slots, the
// pass keeps up with them.
inline void evergreen::sweep(std::uint64_t at, const remote_ref& stored) {
  detail::prefix_segment& segment = forest_.segments()[at];
  const std::uint64_t blocks = segment.table().blocks();
  const std::uint64_t half = limit(segment.cell_bits()) / 2;
  const std::uint64_t inserts_per_block = std::max<std::uint64_t>(half / blocks, 1);
  std::uint64_t tick = segment.swept();
  if (segment.used() > half + tick) tick = detail::divide_up(tick, inserts_per_block) * inserts_per_block;
  const std::uint64_t block = tick / inserts_per_block;
  if (block >= blocks) return;
  segment.set_swept(static_cast<std::uint32_t>(tick + 1));
  if (tick % inserts_per_block != 0) return;
  std::uint64_t scans = 0;
  if (!segment.coverings().empty()) renew_covering(at, block % segment.coverings().size(), stored, scans);
  renew_block(at, block, generations_, stored, scans);
}

inline void evergreen::renew_block(std::uint64_t at, std::uint64_t block, unsigned generations, const remote_ref& stored,
                                   std::uint64_t& scans) {
  detail::prefix_segment& segment = forest_.segments()[at];
  const unsigned f = segment.fingerprint();
  const unsigned least = f - std::min(generations, f);
  detail::short_list<std::uint64_t, detail::prefix_table::block_slots> old;
  segment.table().for_each_run_in(block, [&](std::uint64_t cell, detail::slot_range run) {
    if (run.first / detail::prefix_table::block_slots != block) return;
    if (segment.outermost_covering(cell >> 1, 1) != nullptr) return;
    if (segment.has_shorter(run, least)) old.push_back(cell);
  });
  for (const std::uint64_t cell : old) {
    const detail::stored_keys keys(forest_, forest_.prefix_of(at, cell), 1, stored);
    ++scans;
    detail::adapt_group group(forest_, at, cell, 0, keys);
    if (group.agrees() && group.renew(keys, least, f)) write(at, group, adapt_limit(segment));
  }
}

// Gives an covering, and what else is old below the outermost covering over it, the bits of its key. False if nothing came of
// it.
inline bool evergreen::renew_covering(std::uint64_t at, std::uint64_t which, const remote_ref& stored, std::uint64_t& scans) {
  detail::prefix_segment& segment = forest_.segments()[at];
  const detail::covering_prefix& chosen = segment.coverings()[which];
  const detail::covering_prefix* outermost = segment.outermost_covering(chosen.index, chosen.shift);
  const std::uint32_t shift = std::min<std::uint32_t>(outermost->shift, segment.cell_bits());
  const std::uint64_t index = shift == outermost->shift ? outermost->index : 0;
  const detail::stored_keys keys(forest_, forest_.prefix_of(at, detail::covering_prefix{index, shift, 1}),
                                 std::uint64_t{1} << shift, stored);
  ++scans;
  detail::adapt_group group(forest_, at, index, shift, keys);
  const unsigned f = segment.fingerprint();
  return group.agrees() && group.renew(keys, f - std::min(generations_, f), f) && write(at, group, adapt_limit(segment));
}

inline std::uint64_t evergreen::rejuvenate_all_with(const remote_ref& stored, unsigned generations) {
  std::uint64_t scans = 0;
  forest_.segments().for_each([&](std::uint64_t at, const detail::prefix_segment& segment) {
    for (std::uint64_t i = segment.coverings().size(); i-- > 0;) {
      if (i < segment.coverings().size()) renew_covering(at, i, stored, scans);
    }
    for (std::uint64_t block = 0; block < segment.table().blocks(); ++block) {
      renew_block(at, block, generations, stored, scans);
    }
  });
  return scans;
}

}  // namespace tamis::inline TAMIS_LEVEL
