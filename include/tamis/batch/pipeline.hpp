#pragma once

// Many lookups at once: hash, prefetch, probe. A lookup in a large table waits for memory; the next keys' lines can be on their
// way meanwhile. The pipeline works for any filter. What a filter may offer, each optional:
//
//   with_view(use)        calls `use` with a view whose shape (width, …) is a compile-time constant, chosen once per batch:
//                         view.locate(digest) → probe, view.prefetch(probe), view.test(probe) → bool
//   prefetch(digest)      for filters without views: asks for what contains() reads first
//   prefetch_insert(digest)   asks for what insert() touches, if that is more

#include <array>
#include <cassert>
#include <cstddef>
#include <span>

#include "tamis/base/digest.hpp"
#include "tamis/filter/concepts.hpp"
#include "tamis/hash/hasher.hpp"

namespace tamis::inline TAMIS_LEVEL {

// Keys under way at once: enough to cover a memory access, few enough for the line-fill buffers and the first-level cache.
inline constexpr std::size_t batch_group = 32;

// Sees any filter as a view: the probe is the digest.
template <filter F>
struct plain_view {
  const F& f;

  TAMIS_INLINE digest locate(digest d) const { return d; }
  TAMIS_INLINE void prefetch(digest d) const {
    if constexpr (requires { f.prefetch(d); }) f.prefetch(d);
  }
  TAMIS_INLINE bool test(digest d) const { return f.contains(d); }
};

namespace detail {

// Two groups are under way: while one is tested, the next one's memory is fetched.
template <class View, class DigestAt>
void probe_all(const View& view, std::size_t size, DigestAt digest_at, bool* out) {
  using probe = decltype(view.locate(digest()));
  std::array<std::array<probe, batch_group>, 2> groups;
  const auto fetch = [&](std::size_t first, std::size_t last, std::array<probe, batch_group>& group) {
    for (std::size_t i = first; i < last; ++i) {
      group[i - first] = view.locate(digest_at(i));
      view.prefetch(group[i - first]);
    }
  };
  std::size_t last = std::min(batch_group, size);
  fetch(0, last, groups[0]);
  for (std::size_t first = 0, turn = 0; first < size; turn ^= 1) {
    const std::size_t next_last = std::min(last + batch_group, size);
    fetch(last, next_last, groups[turn ^ 1]);
    for (std::size_t i = first; i < last; ++i) out[i] = view.test(groups[turn][i - first]);
    first = last;
    last = next_last;
  }
}

template <filter F, class DigestAt>
void contains_all(const F& f, std::size_t size, DigestAt digest_at, bool* out) {
  const auto use = [&](const auto& view) { probe_all(view, size, digest_at, out); };
  if constexpr (requires { f.with_view(use); }) {
    f.with_view(use);
  } else {
    use(plain_view<F>{f});
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

// Calls `update` for every digest in order, each fetched one group ahead.
template <filter F, class DigestAt, class Update>
void update_all(F& f, std::size_t size, DigestAt digest_at, Update update) {
  for (std::size_t first = 0; first < size; first += batch_group) {
    const std::size_t last = std::min(first + batch_group, size);
    for (std::size_t i = first; i < last; ++i) prefetch_for_update(f, digest_at(i));
    for (std::size_t i = first; i < last; ++i) update(i, digest_at(i));
  }
}

}  // namespace detail

// out[i] = f.contains(digests[i]).  Requires: out is as long as digests.
template <filter F>
void contains_many(const F& f, std::span<const digest> digests, std::span<bool> out) {
  assert(out.size() >= digests.size());
  detail::contains_all(
      f, digests.size(), [&](std::size_t i) { return digests[i]; }, out.data());
}

// The same for keys, which are hashed on the way.
template <filter F, class Key>
void contains_many(const F& f, const hasher& hash, std::span<const Key> keys, std::span<bool> out) {
  assert(out.size() >= keys.size());
  detail::contains_all(
      f, keys.size(), [&](std::size_t i) { return hash(keys[i]); }, out.data());
}

// Inserts in order and says how many went in; `out`, if not empty, says which.
template <filter F>
std::size_t insert_many(F& f, std::span<const digest> digests, std::span<bool> out = {}) {
  assert(out.empty() || out.size() >= digests.size());
  std::size_t inserted = 0;
  const auto digest_at = [&](std::size_t i) { return digests[i]; };
  detail::update_all(f, digests.size(), digest_at, [&](std::size_t i, digest d) {
    const bool in = f.insert(d) == insert_result::inserted;
    inserted += in;
    if (!out.empty()) out[i] = in;
  });
  return inserted;
}

// Erases in order and says how many were there; `out`, if not empty, says which.
template <erasable F>
std::size_t erase_many(F& f, std::span<const digest> digests, std::span<bool> out = {}) {
  assert(out.empty() || out.size() >= digests.size());
  std::size_t erased = 0;
  const auto digest_at = [&](std::size_t i) { return digests[i]; };
  detail::update_all(f, digests.size(), digest_at, [&](std::size_t i, digest d) {
    const bool gone = f.erase(d) == erase_result::erased;
    erased += gone;
    if (!out.empty()) out[i] = gone;
  });
  return erased;
}

}  // namespace tamis::inline TAMIS_LEVEL
