#pragma once

// Rank-indexed hashing (Hua, Zhao, Lin and Xu, "Rank-indexed hashing: a compact construction of Bloom filters and variants",
// ICNP 2008; a baseline of the ASCF paper): blocks of 64 buckets in which fingerprints lie packed, without slots. A first level
// of 64 bits marks the buckets that hold a fingerprint; the next level has one bit per mark and marks those that hold a second
// one; and so on. Written one behind the other, the levels are a single bit string, and a rank is all the arithmetic there is:
//
//   index         0 1 0 0 1 … 0 │ 1 0 … │ 0 …      a one at bit p owns fingerprint number r = rank(p), the ones before it,
//                 level 1: 64   │ level 2 │ 3      and the bit that says whether its bucket has one more is bit 64 + r
//   fingerprints  f0 f1 f2 f3 …
//
// A block has room for all but one key in a thousand. Those lie, with their bucket, in a small room that 1,024 blocks share; it
// is looked at only if the block is full. A key that fits neither is refused.

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "tamis/concepts.hpp"
#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/bits/bitmap.hpp"
#include "tamis/detail/bits/packed_array.hpp"
#include "tamis/detail/hash/place.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tamis/detail/math/cuckoo.hpp"

namespace tamis::inline TAMIS_LEVEL {

class rank_indexed {
 public:
  using options = fingerprint_options;
  static constexpr option_info option_table[] = {
      {"fingerprint", "4 to 32", "what fpr or bits per key need", "bits of a fingerprint"}};
  static constexpr filter_info info{
      .id = "rank-indexed",
      .summary = "rank-indexed counting Bloom filter: fingerprints packed behind levels of bitmaps",
      .paper = "Hua, Zhao, Lin, Xu: Rank-indexed hashing: a compact construction of Bloom filters and variants (ICNP 2008)",
      .options = option_table,
  };

  static result<rank_indexed> create(const filter_params& params) {
    TAMIS_CHECK(check_params(info, params));
    TAMIS_TRY(const std::uint64_t width, number_option(params, "fingerprint", 0, 4, 32));
    detail::bucket_wish wish{params.capacity, params.fpr, params.bits_per_key, std::nullopt};
    if (width != 0) wish.width = static_cast<unsigned>(width);
    TAMIS_TRY(const detail::rank_shape shape, detail::rank_indexed_shape(wish));
    rank_indexed made;
    made.blocks_ = shape.blocks;
    made.block_keys_ = shape.block_keys;
    made.group_keys_ = shape.group_keys;
    made.capacity_ = params.capacity;
    TAMIS_TRY(made.index_, detail::bitmap::make(shape.blocks * made.index_bits()));
    TAMIS_TRY(made.fingerprints_,
              detail::packed_array<detail::dynamic_width>::make(shape.blocks * shape.block_keys, shape.width));
    TAMIS_TRY(made.spilled_, detail::zeroed_array<std::uint64_t>::make(made.groups() * shape.group_keys));
    return made;
  }

  [[nodiscard]] insert_result insert(digest d) {
    const key_place key = place(d);
    const block here = block_at(key.block);
    if (keys_in(here) < block_keys_) {
      append(here, key);
    } else if (std::uint64_t* free = find_spilled(key.block, 0)) {
      *free = spilled_entry(key);
    } else {
      return insert_result::full;
    }
    ++keys_;
    return insert_result::inserted;
  }

  bool may_contain(digest d) const {
    const key_place key = place(d);
    const block here = block_at(key.block);
    for (std::uint64_t p = key.bucket; index_.get(here.index + p);) {
      const std::uint64_t r = rank(here, p);
      if (fingerprints_.get(here.fingerprints + r) == key.fingerprint) return true;
      p = detail::rank_block_buckets + r;
    }
    return keys_in(here) == block_keys_ && find_spilled(key.block, spilled_entry(key)) != nullptr;
  }

  // The last fingerprint of the bucket takes the place of the erased one, and a spilled one of the block takes its room.
  erase_result erase(digest d) {
    const key_place key = place(d);
    const block here = block_at(key.block);
    const bool was_full = keys_in(here) == block_keys_;
    if (!remove(here, key)) {
      std::uint64_t* spilled = was_full ? find_spilled(key.block, spilled_entry(key)) : nullptr;
      if (spilled == nullptr) return erase_result::absent;
      *spilled = 0;
    } else if (was_full) {
      take_back(here, key.block);
    }
    --keys_;
    return erase_result::erased;
  }

