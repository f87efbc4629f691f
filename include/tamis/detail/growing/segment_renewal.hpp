#pragma once

// A segment that takes all its entries anew from the store: when it grows, every entry needs a bit more of its key, and where
// it is aged (detail/growing/segment_shift.hpp), it becomes uniform again. The store has the keys in the order of the table.
// Quotient by quotient they are paired with the entries, longest first; every key has an entry then, and every entry gets the
// bits of its own key: r of them, or as many as a lengthened one had. So what was fixed by lengthening stays fixed, and where
// the segment was uniform, the accepted set only shrinks.

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "tamis/detail/growing/segment.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

class segment_renewal {
 public:
  // `pending`: a key whose entry is still to come; it is not among those that are added, but an entry that nobody else owns may
  // be that of an older copy. `width`: remainder bits of what it becomes.
  segment_renewal(const segment& old, const uint128* pending, segment_growth_kind kind, unsigned width)
      : old_(old),
        pending_(pending),
        taken_(kind == segment_growth_kind::none ? 0 : 1),
        code_(old.table().code()),
        shape_(old.shape().grown(kind, plain_bits{width})),
        new_code_(width),
        runs_(dense_runs::of(old.table().table())),
        run_(runs_) {
    // A lengthened entry of s slots has at most s · width bits.
    const spaced_table& table = old.table().table();
    const std::uint64_t lengthened = old.table().lengthened();
    const std::uint64_t plain = old.table().entries() - lengthened;
    const std::uint64_t most = plain + 3 * lengthened + (table.used() - plain) * table.width() / (shape_.width - 1) + 8;
    for (unsigned part = 0; part < (kind == segment_growth_kind::cut ? 2u : 1u); ++part) {
      parts_.emplace_back(shape_.quotients(), shape_.width);
      parts_.back().reserve(most);
    }
    counts_.resize(parts_.size());
  }
  segment_renewal(const segment_renewal&) = delete;
  segment_renewal& operator=(const segment_renewal&) = delete;

  // A key of the segment, which is not less than the one before. False if a key has no entry: then filter and store have gone
  // apart, and nothing may be done.
  bool add(uint128 stream) {
    if (missing_) return false;
    const std::uint64_t quotient = old_.quotient_of(stream);
    if (quotient != quotient_) {
      renew_quotient();
      quotient_ = quotient;
    }
    if (keys_.size() > runs_.size()) missing_ = true;  // there are not so many entries
    if (!missing_) keys_.push_back(stream);
    return !missing_;
  }

