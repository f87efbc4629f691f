#pragma once

// A growing set of prefixes of digests' streams: a directory of segments, and where a digest stands in it. Segments grow one by
// one: small ones to twice their cells, those of full size into two.

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tamis/detail/growing/segment_directory.hpp"
#include "tamis/detail/growing/segment_growth.hpp"
#include "tamis/detail/growing/stream_places.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

class segment_trie {
 public:
  static constexpr unsigned least_segment_bits = 6;

  segment_trie() = default;
  segment_trie(stream_places places, unsigned segment_bits, table_list<prefix_segment> roots)
      : places_(places), segment_bits_(segment_bits), segments_(segment_directory::of_roots(std::move(roots))) {
    segments_.set_even(!places.is_flat());
  }

  const stream_places& places() const { return places_; }
  unsigned segment_bits() const { return segment_bits_; }  // a segment with 2^segment_bits cells splits
  segment_directory& segments() { return segments_; }
  const segment_directory& segments() const { return segments_; }

  struct address {
    std::uint64_t at;  // in the directory
    std::uint64_t cell;
    std::uint64_t following;
  };
  address locate(digest d) const { return address_of(probe_for(d)); }
  // Where a digest's stream stands, however the segments grow meanwhile; then its address as they are.
  TAMIS_INLINE stream_places::found find(digest d) const {
    return places_.locate(d, segments_.fine_bits(), segments_.fine_places());
  }
  TAMIS_INLINE address locate(const stream_places::found& f) const { return address_of(probe_for(f)); }
  // Asks for the memory that a change there will touch.
  TAMIS_INLINE void prefetch_update(const stream_places::found& f) const { view_of(f).prefetch_update(f.place); }
  TAMIS_INLINE const segment_view& view_of(const stream_places::found& f) const {
    return segments_.view(segments_.at_of(f.place));
  }
  TAMIS_INLINE prefix_segment& operator[](const address& a) { return segments_[a.at]; }
  TAMIS_INLINE const prefix_segment& operator[](const address& a) const { return segments_[a.at]; }

  // What a lookup needs.
  struct probe {
    const segment_view* view;
    std::uint64_t place;   // fine
    std::uint64_t beyond;  // the next 64 bits
  };
  TAMIS_INLINE probe probe_for(digest d) const { return probe_for(find(d)); }
  TAMIS_INLINE probe probe_for(const stream_places::found& f) const { return {&view_of(f), f.place, f.following}; }

  // Prefixes of streams that a segment's parts stand for.
  stream_prefix prefix_of(std::uint64_t at) const { return prefix(at, segments_.path(at), segments_[at].depth()); }
  stream_prefix prefix_of(std::uint64_t at, std::uint64_t cell) const {
    const prefix_segment& segment = segments_[at];
    return prefix(at, segments_.path(at) << segment.cell_bits() | cell, segment.place_bits());
  }
  stream_prefix prefix_of(std::uint64_t at, std::uint64_t cell, const prefix_entry& e) const {
    stream_prefix p = prefix_of(at, cell);
    p.bits |= static_cast<uint128>(e.bits) << 64 >> p.length;
    p.length += e.length;
    return p;
  }
  stream_prefix prefix_of(std::uint64_t at, const covering_prefix& e) const {
    const prefix_segment& segment = segments_[at];
    if (e.shift > segment.cell_bits()) {
      return prefix(at, segments_.path(at) >> (e.shift - segment.cell_bits()), segment.place_bits() - e.shift);
    }
    return prefix(at, segments_.path(at) << (segment.cell_bits() - e.shift) | e.index, segment.place_bits() - e.shift);
  }
  // The 64 bits of a stream that follow the places of a segment's cells.
  std::uint64_t following(std::uint64_t at, uint128 stream) const {
    return static_cast<std::uint64_t>(stream << segments_[at].place_bits() >> 64);
  }
  std::uint64_t cell_of(std::uint64_t at, uint128 stream) const {
    return static_cast<std::uint64_t>(stream >> (128 - segments_[at].place_bits())) & (segments_[at].cells() - 1);
  }

  // One more bit of all entries of a segment becomes place. False, and nothing has changed, if that is not possible.
  template <class Resolve>
  bool grow(std::uint64_t at, unsigned fingerprint, std::uint64_t spare, Resolve resolve) {
    if (segments_[at].cell_bits() < segment_bits_) {
      auto grown = segment_growth::doubled(segments_[at], fingerprint, spare, resolve);
      if (!grown || !*grown) return false;
      segments_[at] = **std::move(grown);
      segments_.refresh(at);
    } else {
      if (!may_split(at)) return false;
      auto halves = segment_growth::split(segments_[at], fingerprint, resolve);
      if (!halves || !*halves) return false;
      segments_.split(at, **std::move(halves));
    }
    return true;
  }
  // How many entries there will be more when it has grown: a split copies those that both halves need.
  std::uint64_t copied_by_growth(std::uint64_t at) const {
    return segments_[at].cell_bits() < segment_bits_ ? 0 : segments_[at].entries_for_all_cells();
  }
  // Doubles the slots behind a segment's last cell, up to as many as it has cells.
  bool widen(std::uint64_t at) {
    constexpr std::uint64_t always_allowed = 1024;
    const std::uint64_t spare = std::max<std::uint64_t>(prefix_table::block_slots, 2 * segments_[at].spare());
    if (spare > std::max(always_allowed, segments_[at].cells())) return false;
    auto wider = segment_growth::widened(segments_[at], spare);
    if (!wider) return false;
    segments_[at] = *std::move(wider);
    segments_.refresh(at);
    return true;
  }
  bool may_split(std::uint64_t at) const {
    const unsigned roots = static_cast<unsigned>(std::bit_width(segments_.roots()));
    return segments_.may_split(at) && roots + segments_.depth() + 1 + segment_bits_ < 62;
  }

