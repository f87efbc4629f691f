#pragma once

// A batch of keys in the caller's form (tamis_keys), checked once and then hashed a chunk at a time.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tamis/digest.hpp"
#include "tamis/hasher.hpp"
#include "tamis/result.hpp"
#include "tamis/tamis.h"

namespace tamis::c {

// Some keys of a batch as digests. Nulls are left out.
struct key_chunk {
  std::span<const digest> digests;
  std::span<const std::uint64_t> places;  // in the batch; empty if none is null
  std::uint64_t first = 0;                // key of the batch, where none is null

  std::uint64_t place(std::size_t i) const { return places.empty() ? first + i : places[i]; }
};

class nullable_keys {
 public:
  static constexpr std::size_t chunk_size = 512;

  // Everything that could lead a read astray is looked at: form, pointers, offsets, views.
  static result<nullable_keys> checked(const tamis_keys* keys);

  std::uint64_t size() const { return keys_.count; }
  bool has_nulls() const { return keys_.validity != nullptr; }
  bool is_null(std::uint64_t i) const {
    if (keys_.validity == nullptr) return false;
    const std::uint64_t bit = keys_.validity_offset + i;
    return (keys_.validity[bit / 8] >> (bit % 8) & 1u) == 0;
  }
  // The bytes of a key that is not null.  Requires: the form has bytes (has_bytes).
  std::span<const std::byte> bytes(std::uint64_t i) const;
  bool has_bytes() const { return keys_.form >= TAMIS_FIXED_WIDTH && keys_.form <= TAMIS_SLICES; }

  // The keys as 64-bit integers in a row, if that is what they are and none is null: a filter hashes them on the way.
  std::optional<std::span<const std::uint64_t>> words() const;

  // Calls use(key_chunk) for all keys that are not null, in order.
  template <class Use>
  void for_each_chunk(const hasher& hash, Use use) const {
    std::array<digest, chunk_size> digests;
    std::array<std::uint64_t, chunk_size> places;
    for (std::uint64_t first = 0; first < size(); first += chunk_size) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(chunk_size, size() - first));
      if (!has_nulls()) {
        hash_run(hash, first, std::span(digests).first(count));
        use(key_chunk{std::span<const digest>(digests).first(count), {}, first});
        continue;
      }
      const std::size_t kept = hash_present(hash, first, count, digests, places);
      if (kept > 0) use(key_chunk{std::span<const digest>(digests).first(kept), std::span(places).first(kept), first});
    }
  }

 private:
  explicit nullable_keys(const tamis_keys& keys) : keys_(keys) {}

  status check_form();
  status check_stride(std::uint64_t size);
  template <class Offset>
  status check_offsets() const;
  status check_views() const;
  status check_slices() const;

  void hash_run(const hasher& hash, std::uint64_t first, std::span<digest> out) const;
  std::size_t hash_present(const hasher& hash, std::uint64_t first, std::size_t count, std::span<digest> digests,
                           std::span<std::uint64_t> places) const;
  const std::byte* at(std::uint64_t i) const {
    return static_cast<const std::byte*>(keys_.data) + static_cast<std::int64_t>(i) * keys_.stride;
  }
  template <class Integer>
  void hash_integers(const hasher& hash, std::uint64_t first, std::span<digest> out) const;
  template <class Offset>
  std::span<const std::byte> between_offsets(std::uint64_t i) const;
  std::span<const std::byte> viewed(std::uint64_t i) const;

  tamis_keys keys_;
};

}  // namespace tamis::c
