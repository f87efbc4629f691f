#pragma once

// What evergreen-stored does with its segments: grow, shrink, merge, renew and adapt. Included by filters/evergreen_stored.hpp.

#include "tamis/filters/evergreen_stored.hpp"

namespace tamis::inline TAMIS_LEVEL {

inline bool evergreen_stored::insert_growing(digest d, const remote_ref* stored) {
  bool may_renew = stored != nullptr;
  while (true) {
    const probe p = locate(d);
    detail::uniform_segment& s = tree_[p.segment];
    if (s.is_full()) {
      if (may_renew && s.shape().width < width_ && s.may_step_up()) {
        may_renew = renew(place_of(d), *stored, &d, detail::segment_growth_kind::none);
        if (may_renew) continue;
      }
      if (s.step_up()) continue;
      if (may_renew && (may_renew = grow(place_of(d), *stored, &d))) continue;
    }
    // A segment that cannot grow uses what is left of its slots, and the runs at its end may need more of them.
    if (insert_at(s, p) || (s.make_end_room(1) && insert_at(s, p))) return true;
    if (s.step_up()) continue;
    if (!may_renew || !(may_renew = grow(place_of(d), *stored, &d))) return false;
  }
}

inline detail::segment_growth_kind evergreen_stored::growth_of(std::uint64_t place) const {
  using kind = detail::segment_growth_kind;
  const detail::uniform_shape& shape = tree_[tree_.segment_at(place)].shape();
  if (shape.place_bits() + 1 + width_ > detail::uniform_shape::most_bits) return kind::none;
  if (shape.cell_bits < segment_bits_) return kind::doubled;
  return tree_.may_cut(place) ? kind::cut : kind::none;
}

inline bool evergreen_stored::grow(std::uint64_t place, const remote_ref& stored, const digest* pending) {
  const detail::segment_growth_kind kind = growth_of(place);
  return kind != detail::segment_growth_kind::none && renew(place, stored, pending, kind);
}

inline bool evergreen_stored::grow_alone(std::uint64_t place) {
  const detail::segment_growth_kind kind = growth_of(place);
  const detail::uniform_segment& s = tree_[tree_.segment_at(place)];
  if (kind == detail::segment_growth_kind::none || !detail::segment_shift::may_grow(s)) return false;
  auto grown = detail::segment_shift::grown(s, kind);
  if (!grown) return false;
  tree_.replace(place, *std::move(grown));
  return true;
}

inline bool evergreen_stored::renew(std::uint64_t place, const remote_ref& stored, const digest* pending,
                                    detail::segment_growth_kind kind) {
  const detail::uniform_segment& s = tree_[tree_.segment_at(place)];
  const detail::stream_prefix under = tree_.prefix_at(place);
  // Every key but the pending one has an entry: there are no more keys than that.
  const std::uint64_t most = s.table().entries() + 1;
  detail::table_list<detail::uint128> keys;
  keys.reserve(most);
  bool too_many = false;
  stored.for_each_in(tree_.places().digests_of(under), [&](digest d) {
    const detail::stream_places::position p = tree_.places().stream_of(d);
    if (p.root != under.root || !under.matches(p.stream)) return true;
    too_many = keys.size() == most;
    if (!too_many) keys.push_back(p.stream);
    return !too_many;
  });
  if (!std::is_sorted(keys.begin(), keys.end())) std::sort(keys.begin(), keys.end());
  detail::uint128 waiting = 0;
  if (pending != nullptr) {
    waiting = tree_.places().stream_of(*pending).stream;
    const auto at = std::lower_bound(keys.begin(), keys.end(), waiting);
    if (at != keys.end() && *at == waiting) keys.erase(at);
  }
  detail::segment_renewal renewal(s, keys, pending == nullptr ? nullptr : &waiting, kind, width_);
  if (too_many || keys.size() == most) {
    ++missing_;
    return false;
  }
  auto renewed = renewal.run();
  if (!renewed) return false;
  if (renewed->empty()) {
    ++missing_;
    return false;
  }
  tree_.replace(place, *std::move(renewed));
  keys_ -= renewal.dropped();
  return true;
}

inline void evergreen_stored::join(std::uint64_t place) {
  const auto other = tree_.buddy(place);
  if (!other) return;
  const detail::uniform_segment& low = tree_[tree_.segment_at(std::min(place, *other))];
  const detail::uniform_segment& high = tree_[tree_.segment_at(std::max(place, *other))];
  if (low.table().table().used() + high.table().table().used() > low.limit_of_all_slots() / 2) return;
  auto whole = detail::segment_shift::joined(low, high, width_);
  if (whole) tree_.join(place, *std::move(whole));
}

inline status evergreen_stored::expand() {
  detail::table_list<detail::stream_prefix> all;
  all.reserve(tree_.segments().size());
  status can;
  tree_.for_each([&](std::uint64_t place, const detail::uniform_segment& s) {
    all.push_back(tree_.prefix_at(place));
    if (!detail::segment_shift::may_grow(s)) {
      can = failure{"its entries have no bit left that they could give up: insert with a store at hand"};
    } else if (growth_of(place) == detail::segment_growth_kind::none) {
      can = failure{"its directory would become too deep"};
    }
  });
  TAMIS_CHECK(can);
  for (const detail::stream_prefix& under : all) {
    if (!grow_alone(tree_.place_of(under))) return failure{"a segment could not grow"};
  }
  return {};
}

inline status evergreen_stored::merge(const evergreen_stored& other) {
  if (tree_.places() != other.tree_.places()) {
    const auto roots = [](const evergreen_stored& f) { return std::to_string(f.tree_.places().roots()); };
    return failure{"the two evergreen-stored filters have different shapes: " + roots(*this) + " and " + roots(other) +
                   " roots"};
  }
  evergreen_stored merged = *this;
  bool fits = true;
  other.for_each([&](const detail::stream_prefix& p) { fits = fits && merged.add(p); });
  if (!fits) return failure{"the entries of one filter are too short for the other one, which has grown more"};
  *this = std::move(merged);
  return {};
}

// As many bits of it as an entry here can have. False if these are too few, or if there is no room.
inline bool evergreen_stored::add(const detail::stream_prefix& p) {
  while (true) {
    if (p.length < tree_.depth()) return false;
    const std::uint64_t place = tree_.place_of(p);
    detail::uniform_segment& s = tree_[tree_.segment_at(place)];
    const unsigned place_bits = s.shape().place_bits();
    if (p.length < place_bits + detail::pair_code::least_width) return false;
    const unsigned known = p.length - place_bits;
    if (known < s.shape().width) {
      auto narrow = detail::segment_shift::narrowed(s, known);
      if (!narrow) return false;
      s = *std::move(narrow);
      continue;
    }
    if (s.is_full() && (s.step_up() || grow_alone(place))) continue;
    const detail::pair_code code = s.table().code();
    unsigned level = 0;
    while (level < code.highest_level() && code.length(level + 1) <= known) ++level;
    const std::uint64_t quotient = s.quotient_of(p.bits);
    detail::run_entries entries = s.table().entries_of(quotient);
    entries.push_back(code.prefix(s.behind_place(p.bits), level));
    if (s.table().write_with_room(quotient, entries)) {
      ++keys_;
      return true;
    }
    if (!s.step_up() && !grow_alone(place)) return false;
  }
}

inline std::uint64_t evergreen_stored::rejuvenate_all_with(const remote_ref& stored) {
  detail::table_list<std::uint64_t> narrow;
  tree_.for_each([&](std::uint64_t place, const detail::uniform_segment& s) {
    if (s.shape().width < width_) narrow.push_back(place);
  });
  for (const std::uint64_t place : narrow) renew(place, stored, nullptr, detail::segment_growth_kind::none);
  return narrow.size();
}

inline bool evergreen_stored::read_keys(const detail::stream_prefix& under, const remote_ref& stored,
                                        stream_list& streams) const {
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

inline adapt_result evergreen_stored::adapt_with(digest d, const remote_ref& stored) {
  using outcome = detail::paired_table::adapted::outcome;
  if (!may_contain(d)) return adapt_result::not_positive;
  const detail::stream_places::position asked = tree_.places().stream_of(d);
  stream_list streams;
  const detail::uniform_shape before = tree_[locate(d).segment].shape();
  const bool are_all = read_keys({asked.root, asked.stream, before.place_bits() + before.width}, stored, streams);
  if (std::find(streams.begin(), streams.end(), asked.stream) != streams.end() || (!are_all && holds(stored, d)))
    return adapt_result::is_member;
  if (!are_all) return adapt_result::unfixable;
  std::optional<detail::uniform_segment> as_it_was;  // before it got more slots, which may not help
  const auto unfixable = [&] {
    if (as_it_was) tree_[locate(d).segment] = *std::move(as_it_was);
    return adapt_result::unfixable;
  };
  for (unsigned growths = 0;;) {
    detail::uniform_segment& s = tree_[locate(d).segment];
    const std::uint64_t most = s.limit(detail::uniform_segment::fullest_of_fixes);
    const detail::stream_prefix under{asked.root, asked.stream, s.shape().place_bits() + s.shape().width};
    stream_list keys;  // of the streams, those that share the entries' bits now, behind the quotient
    for (const detail::uint128 stream : streams) {
      if (under.matches(stream)) keys.push_back(s.behind_place(stream));
    }
    const auto done =
        s.table().adapt(s.quotient_of(asked.stream), s.behind_place(asked.stream), {keys.data(), keys.size()}, most);
    switch (done.is) {
      case outcome::fixed: keys_ -= done.dropped; return adapt_result::fixed;
      case outcome::not_positive:  // growth has renewed it
        return growths != 0 ? adapt_result::fixed : adapt_result::not_positive;
      case outcome::no_room:
        if (++growths > detail::adapt_work::most_growths) return unfixable();
        if (!as_it_was) as_it_was = s;
        // It is full, or one run has filled its end.
        if (s.table().table().used() + 2 * keys.size() < most && s.make_end_room(2 * keys.size())) continue;
        if (s.step_up()) continue;
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
