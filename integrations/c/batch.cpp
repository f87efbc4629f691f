// Batches of keys.

#include <algorithm>
#include <array>
#include <compare>
#include <vector>

#include "integrations/c/boundary.hpp"
#include "integrations/c/handles.hpp"
#include "integrations/c/keys.hpp"
#include "integrations/c/needs.hpp"

namespace tamis::c {
namespace {

using answers = std::array<bool, nullable_keys::chunk_size>;

status ready(const tamis_filter* filter, const nullable_keys& batch, const void* out) {
  TAMIS_CHECK(given(filter, "filter"));
  if (batch.size() > 0) TAMIS_CHECK(given(out, "out"));
  return {};
}

template <class T>
void fill_out(T* out, std::uint64_t size, T value) {
  if (out != nullptr) std::fill_n(out, size, value);
}

void copy_out(const answers& from, const key_chunk& chunk, std::uint8_t* out) {
  if (out == nullptr) return;
  for (std::size_t i = 0; i < chunk.digests.size(); ++i) out[chunk.place(i)] = from[i] ? 1 : 0;
}

// In parts, because `out` is no row of bool.
void find_words(const tamis_filter& filter, std::span<const std::uint64_t> words, std::uint8_t* out) {
  constexpr std::size_t part = 4096;
  std::array<bool, part> found;
  for (std::size_t first = 0; first < words.size(); first += part) {
    const auto some = words.subspan(first, std::min(part, words.size() - first));
    filter.visit([&](const auto& f) { f.may_contain_many(some, std::span(found).first(some.size())); });
    std::copy_n(found.begin(), some.size(), out + first);
  }
}

// Calls change(digests, out) for each chunk, which says how many it changed, and notes which, also if it throws half way.
template <class Change>
std::int64_t change_many(const hasher& hash, const nullable_keys& batch, std::uint8_t* out, Change change) {
  fill_out<std::uint8_t>(out, batch.size(), 0);
  std::int64_t changed = 0;
  batch.for_each_chunk(hash, [&](const key_chunk& chunk) {
    answers done{};
    try {
      changed += static_cast<std::int64_t>(change(chunk.digests, std::span(done).first(chunk.digests.size())));
    } catch (...) {
      copy_out(done, chunk, out);
      throw;
    }
    copy_out(done, chunk, out);
  });
  return changed;
}

// What a remote holds, and those keys of a batch that are in the filter at the moment: the remote may have got all of them
// before the call, or get them after it. A filter that grows drops the entries of keys that are not stored.
class remote_and_batch {
 public:
  enum class direction { inserts, erases };

  remote_and_batch(const tamis_remote& stored, const hasher& hash, const nullable_keys& batch, direction way)
      : stored_(stored), hash_(hash), batch_(batch), way_(way) {}

  // Another key of the batch has been dealt with.
  void go_on() { ++done_; }

  template <class Visit>
  void for_each_in(digest_range range, Visit visit) const {
    sort();
    auto own = std::lower_bound(sorted_.begin(), sorted_.end(), place{range.first, 0});
    bool wants_more = true;
    // Those of the batch before `d`.
    const auto visit_before = [&](const auto& is_before) {
      for (; wants_more && own != sorted_.end() && is_before(own->key); ++own) {
        if (is_in(*own)) wants_more = wants_more_after(visit, own->key);
      }
    };
    stored_.ref().for_each_in(range, [&](digest d) {
      visit_before([d](digest key) { return key < d; });
      while (own != sorted_.end() && own->key == d && !is_in(*own)) ++own;
      if (own != sorted_.end() && own->key == d) ++own;  // it is this one
      return wants_more = wants_more && wants_more_after(visit, d);
    });
    visit_before([&](digest key) { return key <= range.last; });
  }

 private:
  struct place {
    digest key;
    std::uint64_t number;

    friend auto operator<=>(const place&, const place&) = default;
  };

