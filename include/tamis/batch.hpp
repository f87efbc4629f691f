#pragma once

// Many lookups or updates at once: hash, prefetch, probe. A lookup in a large table waits for memory; the next keys' lines can
// be on their way meanwhile. The pipeline works for any filter. One that wants more of it offers views of itself, whose shape
// (width, …) is a compile-time constant, chosen once per batch:
//
//   with_view(use)      calls `use` with a probing_view: locate(digest) → probe, prefetch(probe), test(probe) → bool
//   with_updates(use)   calls `use` with an updating_view: locate and prefetch, insert(probe), and erase(probe) if it can
//
// What else a view may have, each optional:
//
//   test(probe, again)     in place of test(probe): again() is the digest, for rare answers that need more of it than the probe
//                          keeps
//   prefetch_more(probe)   half way, when what prefetch asked for has arrived: for what an insert will read after that
//   locate(u64x8) → probes, test(probes) → a bit for each, eights_pay()
//                          with AVX-512, if one word of the digest is enough: eight keys at once, and whether the table is near
//                          enough to do without prefetching. If it is not, one key at a time keeps more of the memory busy
//
// A filter without views is seen through those below. They use its prefetch(digest), for what may_contain() reads first, and
// prefetch_insert(digest), for what insert() or erase() touches, if that is more.

#include <array>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <span>

#include "tamis/concepts.hpp"
#include "tamis/detail/bits/word.hpp"
#include "tamis/detail/simd/u64x8.hpp"
#include "tamis/digest.hpp"
#include "tamis/hasher.hpp"
#include "tamis/key_batch.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// Keys under way at once: enough to cover a memory access, few enough for the line-fill buffers and the first-level cache.
inline constexpr std::size_t batch_group = 32;
// How long before its turn a key itself is asked for. Among the random reads of a table the processor does not always see that
// keys stand in a row, and waits for them as for the table (`cuckoo` at 2^24 slots, lookups 11 instead of 9 ns, erases 13
// instead of 9). Goes beyond the last one: there the next batch is, if there is one.
inline constexpr std::size_t keys_ahead = 3 * batch_group;

template <class V>
concept probing_view = requires(const V view, digest d) {
  view.prefetch(view.locate(d));
}
&&(
    requires(const V view, digest d) {
      { view.test(view.locate(d)) } -> std::same_as<bool>;
    } ||
    requires(const V view, digest d) {
      {
        view.test(view.locate(d), [] { return digest(); })
        } -> std::same_as<bool>;
    });

template <class V>
concept updating_view = requires(const V view, digest d) {
  view.prefetch(view.locate(d));
  { view.insert(view.locate(d)) } -> std::same_as<insert_result>;
};

// Any filter for lookups: the probe is the digest.
template <filter_type F>
struct digest_view {
  const F& f;

  TAMIS_INLINE digest locate(digest d) const { return d; }
  TAMIS_INLINE void prefetch(digest d) const {
    if constexpr (requires { f.prefetch(d); }) f.prefetch(d);
  }
  TAMIS_INLINE bool test(digest d) const { return f.may_contain(d); }
};

// Any filter for updates. A probe keeps nothing: the digest is at hand, and is taken from there again.
template <filter_type F>
struct digest_updates {
  F& f;
  struct probe {};

  TAMIS_INLINE probe locate(digest d) const {
    if constexpr (requires { f.prefetch_insert(d); }) {
      f.prefetch_insert(d);
    } else if constexpr (requires { f.prefetch(d); }) {
      f.prefetch(d);
    }
    return {};
  }
  TAMIS_INLINE void prefetch(probe) const {}
};

// What is asked for, as digests or as the first words of eight of them. start() comes first, prefetch_group(i) before the
// keys [i, i + batch_group) are wanted, keys_ahead keys before their turn; alone(i) needs neither.
struct digest_source {
  std::span<const digest> digests;

