// Put, erase and batches: locate, lock, look up, cover, commit, uncover.

#include <algorithm>
#include <tuple>

#include "guarded_parts.hpp"

namespace tamis {
namespace {

bool is_put(const auto& c) { return c.value.has_value(); }

}  // namespace

status guarded_store::parts::usable() const {
  if (!broken_) return {};
  if (behind_->is_read_only()) return failure{behind_->name() + ": is open for reading only", error_code::unsupported};
  return failure{behind_->name() + ": an earlier write failed and its outcome is unknown: close the store and open it again",
                 error_code::in_use};
}

// Finds digests and stripes, sorts by stripe, and keeps the last change of every key.
void guarded_store::parts::locate(std::vector<change>& changes) const {
  for (change& c : changes) {
    c.hash = settings_.hash(c.key);
    c.stripe = map_.index(c.hash);
  }
  if (changes.size() < 2) return;
  const auto place = [](const change& c) { return std::tie(c.hash, c.key); };
  std::stable_sort(changes.begin(), changes.end(), [&](const change& a, const change& b) { return place(a) < place(b); });
  const auto kept =
      std::unique(changes.rbegin(), changes.rend(), [&](const change& a, const change& b) { return place(a) == place(b); });
  changes.erase(changes.begin(), kept.base());
}

std::vector<std::unique_lock<std::mutex>> guarded_store::parts::lock_all(const std::vector<change>& changes) {
  std::vector<std::unique_lock<std::mutex>> locks;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (i == 0 || changes[i].stripe != changes[i - 1].stripe) locks.emplace_back(stripes_[changes[i].stripe].writing);
  }
  return locks;
}

status guarded_store::parts::look_up(std::vector<change>& changes) const {
  for (change& c : changes) {
    if (home(c.hash).ask(map_.local(c.hash)) == stripe::answer::no) continue;
    TAMIS_TRY(c.stored, behind_->contains({c.hash, c.key}));
  }
  return {};
}

// Inserts what is new. An entry whose key then does not reach the store is harmless: a "maybe" too many.
//
// A filter made new from the store knows nothing of the changes that are under way, so the stripe then starts over.
status guarded_store::parts::cover(const std::vector<change>& changes) {
  constexpr int most_rebuilds = 8;
  int rebuilds = 0;  // of this stripe
  const auto stripe_end = [&](auto first) {
    return std::find_if(first, changes.end(), [&](const change& c) { return c.stripe != first->stripe; });
  };
  for (auto first = changes.begin(); first != changes.end();) {
    const auto last = stripe_end(first);
    const std::optional<digest> left_out = cover_stripe({first, last});
    if (!left_out) {
      first = last;
      rebuilds = 0;
      continue;
    }
    if (++rebuilds > most_rebuilds)
      return failure{options_.filter + ": a stripe's new filter has no room for new keys", error_code::full};
    TAMIS_TRY(const bool crowded, is_crowded(*left_out, {first, last}, rebuilds > 1));
    if (crowded)
      return failure{options_.filter + ": refuses a key, too many stored ones have digests of the same first bits",
                     error_code::full};
    // A filter that cannot erase may be full of leftovers: then one of the same size will do.
    const bool larger = can_erase_ || rebuilds > 1;
    TAMIS_CHECK(rebuild(first->stripe, {static_cast<std::uint64_t>(last - first) << rebuilds, larger}));
  }
  return {};
}

// The local digest for which the stripe needs another filter; none if all are covered.
std::optional<digest> guarded_store::parts::cover_stripe(std::span<const change> changes) {
  stripe& where = stripes_[changes.front().stripe];
  for (const change& c : changes) {
    if (!is_put(c) || c.stored) continue;
    where.inserts.fetch_add(1);
    where.touch();
    // Without a filter every answer is "maybe", and the scan that makes one will find the key.
    if (where.filter && !insert(where, map_.local(c.hash), changes.size())) return map_.local(c.hash);
  }
  return std::nullopt;
}

bool guarded_store::parts::insert(stripe& where, digest local, std::uint64_t coming) const {
  const auto attempt = [&] { return where.change([&](auto& filter) { return filter->insert(local); }); };
  if (attempt() == insert_result::full) {
    const bool may_expand = can_expand_ && !is_roomy(*where.filter, coming);
    const bool expanded = may_expand && where.change([&](auto& filter) { return filter->expand().ok(); });
    if (!expanded || attempt() == insert_result::full) return false;
  }
  // Filters that never refuse get worse instead. One that can grow does so by itself.
  return can_expand_ || where.filter->keys() <= where.filter->capacity();
}

