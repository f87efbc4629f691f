#pragma once

// Many lookups at once: hash, prefetch, probe. A lookup in a large table waits for memory; the next keys' lines can be on their
// way meanwhile. The pipeline works for any filter. What a filter may offer, each optional:
//
//   with_view(use)        calls `use` with a view whose shape (width, …) is a compile-time constant, chosen once per batch:
//                         view.locate(digest) → probe, view.prefetch(probe), view.test(probe) → bool; or view.test(probe,
//                         again), where again() is the digest, for rare answers that need more of it than the probe keeps
//                         and for AVX-512, if one word of the digest is enough: view.locate(u64x8) → probes of eight
//                         keys, view.test(probes) → a bit for each, view.eights_pay() → is the table near enough to do without
//                         prefetching? If it is not, one key at a time keeps more of the memory busy
//   prefetch(digest)      for filters without views: asks for what may_contain() reads first
//   with_inserter(use)    calls `use` with a function that inserts a digest as insert() does, its shape chosen once per batch
//   prefetch_insert(digest)   asks for what insert() or erase() touches, if that is more
//   insert_asks_ahead     true: insert() asks for its memory by itself, and does not wait for it
//   with_updates(use)     calls `use` with a view that has view.insert(probe) and view.erase(probe) instead of test, and
//                         view.prefetch_more(probe): half way, when what prefetch asked for has arrived, for what an insert
//                         will read after that

#include <array>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <span>

#include "tamis/concepts.hpp"
#include "tamis/detail/simd/u64x8.hpp"
#include "tamis/digest.hpp"
#include "tamis/hasher.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// Keys under way at once: enough to cover a memory access, few enough for the line-fill buffers and the first-level cache.
inline constexpr std::size_t batch_group = 32;
// How long before its turn a key itself is asked for. Among the random reads of a table the processor does not always see that
// keys stand in a row, and waits for them as for the table (`cuckoo` at 2^24 slots, lookups 11 instead of 9 ns, erases 13
// instead of 9). Goes beyond the last one: there the next batch is, if there is one.
inline constexpr std::size_t keys_ahead = 3 * batch_group;

// Sees any filter as a view: the probe is the digest.
template <filter_type F>
struct plain_view {
  const F& f;

  TAMIS_INLINE digest locate(digest d) const { return d; }
  TAMIS_INLINE void prefetch(digest d) const {
    if constexpr (requires { f.prefetch(d); }) f.prefetch(d);
  }
  TAMIS_INLINE bool test(digest d) const { return f.may_contain(d); }
};

// What is asked for, as digests or as the first words of eight of them. prefetch_group(i) is for batch_group keys from i on.
struct digest_source {
  std::span<const digest> digests;

  TAMIS_INLINE digest operator[](std::size_t i) const { return digests[i]; }
  TAMIS_INLINE void prefetch_group(std::size_t i) const {
    prefetch_read(digests.data(), i * sizeof(digest), batch_group * sizeof(digest));
  }
#if TAMIS_HAS_AVX512
  TAMIS_INLINE u64x8 first_words(std::size_t i) const { return tamis::detail::first_words(digests.data() + i); }
#endif
};
// Of the family `fast`; a copy, so that the compiler knows that nobody changes it.
template <integer_key Key>
struct key_source {
  hasher hash;
  std::span<const Key> keys;

  TAMIS_INLINE digest operator[](std::size_t i) const { return hash.fast_digest(keys[i]); }
  TAMIS_INLINE void prefetch_group(std::size_t i) const {
    prefetch_read(keys.data(), i * sizeof(Key), batch_group * sizeof(Key));
  }
#if TAMIS_HAS_AVX512
  TAMIS_INLINE u64x8 first_words(std::size_t i) const { return tamis::detail::first_words(hash, keys.data() + i); }
#endif
};

// Every key is located, and its memory asked for, batch_group keys before it is tested.
template <class View, class Keys>
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

#if TAMIS_HAS_AVX512

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
      const std::uint64_t answers = _pdep_u64(view.test(view.locate(words[i])), 0x0101'0101'0101'0101);  // a byte for each bit
      std::memcpy(out + first + i * keys_at_once, &answers, sizeof answers);
    }
  }
  for (std::size_t i = last; i < size; ++i) out[i] = view.test(view.locate(keys[i]));
}

#endif

template <filter_type F, class Keys>
void may_contain_all(const F& f, std::size_t size, const Keys& keys, bool* out) {
  const auto use = [&](const auto& view) {
#if TAMIS_HAS_AVX512
    if constexpr (requires { view.test(view.locate(u64x8())); }) {
      if (view.eights_pay()) return probe_eights(view, size, keys, out);
    }
#endif
    probe_all(view, size, keys, out);
  };
  if constexpr (requires { f.with_view(use); }) {
    f.with_view(use);
  } else {
    use(plain_view<F>{f});
  }
}

// Keys become digests before they are looked for.
template <filter_type F, class Key>
TAMIS_NOINLINE void may_contain_hashed(const F& f, const hasher& hash, std::span<const Key> keys, bool* out) {
  std::array<digest, 8 * batch_group> digests;
  for (std::size_t first = 0; first < keys.size(); first += digests.size()) {
    const std::size_t count = std::min(digests.size(), keys.size() - first);
    for (std::size_t i = 0; i < count; ++i) digests[i] = hash(keys[first + i]);
    may_contain_all(f, count, digest_source{std::span<const digest>(digests).first(count)}, out + first);
  }
}

