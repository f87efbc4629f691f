#pragma once

// The segments of a filter, found by the first bits of a stream, as in extendible hashing (Fagin, Nievergelt, Pippenger,
// Strong, TODS 1979). There is a tree per root; a segment of depth k stands at 2^(D-k) neighbouring places of its root's 2^D.
//
//   D = 2    | 00 | 01 | 10 | 11 |        a split of the segment of depth 1 takes one place of its two for each half; only a
//              s1   s2   s3 ── s3         segment of depth D needs more places than there are: the directory doubles

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tamis/table/prefix_segment.hpp"

namespace tamis::inline TAMIS_LEVEL {

// What a lookup reads of a segment, so that it hardly ever touches the segment itself. A lookup comes with a place as fine as a
// word can hold: the root, then `fine_bits` bits of the stream, of which cell and payload are cut out.
struct segment_view {
  const std::uint8_t* headers = nullptr;
  const std::uint8_t* slots = nullptr;   // the first eight bits of each; none: lookups have to ask the segment
  const std::uint32_t* marks = nullptr;  // what elders cover; none: no elders
  std::uint16_t last_block = 0;
  std::uint8_t cell_shift = 0;     // bits of a fine place behind the cell
  std::uint8_t byte_shift = 0;     // bits of it behind the first eight of the payload
  std::uint8_t payload_shift = 0;  // bits of it behind the first `width` of the payload
  std::uint8_t cell_bits = 0;
  std::uint8_t width = 0;
  const std::byte* rests = nullptr;  // the other bits
  prefix_segment* segment = nullptr;

  static segment_view of(prefix_segment& s, unsigned fine_bits) {
    assert(s.place_bits() < fine_bits);
    const unsigned behind = fine_bits - s.place_bits();
    const unsigned width = s.table().width();
    // Slots of eight bits or more, of which the fine place has all, and whole blocks of cells.
    const bool plain = 8 <= width && width <= behind && s.cell_bits() >= 6;
    return {s.table().header_bytes(),
            plain ? s.table().values().low_bytes() : nullptr,
            s.marks(),
            static_cast<std::uint16_t>((s.cells() - 1) / 64),
            static_cast<std::uint8_t>(behind),
            static_cast<std::uint8_t>(behind - std::min(behind, 8u)),
            static_cast<std::uint8_t>(behind - std::min(behind, width)),
            static_cast<std::uint8_t>(s.cell_bits()),
            static_cast<std::uint8_t>(width),
            s.table().values().rest_bytes(),
            &s};
  }
  friend bool operator==(const segment_view&, const segment_view&) = default;

  bool is_plain() const { return slots != nullptr && width >= 9 && marks == nullptr && segment->is_plain(); }

  TAMIS_INLINE std::uint64_t cell_of(std::uint64_t place) const { return place >> cell_shift & low_mask(cell_bits); }
  TAMIS_INLINE std::uint64_t block_of(std::uint64_t place) const { return place >> cell_shift >> 6 & last_block; }
  // The 64 bits of the stream behind the cell; `beyond`: those behind the fine place.
  TAMIS_INLINE std::uint64_t following(std::uint64_t place, std::uint64_t beyond) const {
    return place << (64 - cell_shift) | beyond >> cell_shift;
  }