  bool is_in(const place& at) const { return way_ == direction::inserts ? at.number < done_ : at.number >= done_; }
  // Only when something is asked: most filters never ask, and those that do seldom.
  void sort() const {
    if (is_sorted_) return;
    sorted_.clear();
    sorted_.reserve(batch_.size());
    batch_.for_each_chunk(hash_, [&](const key_chunk& chunk) {
      for (const digest d : chunk.digests) sorted_.push_back({d, sorted_.size()});
    });
    std::sort(sorted_.begin(), sorted_.end());
    is_sorted_ = true;
  }

  const tamis_remote& stored_;
  const hasher& hash_;
  const nullable_keys& batch_;
  direction way_;
  std::uint64_t done_ = 0;
  mutable bool is_sorted_ = false;
  mutable std::vector<place> sorted_;
};

// One by one, because each may ask the remote.
template <class One>
std::size_t each(std::span<const digest> digests, std::span<bool> out, remote_and_batch& stored, One one) {
  std::size_t done = 0;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    out[i] = one(digests[i], remote_ref(stored));
    done += out[i] ? 1 : 0;
    stored.go_on();
  }
  return done;
}

}  // namespace
}  // namespace tamis::c

using namespace tamis;     // NOLINT(google-build-using-namespace)
using namespace tamis::c;  // NOLINT(google-build-using-namespace)

extern "C" {

int tamis_may_contain(const tamis_filter* filter, const tamis_keys* keys, uint8_t* out, tamis_error* error) {
  return guarded(error, [&]() -> result<int> {
    TAMIS_TRY(const nullable_keys batch, nullable_keys::checked(keys));
    TAMIS_CHECK(ready(filter, batch, out));
    if (const auto words = batch.words()) {
      find_words(*filter, *words, out);
      return TAMIS_OK;
    }
    if (batch.has_nulls()) fill_out<std::uint8_t>(out, batch.size(), 0);
    batch.for_each_chunk(filter->hash(), [&](const key_chunk& chunk) {
      answers found;
      filter->visit([&](const auto& f) { f.may_contain_many(chunk.digests, std::span(found).first(chunk.digests.size())); });
      copy_out(found, chunk, out);
    });
    return TAMIS_OK;
  });
}

int64_t tamis_insert(tamis_filter* filter, const tamis_keys* keys, const tamis_remote* remote, uint8_t* out,
                     tamis_error* error) {
  return guarded<std::int64_t>(error, [&]() -> result<std::int64_t> {
    TAMIS_CHECK(given(filter, "filter"));
    TAMIS_TRY(const nullable_keys batch, nullable_keys::checked(keys));
    return filter->visit([&](auto& f) {
      if (remote == nullptr) {
        return change_many(f.hash(), batch, out,
                           [&](std::span<const digest> digests, std::span<bool> in) { return f.insert_many(digests, in); });
      }
      remote_and_batch stored(*remote, f.hash(), batch, remote_and_batch::direction::inserts);
      return change_many(f.hash(), batch, out, [&](std::span<const digest> digests, std::span<bool> in) {
        return each(digests, in, stored,
                    [&](digest d, const remote_ref& now) { return f.insert(d, now) == insert_result::inserted; });
      });
    });
  });
}

int64_t tamis_erase(tamis_filter* filter, const tamis_keys* keys, const tamis_remote* remote, uint8_t* out,
                    tamis_error* error) {
  return guarded<std::int64_t>(error, [&]() -> result<std::int64_t> {
    TAMIS_CHECK(needs(filter, &capabilities::erase, "erase"));
    TAMIS_TRY(const nullable_keys batch, nullable_keys::checked(keys));
    return filter->visit([&](auto& f) {
      if (remote == nullptr) {
        return change_many(f.hash(), batch, out, [&](std::span<const digest> digests, std::span<bool> gone) {
          return f.erase_many(digests, gone).value();
        });
      }
      remote_and_batch stored(*remote, f.hash(), batch, remote_and_batch::direction::erases);
      return change_many(f.hash(), batch, out, [&](std::span<const digest> digests, std::span<bool> gone) {
        return each(digests, gone, stored,
                    [&](digest d, const remote_ref& now) { return f.erase(d, now) == erase_result::erased; });
      });
    });
  });
}

int tamis_count(const tamis_filter* filter, const tamis_keys* keys, uint64_t* out, tamis_error* error) {
  return guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(needs(filter, &capabilities::count, "count"));
    TAMIS_TRY(const nullable_keys batch, nullable_keys::checked(keys));
    TAMIS_CHECK(ready(filter, batch, out));
    fill_out<std::uint64_t>(out, batch.size(), 0);
    batch.for_each_chunk(filter->hash(), [&](const key_chunk& chunk) {
      for (std::size_t i = 0; i < chunk.digests.size(); ++i)
        out[chunk.place(i)] = filter->visit([&](const auto& f) { return f.count(chunk.digests[i]).value(); });
    });
    return TAMIS_OK;
  });
}

