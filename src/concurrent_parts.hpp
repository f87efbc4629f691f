#pragma once

// The inside of a concurrent_filter. A template of the steps that tests watch (reader_gate.hpp); the library has it once.

#include <algorithm>
#include <array>
#include <cassert>
#include <memory>
#include <vector>

#include "detail/threads/shared_filter.hpp"
#include "detail/threads/stripe_params.hpp"
#include "tamis/concurrent.hpp"
#include "tamis/detail/any/saved.hpp"
#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/threads/stripe_map.hpp"

namespace tamis::detail {

// What the whole's remote has of one stripe, in local form.
class stripe_of_remote {
 public:
  stripe_of_remote(const remote_ref& stored, const stripe_map& map, std::uint32_t index)
      : stored_(stored), map_(map), index_(index) {}

  template <class Visit>
  void for_each_in(digest_range range, Visit&& visit) const {
    stored_.for_each_in(map_.global_range(index_, range), [&](digest d) {
      const digest local = map_.local(d);
      return !range.contains(local) || wants_more_after(visit, local);
    });
  }

 private:
  const remote_ref& stored_;
  const stripe_map& map_;
  std::uint32_t index_;
};

// The payload of a saved one.
struct saved_stripes {
  static constexpr std::uint32_t version = 1;

  std::uint32_t bits = 0;
  std::vector<std::string> filters;  // the frame of each, in order

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.bits, self.filters);
  }
  status validate() const {
    if (is_wrong(bits > stripe_map::most_bits)) return failure{"2^" + std::to_string(bits) + " stripes are too many"};
    if (is_wrong(filters.size() != std::size_t{1} << bits))
      return failure{"there are " + std::to_string(filters.size()) + " stripes, not 2^" + std::to_string(bits)};
    return {};
  }
};

// A batch in the order of its stripes, piece by piece.
class stripe_sorter {
 public:
  static constexpr std::size_t most = 4096;

  // `work(stripe, locals, positions)`: positions[k] says where in the batch locals[k] stands.
  template <class Work>
  static void for_each(const stripe_map& map, const hasher& hash, const key_batch& keys, Work work) {
    const std::size_t room = std::min(keys.size(), most);
    const auto digests = std::make_unique_for_overwrite<digest[]>(2 * room);
    const auto positions = std::make_unique_for_overwrite<std::size_t[]>(room);
    const std::span<digest> locals(digests.get() + room, room);
    for (std::size_t first = 0; first < keys.size(); first += room) {
      const std::span<digest> piece(digests.get(), std::min(room, keys.size() - first));
      keys.hash(hash, first, piece);
      std::array<std::uint32_t, (1u << stripe_map::most_bits) + 1> ends{};
      for (const digest d : piece) ++ends[map.index(d) + 1];
      for (std::uint32_t s = 0; s < map.count(); ++s) ends[s + 1] += ends[s];
      for (std::size_t i = 0; i < piece.size(); ++i) {
        const std::uint32_t to = ends[map.index(piece[i])]++;  // in the end where the stripe ends
        locals[to] = map.local(piece[i]);
        positions[to] = first + i;
      }
      std::uint32_t begin = 0;
      for (std::uint32_t s = 0; s < map.count(); begin = ends[s++]) {
        const std::uint32_t count = ends[s] - begin;
        if (count != 0)
          work(s, std::span<const digest>(locals.subspan(begin, count)), std::span(positions.get() + begin, count));
      }
    }
  }
};

// A batch that is only read: each digest goes to its stripe's bucket, and a bucket is worked off when it is full. The digests
// are written once and stay near the processor.
class stripe_buckets {
 public:
  static constexpr std::size_t all_room = 2048;  // of all buckets together
  static constexpr std::size_t least_room = 64;  // of one: below, filters have too few lookups under way
  static constexpr std::size_t hashed_at_once = 64;