  TAMIS_INLINE digest operator[](std::size_t i) const { return digests[i]; }
  TAMIS_INLINE digest alone(std::size_t i) const { return digests[i]; }
  TAMIS_INLINE void start() const {}
  TAMIS_INLINE void prefetch_group(std::size_t i) const {
    prefetch_read(digests.data(), i * sizeof(digest), batch_group * sizeof(digest));
  }
  TAMIS_INLINE u64x8 first_words(std::size_t i) const { return tamis::detail::first_words(digests.data() + i); }
};
// Of the family `fast`; a copy, so that the compiler knows that nobody changes it.
template <integer_key Key>
struct key_source {
  hasher hash;
  std::span<const Key> keys;

  TAMIS_INLINE digest operator[](std::size_t i) const { return hash.fast_digest(keys[i]); }
  TAMIS_INLINE digest alone(std::size_t i) const { return hash.fast_digest(keys[i]); }
  TAMIS_INLINE void start() const {}
  TAMIS_INLINE void prefetch_group(std::size_t i) const {
    prefetch_read(keys.data(), i * sizeof(Key), batch_group * sizeof(Key));
  }
  TAMIS_INLINE u64x8 first_words(std::size_t i) const { return tamis::detail::first_words(hash, keys.data() + i); }
};
// All other keys become digests a group at a time, ahead of their turn, in a ring that stays in the first-level cache: the
// pipeline neither ends nor begins anew in between, and the loop of a filter does not have the registers of a hash to save.
//
//   | tested | located | hashed | hashed now |      four groups, one behind the other, around the ring
class hashing_source {
 public:
  hashing_source(const hasher& hash, const key_batch& keys) : hash_(hash), keys_(keys) {}

  TAMIS_INLINE digest operator[](std::size_t i) const { return ring_[i % ring_.size()]; }
  digest alone(std::size_t i) const { return keys_.hash_one(hash_, i); }
  void start() const {
    for (std::size_t first = 0; first < keys_ahead; first += batch_group) prefetch_group(first);
  }
  TAMIS_NOINLINE void prefetch_group(std::size_t i) const {
    if (i >= keys_.size()) return;
    keys_.hash(hash_, i, std::span(ring_).subspan(i % ring_.size(), std::min(batch_group, keys_.size() - i)));
  }
  TAMIS_INLINE u64x8 first_words(std::size_t i) const {
    keys_.hash(hash_, i, std::span(ring_).first(keys_at_once));
    return tamis::detail::first_words(ring_.data());
  }

 private:
  const hasher& hash_;
  const key_batch& keys_;
  union {  // not made before it is filled
    mutable std::array<digest, keys_ahead + batch_group> ring_;
  };
};

// Every key is located, and its memory asked for, batch_group keys before it is tested.
template <probing_view View, class Keys>
TAMIS_INLINE void probe_all(const View view, std::size_t size, const Keys& keys, bool* out) {
  std::array<decltype(view.locate(digest())), batch_group> ahead;
  const auto fetch = [&](std::size_t i) {
    const auto probe = view.locate(keys[i]);
    view.prefetch(probe);
    return probe;
  };
  const auto test = [&](const auto& probe, std::size_t i) {
    const auto again = [&, i] { return keys[i]; };
    if constexpr (requires { view.test(probe, again); }) {
      return view.test(probe, again);
    } else {
      return view.test(probe);
    }
  };
  keys.start();
  for (std::size_t i = 0; i < std::min(batch_group, size); ++i) ahead[i] = fetch(i);
  std::size_t first = 0;
  for (; first + 2 * batch_group <= size; first += batch_group) {
    keys.prefetch_group(first + keys_ahead);
    for (std::size_t i = 0; i < batch_group; ++i) {
      out[first + i] = test(ahead[i], first + i);
      ahead[i] = fetch(first + batch_group + i);
    }
  }
  for (std::size_t i = first; i < size; ++i) {
    out[i] = test(ahead[i % batch_group], i);
    if (i + batch_group < size) ahead[i % batch_group] = fetch(i + batch_group);
  }
}