  std::uint64_t count(digest d) const {
    const key_place key = place(d);
    const block here = block_at(key.block);
    std::uint64_t same = 0;
    for (std::uint64_t p = key.bucket; index_.get(here.index + p);) {
      const std::uint64_t r = rank(here, p);
      same += fingerprints_.get(here.fingerprints + r) == key.fingerprint;
      p = detail::rank_block_buckets + r;
    }
    if (keys_in(here) != block_keys_) return same;
    const auto room = group_of(key.block);
    return same + static_cast<std::uint64_t>(std::count(room.begin(), room.end(), spilled_entry(key)));
  }

  // Without keys, of the same shape.
  result<rank_indexed> emptied() const {
    rank_indexed made;
    TAMIS_TRY(made.index_, detail::bitmap::make(index_.size()));
    TAMIS_TRY(made.fingerprints_,
              detail::packed_array<detail::dynamic_width>::make(fingerprints_.size(), fingerprints_.width()));
    TAMIS_TRY(made.spilled_, detail::zeroed_array<std::uint64_t>::make(spilled_.size()));
    made.blocks_ = blocks_;
    made.block_keys_ = block_keys_;
    made.group_keys_ = group_keys_;
    made.capacity_ = capacity_;
    return made;
  }

  std::uint64_t keys() const { return keys_; }
  std::uint64_t capacity() const { return capacity_; }
  double expected_fpr() const {
    return detail::rank_indexed_rate(static_cast<double>(blocks_), fingerprints_.width(), static_cast<double>(keys_));
  }
  memory_bits bits() const { return {index_.bits() + fingerprints_.bits() + spilled_.bytes() * 8}; }
  option_list settings() const { return {{"fingerprint", std::to_string(fingerprints_.width())}}; }

  TAMIS_INLINE void prefetch(digest d) const {
    const block here = block_at(place(d).block);
    index_.prefetch(here.index);
    fingerprints_.prefetch(here.fingerprints);
  }

  friend bool operator==(const rank_indexed&, const rank_indexed&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.capacity_, self.keys_, self.blocks_, self.block_keys_, self.group_keys_, self.index_, self.fingerprints_,
            self.spilled_);
  }
  status validate() const;

 private:
  struct key_place {
    std::uint64_t block;
    std::uint64_t bucket;  // in the block
    std::uint64_t fingerprint;
  };
  struct block {
    std::uint64_t index;         // its first bit in index_
    std::uint64_t fingerprints;  // its first fingerprint
  };

  std::uint64_t index_bits() const { return detail::rank_block_buckets + std::uint64_t{block_keys_}; }
  std::uint64_t groups() const { return detail::divide_up(blocks_, detail::rank_group_blocks); }

  TAMIS_INLINE key_place place(digest d) const {
    const std::uint64_t bucket = detail::reduce(d.high, blocks_ * detail::rank_block_buckets);
    return {bucket / detail::rank_block_buckets, bucket % detail::rank_block_buckets, d.bits(64, fingerprints_.width())};
  }
  TAMIS_INLINE block block_at(std::uint64_t i) const { return {i * index_bits(), i * block_keys_}; }
  TAMIS_INLINE std::uint64_t rank(const block& here, std::uint64_t p) const { return index_.count(here.index, here.index + p); }
  std::uint64_t keys_in(const block& here) const { return rank(here, index_bits()); }

  // Requires: the block has room.
  void append(const block& here, const key_place& key) {
    std::uint64_t p = key.bucket;
    while (index_.get(here.index + p)) p = detail::rank_block_buckets + rank(here, p);
    const std::uint64_t r = rank(here, p);
    index_.set(here.index + p);
    index_.insert(here.index + detail::rank_block_buckets + r, here.index + index_bits() - 1, false);
    fingerprints_.move_up(here.fingerprints + r, here.fingerprints + block_keys_ - 1);
    fingerprints_.set(here.fingerprints + r, key.fingerprint);
  }

  bool remove(const block& here, const key_place& key) {
    std::uint64_t found = block_keys_;
    std::uint64_t last = 0;       // the bucket's last one ...
    std::uint64_t last_rank = 0;  // ... and its fingerprint
    for (std::uint64_t p = key.bucket; index_.get(here.index + p); p = detail::rank_block_buckets + last_rank) {
      last = p;
      last_rank = rank(here, p);
      if (fingerprints_.get(here.fingerprints + last_rank) == key.fingerprint) found = last_rank;
    }
    if (found == block_keys_) return false;
    fingerprints_.set(here.fingerprints + found, fingerprints_.get(here.fingerprints + last_rank));
    fingerprints_.move_down(here.fingerprints + last_rank + 1, here.fingerprints + block_keys_);
    fingerprints_.set(here.fingerprints + block_keys_ - 1, 0);
    index_.remove(here.index + detail::rank_block_buckets + last_rank, here.index + index_bits() - 1, false);
    index_.reset(here.index + last);
    return true;
  }

