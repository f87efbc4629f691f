#pragma once

// Known mistakes: the last N digests that were reported as false positives, whole, so that no other key is ever taken for one
// of them. A ring in the order of the reports, in which the next report overwrites the oldest, and hash chains to find a digest
// in it, as zlib finds earlier text:
//
//   ring     | d5 | d6 | d2 | -- | d4 |      d0 and d1 were overwritten; d3 was taken off: a hole, until its turn comes
//                        ^ next_
//   older_   |  4 |  3 |  1 |  2 |  0 |      per entry: where the one before it in its chain stood
//   newest_  |  1 |  0 |                     per chain: where its newest entry stands: d6 -- d2 and d5 d4
//
// Nothing is ever unlinked. A chain leads from newer to older entries, so it ends where a link leads to one that is not older:
// what stood there was overwritten (d1 behind d2, d0 behind d4). A chain whose newest entry was overwritten has no entry left;
// its first link then leads into another chain, which costs time and nothing else, since whole digests are compared.
//
// Of the digests only one cannot be listed: all zeros, which marks what is empty. Positions take log2 N bits; a list of 16,384
// takes 144.8 bits an entry. Readers may share a list; a writer must be alone.

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <string>
#include <type_traits>

#include "tamis/detail/base/checked.hpp"
#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/base/zeroed_array.hpp"
#include "tamis/detail/bits/packed_array.hpp"
#include "tamis/detail/hash/place.hpp"
#include "tamis/detail/mistakes/process_salt.hpp"
#include "tamis/digest.hpp"
#include "tamis/result.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

class mistake_list {
 public:
  static constexpr std::uint64_t most_entries = std::uint64_t{1} << 32;

  // A list without room. To be assigned to, or read into.
  mistake_list() = default;

  // An empty list of this many entries.  Requires: 1 <= entries <= most_entries.
  static result<mistake_list> make(std::uint64_t entries) {
    assert(entries != 0 && entries <= most_entries);
    mistake_list made;
    TAMIS_TRY(made.ring_, zeroed_array<digest>::make(entries));
    TAMIS_TRY(made.older_, positions::make(entries, position_bits(entries)));
    TAMIS_TRY(made.newest_, positions::make(chains_for(entries), position_bits(entries)));
    made.salt_ = process_salt();
    return made;
  }

  // The memory that a list of this many entries takes, and the most entries for this much memory (0 to most_entries).
  static constexpr std::uint64_t bits_for(std::uint64_t entries) {
    const auto packed = [width = position_bits(entries)](std::uint64_t size) {
      return (divide_up(size * width, word_bits) + 1) * word_bits;
    };
    return entries * digest_bits + packed(entries) + packed(chains_for(entries));
  }
  static constexpr std::uint64_t entries_for(std::uint64_t bits) {
    std::uint64_t entries = 0;
    for (std::uint64_t step = most_entries; step != 0; step /= 2) {
      if (entries + step <= most_entries && bits_for(entries + step) <= bits) entries += step;
    }
    return entries;
  }

  std::uint64_t capacity() const { return ring_.size(); }
  std::uint64_t size() const { return size_; }
  std::uint64_t bits() const { return ring_.bytes() * 8 + older_.bits() + newest_.bits(); }

  TAMIS_INLINE bool contains(digest d) const { return size_ != 0 && find(d) != nowhere; }

  // Lists a digest; the report of `capacity()` reports ago is forgotten. One that is listed keeps its turn. False if nothing
  // has changed: it was listed, or is all zeros.
  bool add(digest d) {
    if (d == empty || find(d) != nowhere) return false;
    size_ += ring_[next_] == empty ? 1 : 0;
    append(d);
    return true;
  }

  // Takes a digest off; false if it was not listed.
  bool remove(digest d) {
    const std::uint64_t at = size_ == 0 ? nowhere : find(d);
    if (at == nowhere) return false;
    ring_[at] = empty;
    --size_;
    return true;
  }