  // Runs of a block's last cells often leave it.
  static constexpr unsigned run_margin = 8;
  TAMIS_INLINE void prefetch(std::uint64_t place) const {
    const std::uint64_t block = block_of(place);
    prefix_headers::prefetch(headers, block);
    if (slots != nullptr) {
      prefetch_read(slots + block * 64);
      prefetch_read(slots + cell_of(place) + run_margin);
    }
    if (marks != nullptr) prefetch_read(marks + block);
    prefetch_rests(place);
  }
  // The bits of slots beyond the ninth, if they have such, around the cell's own slot: a match reads them, and would wait for
  // them alone if they were asked for when it is found.
  TAMIS_INLINE void prefetch_rests(std::uint64_t place) const {
    if (width > 9) prefetch_read(rests + (cell_of(place) + run_margin / 2) * (width - 9u) / 8);
  }
  // What plain_contains() reads.
  TAMIS_INLINE void prefetch_plain(std::uint64_t place) const {
    const std::uint64_t cell = place >> cell_shift;
    const std::uint64_t block = cell >> 6 & last_block;
    const std::uint8_t* const header = headers + block * prefix_headers::bytes_each;
    const std::uint8_t* const here = slots + block * 64;
    prefetch_read(header);
    prefetch_read(header + prefix_headers::runs_bytes - 1);
    prefetch_read(here);
    prefetch_read(here + cell % 64 + run_margin);
    prefetch_rests(place);
  }
  // What a change touches besides: slots up to the next free one move.
  TAMIS_INLINE void prefetch_update(std::uint64_t place) const {
    prefetch(place);
    if (slots != nullptr) prefetch_read(slots + (block_of(place) + 1) * 64);
    prefetch_read(segment);
    if (rests != nullptr) prefetch_read(rests + block_of(place) * 8 * (width < 9u ? width : width - 9u));
  }
  // The same as contains(), where all entries are as they came: bytes are compared for equality, and nothing behind the fine
  // place counts.  Requires: is_plain().
  TAMIS_INLINE bool plain_contains(std::uint64_t place) const {
    constexpr std::uint64_t beyond = 0;
    const std::uint64_t fine = place >> byte_shift;  // the cell and eight bits behind it
    const std::uint64_t block = fine >> 14 & last_block;
    const auto run = prefix_table::find_in_block(prefix_headers::read(headers, block), fine >> 8 & 63);
    const std::uint64_t near = equal_bytes(slots + block * 64, static_cast<std::uint8_t>(fine)) & run.slots;
    if (near != 0) return width == 9 || others_contain(place, beyond, near, run.leaves());
    return run.leaves() && next_contains(place, beyond);
  }
  // `beyond()` is asked for the 64 bits behind the fine place, and hardly ever.
  template <class Beyond>
  TAMIS_INLINE bool contains(std::uint64_t place, Beyond beyond) const {
    if (slots == nullptr) return contains_slowly(place, beyond());
    prefetch_rests(place);
    const std::uint64_t fine = place >> byte_shift;
    const auto first_bits = static_cast<std::uint8_t>(fine);
    const std::uint64_t block = fine >> 14 & last_block;
    const std::uint8_t* const header = headers + block * prefix_headers::bytes_each;
    const std::uint8_t* const here = slots + block * 64;
    const auto run = prefix_table::find_in_block(prefix_headers::read(header, 0), fine >> 8 & 63);
    const std::uint64_t near = agree_above_last_one(here, first_bits) & run.slots;
    if (near == 0) {
      if (run.leaves()) return next_contains(place, beyond());
      return marks != nullptr && prefix_segment::is_covered(marks, block, fine >> 8);
    }
    if (width == 9) {
      // Nearly always the first candidate is the match: it has a ninth bit and the query's eight, or none and no other bits
      // that count. Which of the two is anybody's guess where half of the entries have lost bits, so there is no branch on it.
      const auto i = static_cast<unsigned>(std::countr_zero(near));
      const std::uint64_t top = prefix_headers::read_tops(header, 0) >> i & 1;
      if (here[i] != 0 && ((here[i] ^ first_bits) & (~top + 1)) == 0) return true;
    }
    return others_contain(place, beyond(), near, run.leaves());
  }
  // Goes through candidates in the order of the slots, then behind the block and among the elders.
  // Requires: all escapes of the run in its block are candidates.
  TAMIS_NOINLINE bool others_contain(std::uint64_t place, std::uint64_t beyond, std::uint64_t near, bool leaves) const {
    for (; near != 0; near &= near - 1) {
      const std::uint64_t slot = slot_at(block_of(place) * 64 + static_cast<unsigned>(std::countr_zero(near)));
      if (slot == entry_code::escape) return contains_slowly(place, beyond);
      if (entry_code::slot_matches(slot, payload_of(place))) return true;
    }
    return leaves ? next_contains(place, beyond) : is_covered(cell_of(place));
  }
  // The part of a run that lies in the block behind its own, which one in twenty lookups needs: no more is read than there.
  // Requires: the run leaves its block, and has neither a match nor an escape in it.
  TAMIS_NOINLINE bool next_contains(std::uint64_t place, std::uint64_t beyond) const {
    const std::uint64_t cell = cell_of(place);
    const std::uint64_t next = cell / 64 + 1;
    const auto behind = prefix_table::find_behind(prefix_headers::read(headers, cell / 64),
                                                  prefix_headers::read(headers, next).runends, cell % 64);
    if (!behind.known) return contains_slowly(place, beyond);
    const auto first_bits = static_cast<std::uint8_t>(place >> byte_shift);
    const std::uint64_t near = agree_above_last_one(slots + next * 64, first_bits) & behind.slots;
    for (std::uint64_t left = near; left != 0; left &= left - 1) {
      const std::uint64_t slot = slot_at(next * 64 + static_cast<unsigned>(std::countr_zero(left)));
      if (slot == entry_code::escape) return contains_slowly(place, beyond);
      if (entry_code::slot_matches(slot, payload_of(place))) return true;
    }
    return is_covered(cell);
  }
  TAMIS_NOINLINE bool contains_slowly(std::uint64_t place, std::uint64_t beyond) const {
    return segment->contains(cell_of(place), following(place, beyond));
  }
  bool is_covered(std::uint64_t cell) const { return marks != nullptr && prefix_segment::is_covered(marks, cell / 64, cell); }
  // The first `width` bits of it.
  TAMIS_INLINE std::uint64_t payload_of(std::uint64_t place) const { return place >> payload_shift & low_mask(width); }
  TAMIS_INLINE std::uint64_t slot_at(std::uint64_t i) const {
    if (width == 8) return slots[i];
    const std::uint64_t top = prefix_headers::read_tops(headers, i / 64) >> (i % 64) & 1;
    if (width == 9) return static_cast<std::uint64_t>(slots[i]) << 1 | top;
    return entry_code(width).from_stored(top << (width - 1) | slot_values::rest_at(rests, i, width - 1u) << 8 | slots[i]);
  }
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
    owned_.reserve(other.owned_.size());
    other.for_each([this, &other](std::uint64_t at, const prefix_segment& segment) {
      owned_.push_back(std::make_unique<prefix_segment>(segment));
      places_.insert(places_.end(), other.places_of(at), view_of(*owned_.back()));
    });
  }
  segment_directory& operator=(const segment_directory& other) {
    if (this != &other) *this = segment_directory(other);
    return *this;
  }
  ~segment_directory() = default;