  // An entry of the shared room: 1, block in the group, bucket, fingerprint.
  static constexpr unsigned bucket_shift = 32;
  static constexpr unsigned block_shift = 38;
  static constexpr unsigned present_shift = 48;
  TAMIS_INLINE static std::uint64_t spilled_entry(const key_place& key) {
    return std::uint64_t{1} << present_shift | key.block % detail::rank_group_blocks << block_shift |
           key.bucket << bucket_shift | key.fingerprint;
  }
  std::span<const std::uint64_t> group_of(std::uint64_t which) const {
    return spilled_.span().subspan(which / detail::rank_group_blocks * group_keys_, group_keys_);
  }
  const std::uint64_t* find_spilled(std::uint64_t which, std::uint64_t entry) const {
    const auto room = group_of(which);
    const auto found = std::find(room.begin(), room.end(), entry);
    return found == room.end() ? nullptr : &*found;
  }
  std::uint64_t* find_spilled(std::uint64_t which, std::uint64_t entry) {
    return const_cast<std::uint64_t*>(std::as_const(*this).find_spilled(which, entry));
  }

  void take_back(const block& here, std::uint64_t which) {
    const std::uint64_t prefix = spilled_entry({which, 0, 0}) >> block_shift;
    const auto room = spilled_.span().subspan(which / detail::rank_group_blocks * group_keys_, group_keys_);
    const auto mine =
        std::find_if(room.begin(), room.end(), [&](std::uint64_t entry) { return entry >> block_shift == prefix; });
    if (mine == room.end()) return;
    append(here, {which, *mine >> bucket_shift & (detail::rank_block_buckets - 1), *mine & 0xffffffffu});
    *mine = 0;
  }

  friend detail::stored_access;
  rank_indexed() = default;

  std::uint64_t capacity_ = 0;
  std::uint64_t keys_ = 0;
  std::uint64_t blocks_ = 0;
  std::uint32_t block_keys_ = 0;  // fingerprints that a block has room for
  std::uint32_t group_keys_ = 0;  // entries in the shared room of a group
  detail::bitmap index_;
  detail::packed_array<detail::dynamic_width> fingerprints_;
  detail::zeroed_array<std::uint64_t> spilled_;  // 0 = free
};

inline status rank_indexed::validate() const {
  using detail::is_wrong;
  if (is_wrong(blocks_ == 0) || is_wrong(block_keys_ == 0) || is_wrong(group_keys_ == 0) ||
      is_wrong(fingerprints_.width() < 4) || is_wrong(fingerprints_.width() > 32)) {
    return failure{"a block without buckets, or fingerprints that are not 4 to 32 bits wide"};
  }
  const auto index_size = detail::checked_multiply(blocks_, index_bits());
  if (is_wrong(index_.size() != index_size) || is_wrong(fingerprints_.size() != blocks_ * block_keys_) ||
      is_wrong(spilled_.size() / group_keys_ != groups()) || is_wrong(spilled_.size() % group_keys_ != 0)) {
    return failure{"the tables do not fit " + std::to_string(blocks_) + " blocks"};
  }
  std::uint64_t keys = 0;
  for (std::uint64_t b = 0; b < blocks_; ++b) {
    const block here = block_at(b);
    const std::uint64_t in_block = keys_in(here);
    if (is_wrong(in_block > block_keys_) || is_wrong(in_block != rank(here, detail::rank_block_buckets + in_block))) {
      return failure{"the index of block " + std::to_string(b) + " does not fit its fingerprints"};
    }
    for (std::uint64_t i = in_block; i < block_keys_; ++i) {
      if (is_wrong(fingerprints_.get(here.fingerprints + i) != 0))
        return failure{"block " + std::to_string(b) + " has one too many"};
    }
    keys += in_block;
  }
  for (std::uint64_t i = 0; i < spilled_.size(); ++i) {
    if (spilled_[i] == 0) continue;
    const std::uint64_t b =
        i / group_keys_ * detail::rank_group_blocks + (spilled_[i] >> block_shift) % detail::rank_group_blocks;
    const std::uint64_t fingerprint = spilled_[i] & 0xffffffffu;
    if (is_wrong(spilled_[i] >> present_shift != 1) || is_wrong(b >= blocks_) ||
        is_wrong(fingerprint > fingerprints_.max_value()) || is_wrong(keys_in(block_at(b)) != block_keys_)) {
      return failure{"a spilled fingerprint does not belong to a full block"};
    }
    ++keys;
  }
  if (is_wrong(keys != keys_)) return failure{std::to_string(keys) + " fingerprints for " + std::to_string(keys_) + " keys"};
  return {};
}

}  // namespace tamis::inline TAMIS_LEVEL