  // Joins pairs of segments that fill at most `most` slots together. Answers how many were joined.
  std::uint64_t contract(std::uint64_t most) {
    std::uint64_t joined = 0;
    for (std::uint64_t at = 0; at < segments_.size();) {
      const auto other = segments_.buddy(at);
      if (other && segments_.may_join() && segments_[at].used() + segments_[*other].used() <= most) {
        const std::uint64_t low = std::min(segments_.first_place(at), *other);
        const std::uint64_t high = std::max(segments_.first_place(at), *other);
        auto whole = segment_growth::join(segments_[low], segments_[high]);
        if (whole && *whole) {
          segments_.join(low, high, **std::move(whole));
          ++joined;
          at = low;  // the whole may have a buddy, too
          continue;
        }
      }
      at = segments_.first_place(at) + segments_.places_of(at);
    }
    segments_.shrink();
    return joined;
  }

  // Calls visit(prefix, count) for every entry of a segment, in the order of the streams; shorter ones come first.
  template <class Visit>
  void for_each_in(std::uint64_t at, Visit visit) const {
    table_list<covering_prefix> coverings = segments_[at].coverings();
    const auto earlier = [](const covering_prefix& a, const covering_prefix& b) {
      const std::uint64_t first_a = a.index << a.shift;
      const std::uint64_t first_b = b.index << b.shift;
      return first_a != first_b ? first_a < first_b : a.shift > b.shift;
    };
    std::sort(coverings.begin(), coverings.end(), earlier);
    auto next = coverings.begin();
    const auto visit_coverings_to = [&](std::uint64_t cell) {
      for (; next != coverings.end() && next->index << next->shift <= cell; ++next) visit(prefix_of(at, *next), next->count);
    };
    segments_[at].table().for_each_run([&](std::uint64_t cell, slot_range run) {
      visit_coverings_to(cell);
      entry_list entries = segments_[at].entries_in(run);
      prefix_segment::fold(entries);
      for (const prefix_entry& e : entries) visit(prefix_of(at, cell, e), e.count);
    });
    visit_coverings_to(segments_[at].cells());
  }
  template <class Visit>
  void for_each(Visit visit) const {
    segments_.for_each([&](std::uint64_t at, const prefix_segment&) { for_each_in(at, visit); });
  }

  // All entries, each as often as it counts; see prefix_segment::entries().
  std::uint64_t entries() const {
    std::uint64_t all = 0;
    segments_.for_each([&](std::uint64_t, const prefix_segment& s) { all = saturating_add(all, s.entries()); });
    return all;
  }

  // The share of all digests that match an entry.
  double accepted() const {
    double sum = 0;
    segments_.for_each([&](std::uint64_t at, const prefix_segment& segment) {
      const stream_prefix all = prefix_of(at);
      stream_prefix last{~std::uint64_t{0}, 0, 0};  // no later prefix begins like this one
      double share = 0;
      for_each_in(at, [&](const stream_prefix& p, std::uint64_t) {
        if (last.root == p.root && last.length <= p.length && last.matches(p.bits)) return;
        last = p;
        share += std::ldexp(1.0, -static_cast<int>(std::max(p.length, segment.depth())));
      });
      sum += places_.share(all.root) * share;
    });
    return sum;
  }

  friend bool operator==(const segment_trie&, const segment_trie&) = default;
  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.places_, self.segment_bits_, self.segments_);
    if constexpr (!std::is_const_v<Self>) self.segments_.set_even(!self.places_.is_flat());
  }
  status validate() const {
    if (segment_bits_ > prefix_segment::most_cell_bits) return failure{"its segments are too large"};
    if (segment_bits_ < least_segment_bits) return failure{"its segments are too small"};
    if (places_.roots() != segments_.roots()) return failure{"its segments belong to another number of roots"};
    if (std::bit_width(segments_.roots()) + segments_.depth() + segment_bits_ >= 63)
      return failure{"its directory is too deep"};
    status sound;
    segments_.for_each([&](std::uint64_t, const prefix_segment& segment) {
      if (segment.cell_bits() > segment_bits_ || (segment.depth() != 0 && segment.cell_bits() != segment_bits_)) {
        sound = failure{"a segment has " + std::to_string(segment.cells()) + " cells, not 2^" + std::to_string(segment_bits_)};
      }
    });
    return sound;
  }

 private:
  TAMIS_INLINE address address_of(const probe& p) const {
    return {segments_.at_of(p.place), p.view->cell_of(p.place), p.view->following(p.place, p.beyond)};
  }
  stream_prefix prefix(std::uint64_t at, std::uint64_t number, unsigned length) const {
    return {at >> segments_.depth(), length == 0 ? 0 : static_cast<uint128>(number) << (128 - length), length};
  }

  stream_places places_;
  std::uint32_t segment_bits_ = 0;
  segment_directory segments_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