// Was this digest left out because of those that begin like it? Then no size helps, and the next one is refused at once.
// Either the filter is at most half full, or an empty one of its size refuses these few, too. One that has adapted may also be
// out of room for what it has learnt, which a new one has not: `is_new` says that this one is made from the store.
result<bool> guarded_store::parts::is_crowded(digest left_out, std::span<const change> changes, bool is_new) {
  constexpr std::size_t most_neighbours = 64;
  const std::uint32_t index = changes.front().stripe;
  stripe& where = stripes_[index];
  if (where.refusing.contains(left_out)) return true;
  const digest_range alike = prefix_range(left_out, 64);
  bool crowded = is_roomy(*where.filter, changes.size()) && (is_new || !adapts_itself_);
  if (!crowded) {
    std::vector<digest> crowd = {left_out};
    const digest_range wide = {map_.global(index, alike.first), map_.global(index, alike.last)};
    TAMIS_CHECK(behind_->scan(wide, scan_size::few, [&](digest d) {
      crowd.push_back(map_.local(d));
      return crowd.size() < most_neighbours;
    }));
    if (crowd.size() == 1) return false;
    TAMIS_TRY(any_filter empty, maker_.make(where.filter->capacity()));
    crowded = empty.insert_many(crowd) != crowd.size();
  }
  if (crowded) where.refusing.remember(alike);
  return crowded;
}

void guarded_store::parts::uncover(const std::vector<change>& changes) {
  for (const change& c : changes) {
    if (is_put(c) || !c.stored) continue;
    stripe& where = home(c.hash);
    where.erases.fetch_add(1);
    where.touch();  // the store has changed, whether the filter does or not
    where.refusing.forget(map_.local(c.hash));
    where.unfixable.forget(map_.local(c.hash));
    if (!can_erase_) {
      bump(where.counts.left_behind);
    } else if (where.filter) {
      where.change([&](auto& filter) { return filter->erase(map_.local(c.hash)); });
    }
  }
}

status guarded_store::parts::write_to_store(const write_set& set) {
  return change_store([&] { return behind_->write(set, options_.sync); });
}

// Entries and records in one write. Only then do the stripes' numbers move: a number is never used twice, since after a failure
// nothing more is written.
status guarded_store::parts::commit(const std::vector<change>& changes) {
  write_set set;
  std::vector<std::pair<stripe*, std::uint64_t>> numbers;
  for (const change& c : changes) {
    if (!is_put(c) && !c.stored) continue;
    set.entries.push_back({{c.hash, c.key}, c.value});
    if (is_put(c) && c.stored) continue;  // a new value: the filter does not change
    stripe& where = home(c.hash);
    if (numbers.empty() || numbers.back().first != &where) numbers.emplace_back(&where, where.number);
    set.records.push_back(
        {c.stripe, ++numbers.back().second, is_put(c) ? oplog_operation::insert : oplog_operation::erase, c.hash});
  }
  if (set.entries.empty()) return {};
  if (skips(protocol_step::one_write)) {
    write_set data;
    std::swap(data.entries, set.entries);
    TAMIS_CHECK(write_to_store(data));
  }
  TAMIS_CHECK(write_to_store(set));
  for (const auto& [where, number] : numbers) where->number = number;
  bump(records_, set.records.size());
  return {};
}

// Keys that went; keeps the count of keys up to date.
std::uint64_t guarded_store::parts::count(const std::vector<change>& changes) {
  std::uint64_t erased = 0;
  std::uint64_t added = 0;
  for (const change& c : changes) {
    erased += !is_put(c) && c.stored;
    added += is_put(c) && !c.stored;
  }
  keys_.fetch_add(added - erased, std::memory_order_relaxed);
  return erased;
}

result<std::uint64_t> guarded_store::parts::apply(std::vector<change> changes) {
  locate(changes);
  std::uint64_t erased = 0;
  {
    const auto locks = lock_all(changes);
    TAMIS_CHECK(usable());
    TAMIS_CHECK(look_up(changes));
    if (skips(protocol_step::late_filter_erase)) uncover(changes);
    if (!skips(protocol_step::early_filter_insert)) TAMIS_CHECK(cover(changes));
    TAMIS_CHECK(commit(changes));
    if (skips(protocol_step::early_filter_insert)) TAMIS_CHECK(cover(changes));
    if (!skips(protocol_step::late_filter_erase)) uncover(changes);
    erased = count(changes);
  }
  snapshot_if_due();
  return erased;
}

}  // namespace tamis
