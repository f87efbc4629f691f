// Batches of keys.

#include <algorithm>
#include <array>

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

// One by one, because each may ask the remote.
template <class One>
std::size_t each(std::span<const digest> digests, std::span<bool> out, One one) {
  std::size_t done = 0;
  for (std::size_t i = 0; i < digests.size(); ++i) {
    out[i] = one(digests[i]);
    done += out[i] ? 1 : 0;
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
      return change_many(f.hash(), batch, out, [&](std::span<const digest> digests, std::span<bool> in) {
        if (remote == nullptr) return f.insert_many(digests, in);
        return each(digests, in, [&](digest d) { return f.insert(d, remote->ref()) == insert_result::inserted; });
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
      return change_many(f.hash(), batch, out, [&](std::span<const digest> digests, std::span<bool> gone) {
        if (remote == nullptr) return f.erase_many(digests, gone).value();
        return each(digests, gone, [&](digest d) { return f.erase(d, remote->ref()) == erase_result::erased; });
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
