#pragma once

// The segments of a growing filter, and which of them a stream belongs to: a directory, as in extendible hashing, of 2^depth
// places per root. A segment whose path is shorter has several of them.
//
//   digest   | root | stream: path | quotient | x …          any number of roots; digest order is the order of segments

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/base/table_list.hpp"
#include "tamis/detail/growing/segment.hpp"
#include "tamis/detail/growing/stream_places.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

class segment_tree {
 public:
  segment_tree() = default;
  // Requires: a segment per root, in order, of depth 0.
  segment_tree(std::uint64_t roots, table_list<segment> segments)
      : places_(stream_places::even(roots)), segments_(std::move(segments)) {
    for (std::uint64_t i = 0; i < roots; ++i) directory_.push_back(static_cast<std::uint32_t>(i));
  }

  const stream_places& places() const { return places_; }
  const table_list<segment>& segments() const { return segments_; }
  segment& operator[](std::uint64_t segment) { return segments_[segment]; }
  const segment& operator[](std::uint64_t segment) const { return segments_[segment]; }
  std::uint64_t bits() const { return 8 * directory_.size() * sizeof(directory_[0]); }  // of the directory
  // A segment that came into being lately: most others have slots like it.
  std::uint64_t latest() const { return latest_; }

  TAMIS_INLINE std::uint64_t place_of(const word_placed& p) const { return p.place << depth_ | p.rest >> 1 >> (63 - depth_); }
  // Requires: p has as many bits as the directory is deep.
  std::uint64_t place_of(const stream_prefix& p) const {
    return p.root << depth_ | (depth_ == 0 ? 0 : static_cast<std::uint64_t>(p.bits >> (128 - depth_)));
  }
  unsigned depth() const { return depth_; }
  TAMIS_INLINE std::uint64_t segment_at(std::uint64_t place) const { return directory_[place]; }

  // The prefix that all streams of the segment at a place have.
  stream_prefix prefix_at(std::uint64_t place) const {
    const unsigned depth = segments_[directory_[place]].shape().depth;
    const std::uint64_t path = depth_ == 0 ? 0 : place << (64 - depth_);
    const std::uint64_t kept = depth == 0 ? 0 : path >> (64 - depth) << (64 - depth);
    return {place >> depth_, static_cast<uint128>(kept) << 64, depth};
  }

  // May the segment be cut in two? Keys that share long beginnings would make the directory grow without end.
  bool may_cut(std::uint64_t place) const {
    const segment_shape& shape = segments_[directory_[place]].shape();
    if (shape.depth < depth_) return true;
    return depth_ < 32 && 2 * directory_.size() <= places_each * (segments_.size() + 1);
  }
  // May the segment at a place and its buddy become one? The directory stays as deep as its deepest segment: it shall not
  // become too large for the segments that are left, or it could not be told from one that somebody made up.
  bool may_join(std::uint64_t place) const {
    if (directory_.size() <= 2 * places_each * (segments_.size() - 1)) return true;
    const auto deepest =
        std::count_if(segments_.begin(), segments_.end(), [&](const segment& s) { return s.shape().depth == depth_; });
    return segments_[directory_[place]].shape().depth == depth_ && deepest == 2;  // then it shrinks
  }
  // A segment takes a step (segment.hpp).
  bool step_up(segment& s) {
    const std::uint64_t before = s.bits();
    return s.step_up() && fill_hole(before);
  }
  bool step_down(segment& s) {
    const std::uint64_t before = s.bits();
    return s.step_down() && fill_hole(before);
  }
  // The segment at a place becomes what it has grown to: one segment of the same path, or two.
  void replace(std::uint64_t place, table_list<segment> grown) {
    const std::uint64_t before = segments_[directory_[place]].bits();
    put(place, grown);
    grown.clear();  // what was there
    fill_hole(before);
  }

  // The place of the other part of the path that the segment here was cut from, if it can be joined with it again.
  std::optional<std::uint64_t> buddy(std::uint64_t place) const {
    const segment_shape& shape = segments_[directory_[place]].shape();
    if (shape.depth == 0) return std::nullopt;
    const std::uint64_t each = std::uint64_t{1} << (depth_ - shape.depth);
    const std::uint64_t other = place / each * each ^ each;
    const segment_shape& others = segments_[directory_[other]].shape();
    return others.depth == shape.depth && others.quotient_bits == shape.quotient_bits ? std::optional(other) : std::nullopt;
  }
  // The segments at a place and at its buddy become one.  Requires: there is one.
  void join(std::uint64_t place, segment whole) {
    const unsigned joined_depth = whole.shape().depth;
    const std::uint64_t each = std::uint64_t{1} << (depth_ - joined_depth);
    const std::uint64_t first = place / each * each;
    const std::uint32_t kept = directory_[first];
    const std::uint32_t gone = directory_[first + each / 2];
    const auto last = static_cast<std::uint32_t>(segments_.size() - 1);
    const std::uint64_t before = segments_[gone].bits();
    segments_[kept] = std::move(whole);
    latest_ = 0;
    for (std::uint64_t i = first + each / 2; i < first + each; ++i) directory_[i] = kept;
    if (gone != last) {
      segments_[gone] = std::move(segments_[last]);
      std::replace(directory_.begin(), directory_.end(), last, gone);
    }
    segments_.pop_back();
    fill_hole(before);
    if (joined_depth + 1 == depth_) shrink();
  }

