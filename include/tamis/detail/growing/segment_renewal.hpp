#pragma once

// A segment that takes all its entries anew from the store: when it grows, every entry needs a bit more of its key, and where
// it is aged (detail/growing/segment_shift.hpp), it becomes uniform again. The store has the keys in the order of the table.
// Quotient by quotient they are paired with the entries, longest first; every key has an entry then, and every entry gets the
// bits of its own key: r of them, or as many as a lengthened one had. So what was fixed by lengthening stays fixed, and where
// the segment was uniform, the accepted set only shrinks.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "tamis/detail/growing/segment.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

class segment_renewal {
 public:
  // `keys`: the streams of all keys of the segment, in order. `pending`: a key whose entry is still to come; it is not among
  // the keys, but an entry that nobody else owns may be that of an older copy. `width`: remainder bits of what it becomes.
  segment_renewal(const segment& old, std::span<const uint128> keys, const uint128* pending, segment_growth_kind kind,
                  unsigned width)
      : old_(old),
        keys_(keys),
        pending_(pending),
        cut_(kind == segment_growth_kind::cut),
        taken_(kind == segment_growth_kind::none ? 0 : 1),
        code_(old.table().code()),
        shape_(old.shape().grown(kind, plain_bits{width})),
        new_code_(width) {}

  // One segment, or two. None if a key has no entry: then filter and store have gone apart, and nothing may be done. An error
  // if there is no memory or room for it.
  result<table_list<segment>> run() {
    const spaced_table& table = old_.table().table();
    // A lengthened entry of s slots has at most s · width bits.
    const std::uint64_t lengthened = old_.table().lengthened();
    const std::uint64_t plain = old_.table().entries() - lengthened;
    const std::uint64_t most = plain + 3 * lengthened + (table.used() - plain) * table.width() / (shape_.width - 1) + 8;
    for (unsigned part = 0; part < (cut_ ? 2u : 1u); ++part) {
      parts_.emplace_back(shape_.quotients(), shape_.width);
      parts_.back().reserve(most);
    }
    dense_runs::of(table).for_each_run(
        [&](std::uint64_t quotient, std::span<const std::uint64_t> slots) { renew(quotient, slots); });
    if (missing_ || next_ != keys_.size()) return table_list<segment>();
    for (dense_runs& part : parts_) part.finish();
    return laid_out();
  }
  std::uint64_t dropped() const { return dropped_; }  // entries without a key

 private:
  void renew(std::uint64_t quotient, std::span<const std::uint64_t> slots) {
    if (missing_) return;
    const std::size_t first = next_;
    while (next_ < keys_.size() && quotient_of(first_word(next_)) == quotient) ++next_;
    if (renew_plain(quotient, slots, first)) return;
    here_.clear();
    for (std::size_t i = first; i < next_; ++i) here_.push_back(old_.behind_place(keys_[i]));
    run_entries entries;
    code_.decode([&](std::uint64_t i) { return slots[i]; }, slots.size(), entries);
    halves_[0].clear();
    halves_[1].clear();
    pair(quotient, entries);
    for (std::uint64_t half = 0; half <= taken_; ++half) {
      if (halves_[half].empty()) continue;
      new_code_.encode(halves_[half], slots_);
      write((quotient << taken_) + half);
    }
  }
  // Path, quotient and a remainder behind it come from the first word of a stream.
  std::uint64_t first_word(std::size_t key) const { return static_cast<std::uint64_t>(keys_[key] >> 64); }
  std::uint64_t quotient_of(std::uint64_t word) const { return word << old_.shape().depth >> (64 - old_.shape().cell_bits); }

  // Where all entries are plain, and the keys from `first` on have just these bits. Keys are in order, and so are then the
  // slots.
  bool renew_plain(std::uint64_t quotient, std::span<const std::uint64_t> slots, std::size_t first) {
    if (old_.shape().format != slot_format::uniform) return false;
    if (slots.size() != next_ - first || (slots.size() > 1 && slots[0] > slots[1])) return false;
    const unsigned place_bits = old_.shape().place_bits();
    const unsigned others = 64 - old_.shape().width;
    order_.clear();
    for (const std::uint64_t slot : slots) order_.push_back(slot);
    if (slots.size() > 2) std::sort(order_.begin(), order_.end());
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (order_[i] != first_word(first + i) << place_bits >> others) return false;
    }
    for (std::uint64_t half = 0; half <= taken_; ++half) {
      slots_.clear();
      for (; first < next_ && half_of(static_cast<uint128>(first_word(first)) << 64 << place_bits) == half; ++first) {
        slots_.push_back(first_word(first) << (place_bits + taken_) >> (64 - shape_.width));
      }
      if (!slots_.empty()) write((quotient << taken_) + half);
    }
    return true;
  }
  void pair(std::uint64_t quotient, const run_entries& entries) {
    prefixes_.clear();
    for (const run_entry& e : entries) prefixes_.push_back({0, e.bits, code_.length(e)});
    const prefix_matching pairing = match_longest_first({prefixes_.data(), prefixes_.size()}, {here_.data(), here_.size()});
    missing_ = pairing.keys_left != 0;
    bool may_be_pending = pending_ != nullptr && old_.quotient_of(*pending_) == quotient;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (pairing.owner[i] != nobody) {
        add(here_[pairing.owner[i]], entries[i]);
      } else if (may_be_pending && code_.matches(entries[i], old_.behind_place(*pending_))) {
        add(old_.behind_place(*pending_), entries[i]);
        may_be_pending = false;
      } else {
        ++dropped_;
      }
    }
  }
  // Of what follows the old quotient; the first bit may now be one of the quotient.
  std::uint64_t half_of(uint128 key) const { return taken_ == 0 ? 0 : static_cast<std::uint64_t>(key >> 127); }
  void add(uint128 key, const run_entry& e) {
    const unsigned least = e.level == 0 ? 0 : new_code_.level_of(code_.length(e) - taken_);
    halves_[half_of(key)].push_back(new_code_.prefix(key << taken_, std::min(least, new_code_.highest_level())));
  }
  // slots_, as the run of a quotient.
  void write(std::uint64_t quotient) {
    const std::uint64_t part = cut_ ? quotient >> shape_.cell_bits : 0;
    parts_[part].append(quotient - (part << shape_.cell_bits), slots_);
  }

  result<table_list<segment>> laid_out() const {
    table_list<segment> made;
    made.reserve(parts_.size());
    for (const dense_runs& part : parts_) {
      TAMIS_TRY(segment segment, segment::laid_out(shape_, part));
      made.push_back(std::move(segment));
    }
    return made;
  }

  const segment& old_;
  std::span<const uint128> keys_;
  const uint128* pending_;
  bool cut_;
  unsigned taken_;  // bits that become part of the quotient
  pair_code code_;
  segment_shape shape_;  // of what it becomes
  pair_code new_code_;
  table_list<dense_runs> parts_;
  std::size_t next_ = 0;  // key
  bool missing_ = false;
  std::uint64_t dropped_ = 0;
  // Of one quotient.
  short_list<uint128, 24> here_;  // its keys
  short_list<std::uint64_t, 24> order_;
  short_list<stream_prefix, 24> prefixes_;
  run_entries halves_[2];
  run_slots slots_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