  // `work(stripe, locals, positions)`: positions[k] says where in the batch locals[k] stands.
  template <class Work>
  static void for_each(const stripe_map& map, const hasher& hash, const key_batch& keys, Work work) {
    const std::size_t room = std::min(std::max(all_room >> map.bits(), least_room), keys.size());
    const auto locals = std::make_unique_for_overwrite<digest[]>(room << map.bits());
    const auto positions = std::make_unique_for_overwrite<std::size_t[]>(room << map.bits());
    std::array<std::size_t, 1u << stripe_map::most_bits> used{};
    const auto empty = [&](std::uint32_t s) {
      if (used[s] == 0) return;
      work(s, std::span<const digest>(locals.get() + s * room, used[s]), std::span(positions.get() + s * room, used[s]));
      used[s] = 0;
    };
    std::array<digest, hashed_at_once> hashed;
    for (std::size_t first = 0; first < keys.size(); first += hashed.size()) {
      const std::size_t count = std::min(hashed.size(), keys.size() - first);
      keys.hash(hash, first, std::span(hashed).first(count));
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t s = map.index(hashed[i]);
        const std::size_t to = s * room + used[s];
        locals[to] = map.local(hashed[i]);
        positions[to] = first + i;
        if (++used[s] == room) empty(s);
      }
    }
    for (std::uint32_t s = 0; s < map.count(); ++s) empty(s);
  }
};

template <class Steps>
class concurrent_parts {
 public:
  using turn = typename shared_filter<Steps>::turn;

  // `filters`: one for each stripe.
  concurrent_parts(const stripe_map& map, std::vector<any_filter> filters, const registry& known, memory_resource* memory)
      : map_(map),
        known_(known),
        memory_(memory != nullptr ? memory : &current_memory()),
        hash_(filters.front().hash()),
        kind_(filters.front().kind()),
        can_(filters.front().can()),
        stripes_(std::make_unique<stripe[]>(filters.size())) {
    for (std::size_t s = 0; s < filters.size(); ++s) stripes_[s].shared.replace(std::move(filters[s]));
  }

  static result<std::unique_ptr<concurrent_parts>> create(std::string_view id, const filter_params& params, hasher hash,
                                                          const concurrent_options& options) {
    const std::uint32_t stripes = options.stripes != 0 ? options.stripes : default_stripes(params.capacity);
    if (!std::has_single_bit(stripes) || stripes > 1u << stripe_map::most_bits) {
      return failure{"stripes: must be a power of two from 1 to 256, but is " + std::to_string(stripes),
                     error_code::out_of_range};
    }
    const registry& known = options.known != nullptr ? *options.known : registry::builtin();
    const filter_params share = params_of_stripe(params, stripes);
    std::vector<any_filter> filters;
    for (std::uint32_t s = 0; s < stripes; ++s) {
      TAMIS_TRY(any_filter made, any_filter::create(known, id, share, hash));
      filters.push_back(std::move(made));
    }
    const stripe_map map(static_cast<unsigned>(std::countr_zero(stripes)));
    return std::make_unique<concurrent_parts>(map, std::move(filters), known, params.memory);
  }

  const std::string& kind() const { return kind_; }
  capabilities can() const { return can_; }
  const hasher& hash() const { return hash_; }
  std::uint32_t stripes() const { return map_.count(); }
  const stripe_map& map() const { return map_; }

  TAMIS_INLINE bool may_contain(digest d) const {
    const auto [high, low] = map_.local(d);
    return home(d).shared.read([high = high, low = low](const auto& filter) { return filter->may_contain(digest{high, low}); });
  }
  insert_result insert(digest d) { return insert(take_turn(d), d); }
  insert_result insert(const turn& mine, digest d) {
    const digest local = map_.local(d);
    make_room(home(d), 1);
    return mine->change([local](auto& filter) { return filter->insert(local); });
  }
  insert_result insert_if_absent(digest d) {
    const digest local = map_.local(d);
    const turn mine = take_turn(d);
    make_room(home(d), 1);
    return mine->change([local](auto& filter) { return filter->insert_if_absent(local); });
  }
  erase_result erase(digest d) {
    if (!can_.erase) return erase_result::unsupported;
    return erase(take_turn(d), d);
  }
  erase_result erase(const turn& mine, digest d) {
    const digest local = map_.local(d);
    note_erases(home(d), 1);
    return mine->change([local](auto& filter) { return filter->erase(local); });
  }
  result<std::uint64_t> count(digest d) const {
    const digest local = map_.local(d);
    return home(d).shared.read([local](const auto& filter) { return filter->count(local); });
  }
  adapt_result adapt(digest d) {
    if (!can_.adapt) return adapt_result::unsupported;
    if (!may_contain(d)) return adapt_result::not_positive;
    const digest local = map_.local(d);
    const turn mine = take_turn(d);
    return noted(home(d), mine->change([local](auto& filter) { return filter->adapt(local); }));
  }
  adapt_result adapt(digest d, const remote_ref& stored) {
    if (!can_.adapt) return adapt_result::unsupported;
    if (!may_contain(d)) return adapt_result::not_positive;
    return noted(home(d), with_remote(d, stored, [](any_filter& filter, digest local, const remote_ref& fetched) {
                   return filter.adapt(local, fetched);
                 }));
  }
  insert_result insert(digest d, const remote_ref& stored) {
    return with_remote(d, stored, [this](any_filter& filter, digest local, const remote_ref& fetched) {
      return filter.insert(local, fetched);
    });
  }
  erase_result erase(digest d, const remote_ref& stored) {
    if (!can_.erase) return erase_result::unsupported;
    return with_remote(
        d, stored, [](any_filter& filter, digest local, const remote_ref& fetched) { return filter.erase(local, fetched); });
  }