  // After the last key: one segment, or two. None if a key has no entry. An error if there is no memory or room for them.
  result<table_list<segment>> finish() {
    renew_quotient();
    for (; run_.is_at_one() && !missing_; run_.next()) renew(run_.quotient(), run_.values(), {});
    table_list<segment> made;
    if (missing_) return made;
    made.reserve(parts_.size());
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      parts_[part].finish();
      TAMIS_TRY(segment one, segment::laid_out(shape_, parts_[part], counts_[part]));
      made.push_back(std::move(one));
    }
    return made;
  }
  std::uint64_t dropped() const { return dropped_; }  // entries without a key

 private:
  // keys_ are all keys of quotient_. Runs before it have none.
  void renew_quotient() {
    for (; run_.is_at_one() && run_.quotient() < quotient_; run_.next()) renew(run_.quotient(), run_.values(), {});
    if (run_.is_at_one() && run_.quotient() == quotient_) {
      renew(quotient_, run_.values(), {keys_.data(), keys_.size()});
      run_.next();
    } else if (!keys_.empty()) {
      missing_ = true;
    }
    keys_.clear();
  }
  void renew(std::uint64_t quotient, std::span<const std::uint64_t> slots, std::span<uint128> keys) {
    if (renew_plain(quotient, slots, keys)) return;
    for (uint128& key : keys) key = old_.behind_place(key);
    run_entries entries;
    code_.decode([&](std::uint64_t i) { return slots[i]; }, slots.size(), entries);
    halves_[0].clear();
    halves_[1].clear();
    pair(quotient, entries, keys);
    for (std::uint64_t half = 0; half <= taken_; ++half) {
      if (halves_[half].empty()) continue;
      new_code_.encode(halves_[half], slots_);
      counts_of(quotient, half).add(halves_[half]);
      write(quotient, half, slots_.size(), [&](std::size_t i) { return slots_[i]; });
    }
  }

  // Where all entries are plain, and the keys have just these bits. Keys are in order, and so are then the slots.
  bool renew_plain(std::uint64_t quotient, std::span<const std::uint64_t> slots, std::span<const uint128> keys) {
    const std::size_t size = slots.size();
    if (old_.shape().format != slot_format::uniform) return false;
    if (size != keys.size() || (size > 1 && slots[0] > slots[1])) return false;
    const auto behind = [&](std::size_t i, unsigned bits) { return static_cast<std::uint64_t>(keys[i] >> 64) << bits; };
    const unsigned place_bits = old_.shape().place_bits();
    const unsigned others = 64 - old_.shape().width;
    if (size > 2) {
      order_.clear();
      for (const std::uint64_t slot : slots) order_.push_back(slot);
      std::sort(order_.begin(), order_.end());
      slots = {order_.data(), size};
    }
    for (std::size_t i = 0; i < size; ++i) {
      if (slots[i] != behind(i, place_bits) >> others) return false;
    }
    std::size_t low = size;  // keys of the first half
    if (taken_ != 0) {
      for (low = 0; low < size && behind(low, place_bits) >> 63 == 0;) ++low;
    }
    const auto write_keys = [&](std::uint64_t half, std::size_t first, std::size_t end) {
      if (first == end) return;
      counts_of(quotient, half).entries += end - first;
      write(quotient, half, end - first,
            [&](std::size_t i) { return behind(first + i, place_bits + taken_) >> (64 - shape_.width); });
    };
    write_keys(0, 0, low);
    write_keys(1, low, size);
    return true;
  }
  void pair(std::uint64_t quotient, const run_entries& entries, std::span<const uint128> keys) {
    prefixes_.clear();
    for (const run_entry& e : entries) prefixes_.push_back({0, e.bits, code_.length(e)});
    const prefix_matching pairing = match_longest_first({prefixes_.data(), prefixes_.size()}, keys);
    missing_ = missing_ || pairing.keys_left != 0;
    bool may_be_pending = pending_ != nullptr && old_.quotient_of(*pending_) == quotient;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (pairing.owner[i] != nobody) {
        add(keys[pairing.owner[i]], entries[i]);
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
  // Where a half of an old quotient goes.
  std::uint64_t part_of(std::uint64_t quotient, std::uint64_t half) const {
    return parts_.size() == 1 ? 0 : ((quotient << taken_) + half) >> shape_.quotient_bits;
  }
  entry_counts& counts_of(std::uint64_t quotient, std::uint64_t half) { return counts_[part_of(quotient, half)]; }
  template <class ValueOf>
  void write(std::uint64_t quotient, std::uint64_t half, std::size_t size, ValueOf value_of) {
    const std::uint64_t part = part_of(quotient, half);
    parts_[part].append((quotient << taken_) + half - (part << shape_.quotient_bits), size, value_of);
  }

  const segment& old_;
  const uint128* pending_;
  unsigned taken_;  // bits that become part of the quotient
  pair_code code_;
  segment_shape shape_;  // of what it becomes
  pair_code new_code_;
  dense_runs runs_;
  dense_runs::cursor run_;  // the first one that is still to be renewed
  table_list<dense_runs> parts_;
  table_list<entry_counts> counts_;
  bool missing_ = false;
  std::uint64_t dropped_ = 0;
  // Of one quotient.
  std::uint64_t quotient_ = 0;
  short_list<uint128, 24> keys_;  // streams
  short_list<std::uint64_t, 24> order_;
  short_list<stream_prefix, 24> prefixes_;
  run_entries halves_[2];
  run_slots slots_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
