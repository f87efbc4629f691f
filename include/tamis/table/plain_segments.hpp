#pragma once

// Lookups where all segments (table/prefix_segment.hpp) are plain and of one shape, as in a filter that was made for its size
// and has not changed an entry yet. What else a view of a segment says (table/segment_view.hpp) is then the same for all: of
// each only the two addresses are kept, and a lookup is one header and a comparison of 64 bytes.
//
//   fine place   | which segment | block | slot in it | eight bits | the rest |

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tamis/table/segment_view.hpp"

namespace tamis::inline TAMIS_LEVEL {

class plain_segments {
 public:
  // Of one shape with those that are here?
  bool may_have(const segment_view& view) const {
    return view.is_plain() && (columns_.empty() || (view.byte_shift == byte_shift_ && view.last_block == last_block_ &&
                                                    view.width == width_ && view.cell_shift == cell_shift_));
  }
  // `count` places more, or instead of those that are there.  Requires: may_have(view).
  void append(std::uint64_t count, const segment_view& view) {
    byte_shift_ = view.byte_shift, cell_shift_ = view.cell_shift, last_block_ = view.last_block, width_ = view.width;
    columns_.insert(columns_.end(), count, {view.headers, view.slots});
  }
  void assign(std::uint64_t first, std::uint64_t count, const segment_view& view) {
    std::fill_n(columns_.begin() + static_cast<std::ptrdiff_t>(first), count, columns{view.headers, view.slots});
  }
  void clear() { columns_ = {}; }
  std::uint64_t size() const { return columns_.size(); }
  bool has(std::uint64_t at, const segment_view& view) const {
    return at < size() && columns_[at].headers == view.headers && columns_[at].slots == view.slots;
  }
  std::uint64_t bits() const { return columns_.size() * sizeof(columns) * 8; }
  // Have slots bits beside the byte that is compared?
  TAMIS_INLINE bool has_rests() const { return width_ > 9; }

  struct probe {
    std::uint64_t place;  // fine
    const std::uint8_t* header;
    const std::uint8_t* slots;  // of the block
  };
  // Of the segment at place `at` of the directory.
  TAMIS_INLINE probe locate(std::uint64_t at, std::uint64_t place) const {
    const columns& here = columns_[at];
    const std::uint64_t block = place >> cell_shift_ >> 6 & last_block_;
    return {place, here.headers + block * prefix_headers::runs_bytes, here.slots + block * 64};
  }
  TAMIS_INLINE void prefetch(const probe& p) const {
    prefetch_read(p.header);
    prefetch_read(p.header + prefix_headers::runs_bytes - 1);
    prefetch_read(p.slots);
    prefetch_behind(p);
  }
  // The slots behind the cell's own: runs of a block's last cells often leave it.
  TAMIS_INLINE void prefetch_behind(const probe& p) const { prefetch_read(p.slots + in_block(p) + segment_view::run_margin); }

  // `view` is that of the segment, for what is rare.  Requires: HasRests is has_rests().
  template <bool HasRests, class View>
  TAMIS_INLINE bool contains(const probe& p, View view) const {
    const auto run = prefix_table::find_in_block(prefix_headers::read(p.header), in_block(p));
    const std::uint64_t near = equal_bytes(p.slots, static_cast<std::uint8_t>(p.place >> byte_shift_)) & run.slots;
    if (near == 0) return run.leaves() && view().plain_contains_behind(p.place);
    return !HasRests || view().plain_contains_one(p.place, near, run.leaves());
  }

 private:
  struct columns {
    const std::uint8_t* headers;
    const std::uint8_t* slots;
  };
  TAMIS_INLINE std::uint64_t in_block(const probe& p) const { return p.place >> cell_shift_ & 63; }

  std::vector<columns> columns_;  // at every place of the directory
  std::uint64_t last_block_ = 0;
  std::uint8_t cell_shift_ = 0;  // as in a view
  std::uint8_t byte_shift_ = 0;
  std::uint8_t width_ = 0;
};

}  // namespace tamis::inline TAMIS_LEVEL