  turn take_turn(digest d) { return turn(home(d).shared); }

  void may_contain_many(const key_batch& keys, std::span<bool> out) const {
    assert(out.size() >= keys.size());
    if (map_.bits() == 0 && (keys.are_digests() || keys.are_words())) return ask_the_only_one(keys, out);
    std::array<bool, stripe_buckets::all_room> said;
    stripe_buckets::for_each(map_, hash_, keys, [&](std::uint32_t s, auto locals, auto positions) {
      stripes_[s].shared.read([&](const auto& filter) {
        filter->may_contain_many(locals, std::span(said).first(locals.size()));
        return true;
      });
      for (std::size_t k = 0; k < locals.size(); ++k) out[positions[k]] = said[k];
    });
  }
  std::size_t insert_many(const key_batch& keys, std::span<bool> out) {
    return change_many(
        keys, out,
        [](any_filter& filter, std::span<const digest> locals, std::span<bool> done) {
          return filter.insert_many(locals, done);
        },
        [this](stripe& where, std::size_t keys_coming) { make_room(where, keys_coming); });
  }
  std::size_t erase_many(const key_batch& keys, std::span<bool> out) {
    return change_many(
        keys, out,
        [](any_filter& filter, std::span<const digest> locals, std::span<bool> done) {
          return filter.erase_many(locals, done).value();
        },
        [](stripe& where, std::size_t keys_going) { note_erases(where, keys_going); });
  }
  void rejuvenate_many(const key_batch& keys) {
    change_many(
        keys, {},
        [](any_filter& filter, std::span<const digest> locals, std::span<bool>) {
          filter.rejuvenate_many(locals).value();
          return std::size_t{0};
        },
        [](stripe&, std::size_t) {});
  }
  void count_many(const key_batch& keys, std::span<std::uint64_t> out) const {
    stripe_sorter::for_each(map_, hash_, keys, [&](std::uint32_t s, auto locals, auto positions) {
      stripes_[s].shared.read([&](const auto& filter) {
        for (std::size_t k = 0; k < locals.size(); ++k) out[positions[k]] = filter->model().count(locals[k]);
        return true;
      });
    });
  }

  status expand() {
    for (std::uint32_t s = 0; s < map_.count(); ++s) {
      const turn mine(stripes_[s].shared);
      TAMIS_CHECK(expand_beside(stripes_[s]));
    }
    return {};
  }

  status rebuild(const filter_params& params, const remote_ref& stored) {
    filter_params share = params_of_stripe(params, map_.count());
    if (share.memory == nullptr) share.memory = memory_;
    for (std::uint32_t s = 0; s < map_.count(); ++s) {
      const turn mine(stripes_[s].shared);
      std::vector<digest> found;
      stripe_of_remote(stored, map_, s).for_each_in(all_digests, [&](digest d) { found.push_back(d); });
      TAMIS_TRY(any_filter made, filled(share, found));
      mine->replace(std::move(made));
      stripes_[s].room = 0;
      add(stripes_[s].rebuilds);
    }
    return {};
  }

  status clear() {
    for (std::uint32_t s = 0; s < map_.count(); ++s) {
      const turn mine(stripes_[s].shared);
      TAMIS_TRY(any_filter empty, mine->filter->emptied());
      mine->replace(std::move(empty));
      stripes_[s].room = 0;
    }
    return {};
  }