  // Calls visit(digest) for all that are listed, in the order of their reports.
  template <class Visit>
  void for_each(Visit visit) const {
    const auto all = [&](std::uint64_t first, std::uint64_t last) {
      for (; first < last; ++first) {
        if (ring_[first] != empty) visit(ring_[first]);
      }
    };
    all(next_, capacity());
    all(0, next_);
  }

  // The ring in the order of the reports, holes and all: equal histories give equal bytes, and a loaded list forgets when the
  // saved one does. Chains are made anew.
  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    if constexpr (std::is_const_v<Self>) {
      archive(self.capacity());
      archive.bytes(std::as_bytes(self.ring_.span().subspan(self.next_)));
      archive.bytes(std::as_bytes(self.ring_.span().first(self.next_)));
    } else {
      std::uint64_t entries = 0;
      archive(entries);
      if (!archive.ok()) return;
      if (is_wrong(entries == 0) || is_wrong(entries > most_entries) ||
          is_wrong(entries > archive.remaining() / sizeof(digest))) {
        return archive.fail("a list of mistakes has " + std::to_string(entries) + " entries, which is none or too many");
      }
      self.read(archive, entries);
    }
  }

 private:
  using positions = packed_array<dynamic_width>;

  static constexpr unsigned digest_bits = 128;
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};
  static constexpr digest empty{};

  static constexpr unsigned position_bits(std::uint64_t entries) {
    return std::max(1u, static_cast<unsigned>(std::bit_width(entries - 1)));
  }
  // Short positions leave room for more chains: links and chains take 16 bits an entry together, until there would be more than
  // five entries a chain.
  static constexpr std::uint64_t chains_for(std::uint64_t entries) {
    constexpr unsigned both = 16;
    const unsigned width = position_bits(entries);
    const std::uint64_t affordable = width < both ? entries * (both - width) / width : 0;
    return std::clamp(affordable, divide_up(entries, 5), entries);
  }

  // One product mixes both words with the salt, which nobody outside knows: nobody can make a long chain.
  TAMIS_INLINE std::uint64_t chain_of(digest d) const {
    const wide_product product = multiply_wide(d.high ^ salt_.high, d.low ^ salt_.low);
    return reduce(product.high ^ product.low, newest_.size());
  }

  // Reports since the oldest one, up to this position's. Without a branch: which side of `next_` a position is on is chance.
  TAMIS_INLINE std::uint64_t order_of(std::uint64_t at) const {
    const std::uint64_t before = at - next_;  // modulo 2^64
    return before + (capacity() & (0 - (before >> 63)));
  }

  std::uint64_t find(digest d) const {
    if (d == empty) return nowhere;
    std::uint64_t at = newest_.get(chain_of(d));
    std::uint64_t order = order_of(at);
    while (ring_[at] != d) {
      at = older_.get(at);
      const std::uint64_t next_order = order_of(at);
      if (next_order >= order) return nowhere;
      order = next_order;
    }
    return at;
  }

  // Puts a digest, which is not listed, at the end of the ring and the front of its chain; an empty one is a hole.
  void append(digest d) {
    ring_[next_] = d;
    if (d == empty) {
      older_.set(next_, next_);
    } else {
      const std::uint64_t chain = chain_of(d);
      older_.set(next_, newest_.get(chain));
      newest_.set(chain, next_);
    }
    if (++next_ == capacity()) next_ = 0;
  }

  template <class Archive>
  void read(Archive& archive, std::uint64_t entries) {
    auto made = make(entries);
    if (!made) return archive.fail(made.message());
    *this = *std::move(made);
    archive.bytes(std::as_writable_bytes(ring_.span()));
    for (std::uint64_t i = 0; archive.ok() && i < entries; ++i) {
      const digest d = ring_[i];
      ring_[i] = empty;  // not yet listed
      if (is_wrong(find(d) != nowhere)) return archive.fail("a list of mistakes has the same one twice");
      size_ += d == empty ? 0 : 1;
      append(d);
    }
  }

  zeroed_array<digest> ring_;
  positions older_;
  positions newest_;
  digest salt_;
  std::uint64_t next_ = 0;  // the position of the next report
  std::uint64_t size_ = 0;  // entries that are not holes
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
