#pragma once

// A part of a growing filter: the keys whose streams begin with one prefix, in a table of 2^c quotients.
//
//   stream of a root   | path: depth bits | quotient: c bits | x: r bits | …
//
// A segment follows its keys in small steps of slots: no bit of any entry changes with them. At 64 slots in a block it is full,
// and grows: it gets twice the quotients, or is cut in two. Every entry then needs a bit that only its key knows, so all of
// them are renewed from the store, which has the keys in the order of the table: one scan of a range. Such a segment is
// *uniform*: its plain entries have r bits each. Where there is no store, entries give a bit to their quotients. The segment is
// *aged* from then on, and its slots say where their entries end, until a store renews it.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/growing/paired_table.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

enum class segment_growth_kind { none, doubled, cut };  // the same segment, one of twice the quotients, or two

// How many bits a plain entry can have, and in which format.
struct plain_bits {
  unsigned bits;
  slot_format format = slot_format::uniform;

  unsigned slot_width() const { return bits + (format == slot_format::aged); }
};

struct segment_shape {
  std::uint32_t depth = 0;          // bits of the path
  std::uint32_t quotient_bits = 6;  // c
  std::uint32_t width = 8;          // of a slot
  slot_format format = slot_format::uniform;

  static constexpr unsigned most_bits = 62;  // of place and slot: lookups take them from one word

  TAMIS_INLINE unsigned place_bits() const { return depth + quotient_bits; }
  std::uint64_t quotients() const { return std::uint64_t{1} << quotient_bits; }
  unsigned plain_length() const { return width - (format == slot_format::aged); }
  // Of what it becomes.
  segment_shape grown(segment_growth_kind kind, plain_bits to) const {
    return {depth + (kind == segment_growth_kind::cut), quotient_bits + (kind == segment_growth_kind::doubled), to.slot_width(),
            to.format};
  }
  // Slots behind the last home, whole blocks of them: memory then grows with S. At 0.95 what waits there is longer than 64
  // slots with probability 2e-3; the segment then takes a step early.
  std::uint64_t spare(unsigned slots) const { return std::uint64_t{quotient_bits >= 12 ? 2u : 1u} * slots; }

  friend bool operator==(const segment_shape&, const segment_shape&) = default;
};

class segment {
 public:
  static constexpr unsigned step = 4;           // slots in a block that a step adds
  static constexpr unsigned fewest_slots = 34;  // of a block: half of a full segment's keys, and a little more
  static constexpr unsigned fullest = 95;       // percent of the homes in use at which it takes a step
  static constexpr unsigned fullest_of_fixes = 97;
  static constexpr unsigned emptiest = 70;  // at which it gives slots back
  static constexpr unsigned least_quotient_bits = 6;

  segment() = default;
  // With room for so many slots in use.
  static result<segment> make(const segment_shape& shape, std::uint64_t used) {
    const unsigned slots = slots_for(shape, used);
    TAMIS_TRY(paired_table table,
              paired_table::make(shape.quotients(), shape.spare(slots), spacing(slots), shape.width, shape.format));
    return segment(shape, std::move(table));
  }
  segment(const segment_shape& shape, paired_table table) : shape_(shape), table_(std::move(table)) {}
  // With these runs, and as few slots as they and one more need.
  static result<segment> laid_out(const segment_shape& shape, const dense_runs& runs, const entry_counts& counts) {
    unsigned slots = slots_for(shape, runs.size());
    auto table = paired_table::laid_out(runs, shape.spare(slots), spacing(slots), shape.format, counts);
    while (!table && slots < spacing::most) {  // no room for the runs at its end
      slots = slots_after(slots);
      table = paired_table::laid_out(runs, shape.spare(slots), spacing(slots), shape.format, counts);
    }
    if (!table)  // as long as a run can be
      table = paired_table::laid_out(runs, shape.quotients(), spacing(slots), shape.format, counts);
    if (!table) return std::move(table).take_failure();
    return segment(shape, *std::move(table));
  }

  const segment_shape& shape() const { return shape_; }
  const paired_table& table() const { return table_; }
  paired_table& table() { return table_; }
  std::uint64_t bits() const { return table_.table().bits() + 8 * sizeof(*this); }

