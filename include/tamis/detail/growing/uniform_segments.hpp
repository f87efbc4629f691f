#pragma once

// Lookups where all segments (detail/growing/prefix_segment.hpp) are plain and of one shape, as in a filter that was made for
// its size and has not changed an entry yet. What else a view of a segment says (detail/growing/segment_view.hpp) is then the
// same for all: of each only the two addresses are kept, and a lookup is one header and a comparison of 64 bytes. Blocks are
// counted through all segments: an address is that of block 0, if all blocks stood one behind the other as those of the segment
// do.
//
//   fine place   | which segment | block of it | slot in it | eight bits | the rest |
//                └────── block of all ───────┘

#include <cstdint>

#include "tamis/detail/base/table_list.hpp"
#include "tamis/detail/growing/segment_view.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

class uniform_segments {
 public:
  // Of one shape with those that are here?
  bool may_have(const segment_view& view) const {
    return view.is_plain() &&
           (columns_.empty() || (view.cell_shift == cell_shift_ && view.last_block == last_block_ && view.width == width_));
  }
  // One more, or instead of the one at a place. They all have one place: none is deeper than another.
  // Requires: may_have(view).
  void append(const segment_view& view) {
    byte_shift_ = view.byte_shift, cell_shift_ = view.cell_shift, last_block_ = view.last_block, width_ = view.width;
    columns_.push_back(columns_of(size(), view));
  }
  void assign(std::uint64_t at, const segment_view& view) { columns_[at] = columns_of(at, view); }
  void reserve(std::uint64_t segments) { columns_.reserve(segments); }
  void clear() noexcept { table_list<columns>().swap(columns_); }
  std::uint64_t size() const { return columns_.size(); }
  bool has(std::uint64_t at, const segment_view& view) const { return at < size() && columns_[at] == columns_of(at, view); }
  std::uint64_t bits() const { return columns_.capacity() * sizeof(columns) * 8; }
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
    const std::uint64_t block = place >> cell_shift_ >> 6;
    return {place, reinterpret_cast<const std::uint8_t*>(here.headers + block * prefix_headers::runs_bytes),
            reinterpret_cast<const std::uint8_t*>(here.slots + block * 64)};
  }
  TAMIS_INLINE void prefetch(const probe& p) const {
    prefetch_read(p.slots);
    prefetch_read(p.header);
    prefetch_behind(p);
    prefetch_read(p.header + prefix_headers::runs_bytes - 1);
  }
  // The slots behind the cell's own: runs of a block's last cells often leave it.
  TAMIS_INLINE void prefetch_behind(const probe& p) const { prefetch_read(p.slots + in_block(p) + segment_view::run_margin); }

  // `view` is that of the segment, for what is rare.  Requires: HasRests is has_rests().
  template <bool HasRests, class View>
  TAMIS_INLINE bool contains(const probe& p, View view) const {
    const auto run = prefix_table::find_in_block(prefix_headers::read(p.header), in_block(p));
    const auto byte = static_cast<std::uint8_t>(p.place >> byte_shift_);
    const std::uint64_t near = equal_bytes(p.slots, byte) & run.slots;
    if (near != 0) return !HasRests || view().plain_contains_one(p.place, near, run.leaves());
    if (!run.leaves()) return false;
    if constexpr (!HasRests) {
      const segment_view::answer found = contains_behind(p.header, p.slots, in_block(p), byte);
      if (found != segment_view::answer::unsure) return found == segment_view::answer::yes;
    }
    return view().plain_contains_behind(p.place);
  }

 private:
  struct columns {
    std::uintptr_t headers;  // of block 0
    std::uintptr_t slots;
    friend bool operator==(const columns&, const columns&) = default;
  };
  columns columns_of(std::uint64_t at, const segment_view& view) const {
    const std::uint64_t first = at * (last_block_ + 1);
    return {reinterpret_cast<std::uintptr_t>(view.headers) - first * prefix_headers::runs_bytes,
            reinterpret_cast<std::uintptr_t>(view.slots) - first * 64};
  }
  // In the block behind, without the segment's view: that would be one more line of memory, which nobody has asked for.
  // Requires: slots have no rests.
  TAMIS_NOINLINE static segment_view::answer contains_behind(const std::uint8_t* header, const std::uint8_t* slots,
                                                             std::uint64_t in_block, std::uint8_t byte) {
    const block_header next = prefix_headers::read(header + prefix_headers::runs_bytes);
    const auto behind = prefix_table::find_behind(prefix_headers::read(header), next.runends, in_block);
    if (!behind.known) return segment_view::answer::unsure;
    return segment_view::answer_of((equal_bytes(slots + 64, byte) & behind.slots) != 0);
  }
  TAMIS_INLINE std::uint64_t in_block(const probe& p) const { return p.place >> cell_shift_ & 63; }

  table_list<columns> columns_;   // at every place of the directory
  std::uint64_t last_block_ = 0;  // of a segment
  std::uint8_t cell_shift_ = 0;   // as in a view
  std::uint8_t byte_shift_ = 0;
  std::uint8_t width_ = 0;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