template <class F>
TAMIS_INLINE void prefetch_for_update(const F& f, digest d) {
  if constexpr (requires { f.prefetch_insert(d); }) {
    f.prefetch_insert(d);
  } else if constexpr (requires { f.prefetch(d); }) {
    f.prefetch(d);
  }
}

// Calls update(i) for every i in order; what it will touch for digests[i] is asked for batch_group digests ahead.
template <filter_type F, class Update>
TAMIS_INLINE void update_all(const F& f, std::span<const digest> digests, Update update) {
  for (std::size_t i = 0; i < std::min(batch_group, digests.size()); ++i) prefetch_for_update(f, digests[i]);
  for (std::size_t i = 0; i < digests.size(); ++i) {
    if (i % batch_group == 0) digest_source{digests}.prefetch_group(i + keys_ahead);
    if (i + batch_group < digests.size()) prefetch_for_update(f, digests[i + batch_group]);
    update(i);
  }
}

// The same for views of updates: every digest is located once, batch_group digests before its turn. `more` is called half way.
template <class View, class More, class Update>
TAMIS_INLINE void update_probes(const View& view, std::span<const digest> digests, More more, Update update) {
  std::array<decltype(view.locate(digest())), batch_group> ahead;
  const auto fetch = [&](std::size_t i) {
    ahead[i % batch_group] = view.locate(digests[i]);
    view.prefetch(ahead[i % batch_group]);
  };
  for (std::size_t i = 0; i < std::min(batch_group, digests.size()); ++i) fetch(i);
  for (std::size_t i = 0; i < digests.size(); ++i) {
    if (i % batch_group == 0) digest_source{digests}.prefetch_group(i + keys_ahead);
    update(i, ahead[i % batch_group]);
    if (i + batch_group < digests.size()) fetch(i + batch_group);
    if (i + batch_group / 2 < digests.size()) more(ahead[(i + batch_group / 2) % batch_group]);
  }
}

}  // namespace tamis::detail::inline TAMIS_LEVEL

namespace tamis::inline TAMIS_LEVEL {

// out[i] = f.may_contain(digests[i]).  Requires: out is as long as digests.
template <filter_type F>
void may_contain_many(const F& f, std::span<const digest> digests, std::span<bool> out) {
  assert(out.size() >= digests.size());
  detail::may_contain_all(f, digests.size(), detail::digest_source{digests}, out.data());
}

// The same for keys. Integers are hashed on the way, and now and then twice: that costs little. Others become digests first.
template <filter_type F, class Key>
void may_contain_many(const F& f, const hasher& hash, std::span<const Key> keys, std::span<bool> out) {
  assert(out.size() >= keys.size());
  if constexpr (integer_key<Key>) {
    if (hash.family() == hash_family::fast)
      return detail::may_contain_all(f, keys.size(), detail::key_source<Key>{hash, keys}, out.data());
  }
  detail::may_contain_hashed(f, hash, keys, out.data());
}

// Inserts in order and says how many went in; `out`, if not empty, says which.
template <filter_type F>
std::size_t insert_many(F& f, std::span<const digest> digests, std::span<bool> out = {}) {
  assert(out.empty() || out.size() >= digests.size());
  std::size_t inserted = 0;
  const auto note = [&](std::size_t i, insert_result result) {
    const bool in = result == insert_result::inserted;
    inserted += in;
    if (!out.empty()) out[i] = in;
  };
  const auto use = [&](auto insert) { detail::update_all(f, digests, [&](std::size_t i) { note(i, insert(digests[i])); }); };
  const auto use_probes = [&](const auto& view) {
    detail::update_probes(
        view, digests, [&](const auto& probe) { view.prefetch_more(probe); },
        [&](std::size_t i, const auto& probe) { note(i, view.insert(probe)); });
  };
  if constexpr (requires { requires F::insert_asks_ahead; }) {
    for (std::size_t i = 0; i < digests.size(); ++i) note(i, f.insert(digests[i]));
  } else if constexpr (requires { f.with_updates(use_probes); }) {
    f.with_updates(use_probes);
  } else if constexpr (requires { f.with_inserter(use); }) {
    f.with_inserter(use);
  } else {
    use([&f](digest d) { return f.insert(d); });
  }
  return inserted;
}

// Erases in order and says how many were there; `out`, if not empty, says which.
template <erasable F>
std::size_t erase_many(F& f, std::span<const digest> digests, std::span<bool> out = {}) {
  assert(out.empty() || out.size() >= digests.size());
  std::size_t erased = 0;
  const auto note = [&](std::size_t i, erase_result result) {
    const bool gone = result == erase_result::erased;
    erased += gone;
    if (!out.empty()) out[i] = gone;
  };
  const auto use_probes = [&](const auto& view) {
    detail::update_probes(
        view, digests, [](const auto&) {}, [&](std::size_t i, const auto& probe) { note(i, view.erase(probe)); });
  };
  if constexpr (requires { f.with_updates(use_probes); }) {
    f.with_updates(use_probes);
  } else {
    detail::update_all(f, digests, [&](std::size_t i) { note(i, f.erase(digests[i])); });
  }
  return erased;
}

// Rejuvenates in order.  Requires: all of them are in.
template <rejuvenating F>
void rejuvenate_many(F& f, std::span<const digest> digests) {
  detail::update_all(f, digests, [&](std::size_t i) { f.rejuvenate(digests[i]); });
}

}  // namespace tamis::inline TAMIS_LEVEL
