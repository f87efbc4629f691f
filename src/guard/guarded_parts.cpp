#include "guarded_parts.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "tamis/any/registry.hpp"

namespace tamis {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

void bump(std::atomic<std::uint64_t>& counter, std::uint64_t by = 1) { counter.fetch_add(by, relaxed); }

bool is_put(const auto& c) { return c.value.has_value(); }

}  // namespace

guarded_store::parts::parts(std::shared_ptr<store> behind, const guard_options& options, const store_config& config)
    : behind_(std::move(behind)),
      options_(options),
      identity_(config.identity),
      map_(static_cast<unsigned>(std::countr_zero(config.stripes))),
      maker_(options, config.stripes),
      stripes_(std::make_unique<stripe[]>(config.stripes)),
      repeats_(options.remembered_mistakes) {}

guarded_store::parts::~parts() = default;

// ---- changes

status guarded_store::parts::usable() const {
  if (!broken_) return {};
  return error{behind_->name() + ": an earlier write failed and its outcome is unknown: close the store and open it again"};
}

// Finds digests and stripes, sorts by stripe, and keeps the last change of every key.
void guarded_store::parts::locate(std::vector<change>& changes) const {
  for (change& c : changes) {
    c.hash = options_.hash(c.key);
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
  int rebuilds = 0;
  const auto stripe_end = [&](auto first) {
    return std::find_if(first, changes.end(), [&](const change& c) { return c.stripe != first->stripe; });
  };
  for (auto first = changes.begin(); first != changes.end();) {
    const auto last = stripe_end(first);
    if (cover_stripe({first, last})) {
      first = last;
      continue;
    }
    if (++rebuilds > most_rebuilds) return error{options_.filter + ": a stripe's new filter has no room for new keys"};
    TAMIS_CHECK(rebuild(first->stripe, static_cast<std::uint64_t>(last - first) << rebuilds));
  }
  return {};
}

// False if the stripe needs another filter.
bool guarded_store::parts::cover_stripe(std::span<const change> changes) {
  stripe& where = stripes_[changes.front().stripe];
  for (const change& c : changes) {
    if (!is_put(c) || c.stored) continue;
    where.inserts.fetch_add(1);
    // Without a filter every answer is "maybe", and the scan that makes one will find the key.
    if (where.filter && !insert(where, map_.local(c.hash))) return false;
  }
  return true;
}

bool guarded_store::parts::insert(stripe& where, digest local) const {
  const auto attempt = [&] { return where.change([&](auto& filter) { return filter->insert(local); }); };
  if (attempt() == insert_result::full) {
    const bool expanded = can_expand_ && where.change([&](auto& filter) { return filter->expand().ok(); });
    if (!expanded || attempt() == insert_result::full) return false;
  }
  // Filters that never refuse get worse instead. One that can grow does so by itself.
  return can_expand_ || where.filter->keys() <= where.filter->capacity();
}

void guarded_store::parts::uncover(const std::vector<change>& changes) {
  for (const change& c : changes) {
    if (is_put(c) || !c.stored) continue;
    stripe& where = home(c.hash);
    if (!can_erase_) {
      bump(where.counts.left_behind);
    } else if (where.filter) {
      where.change([&](auto& filter) { return filter->erase(map_.local(c.hash)); });
    }
  }
}

status guarded_store::parts::write_to_store(const write_set& set) {
  status written = behind_->write(set, options_.sync);
  if (!written) broken_ = true;
  return written;
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
    set.records.push_back({c.stripe, ++numbers.back().second, is_put(c) ? operation::insert : operation::erase, c.hash});
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
  keys_.fetch_add(added - erased, relaxed);
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

// ---- queries

result<std::optional<std::string>> guarded_store::parts::get(std::string_view key) {
  const digest hash = options_.hash(key);
  const stripe& where = home(hash);
  query asked{hash, where.inserts.load()};
  asked.answered = where.ask(map_.local(hash));
  bump(where.counts.queries);
  if (asked.answered == stripe::answer::no) {
    bump(where.counts.negatives);
    return std::optional<std::string>();
  }
  TAMIS_TRY(auto value, behind_->get({hash, key}));
  judge(asked, key, value.has_value());
  return value;
}

// Asks the filters about a batch, stripe by stripe, so that each works on many digests at once.
std::vector<guarded_store::parts::query> guarded_store::parts::sift(std::span<const byte_view> keys) const {
  std::vector<std::vector<query>> of_stripe(map_.count());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const digest hash = options_.hash(keys[i].text());
    of_stripe[map_.index(hash)].push_back({hash, home(hash).inserts.load(), i});
  }
  std::vector<query> left;
  std::vector<digest> locals;
  const auto said = std::make_unique<bool[]>(keys.size());
  for (std::uint32_t s = 0; s < map_.count(); ++s) {
    if (of_stripe[s].empty()) continue;
    locals.clear();
    for (const query& asked : of_stripe[s]) locals.push_back(map_.local(asked.hash));
    const stripe::answer maybe = stripes_[s].ask_many(locals, std::span(said.get(), locals.size()));
    const std::size_t before = left.size();
    for (std::size_t k = 0; k < locals.size(); ++k) {
      if (said[k]) left.push_back(of_stripe[s][k]), left.back().answered = maybe;
    }
    bump(stripes_[s].counts.queries, locals.size());
    bump(stripes_[s].counts.negatives, locals.size() - (left.size() - before));
  }
  return left;
}

std::vector<result<std::optional<std::string>>> guarded_store::parts::multi_get(std::span<const byte_view> keys) {
  std::vector<result<std::optional<std::string>>> answers(keys.size(), std::optional<std::string>());
  const std::vector<query> left = sift(keys);
  std::vector<located_key> wanted;
  wanted.reserve(left.size());
  for (const query& asked : left) wanted.push_back({asked.hash, keys[asked.index].text()});
  std::vector<std::optional<std::string>> found(left.size());
  const status read = behind_->get_many(wanted, found);
  for (std::size_t k = 0; k < left.size(); ++k) {
    if (read) judge(left[k], wanted[k].key, found[k].has_value());
    auto& answer = answers[left[k].index];
    if (read) {
      answer = std::move(found[k]);
    } else {
      answer = error{read.message()};
    }
  }
  return answers;
}

bool guarded_store::parts::may_contain(std::string_view key) const {
  const digest hash = options_.hash(key);
  return home(hash).ask(map_.local(hash)) != stripe::answer::no;
}

// The store was asked: was the filter wrong?
void guarded_store::parts::judge(const query& asked, std::string_view key, bool found) {
  stripe_counts& counts = home(asked.hash).counts;
  bump(counts.store_reads);
  if (asked.answered == stripe::answer::unknown) return bump(counts.unguarded);
  if (found) return;
  bump(repeats_.again(asked.hash) ? counts.repeated_wrong : counts.first_wrong);
  if (can_adapt_) adapt(asked, key);
}

// Adapting is optional, so a busy stripe is left alone.
void guarded_store::parts::adapt(const query& asked, std::string_view key) {
  stripe& where = home(asked.hash);
  const std::unique_lock lock(where.writing, std::try_to_lock);
  if (!lock) return bump(where.counts.adaptations_left);
  if (where.inserts.load() != asked.inserts) {
    // Somebody wrote to the stripe since; perhaps this very key.
    const result<bool> came = behind_->contains({asked.hash, key});
    if (!came || *came) return;
  }
  adapt_locked(where, asked.hash);
}

void guarded_store::parts::adapt_locked(stripe& where, digest hash) {
  if (!where.filter) return;
  const std::uint32_t index = map_.index(hash);
  const stripe_remote stored(*behind_, map_, index);
  try {
    const adapt_result how = where.change([&](auto& filter) { return filter->adapt(map_.local(hash), remote_ref(stored)); });
    if (how == adapt_result::fixed) bump(where.counts.adaptations);
    if (how == adapt_result::unfixable) bump(where.counts.unfixable);
  } catch (const std::runtime_error&) {
    // The store could not be read. What the filter made of half an answer is not to be trusted.
    where.change([](auto& filter) { filter.reset(); });
    static_cast<void>(rebuild(index, 0));  // if that fails too, the stripe goes on answering "maybe"
  }
}

// ---- filters

status guarded_store::parts::rebuild(std::uint32_t index, std::uint64_t room, const std::function<bool()>& go_on) {
  stripe& where = stripes_[index];
  const std::uint64_t old_capacity = where.filter ? where.filter->capacity() : 0;
  TAMIS_TRY(any_filter made, maker_.rebuild(*behind_, map_, index, {old_capacity, room}, go_on));
  where.change([&](auto& filter) { filter.emplace(std::move(made)); });
  bump(where.counts.rebuilds);
  return {};
}

status guarded_store::parts::rebuild(std::uint32_t index, std::uint64_t room) {
  return rebuild(index, room, [] { return true; });
}

// ---- what it says about itself

guard_stats guarded_store::parts::stats() const {
  guard_stats sum;
  for (std::uint32_t i = 0; i < map_.count(); ++i) {
    const stripe_counts& counts = stripes_[i].counts;
    sum.queries += counts.queries.load(relaxed);
    sum.negatives += counts.negatives.load(relaxed);
    sum.first_false_positives += counts.first_wrong.load(relaxed);
    sum.repeated_false_positives += counts.repeated_wrong.load(relaxed);
    sum.unguarded += counts.unguarded.load(relaxed);
    sum.store_reads += counts.store_reads.load(relaxed);
    sum.adaptations += counts.adaptations.load(relaxed);
    sum.unfixable += counts.unfixable.load(relaxed);
    sum.adaptations_left += counts.adaptations_left.load(relaxed);
    sum.left_behind += counts.left_behind.load(relaxed);
    sum.rebuilds += counts.rebuilds.load(relaxed);
  }
  sum.snapshots = snapshots_.load(relaxed);
  sum.failed_snapshots = failed_snapshots_.load(relaxed);
  sum.records_since_snapshot = records_.load(relaxed);
  return sum;
}

memory_bits guarded_store::parts::bits() const {
  memory_bits sum;
  for (std::uint32_t i = 0; i < map_.count(); ++i) {
    const std::shared_lock lock(stripes_[i].probing);
    if (!stripes_[i].filter) continue;
    const memory_bits part = stripes_[i].filter->bits();
    sum.fast += part.fast;
    sum.slow += part.slow;
  }
  return sum;
}

double guarded_store::parts::expected_fpr() const {
  double sum = 0;
  for (std::uint32_t i = 0; i < map_.count(); ++i) {
    const std::shared_lock lock(stripes_[i].probing);
    sum += stripes_[i].filter ? stripes_[i].filter->expected_fpr() : 1.0;
  }
  return sum / map_.count();
}

}  // namespace tamis