  // The share of all streams of a root that the entries here accept.
  double accepted() const {
    const pair_code c = table_.code();
    const auto place = static_cast<int>(shape_.place_bits());
    return std::ldexp(static_cast<double>(table_.plain_weight()), -place - static_cast<int>(c.length(0))) +
           std::ldexp(static_cast<double>(table_.lengthened()), -place - static_cast<int>(c.length(1)));
  }

  // Of a root's stream.
  TAMIS_INLINE std::uint64_t quotient_of(uint128 stream) const {
    return static_cast<std::uint64_t>(stream << shape_.depth >> (128 - shape_.quotient_bits));
  }
  TAMIS_INLINE uint128 behind_place(uint128 stream) const { return stream << shape_.place_bits(); }

  // So many percent of the homes.
  TAMIS_INLINE std::uint64_t limit(unsigned percent = fullest) const {
    return limit_of(shape_, table_.table().slots_per_block(), percent);
  }
  std::uint64_t limit_of_all_slots() const { return limit_of(shape_, spacing::most, fullest); }
  TAMIS_INLINE bool is_full() const { return table_.table().used() >= limit(); }

  // The slots of a block after a step, 64 at last.
  static constexpr unsigned slots_after(unsigned slots) { return slots + step >= 62 ? spacing::most : slots + step; }
  // More slots, in a copy. False, and nothing has changed, if there are no more.
  bool step_up() { return may_step_up() && take_slots(slots_after(table_.table().slots_per_block())); }
  bool may_step_up() const { return table_.table().slots_per_block() < spacing::most; }
  // Room for `more` slots behind the last home, if so many homes are free. False, and nothing has changed, if they are not.
  bool make_end_room(std::uint64_t more) { return table_.make_end_room(more); }
  // Fewer slots, if much less than all are in use: so that it does not step up and down with every key.
  bool step_down() {
    const std::uint64_t used = table_.table().used();
    if (used >= limit(emptiest)) return false;
    const unsigned slots = slots_for(shape_, used + used / 8);
    return slots < table_.table().slots_per_block() && take_slots(slots);
  }
  // The fewest slots of a block for so many in use.
  static unsigned slots_for(const segment_shape& shape, std::uint64_t used) {
    unsigned slots = fewest_slots;
    while (slots < spacing::most && used >= limit_of(shape, slots, fullest)) slots = slots_after(slots);
    return slots;
  }

  friend bool operator==(const segment&, const segment&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.shape_.depth, self.shape_.quotient_bits, self.shape_.format);
    if constexpr (!std::is_const_v<Self>) {
      if (is_wrong(self.shape_.format > slot_format::aged))
        return archive.fail("a segment's slots have no format that is known");
      self.table_ = paired_table(self.shape_.format);
    }
    archive(self.table_);
    if constexpr (!std::is_const_v<Self>) self.shape_.width = self.table_.table().width();
  }
  status validate() const {
    if (is_wrong(shape_.depth > 40) || is_wrong(shape_.quotient_bits < least_quotient_bits) ||
        is_wrong(shape_.quotient_bits > 20) || is_wrong(shape_.place_bits() + shape_.width > segment_shape::most_bits) ||
        is_wrong(table_.table().quotients() != shape_.quotients())) {
      return failure{"a segment has a shape that cannot be"};
    }
    return {};
  }

 private:
  TAMIS_INLINE static std::uint64_t limit_of(const segment_shape& shape, unsigned slots, unsigned percent) {
    return (std::uint64_t{slots} << (shape.quotient_bits - least_quotient_bits)) * percent / 100;
  }
  bool take_slots(unsigned slots) {
    auto changed = table_.respaced(spacing(slots), shape_.spare(slots));
    // Runs behind the last home may be longer than evenly spread keys make them.
    if (!changed)
      changed = table_.respaced(spacing(slots), std::max(shape_.spare(slots), table_.table().slots() - table_.table().homes()));
    if (!changed) return false;
    table_ = *std::move(changed);
    return true;
  }

  segment_shape shape_;
  paired_table table_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