  // Calls visit(place, segment) for every segment, in the order of digests.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::uint64_t place = 0; place < directory_.size();) {
      const segment& s = segments_[directory_[place]];
      const std::uint64_t each = std::uint64_t{1} << (depth_ - s.shape().depth);
      visit(place, s);
      place += each;
    }
  }

  friend bool operator==(const segment_tree& a, const segment_tree& b) {
    if (a.places_ != b.places_ || a.segments_.size() != b.segments_.size() || a.depth_ != b.depth_) return false;
    bool equal = true;
    a.for_each([&](std::uint64_t place, const segment& s) { equal = equal && s == b.segments_[b.directory_[place]]; });
    return equal;
  }

  // Saved in the order of digests: the directory follows from that.
  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.places_);
    if constexpr (std::is_const_v<Self>) {
      archive(self.depth_, std::uint64_t{self.segments_.size()});
      self.for_each([&](std::uint64_t, const segment& s) { archive(s); });
    } else {
      std::uint64_t size = 0;
      archive(self.depth_, size);
      for (; size != 0 && archive.ok(); --size) archive(self.segments_.emplace_back());
      if (archive.ok() && !self.make_directory()) archive.fail("the segments of a filter do not cover it");
    }
  }
  status validate() const { return {}; }

 private:
  static constexpr std::uint64_t places_each = 256;  // of the directory, for a segment, at most where one is cut

  void put(std::uint64_t place, table_list<segment>& grown) {
    latest_ = directory_[place];
    if (grown.size() == 1) {
      segments_[latest_] = std::move(grown[0]);
      return;
    }
    assert(grown.size() == 2);
    if (segments_.size() == segments_.capacity())
      segments_.reserve(segments_.size() + segments_.size() / 4 + 4);  // memory first
    if (segments_[latest_].shape().depth == depth_) {
      table_list<std::uint32_t> doubled(2 * directory_.size());
      for (std::size_t i = 0; i < doubled.size(); ++i) doubled[i] = directory_[i / 2];
      directory_ = std::move(doubled);
      ++depth_;
      place *= 2;
    }
    const std::uint64_t each = std::uint64_t{1} << (depth_ - grown[1].shape().depth);  // places of a half
    const std::uint64_t first = place / (2 * each) * (2 * each);
    const auto added = static_cast<std::uint32_t>(segments_.size());
    segments_[latest_] = std::move(grown[0]);
    segments_.push_back(std::move(grown[1]));
    for (std::uint64_t i = first + each; i < first + 2 * each; ++i) directory_[i] = added;
  }

  // A table of so many bits has gone. Tables of a size stand side by side, the first at the highest address, and what is in
  // vain are pages of which others use a part (src/detail/base/slab.hpp). So the last one takes the place that has become free:
  // the last of those at which we look, which are others every time. Always true.
  bool fill_hole(std::uint64_t bits) noexcept {
    constexpr std::uint64_t most_seen = 32;
    segment* last = nullptr;
    for (std::uint64_t seen = 0; seen < std::min<std::uint64_t>(most_seen, segments_.size()); ++seen) {
      if (++seen_ >= segments_.size()) seen_ = 0;
      segment& s = segments_[seen_];
      if (s.bits() == bits && (last == nullptr || s.table().is_behind(last->table()))) last = &s;
    }
    if (last != nullptr) last->table().move_up();
    return true;
  }

  // The directory is as deep as its deepest segment.
  void shrink() {
    unsigned deepest = 0;
    for (const segment& s : segments_) deepest = std::max(deepest, s.shape().depth);
    const unsigned less = depth_ - deepest;
    for (std::size_t i = 0; i < directory_.size() >> less; ++i) directory_[i] = directory_[i << less];
    directory_.resize(directory_.size() >> less);
    depth_ = deepest;
  }
  bool make_directory() {
    if (is_wrong(depth_ > 40) || is_wrong(places_.is_flat()) || is_wrong(places_.roots() >> (40 - depth_) != 0)) return false;
    const std::uint64_t size = places_.roots() << depth_;
    // No directory becomes larger.
    if (is_wrong(segments_.empty()) || is_wrong(size / (2 * places_each) > segments_.size() + 1)) return false;
    directory_.reserve(size);
    for (std::uint32_t i = 0; i < segments_.size(); ++i) {
      const segment_shape& shape = segments_[i].shape();
      if (is_wrong(shape.depth > depth_)) return false;
      const std::uint64_t each = std::uint64_t{1} << (depth_ - shape.depth);
      if (is_wrong(directory_.size() % each != 0) || is_wrong(directory_.size() + each > size)) return false;
      directory_.insert(directory_.end(), each, i);
    }
    return !is_wrong(directory_.size() != size);
  }

  stream_places places_;
  std::uint32_t depth_ = 0;  // of the directory
  table_list<segment> segments_;
  table_list<std::uint32_t> directory_;
  std::uint32_t latest_ = 0;
  std::uint64_t seen_ = 0;  // by fill_hole()
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