// Eight keys at a time. They are hashed in groups before any of them is looked for: one after the other, hash and lookup would
// be a chain of instructions so long that few fit the processor's window.
template <class View, class Keys>
TAMIS_INLINE void probe_eights(const View view, std::size_t size, const Keys& keys, bool* out) {
  std::array<u64x8, 8> words;
  const std::size_t last = size / keys_at_once * keys_at_once;
  for (std::size_t first = 0; first < last; first += words.size() * keys_at_once) {
    const std::size_t eights = std::min(words.size(), (last - first) / keys_at_once);
    for (std::size_t i = 0; i < eights; ++i) words[i] = keys.first_words(first + i * keys_at_once);
    for (std::size_t i = 0; i < eights; ++i) {
      const std::uint64_t answers = pdep(view.test(view.locate(words[i])), 0x0101'0101'0101'0101);  // a byte for each bit
      std::memcpy(out + first + i * keys_at_once, &answers, sizeof answers);
    }
  }
  for (std::size_t i = last; i < size; ++i) out[i] = view.test(view.locate(keys.alone(i)));
}

template <filter_type F, class Keys>
void may_contain_all(const F& f, std::size_t size, const Keys& keys, bool* out) {
  const auto use = [&](const auto& view) {
    if constexpr (requires { view.test(view.locate(u64x8())); }) {
      if (view.eights_pay()) return probe_eights(view, size, keys, out);
    }
    probe_all(view, size, keys, out);
  };
  if constexpr (requires { f.with_view(use); }) {
    f.with_view(use);
  } else {
    use(digest_view<F>{f});
  }
}

// Small sources are copied into a loop.
template <class Keys>
using kept = std::conditional_t<sizeof(Keys) <= 4 * sizeof(void*), const Keys, const Keys&>;

// Calls update(view, probe, again) for every key in order, each located batch_group keys before its turn, and more(view, probe)
// half way. How many of them it did, and, if asked for, which. Everything is counted in locals: a loop that is not inlined into
// its caller would read what lies there anew after every write to a table.
template <class View, class Keys, class More, class Update>
TAMIS_INLINE std::size_t update_all(const View view, std::size_t size, const Keys& source, std::span<bool> out, More more,
                                    Update update) {
  const kept<Keys> keys = source;
  std::array<decltype(view.locate(digest())), batch_group> ahead;
  const auto fetch = [&](std::size_t i) {
    ahead[i % batch_group] = view.locate(keys[i]);
    view.prefetch(ahead[i % batch_group]);
  };
  std::size_t done = 0;
  keys.start();
  for (std::size_t i = 0; i < std::min(batch_group, size); ++i) fetch(i);
  for (std::size_t i = 0; i < size; ++i) {
    if (i % batch_group == 0) keys.prefetch_group(i + keys_ahead);
    const bool is_done = update(view, ahead[i % batch_group], [&, i] { return keys[i]; });
    done += is_done;
    if (!out.empty()) out[i] = is_done;
    if (i + batch_group < size) fetch(i + batch_group);
    if (i + batch_group / 2 < size) more(view, ahead[(i + batch_group / 2) % batch_group]);
  }
  return done;
}
inline constexpr auto nothing_more = [](const auto& /*view*/, const auto& /*probe*/) {};

template <filter_type F, class Keys>
std::size_t insert_all(F& f, std::size_t size, const Keys& keys, std::span<bool> out) {
  assert(out.empty() || out.size() >= size);
  std::size_t done = 0;
  const auto use = [&](const updating_view auto& view) TAMIS_INLINE_LAMBDA {
    const auto more = [](const auto& v, const auto& probe) {
      if constexpr (requires { v.prefetch_more(probe); }) v.prefetch_more(probe);
    };
    done = update_all(view, size, keys, out, more,
                      [](const auto& v, const auto& probe, auto) { return v.insert(probe) == insert_result::inserted; });
  };
  if constexpr (requires { f.with_updates(use); }) {
    f.with_updates(use);
    return done;
  } else {
    return update_all(digest_updates<F>{f}, size, keys, out, nothing_more,
                      [](const auto& v, auto, auto again) { return v.f.insert(again()) == insert_result::inserted; });
  }
}

template <erasable F, class Keys>
std::size_t erase_all(F& f, std::size_t size, const Keys& keys, std::span<bool> out) {
  assert(out.empty() || out.size() >= size);
  std::size_t done = 0;
  const auto use = [&](const updating_view auto& view) TAMIS_INLINE_LAMBDA {
    done = update_all(view, size, keys, out, nothing_more,
                      [](const auto& v, const auto& probe, auto) { return v.erase(probe) == erase_result::erased; });
  };
  if constexpr (requires { f.with_updates(use); }) {
    f.with_updates(use);
    return done;
  } else {
    return update_all(digest_updates<F>{f}, size, keys, out, nothing_more,
                      [](const auto& v, auto, auto again) { return v.f.erase(again()) == erase_result::erased; });
  }
}

// Calls use(source) with what gives the digests of a batch. `Fused`: integers are hashed where they are wanted, at the price of
// a loop of their own.
template <bool Fused, class Use>
TAMIS_INLINE auto with_digests(const hasher& hash, const key_batch& keys, Use use) {
  if (keys.are_digests()) return use(digest_source{keys.digests()});
  if constexpr (Fused) {
    if (keys.are_words() && hash.family() == hash_family::fast) return use(key_source<std::uint64_t>{hash, keys.words()});
  }
  return use(hashing_source(hash, keys));
}

}  // namespace tamis::detail::inline TAMIS_LEVEL