  // One segment per root.
  static segment_directory of_roots(std::vector<prefix_segment> segments) {
    segment_directory made;
    made.set_roots(segments.size());
    made.owned_.reserve(segments.size());
    made.places_.reserve(segments.size());
    for (prefix_segment& segment : segments) {
      made.owned_.push_back(std::make_unique<prefix_segment>(std::move(segment)));
      made.places_.push_back(made.view_of(*made.owned_.back()));
    }
    return made;
  }

  std::uint64_t roots() const { return roots_; }
  unsigned depth() const { return depth_; }
  std::uint64_t segments() const { return owned_.size(); }
  std::uint64_t size() const { return places_.size(); }
  std::uint64_t bits() const { return 8 * (places_.size() * sizeof(segment_view) + owned_.size() * sizeof(void*)); }

  // A fine place is the root and then so many bits of the stream: as many as there is room for below 2^63.
  TAMIS_INLINE unsigned fine_bits() const { return fine_bits_; }
  TAMIS_INLINE std::uint64_t fine_places() const { return fine_places_; }

  TAMIS_INLINE prefix_segment& operator[](std::uint64_t at) { return *places_[at].segment; }
  TAMIS_INLINE const prefix_segment& operator[](std::uint64_t at) const { return *places_[at].segment; }
  TAMIS_INLINE const segment_view& view(std::uint64_t at) const { return places_[at]; }
  // Are all views plain?
  TAMIS_INLINE bool all_plain() const { return all_plain_; }
  // After entries of any kind went into a segment.
  TAMIS_INLINE void note_entries(const prefix_segment& segment) { all_plain_ = all_plain_ && segment.is_plain(); }
  TAMIS_INLINE std::uint64_t at_of(std::uint64_t fine_place) const { return fine_place >> at_shift_; }
  // After a segment has got other memory, or its first elder.
  void refresh(std::uint64_t at) {
    const auto first = places_.begin() + static_cast<std::ptrdiff_t>(first_place(at));
    std::fill_n(first, places_of(at), view_of(*places_[at].segment));
  }

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
    auto upper = std::make_unique<prefix_segment>(std::move(halves.second));
    if (places_[at].segment->depth() == depth_) {
      double_places();
      at *= 2;
    }
    owned_.push_back(std::move(upper));  // nothing throws from here on
    const std::uint64_t first = first_place(at);
    const std::uint64_t half = places_of(at) / 2;
    *places_[at].segment = std::move(halves.first);
    std::fill_n(places_.begin() + static_cast<std::ptrdiff_t>(first), half, view_of(*places_[at].segment));
    std::fill_n(places_.begin() + static_cast<std::ptrdiff_t>(first + half), half, view_of(*owned_.back()));
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
    std::fill_n(places_.begin() + static_cast<std::ptrdiff_t>(first_place(high)), places_of(high), places_[low]);
    *places_[low].segment = std::move(whole);
    refresh(low);
    std::erase_if(owned_, [gone](const auto& owned) { return owned.get() == gone; });
  }
  bool may_join() const { return size() <= (segments() - 1) << most_extra_depth; }
  // Halves the directory while no segment needs its depth.
  void shrink() {
    while (depth_ != 0 && std::none_of(owned_.begin(), owned_.end(), [this](const auto& s) { return s->depth() == depth_; })) {
      for (std::uint64_t i = 0; 2 * i < places_.size(); ++i) places_[i] = places_[2 * i];
      places_.resize(places_.size() / 2);
      set_depth(depth_ - 1);
    }
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
        self.owned_.push_back(std::make_unique<prefix_segment>(stored_access::blank<prefix_segment>()));
        archive(*self.owned_.back());
      }
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
  segment_view view_of(prefix_segment& segment) {
    const segment_view view = segment_view::of(segment, fine_bits());
    all_plain_ = all_plain_ && view.is_plain();
    return view;
  }

  void swap(segment_directory& other) noexcept {
    std::swap(roots_, other.roots_);
    std::swap(depth_, other.depth_);
    std::swap(fine_bits_, other.fine_bits_);
    std::swap(fine_places_, other.fine_places_);
    std::swap(at_shift_, other.at_shift_);
    owned_.swap(other.owned_);
    places_.swap(other.places_);
    std::swap(all_plain_, other.all_plain_);
  }

  void double_places() {
    std::vector<segment_view> more;
    more.reserve(2 * places_.size());
    for (const segment_view& view : places_) more.insert(more.end(), 2, view);
    places_.swap(more);
    set_depth(depth_ + 1);
  }

  // Where segments that lie in order stand. False if their depths do not make whole trees.
  bool place_all() {
    depth_ = 0;
    all_plain_ = true;
    for (const auto& segment : owned_) depth_ = std::max(depth_, segment->depth());
    set_roots(roots_);
    places_.clear();
    if (roots_ == 0 || roots_ > owned_.size() || roots_ > most_places >> depth_) return false;
    // A tree of depth D has more than D segments, so that its directory is not much larger than what was read.
    if (roots_ << depth_ > owned_.size() << most_extra_depth) return false;
    for (const auto& segment : owned_) {
      const std::uint64_t places = std::uint64_t{1} << (depth_ - segment->depth());
      if (segment->place_bits() >= fine_bits() || places_.size() % places != 0 || places_.size() + places > roots_ << depth_)
        return false;
      places_.insert(places_.end(), places, view_of(*segment));
    }
    return places_.size() == roots_ << depth_;
  }

 public:
  status validate() const {
    for (const segment_view& view : places_) {
      if (!(segment_view::of(*view.segment, fine_bits()) == view) || (all_plain_ && !view.is_plain()))
        return error{"the directory has an old view of a segment"};
    }
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
  std::vector<std::unique_ptr<prefix_segment>> owned_;
  std::vector<segment_view> places_;
  bool all_plain_ = true;  // false also if they were not, once
};

}  // namespace tamis::inline TAMIS_LEVEL