  status merge(const concurrent_parts& other) {
    if (map_.count() != other.map_.count()) {
      return failure{
          "the two filters have " + std::to_string(map_.count()) + " and " + std::to_string(other.map_.count()) + " stripes",
          error_code::mismatch};
    }
    for (std::uint32_t s = 0; s < map_.count(); ++s) {
      const any_filter added = other.copy(s);  // before this one's turn, since it may be the same filter
      const turn mine(stripes_[s].shared);
      any_filter merged = *mine->filter;
      TAMIS_CHECK(merged.merge(added));
      mine->replace(std::move(merged));
      stripes_[s].room = 0;
    }
    return {};
  }

  // Adds up what `ask` says of every stripe's filter.
  template <class Ask>
  auto sum(Ask ask) const {
    decltype(ask(std::declval<const any_filter&>())) all{};
    for_each_filter([&](const any_filter& filter) { all += ask(filter); });
    return all;
  }
  template <class Visit>
  void for_each_filter(Visit visit) const {
    for (std::uint32_t s = 0; s < map_.count(); ++s) {
      stripes_[s].shared.read([&](const auto& filter) {
        visit(*filter);
        return true;
      });
    }
  }
  option_list settings() const {
    return stripes_[0].shared.read([](const auto& filter) { return filter->settings(); });
  }
  concurrent_stats stats() const {
    concurrent_stats all{.stripes = map_.count(), .fewest_keys = ~std::uint64_t{0}};
    for_each_filter([&](const any_filter& filter) {
      all.fewest_keys = std::min(all.fewest_keys, filter.size());
      all.most_keys = std::max(all.most_keys, filter.size());
      all.known_mistakes += filter.known_mistakes();
    });
    for (std::uint32_t s = 0; s < map_.count(); ++s) {
      all.growths += stripes_[s].growths.load(std::memory_order_relaxed);
      all.rebuilds += stripes_[s].rebuilds.load(std::memory_order_relaxed);
      all.adaptations += stripes_[s].adaptations.load(std::memory_order_relaxed);
    }
    return all;
  }

  saved_stripes saved(save_moment moment) const {
    saved_stripes content{map_.bits(), {}};
    std::vector<turn> all;
    for (std::uint32_t s = 0; moment == save_moment::of_the_whole && s < map_.count(); ++s) all.push_back(turn_of(s));
    for (std::uint32_t s = 0; s < map_.count(); ++s) {
      std::optional<turn> own;
      if (all.empty()) own.emplace(turn_of(s));
      text_sink sink;
      stripes_[s].shared.filter->save(sink).value();  // memory has no errors
      content.filters.push_back(std::move(sink.text));
    }
    return content;
  }

  static result<std::unique_ptr<concurrent_parts>> restored(const saved_stripes& content, const load_options& options) {
    std::vector<any_filter> filters;
    for (const std::string& text : content.filters) {
      TAMIS_TRY(any_filter filter, tamis::load_bytes(std::as_bytes(std::span(text)), options));
      if (!filters.empty() && filter.kind() != filters.front().kind())
        return failure{"its stripes are of different kinds", error_code::damaged};
      filters.push_back(std::move(filter));
    }
    const registry& known = options.known != nullptr ? *options.known : registry::builtin();
    return std::make_unique<concurrent_parts>(stripe_map(content.bits), std::move(filters), known, options.memory);
  }

 private:
  // Everything below is written by who has the turn.
  struct stripe {
    mutable shared_filter<Steps> shared;
    std::uint64_t room = 0;    // inserts before the next look at whether the filter is full
    std::uint64_t erases = 0;  // since that look
    bool grows = true;         // expanding has never failed
    std::atomic<std::uint64_t> growths = 0, rebuilds = 0, adaptations = 0;
  };
  struct text_sink final : byte_sink {
    status write(std::span<const std::byte> bytes) override {
      text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return {};
    }
    std::string text;
  };

  static void add(std::atomic<std::uint64_t>& counter) { counter.fetch_add(1, std::memory_order_relaxed); }

  stripe& home(digest d) const { return stripes_[map_.index(d)]; }
  turn turn_of(std::uint32_t s) const { return turn(stripes_[s].shared); }
  any_filter copy(std::uint32_t s) const {
    const turn mine = turn_of(s);
    return *mine->filter;
  }

  template <class Attempt>
  auto with_remote(digest d, const remote_ref& stored, Attempt attempt) {
    const digest local = map_.local(d);
    const stripe_of_remote own(stored, map_, map_.index(d));
    return change_with_remote(home(d).shared, own,
                              [&](any_filter& filter, const remote_ref& fetched) { return attempt(filter, local, fetched); });
  }
  static adapt_result noted(stripe& where, adapt_result how) {
    if (how == adapt_result::fixed) add(where.adaptations);
    return how;
  }

