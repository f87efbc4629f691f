#pragma once

// The measured loops, written once for static filters (the Google Benchmark binary) and erased ones (`tamis bench`). All of
// them begin with a 64-bit key and include its hash. Batches are what a caller of the *_many functions would do: a chunk of
// keys is hashed into a buffer, and the buffer goes through the filter.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "lab/measure/timing.hpp"
#include "tamis/base/digest.hpp"
#include "tamis/hash/hasher.hpp"

namespace tamis::lab {

using key_span = std::span<const std::uint64_t>;

inline constexpr std::size_t batch_chunk = 1024;

// How many keys `single(digest)` says true to.
template <class Single>
std::size_t count_singles(key_span keys, const hasher& hash, Single single) {
  std::size_t yes = 0;
  for (const std::uint64_t key : keys) {
    const bool answer = single(hash(key));
    use_alone(answer);
    yes += answer;
  }
  return yes;
}

// Calls `many(digests)` for one chunk of keys after the other; the sum of what it returns.
template <class Many>
std::size_t sum_chunks(key_span keys, const hasher& hash, Many many) {
  std::array<digest, batch_chunk> digests;
  std::size_t sum = 0;
  for (std::size_t first = 0; first < keys.size(); first += batch_chunk) {
    const std::size_t size = std::min(batch_chunk, keys.size() - first);
    for (std::size_t i = 0; i < size; ++i) digests[i] = hash(keys[first + i]);
    sum += many(std::span<const digest>(digests.data(), size));
  }
  return sum;
}

// As count_singles, through `contains_many(digests, out)`.
template <class ContainsMany>
std::size_t count_chunks(key_span keys, const hasher& hash, ContainsMany contains_many) {
  std::array<bool, batch_chunk> out;
  return sum_chunks(keys, hash, [&](std::span<const digest> digests) {
    contains_many(digests, std::span<bool>(out));
    std::size_t yes = 0;
    for (std::size_t i = 0; i < digests.size(); ++i) yes += out[i];
    return yes;
  });
}

}  // namespace tamis::lab
