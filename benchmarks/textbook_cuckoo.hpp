#pragma once

// The well-known contender of the cuckoo family, "cf12": 12-bit fingerprints, four slots per bucket, packed, a power of two of
// buckets, i XOR f·C, as in the published code of Fan, Andersen, Kaminsky and Mitzenmacher. Lookups compare a bucket in one
// word; inserts and deletes go slot by slot; a full pair of buckets starts a random walk of up to 500 moves, whose last victim
// is kept aside. Straightforward, no batches; only here to be compared with. It takes the same digest as our filters, so both
// pay the same hash.

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>

#include "tamis/detail/hash/place.hpp"

namespace tamis::benchmarks {

class textbook_cuckoo {
 public:
  static constexpr double load = 0.96;  // above it the published code doubles the table

  explicit textbook_cuckoo(std::uint64_t capacity) {
    buckets_ = std::bit_ceil((capacity + 3) / 4);
    if (static_cast<double>(capacity) > load * 4 * static_cast<double>(buckets_)) buckets_ *= 2;
    bytes_ = std::make_unique<std::uint8_t[]>(buckets_ * bucket_bytes + sizeof(std::uint64_t));
  }

  std::uint64_t bits() const { return buckets_ * bucket_bytes * 8; }
  // Eight slots are compared with, of which `keys` out of all are occupied; the tag 1 is twice as frequent as the others.
  double expected_fpr() const {
    return 8.0 / 4096 * (1 + 2.0 / 4096) * static_cast<double>(keys_) / (4.0 * static_cast<double>(buckets_));
  }

  TAMIS_INLINE bool may_contain(digest d) const {
    const place p = locate(d);
    const std::uint64_t other = alternate(p.bucket, p.tag);
    const bool kept_aside = victim_.used && p.tag == victim_.tag && (p.bucket == victim_.bucket || other == victim_.bucket);
    const std::uint64_t one = load_word(p.bucket);
    const std::uint64_t two = load_word(other);
    return kept_aside || has_tag(one, p.tag) || has_tag(two, p.tag);
  }

  bool insert(digest d) {
    if (victim_.used) return false;
    place p = locate(d);
    ++keys_;
    for (unsigned moves = 0; moves < 500; ++moves) {
      std::uint64_t pushed_out = 0;
      if (put(p.bucket, p.tag, moves != 0, pushed_out)) return true;
      if (moves != 0) p.tag = pushed_out;
      p.bucket = alternate(p.bucket, p.tag);
    }
    victim_ = {p.bucket, p.tag, true};
    return true;
  }

  bool erase(digest d) {
    const place p = locate(d);
    const std::uint64_t other = alternate(p.bucket, p.tag);
    if (!take_out(p.bucket, p.tag) && !take_out(other, p.tag)) {
      if (!victim_.used || p.tag != victim_.tag || (p.bucket != victim_.bucket && other != victim_.bucket)) return false;
      victim_.used = false;
      --keys_;
      return true;
    }
    --keys_;
    if (victim_.used) put_victim_back();
    return true;
  }

 private:
  static constexpr std::uint64_t bucket_bytes = 6;

  struct place {
    std::uint64_t bucket;
    std::uint64_t tag;
  };
  struct kept_victim {
    std::uint64_t bucket = 0;
    std::uint64_t tag = 0;
    bool used = false;
  };

  TAMIS_INLINE place locate(digest d) const {
    const std::uint64_t tag = d.low & 0xfff;
    return {d.high & (buckets_ - 1), tag + (tag == 0)};
  }
  TAMIS_INLINE std::uint64_t alternate(std::uint64_t bucket, std::uint64_t tag) const {
    return (bucket ^ (tag * 0x5bd1e995)) & (buckets_ - 1);
  }

  TAMIS_INLINE std::uint64_t load_word(std::uint64_t bucket) const {
    std::uint64_t word;
    std::memcpy(&word, bytes_.get() + bucket * bucket_bytes, sizeof word);
    return word;
  }
  TAMIS_INLINE static bool has_tag(std::uint64_t word, std::uint64_t tag) {
    const std::uint64_t x = word ^ (tag * 0x001001001001u);
    return ((x - 0x001001001001u) & ~x & 0x800800800800u) != 0;
  }

  TAMIS_INLINE std::uint64_t read(std::uint64_t bucket, unsigned slot) const {
    std::uint16_t pair;
    std::memcpy(&pair, bytes_.get() + bucket * bucket_bytes + slot / 2 * 3 + slot % 2, sizeof pair);
    return slot % 2 == 0 ? pair & 0xfff : pair >> 4;
  }
  TAMIS_INLINE void write(std::uint64_t bucket, unsigned slot, std::uint64_t tag) {
    std::uint8_t* at = bytes_.get() + bucket * bucket_bytes + slot / 2 * 3 + slot % 2;
    std::uint16_t pair;
    std::memcpy(&pair, at, sizeof pair);
    pair = static_cast<std::uint16_t>(slot % 2 == 0 ? (pair & 0xf000) | tag : (pair & 0x000f) | tag << 4);
    std::memcpy(at, &pair, sizeof pair);
  }

  bool put(std::uint64_t bucket, std::uint64_t tag, bool push_out, std::uint64_t& pushed_out) {
    for (unsigned slot = 0; slot < 4; ++slot) {
      if (read(bucket, slot) == 0) return write(bucket, slot, tag), true;
    }
    if (push_out) {
      walk_ = walk_ * 6364136223846793005u + 1442695040888963407u;
      const auto slot = static_cast<unsigned>(walk_ >> 62);
      pushed_out = read(bucket, slot);
      write(bucket, slot, tag);
    }
    return false;
  }
  bool take_out(std::uint64_t bucket, std::uint64_t tag) {
    for (unsigned slot = 0; slot < 4; ++slot) {
      if (read(bucket, slot) == tag) return write(bucket, slot, 0), true;
    }
    return false;
  }
  void put_victim_back() {
    std::uint64_t none = 0;
    if (put(victim_.bucket, victim_.tag, false, none) || put(alternate(victim_.bucket, victim_.tag), victim_.tag, false, none))
      victim_.used = false;
  }

  std::uint64_t buckets_ = 0;
  std::uint64_t keys_ = 0;
  std::uint64_t walk_ = 1;
  std::unique_ptr<std::uint8_t[]> bytes_;
  kept_victim victim_;
};

}  // namespace tamis::benchmarks