int tamis_hash(const tamis_filter* filter, const tamis_keys* keys, tamis_digest* out, tamis_error* error) {
  return guarded(error, [&]() -> result<int> {
    TAMIS_TRY(const nullable_keys batch, nullable_keys::checked(keys));
    TAMIS_CHECK(ready(filter, batch, out));
    for (std::uint64_t i = 0; batch.has_nulls() && i < batch.size(); ++i) {
      if (batch.is_null(i)) return failure{"keys: key " + std::to_string(i) + " is null, which has no digest"};
    }
    batch.for_each_chunk(filter->hash(), [&](const key_chunk& chunk) {
      for (std::size_t i = 0; i < chunk.digests.size(); ++i) {
        out[chunk.place(i)] = {chunk.digests[i].high, chunk.digests[i].low};
      }
    });
    return TAMIS_OK;
  });
}

int tamis_rejuvenate(tamis_filter* filter, const tamis_keys* keys, tamis_error* error) {
  return guarded(error, [&]() -> result<int> {
    TAMIS_CHECK(needs(filter, &capabilities::rejuvenate, "rejuvenate"));
    TAMIS_TRY(const nullable_keys batch, nullable_keys::checked(keys));
    batch.for_each_chunk(filter->hash(), [&](const key_chunk& chunk) {
      filter->visit([&](auto& f) { f.rejuvenate_many(chunk.digests).value(); });
    });
    return TAMIS_OK;
  });
}

int64_t tamis_adapt(tamis_filter* filter, const tamis_keys* keys, const tamis_remote* remote, uint8_t* out,
                    tamis_error* error) {
  static_assert(TAMIS_ADAPT_FIXED == static_cast<int>(adapt_result::fixed));
  static_assert(TAMIS_ADAPT_UNFIXABLE == static_cast<int>(adapt_result::unfixable));
  static_assert(TAMIS_ADAPT_IS_MEMBER == static_cast<int>(adapt_result::is_member));
  static_assert(TAMIS_ADAPT_NOT_POSITIVE == static_cast<int>(adapt_result::not_positive));
  return guarded<std::int64_t>(error, [&]() -> result<std::int64_t> {
    TAMIS_CHECK(needs(filter, &capabilities::adapt, "adapt"));
    TAMIS_TRY(const nullable_keys batch, nullable_keys::checked(keys));
    fill_out<std::uint8_t>(out, batch.size(), TAMIS_ADAPT_NULL);
    std::int64_t fixed = 0;
    batch.for_each_chunk(filter->hash(), [&](const key_chunk& chunk) {
      for (std::size_t i = 0; i < chunk.digests.size(); ++i) {
        const digest d = chunk.digests[i];
        const adapt_result became =
            filter->visit([&](auto& f) { return remote == nullptr ? f.adapt(d) : f.adapt(d, remote->ref()); });
        fixed += became == adapt_result::fixed ? 1 : 0;
        if (out != nullptr) out[chunk.place(i)] = static_cast<std::uint8_t>(became);
      }
    });
    return fixed;
  });
}
}
