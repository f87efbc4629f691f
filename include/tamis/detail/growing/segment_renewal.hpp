#pragma once

// A segment that grows takes all its entries anew from the store: with twice the quotients every entry needs a bit more of its
// key. The store has the keys in the order of the table. Quotient by quotient they are paired with the entries, longest first;
// every key has an entry then, and every entry gets the bits of its own key, as many as before or one more. So the accepted set
// only shrinks, and what was fixed stays fixed.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tamis/detail/growing/uniform_segment.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

class segment_renewal {
 public:
  // `keys`: the streams of all keys of the segment, in order. `pending`: a key whose entry is still to come; it is not among
  // the keys, but an entry that nobody else owns may be that of an older copy. `cut`: into two parts, instead of twice the
  // quotients.
  segment_renewal(const uniform_segment& old, std::span<const uint128> keys, const uint128* pending, bool cut)
      : old_(old), keys_(keys), pending_(pending), cut_(cut), code_(old.table().code()) {
    shape_ = old.shape();
    ++(cut ? shape_.depth : shape_.cell_bits);
  }

  // One segment, or two. None if a key has no entry: then filter and store have gone apart, and nothing may be done. An error
  // if there is no memory or room for it.
  result<std::vector<uniform_segment>> run() {
    const spaced_table& table = old_.table().table();
    const std::uint64_t most = table.used() + 2 * old_.table().lengthened() + 8;
    for (unsigned part = 0; part < (cut_ ? 2u : 1u); ++part) {
      parts_.emplace_back(shape_.quotients(), shape_.width);
      parts_.back().reserve(most);
    }
    dense_runs::of(table).for_each_run(
        [&](std::uint64_t quotient, std::span<const std::uint64_t> slots) { renew(quotient, slots); });
    if (missing_ || next_ != keys_.size()) return std::vector<uniform_segment>();
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
    for (std::uint64_t half = 0; half < 2; ++half) {
      if (halves_[half].empty()) continue;
      code_.encode(halves_[half], slots_);
      write(2 * quotient + half);
    }
  }
  // Path, quotient and a remainder behind it come from the first word of a stream.
  std::uint64_t first_word(std::size_t key) const { return static_cast<std::uint64_t>(keys_[key] >> 64); }
  std::uint64_t quotient_of(std::uint64_t word) const { return word << old_.shape().depth >> (64 - old_.shape().cell_bits); }

  // Where all entries are plain, and the keys from `first` on have just these bits. Keys are in order, and so are then the
  // slots.
  bool renew_plain(std::uint64_t quotient, std::span<const std::uint64_t> slots, std::size_t first) {
    if (slots.size() != next_ - first || (slots.size() > 1 && slots[0] > slots[1])) return false;
    const unsigned place_bits = old_.shape().place_bits();
    const unsigned others = 64 - shape_.width;
    order_.clear();
    for (const std::uint64_t slot : slots) order_.push_back(slot);
    if (slots.size() > 2) std::sort(order_.begin(), order_.end());
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (order_[i] != first_word(first + i) << place_bits >> others) return false;
    }
    for (std::uint64_t half = 0; half < 2; ++half) {
      slots_.clear();
      for (; first < next_ && first_word(first) << place_bits >> 63 == half; ++first) {
        slots_.push_back(first_word(first) << (place_bits + 1) >> others);
      }
      if (!slots_.empty()) write(2 * quotient + half);
    }
    return true;
  }
  void pair(std::uint64_t quotient, const run_entries& entries) {
    prefixes_.clear();
    for (const run_entry& e : entries) prefixes_.push_back({0, e.bits, code_.length(e.level)});
    const prefix_matching pairing = match_longest_first({prefixes_.data(), prefixes_.size()}, {here_.data(), here_.size()});
    missing_ = pairing.keys_left != 0;
    bool may_be_pending = pending_ != nullptr && old_.quotient_of(*pending_) == quotient;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (pairing.owner[i] != nobody) {
        add(here_[pairing.owner[i]], entries[i].level);
      } else if (may_be_pending && code_.matches(entries[i], old_.behind_place(*pending_))) {
        add(old_.behind_place(*pending_), entries[i].level);
        may_be_pending = false;
      } else {
        ++dropped_;
      }
    }
  }
  void add(uint128 key, unsigned level) {
    halves_[static_cast<std::size_t>(key >> 127)].push_back(code_.prefix(key << 1, level));
  }
  // slots_, as the run of a quotient.
  void write(std::uint64_t quotient) {
    const std::uint64_t part = cut_ ? quotient >> shape_.cell_bits : 0;
    parts_[part].append(quotient - (part << shape_.cell_bits), slots_);
  }

  result<std::vector<uniform_segment>> laid_out() const {
    std::vector<uniform_segment> made;
    made.reserve(parts_.size());
    for (const dense_runs& part : parts_) {
      unsigned slots = uniform_segment::slots_for(shape_, part.size());
      auto table = paired_table::laid_out(part, shape_.spare(slots), spacing(slots));
      while (!table && slots < spacing::most) {  // no room for the runs at its end
        slots = uniform_segment::slots_after(slots);
        table = paired_table::laid_out(part, shape_.spare(slots), spacing(slots));
      }
      if (!table) return std::move(table).take_failure();
      made.emplace_back(shape_, *std::move(table));
    }
    return made;
  }

  const uniform_segment& old_;
  std::span<const uint128> keys_;
  const uint128* pending_;
  bool cut_;
  pair_code code_;
  uniform_shape shape_;  // of what it becomes
  std::vector<dense_runs> parts_;
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
