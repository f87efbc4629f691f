#pragma once

// What InfiniFilter does with whole tables, and what hardly ever happens: make, expand and contract it, and change what lies in
// the secondary and the chain. Included by filters/infini.hpp.

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/base/shown.hpp"
#include "tamis/filters/infini.hpp"

namespace tamis::inline TAMIS_LEVEL {

inline result<infini> infini::create(const filter_params& params) {
  TAMIS_CHECK(check_params(info, params));
  constexpr unsigned longest = detail::variable_length_table::longest_payload;
  constexpr std::string_view kinds[] = {"basic", "chained", "growing"};
  TAMIS_TRY(const std::uint64_t asked, number_option(params, "fingerprint", 0, 1, longest));
  TAMIS_TRY(const std::uint64_t threshold, number_option(params, "threshold", 80, 50, 95));
  // Who asks for a rate wants it however much the filter grows.
  TAMIS_TRY(const std::string mode, choice_option(params, "mode", asked == 0 && params.fpr ? "growing" : "chained", kinds));
  infini made;
  made.threshold_ = static_cast<std::uint32_t>(threshold);
  made.kind_ = mode == "basic" ? kind::basic : mode == "chained" ? kind::chained : kind::growing;
  made.first_ = detail::divide_up(params.capacity * 100, threshold);  // a capacity is below 2^49

  const std::uint64_t spare = detail::quotient_spare(made.first_);
  auto f = static_cast<unsigned>(asked);
  if (f == 0 && params.fpr) {
    const double first_rate = made.kind_ == kind::growing ? *params.fpr / detail::growing_limit : *params.fpr;
    for (f = 1; f <= longest && detail::quotient_rate(made.first_, params.capacity, f) > first_rate;) ++f;
    if (f > longest) return failure{"fpr " + detail::shown(*params.fpr) + " would need fingerprints of more than 56 bits"};
  } else if (f == 0) {
    const auto slots = static_cast<double>(detail::divide_up(made.first_ + spare, 64) * 64);
    const auto keys = static_cast<double>(params.capacity);
    const double fits = std::floor(*params.bits_per_key * keys / slots - detail::quotient_metadata - 1);
    if (fits < 1) {
      return failure{"bits per key " + std::to_string(*params.bits_per_key) + ": " + std::to_string(params.capacity) +
                     " keys need at least " + std::to_string(slots * (detail::quotient_metadata + 2) / keys)};
    }
    f = static_cast<unsigned>(std::min<double>(fits, longest));
  }
  made.fingerprint_ = f;
  TAMIS_TRY(made.active_, detail::variable_length_table::make(made.first_, spare, f));
  TAMIS_CHECK(made.note_shape());
  return made;
}

inline result<infini> infini::emptied() const {
  infini made;
  made.threshold_ = threshold_;
  made.kind_ = kind_;
  made.first_ = first_;
  made.fingerprint_ = fingerprint_;
  TAMIS_TRY(made.active_, detail::variable_length_table::make(first_, detail::quotient_spare(first_), fingerprint_));
  TAMIS_CHECK(made.note_shape());
  return made;
}

inline option_list infini::settings() const {
  constexpr const char* kinds[] = {"basic", "chained", "growing"};
  return {{"fingerprint", std::to_string(fingerprint_)},
          {"threshold", std::to_string(threshold_)},
          {"mode", kinds[static_cast<unsigned>(kind_)]}};
}

inline result<infini::older_hints> infini::older_hints::make(std::uint64_t first, unsigned level,
                                                             std::span<const older_table* const> tables) {
  if (tables.empty()) return make_same(false);
  older_hints made;
  unsigned finest = 0;
  for (const older_table* const t : tables) finest = std::max(finest, t->level);
  const unsigned reach = std::min(level, finest + hint_bits);
  made.down_ = level - reach;
  TAMIS_TRY(made.ones_, detail::bitmap::make(first << reach));
  for (const older_table* const t : tables) {
    const unsigned deeper = reach - t->level;  // at least one
    detail::slot_range done;                   // the hints of the entry before
    t->table.for_each([&](std::uint64_t quotient, const detail::prefix_entry& e) {
      const std::uint64_t from = quotient << deeper | e.bits >> (detail::word_bits - deeper);
      const std::uint64_t all = std::uint64_t{1} << (deeper - std::min(e.length, deeper));
      if (done.first <= from && from + all <= done.last) return;  // one more copy, of which there may be many
      for (std::uint64_t i = made.ones_.find_zero(from); i < from + all; i = made.ones_.find_zero(i + 1)) made.ones_.set(i);
      done = {from, from + all};
    });
  }
  return made;
}

inline result<infini::older_hints> infini::older_hints::make_same(bool hint) {
  older_hints made;
  made.down_ = detail::word_bits - 1;  // there are at most 2^62 quotients
  TAMIS_TRY(made.ones_, detail::bitmap::make(1));
  if (hint) made.ones_.set(0);
  return made;
}

// The hints of a filter that has doubled `level` times and has this secondary, if there is one, before its other older tables
// or instead of the first of them.
inline result<infini::older_hints> infini::hints_for(unsigned level, const older_table* secondary, bool replaces) const {
  if (!detail::variable_length_table::is_wide(length_at(level))) return older_hints::make_same(true);
  std::vector<const older_table*> tables;
  if (secondary != nullptr && secondary->table.used() != 0) tables.push_back(secondary);
  for (std::size_t i = replaces ? 1 : 0; i < older_.size(); ++i) tables.push_back(&older_[i]);
  return older_hints::make(first_, level, tables);
}

// What follows from the tables and the threshold.
inline status infini::note_shape() {
  TAMIS_TRY(hints_, hints_for(level_, nullptr, false));
  note_limit();
  return {};
}
inline void infini::note_limit() { limit_ = limit_of(active_.quotients(), threshold_); }

// Runs at the table's end that are too long for the room behind it get more. False, and nothing has changed, without memory.
inline TAMIS_NOINLINE bool infini::insert_wider(const address& a) {
  do {
    if (!active_.widen().ok()) return false;
  } while (!active_.insert(a.quotient, a.suffix));
  return true;
}

// A table for prefixes of level_ bits: the places that the filter had when the entries that now run out of bits were new, so
// that they have as many bits there as they had then.
inline result<infini::older_table> infini::new_secondary() const {
  std::uint32_t level = 0;
  while (level + 1 + length_at(level + 1) <= level_) ++level;
  level = std::max<std::uint32_t>(level, level_ - std::min(level_, detail::variable_length_table::longest_payload));
  older_table made;
  made.level = level;
  TAMIS_TRY(made.table,
            detail::variable_length_table::make(first_ << level, detail::quotient_spare(first_ << level), level_ - level));
  return made;
}

// The secondary, doubled until it takes prefixes of level_ bits or has voids of its own.
inline result<infini::older_table> infini::grown_secondary() const {
  older_table grown = older_.front();
  while (grown.reach() < level_ && grown.table.voids() == 0) {
    const std::uint64_t spare = detail::quotient_spare(2 * grown.table.quotients());
    TAMIS_TRY(grown.table, grown.table.doubled(spare, grown.table.longest(), [](std::uint64_t) { return status(); }));
    ++grown.level;
  }
  return grown;
}

inline status infini::expand() {
  if (level_ == most_level || active_.quotients() > most_places / 2)
    return failure{"the filter would have more than 2^62 places"};
  const bool has_voids = active_.voids() != 0;
  if (kind_ == kind::basic && has_voids) {
    return failure{"the filter has entries without fingerprints: in basic mode it cannot expand any more"};
  }
  // The secondary first: doubled or, where it has voids of its own, sealed. What follows may fail, so that nothing is replaced
  // before the end.
  std::optional<older_table> secondary;
  if (!older_.empty() && (older_.front().table.voids() == 0 || older_.front().reach() >= level_)) {
    TAMIS_TRY(secondary, grown_secondary());
  }
  const bool is_new = has_voids && (!secondary || secondary->reach() < level_);
  if (is_new) {
    TAMIS_TRY(secondary, new_secondary());
    older_.reserve(older_.size() + 1);
  }
  const auto move_void = [&](std::uint64_t quotient) -> status {
    const address there = address{quotient, 0}.above(level_ - secondary->level);
    while (!secondary->table.insert_prefix(there.quotient, there.suffix, level_ - secondary->level)) {
      TAMIS_CHECK(secondary->table.widen());
    }
    return {};
  };
  TAMIS_TRY(detail::variable_length_table active,
            active_.doubled(detail::quotient_spare(2 * active_.quotients()), length_at(level_ + 1), move_void));
  TAMIS_TRY(older_hints hints, hints_for(level_ + 1, secondary ? &*secondary : nullptr, secondary && !is_new));

  active_ = std::move(active);
  hints_ = std::move(hints);
  if (is_new) {
    older_.insert(older_.begin(), *std::move(secondary));
  } else if (secondary) {
    older_.front() = *std::move(secondary);
  }
  ++level_;
  note_limit();
  return {};
}

inline status infini::contract() {
  if (level_ == 0) return failure{"the filter has its first size"};
  const unsigned level = level_ - 1;
  TAMIS_TRY(detail::variable_length_table active,
            active_.halved(detail::quotient_spare(active_.quotients() / 2), length_at(level)));

  // The secondary's longest prefixes are voids of the smaller table, and the others need a place less.
  std::optional<older_table> secondary;
  if (!older_.empty() && older_.front().reach() >= level) {
    secondary = older_.front();
    const unsigned length = level - secondary->level;
    status moved;
    older_.front().table.for_each([&](std::uint64_t quotient, const detail::prefix_entry& e) {
      if (e.length != length || !moved.ok()) return;
      const std::uint64_t place = length == 0 ? quotient : quotient << length | e.bits >> (detail::word_bits - length);
      while (moved.ok() && !active.insert_void(place)) moved = active.widen();
      secondary->table.erase(quotient, e.bits);  // no match is longer than this one
    });
    TAMIS_CHECK(std::move(moved));
    if (secondary->level != 0) {
      const std::uint64_t spare = detail::quotient_spare(secondary->table.quotients() / 2);
      TAMIS_TRY(secondary->table, secondary->table.halved(spare, secondary->table.longest()));
      --secondary->level;
    }
  }
  TAMIS_TRY(older_hints hints, hints_for(level, secondary ? &*secondary : nullptr, secondary.has_value()));

  active_ = std::move(active);
  hints_ = std::move(hints);
  if (secondary) older_.front() = *std::move(secondary);
  if (!older_.empty() && older_.front().table.used() == 0) older_.erase(older_.begin());
  level_ = level;
  note_limit();
  return {};
}

// Before an insert at the threshold. A filter that cannot expand uses more of its slots.
inline TAMIS_NOINLINE bool infini::make_room() {
  return expand().ok() || active_.used() < limit_of(active_.quotients(), std::max(most_percent, threshold_));
}

// After an erase, which must not fail because there is no memory for a second table.
inline TAMIS_NOINLINE void infini::contract_if_possible() {
  try {
    static_cast<void>(contract());
  } catch (const std::bad_alloc&) {
  }
}

inline TAMIS_NOINLINE bool infini::erase_older(const address& a) {
  for (auto t = older_.begin(); t != older_.end(); ++t) {
    const address there = in(*t, a);
    if (!t->table.erase(there.quotient, there.suffix)) continue;
    if (t->table.used() == 0) older_.erase(t);
    return true;
  }
  return false;
}

inline TAMIS_NOINLINE bool infini::rejuvenate_older(digest d) {
  if (!older_contain(locate(d))) return false;
  if (insert(d) == insert_result::full) return false;  // this may expand the filter, and the match is elsewhere then
  return erase_older(locate(d));
}

template <std::ranges::input_range Digests>
std::uint64_t infini::rejuvenate_all(Digests&& digests) {
  constexpr std::size_t ahead = 16;  // the next ones' memory is on its way
  std::array<digest, ahead> waiting;
  std::uint64_t found = 0;
  std::size_t taken = 0;
  for (const digest d : digests) {
    if (taken >= ahead) found += static_cast<std::uint64_t>(rejuvenate(waiting[taken % ahead]));
    prefetch(d);
    waiting[taken++ % ahead] = d;
  }
  for (std::size_t i = taken < ahead ? 0 : taken - ahead; i < taken; ++i) {
    found += static_cast<std::uint64_t>(rejuvenate(waiting[i % ahead]));
  }
  return found;
}

inline status infini::validate() const {
  using detail::is_wrong;
  if (is_wrong(fingerprint_ < 1) || is_wrong(fingerprint_ > detail::variable_length_table::longest_payload) ||
      is_wrong(threshold_ < 50) || is_wrong(threshold_ > 95) || is_wrong(kind_ > kind::growing)) {
    return failure{"its settings are out of range"};
  }
  if (is_wrong(first_ == 0) || is_wrong(level_ > most_level) || is_wrong(first_ > most_places >> level_) ||
      is_wrong(active_.quotients() != first_ << level_) || is_wrong(active_.longest() != length_at(level_))) {
    return failure{"its table has " + std::to_string(active_.quotients()) + " places after " + std::to_string(level_) +
                   " expansions from " + std::to_string(first_)};
  }
  if (is_wrong(level_ == 0 && active_.voids() != 0)) return failure{"it has entries without bits, but never expanded"};
  // Every table has longer prefixes than the next one: what is found first is longest.
  unsigned longer = level_;  // all prefixes that come are shorter than this
  for (const older_table& t : older_) {
    if (is_wrong(t.level >= level_) || is_wrong(t.table.quotients() != first_ << t.level) || is_wrong(t.table.used() == 0)) {
      return failure{"an older table has " + std::to_string(t.table.quotients()) + " places, which do not fit its level"};
    }
    unsigned shortest = ~0u;
    unsigned longest = 0;
    t.table.for_each([&](std::uint64_t, const detail::prefix_entry& e) {
      shortest = std::min(shortest, t.level + e.length);
      longest = std::max(longest, t.level + e.length);
    });
    if (is_wrong(longest >= longer)) return failure{"an older table has prefixes that are longer than those of a younger one"};
    longer = shortest;
  }
  return {};
}

}  // namespace tamis::inline TAMIS_LEVEL