  void ask_the_only_one(const key_batch& keys, std::span<bool> out) const {
    for (std::size_t first = 0; first < keys.size(); first += stripe_sorter::most) {
      const std::size_t count = std::min(stripe_sorter::most, keys.size() - first);
      stripes_[0].shared.read([&](const auto& filter) {
        filter->may_contain_many(keys.part(first, count), out.subspan(first, count));
        return true;
      });
    }
  }

  // `prepare` is told how many keys are coming. The gate opens again every `keys_at_once` keys, so that readers get in between.
  template <class Change, class Prepare>
  std::size_t change_many(const key_batch& keys, std::span<bool> out, Change change, Prepare prepare) {
    constexpr std::size_t keys_at_once = 64;
    assert(out.empty() || out.size() >= keys.size());
    std::fill(out.begin(), out.end(), false);
    std::size_t changed = 0;
    std::array<bool, keys_at_once> done{};
    stripe_sorter::for_each(map_, hash_, keys, [&](std::uint32_t s, auto locals, auto positions) {
      const turn mine(stripes_[s].shared);
      for (std::size_t first = 0; first < locals.size(); first += keys_at_once) {
        const auto some = locals.subspan(first, std::min(keys_at_once, locals.size() - first));
        prepare(stripes_[s], some.size());
        const std::span<bool> answers(done.data(), out.empty() ? 0 : some.size());
        changed += mine->change([&](auto& filter) { return change(*filter, some, answers); });
        for (std::size_t k = 0; k < answers.size(); ++k) out[positions[first + k]] = answers[k];
      }
    });
    return changed;
  }

  // A filter that can expand does so by itself in the middle of an insert, and readers would wait for it. So where it is full
  // it is expanded beforehand, as a copy. If there is no memory for a copy, it is left to the insert.
  void make_room(stripe& where, std::uint64_t coming) const {
    if (!can_.expand) return;
    if (where.room >= coming) {
      where.room -= coming;
      return;
    }
    look_for_room(where, coming);
  }
  TAMIS_NOINLINE void look_for_room(stripe& where, std::uint64_t coming) const {
    constexpr std::uint64_t inserts_between_vain_looks = 1024;
    const any_filter& filter = *where.shared.filter;
    if (where.grows && filter.size() + coming > filter.capacity()) {
      const std::uint64_t before = filter.capacity();
      try {
        where.grows = expand_beside(where).ok() && where.shared.filter->capacity() > before;
      } catch (const std::bad_alloc&) {
      }
    }
    const std::uint64_t keys = where.shared.filter->size() + coming;
    const std::uint64_t capacity = where.shared.filter->capacity();
    where.room = capacity > keys ? capacity - keys : where.grows ? 0 : inserts_between_vain_looks;
    where.erases = 0;
  }
  // Filters that shrink may be full sooner than they were.
  static void note_erases(stripe& where, std::uint64_t keys) {
    constexpr std::uint64_t erases_before_a_look = 1024;
    where.erases += keys;
    if (where.erases >= erases_before_a_look) where.room = 0;
  }
  status expand_beside(stripe& where) const {
    any_filter larger = *where.shared.filter;
    TAMIS_CHECK(larger.expand());
    where.shared.replace(std::move(larger));
    add(where.growths);
    where.room = 0;
    return {};
  }

  // A filter that is at most half full and refuses a key would do so at any size.
  result<any_filter> filled(filter_params params, std::span<const digest> keys) const {
    params.capacity = std::max<std::uint64_t>(params.capacity, keys.size());
    for (;; params.capacity += params.capacity / 2) {
      TAMIS_TRY(any_filter made, any_filter::create(known_, kind_, params, hash_));
      if (made.insert_many(keys) == keys.size()) return made;
      if (keys.size() <= params.capacity / 2) {
        return failure{kind_ + ": refuses the " + std::to_string(keys.size()) + " keys of a stripe even with room for " +
                           std::to_string(params.capacity) + ", since too many have digests of the same first bits",
                       error_code::full};
      }
    }
  }

  stripe_map map_;
  const registry& known_;
  memory_resource* memory_;
  hasher hash_;
  std::string kind_;
  capabilities can_;
  std::unique_ptr<stripe[]> stripes_;
};

}  // namespace tamis::detail
