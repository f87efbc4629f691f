#pragma once

// Where the items of a filter over many nodes stand. A filter NAME of S shards is S values of the module, in slots that are
// spread evenly, so that moving slots between nodes moves whole shards and no item is ever looked for elsewhere:
//
//   shard of an item   mix(CRC-32 of the item) · S >> 32     not by a digest of the filter: see shard_of
//   slot of shard s    (slot of NAME + s · 16384 / S) mod 16384
//   key of shard s     NAME:{t}, where t is the smallest number whose slot that is
//   description        the hash {NAME}:meta
//
// docs/redis.md has the same for those who write a client, and integrations/redis/remote_vectors.txt examples.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tamis::cli {

inline constexpr unsigned slot_count = 16384;
inline constexpr unsigned most_shards = 4096;

// The slot of a key, as the cluster sees it: of what stands in the first {braces}, if anything does.
unsigned slot_of(std::string_view key);

// The filters know an item by its XXH3 or SipHash digest. Their shards must not be chosen by bits of it, or all digests in one
// filter would begin alike. CRC-32 has nothing to do with either, and is in every language's library; it is linear, so that
// items which differ in few places could fall into few shards: the multiplications end that.
unsigned shard_of(std::string_view item, unsigned shards);

std::string meta_key(std::string_view name);

class shard_places {
 public:
  // Requires: shards <= most_shards.
  shard_places(std::string_view name, unsigned shards);

  unsigned count() const { return static_cast<unsigned>(keys_.size()); }
  const std::string& key(unsigned shard) const { return keys_[shard]; }
  unsigned slot(unsigned shard) const { return slots_[shard]; }

 private:
  std::vector<std::string> keys_;
  std::vector<unsigned> slots_;
};

}  // namespace tamis::cli