namespace tamis::inline TAMIS_LEVEL {

// out[i] = f.may_contain(digests[i]).  Requires: out is as long as digests.
template <filter_type F>
void may_contain_many(const F& f, std::span<const digest> digests, std::span<bool> out) {
  assert(out.size() >= digests.size());
  detail::may_contain_all(f, digests.size(), detail::digest_source{digests}, out.data());
}

// The same for keys. Integers are hashed on the way, and now and then twice: that costs little. Others become digests a group
// at a time.
template <filter_type F, class Key>
void may_contain_many(const F& f, const hasher& hash, std::span<const Key> keys, std::span<bool> out) {
  assert(out.size() >= keys.size());
  if constexpr (integer_key<Key>) {
    if (hash.family() == hash_family::fast)
      return detail::may_contain_all(f, keys.size(), detail::key_source<Key>{hash, keys}, out.data());
  }
  const key_batch batch(keys);
  detail::may_contain_all(f, keys.size(), detail::hashing_source(hash, batch), out.data());
}
template <filter_type F>
void may_contain_many(const F& f, const hasher& hash, const key_batch& keys, std::span<bool> out) {
  assert(out.size() >= keys.size());
  detail::with_digests<true>(hash, keys,
                             [&](const auto& source) { detail::may_contain_all(f, keys.size(), source, out.data()); });
}

// Inserts in order and says how many went in; `out`, if not empty, says which.
template <filter_type F>
std::size_t insert_many(F& f, std::span<const digest> digests, std::span<bool> out = {}) {
  return detail::insert_all(f, digests.size(), detail::digest_source{digests}, out);
}
template <filter_type F>
std::size_t insert_many(F& f, const hasher& hash, const key_batch& keys, std::span<bool> out = {}) {
  return detail::with_digests<false>(hash, keys,
                                     [&](const auto& source) { return detail::insert_all(f, keys.size(), source, out); });
}

// Erases in order and says how many were there; `out`, if not empty, says which.
template <erasable F>
std::size_t erase_many(F& f, std::span<const digest> digests, std::span<bool> out = {}) {
  return detail::erase_all(f, digests.size(), detail::digest_source{digests}, out);
}
template <erasable F>
std::size_t erase_many(F& f, const hasher& hash, const key_batch& keys, std::span<bool> out = {}) {
  return detail::with_digests<false>(hash, keys,
                                     [&](const auto& source) { return detail::erase_all(f, keys.size(), source, out); });
}

// Rejuvenates in order.  Requires: all of them are in.
template <rejuvenating F>
void rejuvenate_many(F& f, const hasher& hash, const key_batch& keys) {
  detail::with_digests<false>(hash, keys, [&](const auto& source) {
    detail::update_all(detail::digest_updates<F>{f}, keys.size(), source, {}, detail::nothing_more,
                       [](const auto& v, auto, auto again) {
                         v.f.rejuvenate(again());
                         return true;
                       });
  });
}
template <rejuvenating F>
void rejuvenate_many(F& f, std::span<const digest> digests) {
  rejuvenate_many(f, hasher(), key_batch(digests));
}

}  // namespace tamis::inline TAMIS_LEVEL
