#pragma once

// The segments of a filter, found by the first bits of a stream, as in extendible hashing (Fagin, Nievergelt, Pippenger,
// Strong, TODS 1979). There is a tree per root; a segment of depth k stands at 2^(D-k) neighbouring places of its root's 2^D.
//
//   D = 2    | 00 | 01 | 10 | 11 |        a split of the segment of depth 1 takes one place of its two for each half; only a
//              s1   s2   s3 ── s3         segment of depth D needs more places than there are: the directory doubles

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>
#include <vector>

#include "tamis/detail/base/table_list.hpp"
#include "tamis/detail/growing/nine_bit_lookup.hpp"
#include "tamis/detail/growing/uniform_segments.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// How lookups may go, in all segments alike.
enum class lookup_way : std::uint8_t {
  plain,      // all segments are plain, and of one shape
  nine_bits,  // all have whole slots of nine bits
  near,       // the first bytes of all slots are at hand
  any
};

class segment_directory {
 public:
  segment_directory() = default;
  segment_directory(segment_directory&& other) noexcept { swap(other); }
  segment_directory& operator=(segment_directory&& other) noexcept {
    swap(other);
    return *this;
  }
  segment_directory(const segment_directory& other) : depth_(other.depth_) {
    set_roots(other.roots_);
    set_even(other.even_);
    raise_way(other.way_);
    owned_.reserve(other.owned_.size());
    places_.reserve(other.places_.size());
    if (way_ == lookup_way::plain) plain_.reserve(other.places_.size());
    other.for_each([this, &other](std::uint64_t at, const prefix_segment& segment) {
      owned_.push_back(make_table_ptr(prefix_segment(segment)));
      append(other.places_of(at), *owned_.back());
    });
  }
  segment_directory& operator=(const segment_directory& other) {
    if (this != &other) *this = segment_directory(other);
    return *this;
  }
  ~segment_directory() = default;

  // One segment per root.
  static segment_directory of_roots(table_list<prefix_segment> segments) {
    segment_directory made;
    made.set_roots(segments.size());
    made.owned_.reserve(segments.size());
    made.places_.reserve(segments.size());
    made.plain_.reserve(segments.size());
    for (prefix_segment& segment : segments) {
      made.owned_.push_back(make_table_ptr(std::move(segment)));
      made.append(1, *made.owned_.back());
    }
    return made;
  }

  std::uint64_t roots() const { return roots_; }
  unsigned depth() const { return depth_; }
  std::uint64_t segments() const { return owned_.size(); }
  std::uint64_t size() const { return places_.size(); }
  std::uint64_t bits() const {
    return 8 * (places_.capacity() * sizeof(segment_view) + owned_.capacity() * sizeof owned_[0]) + plain_.bits();
  }

  // A fine place is the root and then so many bits of the stream: as many as there is room for below 2^63.
  TAMIS_INLINE unsigned fine_bits() const { return fine_bits_; }
  TAMIS_INLINE std::uint64_t fine_places() const { return fine_places_; }

  TAMIS_INLINE prefix_segment& operator[](std::uint64_t at) { return *places_[at].segment; }
  TAMIS_INLINE const prefix_segment& operator[](std::uint64_t at) const { return *places_[at].segment; }
  TAMIS_INLINE const segment_view& view(std::uint64_t at) const { return places_[at]; }
  TAMIS_INLINE const uniform_segments& plain() const { return plain_; }  // if that is the way
  lookup_way way() const { return way_; }
  // The same for who comes with a digest: `any` unless a fine place is the product of the digest's first word. Here only it may
  // be `nine_bits`, which ends and comes again as segments change: way() only goes up.
  TAMIS_INLINE lookup_way way_of_digests() const { return way_of_digests_; }
  void set_even(bool even) {
    even_ = even;
    raise_way(way_);
  }
  // After entries of any kind went into a segment.
  void note_entries(std::uint64_t at) {
    if (places_[at].headers != places_[at].segment->table().header_bytes()) refresh(at);
  }
  TAMIS_INLINE std::uint64_t at_of(std::uint64_t fine_place) const { return fine_place >> at_shift_; }
  // After a segment has got other memory, or coverings.
  void refresh(std::uint64_t at) { assign(first_place(at), places_of(at), view_of(*places_[at].segment)); }

  // How many neighbouring places a segment has, and the first of them.
  std::uint64_t places_of(std::uint64_t at) const { return std::uint64_t{1} << (depth_ - places_[at].segment->depth()); }
  std::uint64_t first_place(std::uint64_t at) const { return at & ~(places_of(at) - 1); }
  // The bits behind the root that all streams of the segment at this place begin with.
  std::uint64_t path(std::uint64_t at) const {
    return (at & ((std::uint64_t{1} << depth_) - 1)) >> (depth_ - places_[at].segment->depth());
  }

