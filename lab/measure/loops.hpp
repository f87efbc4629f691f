#pragma once

// The measured loops, written once for static filters (the Google Benchmark binary) and erased ones (`tamis bench`). All of
// them begin with a 64-bit key and include its hash. Batches hand a chunk of keys to the filter, which hashes them on the way.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "lab/measure/timing.hpp"
#include "tamis/digest.hpp"
#include "tamis/hasher.hpp"

namespace tamis::lab {

using key_span = std::span<const std::uint64_t>;

inline constexpr std::size_t batch_chunk = 1024;

// Asks for the key that stands 64 further on than this one. Among the random reads of a filter the processor does not always
// see that keys stand in a row, and then waits for them as long as for the table (single erases of `cuckoo` at 2^24 slots: 31
// instead of 19 ns, with the same instructions); a program usually has its keys at hand.
TAMIS_INLINE void ask_for_later_key(const std::uint64_t& key) { detail::prefetch_read(&key, 64 * sizeof key, 1); }

// Calls `work(key)` for one key after the other.
template <class Work>
TAMIS_INLINE void for_each_key(key_span keys, Work work) {
  for (const std::uint64_t& key : keys) {
    ask_for_later_key(key);
    work(key);
  }
}

// How many keys `single(digest)` says true to.
template <class Single>
std::size_t count_singles(key_span keys, const hasher& hash, Single single) {
  std::size_t yes = 0;
  for_each_key(keys, [&](std::uint64_t key) {
    const bool answer = single(hash(key));
    use_alone(answer);
    yes += answer;
  });
  return yes;
}

// Calls `many(keys)` for one chunk after the other; the sum of what it returns.
template <class Many>
std::size_t sum_chunks(key_span keys, Many many) {
  std::size_t sum = 0;
  for (std::size_t first = 0; first < keys.size(); first += batch_chunk) {
    sum += many(keys.subspan(first, std::min(batch_chunk, keys.size() - first)));
  }
  return sum;
}

// Counts the true answers of `may_contain_many(keys, out)`.
template <class ContainsMany>
std::size_t count_chunks(key_span keys, ContainsMany may_contain_many) {
  std::array<bool, batch_chunk> out;
  return sum_chunks(keys, [&](key_span chunk) {
    may_contain_many(chunk, std::span<bool>(out));
    std::size_t yes = 0;
    for (std::size_t i = 0; i < chunk.size(); ++i) yes += out[i];
    return yes;
  });
}

}  // namespace tamis::lab
