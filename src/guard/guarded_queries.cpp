// Get and multi_get: the filter, the store if it must be, and what is learnt from a mistake.

#include "guarded_parts.hpp"

namespace tamis {
namespace {

// Digests that an adaptation may look at: pairing them with slots can take their number cubed. Honest keys
// need a handful, 8 at most among 200,000 in front of any filter of the registry.
constexpr std::uint64_t most_scanned = 128;
constexpr std::uint64_t few_scanned = 16;  // so many may be looked at in vain every time

}  // namespace

result<std::optional<std::string>> guarded_store::parts::get(std::string_view key) {
  const digest hash = settings_.hash(key);
  const stripe& where = home(hash);
  query asked{hash, where.inserts.load(), where.erases.load()};
  asked.answered = where.ask(map_.local(hash));
  counts_.add(counted::queries);
  if (asked.answered == stripe::answer::no) {
    counts_.add(counted::negatives);
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
    const digest hash = settings_.hash(keys[i].text());
    of_stripe[map_.index(hash)].push_back({hash, home(hash).inserts.load(), home(hash).erases.load(), i});
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
    counts_.add(counted::queries, locals.size());
    counts_.add(counted::negatives, locals.size() - (left.size() - before));
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
      answer = detail::prefixed("", read);
    }
  }
  return answers;
}

bool guarded_store::parts::may_contain(std::string_view key) const {
  const digest hash = settings_.hash(key);
  return home(hash).ask(map_.local(hash)) != stripe::answer::no;
}

status guarded_store::parts::scan_keys(std::string_view first,
                                       const std::function<bool(std::string_view, std::string_view)>& visit) const {
  status read;
  TAMIS_CHECK(behind_->scan_keys(first, [&](const located_key& at) {
    const auto value = behind_->get(at);
    if (!value) read = detail::prefixed("", value);
    if (!value || !value->has_value()) return value.ok();  // erased meanwhile: go on
    return visit(at.key, **value);
  }));
  return read;
}

// The store was asked: was the filter wrong?
void guarded_store::parts::judge(const query& asked, std::string_view key, bool found) {
  counts_.add(counted::store_reads);
  if (asked.answered == stripe::answer::unknown) return counts_.add(counted::unguarded);
  if (found) return can_rejuvenate_ ? rejuvenate(asked) : void();
  counts_.add(repeats_.again(asked.hash) ? counted::repeated_wrong : counted::first_wrong);
  if (can_adapt_) adapt(asked, key);
}

// Adapting is optional, so a busy stripe is left alone. The store is asked outside of any lock, and what it said counts only if
// nothing has changed in the stripe meanwhile, neither filter nor store: whoever changes them has `writing` from before the
// first to after the last, and moves the version in between.
void guarded_store::parts::adapt(const query& asked, std::string_view key) {
  stripe& where = home(asked.hash);
  const std::uint32_t index = map_.index(asked.hash);
  const stripe_remote stored(*behind_, map_, index, most_scanned);
  detail::fetched_digests have;
  detail::fetched_digests::missing lacks{};
  std::optional<digest_range> crowd;
  std::uint64_t version = 0;
  if (came_meanwhile(asked, key, version)) return;
  for (;;) {
    {
      const std::unique_lock lock(where.writing, std::try_to_lock);
      if (!lock || where.version() != version) return counts_.add(counted::adaptations_left);
      if (crowd) return where.unfixable.remember(*crowd), counts_.add(counted::unfixable);
      if (try_to_adapt(where, asked.hash, stored, have, lacks)) return;
    }
    try {
      have.fetch(stored, lacks);
    } catch (const too_crowded& where_to) {
      crowd = where_to.range;
    } catch (const std::exception&) {
      return counts_.add(counted::adaptations_left);  // the store cannot be read, or there is no memory; nothing has changed
    }
  }
}

// Somebody may have written to the stripe since the question, perhaps this very key. Ensures: `version` is one of a moment at
// which nobody was in the middle of a change.
bool guarded_store::parts::came_meanwhile(const query& asked, std::string_view key, std::uint64_t& version) {
  stripe& where = home(asked.hash);
  bool may_have_come = false;
  {
    const std::unique_lock lock(where.writing, std::try_to_lock);
    if (!lock) return counts_.add(counted::adaptations_left), true;
    version = where.version();
    may_have_come = where.inserts.load() != asked.inserts;
  }
  if (!may_have_come) return false;
  const result<bool> came = behind_->contains({asked.hash, key});
  return !came || *came;
}

// A key that has been erased since may have nothing in the filter, so that this would take another's entry.
void guarded_store::parts::rejuvenate(const query& asked) {
  stripe& where = home(asked.hash);
  const std::unique_lock lock(where.writing, std::try_to_lock);
  if (!lock || where.erases.load() != asked.erases || !where.filter) return;
  const status done = where.change([&](auto& filter) { return filter->rejuvenate(map_.local(asked.hash)); });
  if (done) counts_.add(counted::rejuvenations);
}

// The key is not in the store. So if its digest is (`is_member`), other keys have the same one, and no filter can tell them
// apart. That, and a crowd that takes too long to look at, stays as it is until a key goes.
//
// False if something of the store is missing in `have`; nothing has changed then.
bool guarded_store::parts::try_to_adapt(stripe& where, digest hash, const stripe_remote& stored, detail::fetched_digests& have,
                                        detail::fetched_digests::missing& lacks) {
  if (!where.filter) return true;
  const digest local = map_.local(hash);
  if (where.unfixable.contains(local)) return counts_.add(counted::unfixable), true;
  try {
    const adapt_result how = where.try_change([&](auto& filter) { return filter->adapt(local, remote_ref(have)); });
    if (how == adapt_result::fixed) counts_.add(counted::adaptations);
    if (how == adapt_result::unfixable || how == adapt_result::is_member) {
      counts_.add(counted::unfixable);
      if (how == adapt_result::is_member || stored.scanned() > few_scanned) where.unfixable.remember({local, local});
    }
  } catch (const detail::fetched_digests::missing& what) {
    lacks = what;
    return false;
  } catch (const std::exception&) {
    // Not enough memory. What the filter made of half an answer is not to be trusted; a list takes a digest only at the end.
    if (adapts_itself_) distrust(where, map_.index(hash));
  }
  return true;
}

void guarded_store::parts::distrust(stripe& where, std::uint32_t index) {
  where.replace(std::nullopt);
  static_cast<void>(rebuild(index, {}));  // if that fails too, the stripe goes on answering "maybe"
}

}  // namespace tamis