  // Calls visit(first place, segment) in the order of the streams.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::uint64_t at = 0; at < places_.size(); at += places_of(at)) visit(at, *places_[at].segment);
  }
  template <class Visit>
  void for_each(Visit visit) {
    for (std::uint64_t at = 0; at < places_.size(); at += places_of(at)) visit(at, *places_[at].segment);
  }

  void split(std::uint64_t at, std::pair<prefix_segment, prefix_segment> halves) {
    auto upper = make_table_ptr(std::move(halves.second));
    if (places_[at].segment->depth() == depth_) {
      double_places();
      at *= 2;
    }
    owned_.push_back(std::move(upper));  // nothing throws from here on
    const std::uint64_t first = first_place(at);
    const std::uint64_t half = places_of(at) / 2;
    *places_[at].segment = std::move(halves.first);
    assign(first, half, view_of(*places_[at].segment));
    assign(first + half, half, view_of(*owned_.back()));
  }

  // The place of the other half of the split that this segment comes from, if it is a segment of the same shape now.
  std::optional<std::uint64_t> buddy(std::uint64_t at) const {
    if (places_[at].segment->depth() == 0) return std::nullopt;
    const std::uint64_t other = first_place(at) ^ places_of(at);
    const bool same = places_[other].segment->depth() == places_[at].segment->depth() &&
                      places_[other].segment->cell_bits() == places_[at].segment->cell_bits();
    return same ? std::optional(other) : std::nullopt;
  }
  // Both halves become one segment.
  void join(std::uint64_t low, std::uint64_t high, prefix_segment whole) {
    const prefix_segment* gone = places_[high].segment;
    assign(first_place(high), places_of(high), places_[low]);
    *places_[low].segment = std::move(whole);
    refresh(low);
    std::erase_if(owned_, [gone](const auto& owned) { return owned.get() == gone; });
  }
  bool may_join() const { return size() <= (segments() - 1) << most_extra_depth; }
  // Halves the directory while no segment needs its depth.
  void shrink() {
    while (depth_ != 0 && std::none_of(owned_.begin(), owned_.end(), [this](const auto& s) { return s->depth() == depth_; })) {
      assert(way_ != lookup_way::plain);  // a plain directory is as deep as each of its segments
      for (std::uint64_t i = 0; 2 * i < places_.size(); ++i) places_[i] = places_[2 * i];
      places_.resize(places_.size() / 2);
      others_ /= 2;  // every segment has twice as many places as it needs
      set_depth(depth_ - 1);
    }
    places_.shrink_to_fit();
    owned_.shrink_to_fit();
  }

  friend bool operator==(const segment_directory& a, const segment_directory& b) {
    if (a.roots_ != b.roots_ || a.depth_ != b.depth_ || a.segments() != b.segments()) return false;
    for (std::uint64_t at = 0; at < a.size(); at += a.places_of(at)) {
      if (!(a[at] == b[at])) return false;
    }
    return true;
  }

  // The segments one behind the other; where they stand follows from their depths.
  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    std::uint64_t segments = self.segments();
    archive(self.roots_, segments);
    if constexpr (std::is_const_v<Self>) {
      self.for_each([&](std::uint64_t, const prefix_segment& segment) { archive(segment); });
    } else {
      self.owned_.clear();
      for (; segments != 0 && archive.ok(); --segments) {
        self.owned_.push_back(make_table_ptr(stored_access::blank<prefix_segment>()));
        archive(*self.owned_.back());
      }
      self.owned_.shrink_to_fit();
      if (archive.ok() && !self.place_all()) archive.fail("the segments do not cover the streams of all keys exactly");
    }
  }

 private:
  // More places than any directory of segments that hold at least a key per place would need.
  static constexpr std::uint64_t most_places = std::uint64_t{1} << 40;

  void set_roots(std::uint64_t roots) {
    roots_ = roots;
    fine_bits_ = 63 - std::min(63u, static_cast<unsigned>(std::bit_width(roots)));
    fine_places_ = roots << fine_bits_;
    set_depth(depth_);
  }
  void set_depth(unsigned depth) {
    depth_ = depth;
    at_shift_ = fine_bits_ - depth;
  }
  void raise_way(lookup_way way) {
    way_ = std::max(way_, way);
    if (way_ != lookup_way::plain) plain_.clear();
    way_of_digests_ = !even_ ? lookup_way::any : way_ == lookup_way::near && others_ == 0 ? lookup_way::nine_bits : way_;
  }
  // So many places have such a view now; or, the negative number, have had it.
  void count_others(std::uint64_t count, const segment_view& view) {
    others_ += view.has_nine_bits() ? 0 : count;
    raise_way(way_);
  }
  lookup_way way_of(const segment_view& view) const {
    return plain_.may_have(view) ? lookup_way::plain : view.is_near() ? lookup_way::near : lookup_way::any;
  }
  segment_view view_of(prefix_segment& segment) {
    const segment_view view = segment_view::of(segment, fine_bits());
    raise_way(way_of(view));
    return view;
  }
  // So many places for a segment: more, or instead of those that are there.
  void append(std::uint64_t count, prefix_segment& segment) {
    const segment_view view = view_of(segment);
    places_.insert(places_.end(), count, view);
    count_others(count, view);
    if (way_ == lookup_way::plain) plain_.append(view);
  }
  void assign(std::uint64_t first, std::uint64_t count, const segment_view& view) {
    count_others(-count, places_[first]);  // they all were one segment's
    std::fill_n(places_.begin() + static_cast<std::ptrdiff_t>(first), count, view);
    count_others(count, view);
    if (way_ == lookup_way::plain) plain_.assign(first, view);
  }

  void swap(segment_directory& other) noexcept {
    std::swap(roots_, other.roots_);
    std::swap(depth_, other.depth_);
    std::swap(fine_bits_, other.fine_bits_);
    std::swap(fine_places_, other.fine_places_);
    std::swap(at_shift_, other.at_shift_);
    owned_.swap(other.owned_);
    places_.swap(other.places_);
    std::swap(plain_, other.plain_);
    std::swap(others_, other.others_);
    std::swap(even_, other.even_);
    std::swap(way_, other.way_);
    std::swap(way_of_digests_, other.way_of_digests_);
  }

  void double_places() {
    table_list<segment_view> more;
    more.reserve(2 * places_.size());
    for (const segment_view& view : places_) more.insert(more.end(), 2, view);
    places_.swap(more);
    others_ *= 2;
    set_depth(depth_ + 1);
    raise_way(lookup_way::near);  // segments of different depths follow
  }

  // Where segments that lie in order stand. False if their depths do not make whole trees.
  bool place_all() {
    depth_ = 0;
    way_ = lookup_way::plain;
    plain_.clear();
    others_ = 0;
    for (const auto& segment : owned_) depth_ = std::max(depth_, segment->depth());
    set_roots(roots_);
    places_.clear();
    if (roots_ == 0 || roots_ > owned_.size() || roots_ > most_places >> depth_) return false;
    // A tree of depth D has more than D segments, so that its directory is not much larger than what was read.
    if (roots_ << depth_ > owned_.size() << most_extra_depth) return false;
    places_.reserve(roots_ << depth_);
    for (const auto& segment : owned_) {
      const std::uint64_t places = std::uint64_t{1} << (depth_ - segment->depth());
      if (segment->place_bits() >= fine_bits() || places_.size() % places != 0 || places_.size() + places > roots_ << depth_)
        return false;
      append(places, *segment);
    }
    return places_.size() == roots_ << depth_;
  }

 public:
  status validate() const {
    std::uint64_t others = 0;
    for (std::uint64_t at = 0; at < size(); ++at) {
      const segment_view& view = places_[at];
      if (!(segment_view::of(*view.segment, fine_bits()) == view) || way_ < way_of(view) ||
          (way_ == lookup_way::plain && !plain_.has(at, view))) {
        return failure{"the directory has an old view of a segment"};
      }
      others += view.has_nine_bits() ? 0 : 1;
    }
    if (others != others_) return failure{"the directory has counted its segments wrongly"};
    return {};
  }

  // How much deeper than in a balanced tree a segment may stand. Evenly spread keys need two or three levels; keys that share
  // long prefixes would need a directory of any size.
  static constexpr unsigned most_extra_depth = 8;
  bool may_split(std::uint64_t at) const {
    const unsigned depth = places_[at].segment->depth();
    if (depth < depth_) return true;
    return depth + 1 < prefix_segment::deepest && size() * 2 <= (segments() + 1) << most_extra_depth &&
           size() * 2 <= most_places;
  }

 private:
  std::uint64_t roots_ = 0;
  unsigned depth_ = 0;  // D
  unsigned fine_bits_ = 63;
  std::uint64_t fine_places_ = 0;  // all of them
  unsigned at_shift_ = 63;         // bits of a fine place behind the directory's
  table_list<table_ptr<prefix_segment>> owned_;
  table_list<segment_view> places_;
  uniform_segments plain_;    // empty unless that is the way
  std::uint64_t others_ = 0;  // places of segments without whole slots of nine bits
  bool even_ = true;          // see set_even()
  lookup_way way_of_digests_ = lookup_way::plain;
  lookup_way way_ = lookup_way::plain;  // of the worst segment, or of a worse one that was there once
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
