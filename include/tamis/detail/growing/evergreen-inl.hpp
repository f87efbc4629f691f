#pragma once

// What evergreen does with its segments: grow, shrink, merge, renew and adapt. Included by filters/evergreen.hpp.

#include "tamis/filters/evergreen.hpp"

namespace tamis::inline TAMIS_LEVEL {

inline bool evergreen::insert_growing(digest d, const remote_ref* stored) {
  bool may_renew = stored != nullptr;
  while (true) {
    const probe p = locate(d);
    detail::segment& s = tree_[p.segment];
    if (s.is_full()) {
      if (may_renew && s.shape().format == detail::slot_format::aged && s.may_step_up()) {
        may_renew = renew(place_of(d), *stored, &d, detail::segment_growth_kind::none);
        if (may_renew) continue;
      }
      if (tree_.step_up(s)) continue;
      if (may_renew && (may_renew = grow(place_of(d), *stored, &d))) continue;
      if (grow_alone(place_of(d)).ok()) continue;
    }
    // A segment that cannot grow uses what is left of its slots, and the runs at its end may need more of them.
    if (insert_at(s, p) || (s.make_end_room(1) && insert_at(s, p))) return true;
    if (tree_.step_up(s)) continue;
    if (may_renew && (may_renew = grow(place_of(d), *stored, &d))) continue;
    if (!grow_alone(place_of(d)).ok()) return false;
  }
}

inline detail::segment_growth_kind evergreen::growth_of(std::uint64_t place, unsigned slot_width) const {
  using kind = detail::segment_growth_kind;
  const detail::segment_shape& shape = tree_[tree_.segment_at(place)].shape();
  if (shape.place_bits() + 1 + slot_width > detail::segment_shape::most_bits) return kind::none;
  if (shape.quotient_bits < segment_bits_) return kind::doubled;
  return tree_.may_cut(place) ? kind::cut : kind::none;
}

inline bool evergreen::grow(std::uint64_t place, const remote_ref& stored, const digest* pending) {
  const detail::segment_growth_kind kind = growth_of(place, small_width_);
  return kind != detail::segment_growth_kind::none && renew(place, stored, pending, kind);
}

// A bit more in every octave of doublings: each of them adds as much to the rate. Small segments keep what they have.
inline detail::plain_bits evergreen::plain_after_growth(const detail::segment_shape& shape) const {
  const unsigned doublings = shape.place_bits() + 1 - first_quotient_bits_;
  const unsigned grown = std::min(widest_alone, first_alone_ + static_cast<unsigned>(std::bit_width(doublings)) - 1);
  const unsigned bits = fingerprints_ == fingerprints::fixed ? width_ : grown;
  const bool is_small = shape.quotient_bits + 1 < segment_bits_;
  return {is_small || small_width_ == width_ ? std::max(bits, shape.plain_length()) : bits, detail::slot_format::aged};
}

inline status evergreen::grow_alone(std::uint64_t place) {
  const detail::segment& s = tree_[tree_.segment_at(place)];
  const detail::plain_bits to = plain_after_growth(s.shape());
  const detail::segment_growth_kind kind = growth_of(place, to.slot_width());
  if (kind == detail::segment_growth_kind::none) return failure{"its directory would become too deep"};
  const std::uint64_t before = s.table().entries();
  TAMIS_TRY(auto grown, detail::segment_shift::grown(s, kind, to));
  std::uint64_t after = 0;
  for (const detail::segment& one : grown) after += one.table().entries();
  tree_.replace(place, std::move(grown));
  copies_ += after - before;
  return {};
}

// Entries that nobody owned.
inline void evergreen::forget(std::uint64_t dropped) {
  const std::uint64_t of_copies = std::min(dropped, copies_);
  copies_ -= of_copies;
  keys_ -= std::min(keys_, dropped - of_copies);
}

// Calls visit(stream) for the stored keys under a prefix, until it answers false.
template <class Visit>
void evergreen::for_each_key(const detail::stream_prefix& under, const remote_ref& stored, Visit visit) const {
  stored.for_each_in(tree_.places().digests_of(under), [&](digest key) {
    const detail::stream_places::position p = tree_.places().stream_of(key);
    return p.root != under.root || !under.matches(p.stream) || visit(p.stream);
  });
}

inline bool evergreen::renew(std::uint64_t place, const remote_ref& stored, const digest* pending,
                             detail::segment_growth_kind kind) {
  const detail::segment& s = tree_[tree_.segment_at(place)];
  const detail::stream_prefix under = tree_.prefix_at(place);
  const unsigned width = width_of(s.shape().quotient_bits + (kind == detail::segment_growth_kind::doubled));
  const detail::uint128 waiting = pending == nullptr ? 0 : tree_.places().stream_of(*pending).stream;
  bool may_be_pending = pending != nullptr;  // it is no key yet, whether the store has it or not
  std::optional<detail::segment_renewal> renewal;
  const auto begin = [&] { renewal.emplace(s, pending == nullptr ? nullptr : &waiting, kind, width); };
  const auto add = [&](detail::uint128 stream) {
    if (!may_be_pending || stream != waiting) return renewal->add(stream);
    may_be_pending = false;
    return true;
  };
  begin();
  bool goes_on = true;
  bool in_order = true;
  detail::uint128 last = 0;
  for_each_key(under, stored, [&](detail::uint128 stream) {
    in_order = in_order && last <= stream;
    goes_on = goes_on && in_order && add(stream);
    last = stream;
    return goes_on;
  });
  if (!in_order) {
    // Every key but the pending one has an entry: there are no more keys than that.
    const std::uint64_t most = s.table().entries() + 1;
    detail::table_list<detail::uint128> keys;
    keys.reserve(most + 1);
    for_each_key(under, stored, [&](detail::uint128 stream) {
      if (keys.size() <= most) keys.push_back(stream);
      return keys.size() <= most;
    });
    std::sort(keys.begin(), keys.end());
    may_be_pending = pending != nullptr;
    begin();
    for (std::size_t i = 0; i < keys.size() && add(keys[i]); ++i) {
    }
  }
  auto renewed = renewal->finish();
  if (!renewed) return false;
  if (renewed->empty()) {
    ++missing_;
    return false;
  }
  tree_.replace(place, *std::move(renewed));
  forget(renewal->dropped());
  return true;
}

inline void evergreen::join(std::uint64_t place) {
  const auto other = tree_.buddy(place);
  if (!other || !tree_.may_join(place)) return;
  const detail::segment& low = tree_[tree_.segment_at(std::min(place, *other))];
  const detail::segment& high = tree_[tree_.segment_at(std::max(place, *other))];
  if (low.table().table().used() + high.table().table().used() > low.limit_of_all_slots() / 2) return;
  auto whole = detail::segment_shift::joined(low, high, width_);
  if (whole) tree_.join(place, *std::move(whole));
}

inline status evergreen::expand() {
  evergreen grown = *this;
  detail::table_list<detail::stream_prefix> all;
  all.reserve(tree_.segments().size());
  tree_.for_each([&](std::uint64_t place, const detail::segment&) { all.push_back(tree_.prefix_at(place)); });
  for (const detail::stream_prefix& under : all) TAMIS_CHECK(grown.grow_alone(grown.tree_.place_of(under)));
  *this = std::move(grown);
  return {};
}

inline status evergreen::merge(const evergreen& other) {
  if (tree_.places() != other.tree_.places() || segment_bits_ != other.segment_bits_) {
    const auto shape = [](const evergreen& f) {
      return std::to_string(f.tree_.places().roots()) + " roots, segments of " + std::to_string(1u << f.segment_bits_) +
             " quotients";
    };
    return failure{"the two evergreen filters have different shapes: " + shape(*this) + ", and " + shape(other)};
  }
  // Into the larger one, so that most quotients have as many bits as those that come.
  const bool other_is_larger = other.capacity() > capacity();
  evergreen merged = other_is_larger ? other : *this;
  const evergreen& added = other_is_larger ? *this : other;
  bool fits = true;
  added.for_each([&](const detail::stream_prefix& p) { fits = fits && merged.add(p); });
  if (!fits) return failure{"the entries of one filter are too short for the other one, which has grown more"};
  merged.keys_ = keys_ + other.keys_;
  merged.copies_ = 0;
  for (const detail::segment& s : merged.tree_.segments()) merged.copies_ += s.table().entries();
  merged.copies_ -= merged.keys_;
  merged.missing_ = missing_;
  *this = std::move(merged);
  return {};
}

// An entry of another filter. Where it is shorter than a place here, every place that it covers gets a void of its own.
// False if these would be many, or if there is no room.
inline bool evergreen::add(const detail::stream_prefix& p) {
  constexpr unsigned most_halvings = 4;
  const unsigned place_bits = tree_[tree_.segment_at(tree_.place_of(p))].shape().place_bits();
  if (p.length >= place_bits) return add_at(p);
  if (place_bits - p.length > most_halvings) return false;
  detail::stream_prefix half{p.root, p.bits, p.length + 1};
  if (!add(half)) return false;
  half.bits |= detail::uint128{1} << (127 - p.length);
  return add(half);
}

// As many bits of it as an entry here can have.  Requires: it is as long as its place.
inline bool evergreen::add_at(const detail::stream_prefix& p) {
  while (true) {
    const std::uint64_t place = tree_.place_of(p);
    detail::segment& s = tree_[tree_.segment_at(place)];
    if (p.length < s.shape().place_bits()) return add(p);  // it has grown
    const unsigned known = p.length - s.shape().place_bits();
    if (s.shape().format == detail::slot_format::uniform && known < s.shape().plain_length()) {
      auto aged = detail::segment_shift::aged(s);
      if (!aged) return false;
      s = *std::move(aged);
      continue;
    }
    if (s.is_full() && (tree_.step_up(s) || grow_alone(place).ok())) continue;
    const detail::pair_code code = s.table().code();
    const std::uint64_t quotient = s.quotient_of(p.bits);
    detail::run_entries entries = s.table().entries_of(quotient);
    unsigned level = 0;
    while (level < code.highest_level() && code.length(level + 1) <= known) ++level;
    entries.push_back(code.prefix_within(s.behind_place(p.bits), known, level));
    if (s.table().write_with_room(quotient, entries)) return true;
    if (!tree_.step_up(s) && !grow_alone(place).ok()) return false;
  }
}

inline std::uint64_t evergreen::rejuvenate_all_with(const remote_ref& stored) {
  detail::table_list<detail::stream_prefix> aged;
  tree_.for_each([&](std::uint64_t place, const detail::segment& s) {
    if (s.shape().format == detail::slot_format::aged) aged.push_back(tree_.prefix_at(place));
  });
  for (const detail::stream_prefix& under : aged) {
    const std::uint64_t place = tree_.place_of(under);
    // Fixes may take more slots than there are, where plain entries have fewer bits again.
    if (!renew(place, stored, nullptr, detail::segment_growth_kind::none)) grow(place, stored, nullptr);
  }
  return aged.size();
}

inline bool evergreen::read_keys(const detail::stream_prefix& under, const remote_ref& stored, stream_list& streams) const {
  std::uint64_t read = 0;
  stored.for_each_in(tree_.places().digests_of(under), [&](digest key) {
    if (++read > detail::adapt_work::most_slots) return false;
    const detail::stream_places::position p = tree_.places().stream_of(key);
    if (p.root == under.root && under.matches(p.stream)) streams.push_back(p.stream);
    return true;
  });
  std::sort(streams.begin(), streams.end());
  return read <= detail::adapt_work::most_slots;
}

inline adapt_result evergreen::adapt_with(digest d, const remote_ref& stored) {
  using outcome = detail::paired_table::adapted::outcome;
  const detail::stream_places::position asked = tree_.places().stream_of(d);
  stream_list streams;                                        // stored keys
  detail::stream_prefix read{asked.root, asked.stream, ~0u};  // that have this prefix
  std::optional<detail::segment> as_it_was;                   // before it got more slots, which may not help
  const auto unfixable = [&] {
    if (as_it_was) tree_[locate(d).segment] = *std::move(as_it_was);
    return adapt_result::unfixable;
  };
  for (unsigned growths = 0;;) {
    detail::segment& s = tree_[locate(d).segment];
    const std::uint64_t quotient = s.quotient_of(asked.stream);
    const detail::uint128 behind = s.behind_place(asked.stream);
    const auto shortest = s.table().shortest_match(quotient, behind);
    if (!shortest) return growths != 0 ? adapt_result::fixed : adapt_result::not_positive;  // growth has renewed it
    const detail::stream_prefix under{asked.root, asked.stream, s.shape().place_bits() + *shortest};
    if (under.length < read.length) {
      read.length = under.length;
      streams.clear();
      const bool are_all = read_keys(read, stored, streams);
      if (std::find(streams.begin(), streams.end(), asked.stream) != streams.end() || (!are_all && holds(stored, d)))
        return adapt_result::is_member;
      if (!are_all) return unfixable();
    }
    const std::uint64_t most = s.limit(detail::segment::fullest_of_fixes);
    stream_list keys;  // of the streams, those below the shortest match now, behind the quotient
    for (const detail::uint128 stream : streams) {
      if (under.matches(stream)) keys.push_back(s.behind_place(stream));
    }
    const auto done = s.table().adapt(quotient, behind, {keys.data(), keys.size()}, most);
    switch (done.is) {
      case outcome::fixed: forget(done.dropped); return adapt_result::fixed;
      case outcome::not_positive: return adapt_result::not_positive;
      case outcome::no_room:
        if (++growths > detail::adapt_work::most_growths) return unfixable();
        if (!as_it_was) as_it_was = s;
        // It is full, or one run has filled its end.
        if (s.table().table().used() + 2 * keys.size() < most && s.make_end_room(2 * keys.size())) continue;
        if (tree_.step_up(s)) continue;
        try {
          if (!grow(place_of(d), stored, nullptr)) return unfixable();
        } catch (...) {
          unfixable();
          throw;
        }
        as_it_was.reset();
        continue;
      case outcome::missing: ++missing_; return unfixable();
      case outcome::unfixable: return unfixable();
    }
  }
}

}  // namespace tamis::inline TAMIS_LEVEL
