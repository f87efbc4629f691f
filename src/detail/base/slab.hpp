#pragma once

// Parts of one size, side by side. Tables that grow in small steps (the segments of evergreen) all pass from one size to the
// next at about the same time, so free parts of the old size are of no use to anybody: they have to give back their pages one
// by one, not when the last part of a region goes.
//
//   region   2 MiB of addresses, parts from its end on      | … not begun … | part 3 | part 2 | part 1 | part 0 |
//   pages    4 KiB each, taken when they are written        |               |   :   :   :   :   :   :   :   :   |
//
// The free part with the highest address is taken first, and regions are mapped downwards, so that the parts of a size stand
// dense. A page goes when no part stands in it any more. Of parts that are s pages long, of which a share p is left at random
// places, (1 - p)/s of their bytes are in vain; while all parts pass from one size to the next, at most 1/(4s) of all bytes.
// No part is ever moved: who reads one needs no lock for it.

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>

namespace tamis::detail {

// The parts of a region: numbered from the highest address down.
class slab_region {
 public:
  static constexpr std::uint64_t region_bytes = std::uint64_t{2} << 20;
  static constexpr std::uint64_t page_bytes = 4096;
  static constexpr std::uint64_t least_part = 1024;

  // `has_pages`: all of its pages have been found.
  slab_region(std::uintptr_t at, std::uint64_t part_bytes, bool has_pages)
      : at_(at), part_bytes_(part_bytes), parts_(static_cast<unsigned>(region_bytes / part_bytes)) {
    assert(part_bytes >= least_part);
    if (has_pages) pages_.fill(~std::uint64_t{0});
  }

  std::uintptr_t at() const { return at_; }
  unsigned used() const { return used_; }
  unsigned waiting() const { return waiting_count_; }
  bool is_full() const { return used_ == parts_; }
  std::uint64_t bytes_of_pages() const {
    std::uint64_t pages = 0;
    for (const std::uint64_t word : pages_) pages += static_cast<unsigned>(std::popcount(word));
    return pages * page_bytes;
  }

  // The first free part, zeroed.  Requires: there is one.
  void* take() {
    const unsigned i = first_free();
    assert(i < parts_);
    set(taken_, i);
    ++used_;
    if (is_set(waiting_, i)) {
      clear(waiting_, i);
      --waiting_count_;
    }
    void* const part = reinterpret_cast<void*>(at_ + first_byte(i));
    for (std::uint64_t page = first_page(i); page <= last_page(i); ++page) set(pages_, page);
    if (i < begun_) {
      std::memset(part, 0, part_bytes_);
    } else {
      begun_ = i + 1;  // nobody has had it yet
    }
    return part;
  }
  // Its pages wait for sweep(): the next one who takes a part will often want them.
  void put_back(const void* part) {
    const unsigned i = number_of(part);
    assert(is_set(taken_, i));
    clear(taken_, i);
    --used_;
    set(waiting_, i);
    ++waiting_count_;
  }
  // Gives back the pages in which no part stands.
  void sweep() {
    for (unsigned i = 0; i < begun_; ++i) {
      if (!is_set(waiting_, i)) continue;
      clear(waiting_, i);
      for (std::uint64_t page = first_page(i); page <= last_page(i); ++page) {
        if (!is_set(pages_, page) || is_needed(page)) continue;
        std::uint64_t end = page + 1;
        clear(pages_, page);
        for (; end <= last_page(i) && is_set(pages_, end) && !is_needed(end); ++end) clear(pages_, end);
        madvise(reinterpret_cast<void*>(at_ + page * page_bytes), (end - page) * page_bytes, MADV_DONTNEED);
        page = end - 1;
      }
    }
    waiting_count_ = 0;
  }

 private:
  static constexpr std::uint64_t word_bits = 64;
  template <std::size_t Words>
  using bit_words = std::array<std::uint64_t, Words>;
  template <std::size_t Words>
  static bool is_set(const bit_words<Words>& words, std::uint64_t i) {
    return (words[i / word_bits] >> (i % word_bits) & 1) != 0;
  }
  template <std::size_t Words>
  static void set(bit_words<Words>& words, std::uint64_t i) {
    words[i / word_bits] |= std::uint64_t{1} << (i % word_bits);
  }
  template <std::size_t Words>
  static void clear(bit_words<Words>& words, std::uint64_t i) {
    words[i / word_bits] &= ~(std::uint64_t{1} << (i % word_bits));
  }

  // Of a part, from the region's first byte on.
  std::uint64_t first_byte(unsigned i) const { return region_bytes - (i + 1) * part_bytes_; }
  std::uint64_t first_page(unsigned i) const { return first_byte(i) / page_bytes; }
  std::uint64_t last_page(unsigned i) const { return (first_byte(i) + part_bytes_ - 1) / page_bytes; }
  unsigned number_of(const void* part) const {
    return static_cast<unsigned>((at_ + region_bytes - reinterpret_cast<std::uintptr_t>(part)) / part_bytes_ - 1);
  }
  unsigned first_free() const {
    unsigned word = 0;
    while (word + 1 < taken_.size() && taken_[word] == ~std::uint64_t{0}) ++word;
    return static_cast<unsigned>(word * word_bits + static_cast<unsigned>(std::countr_one(taken_[word])));
  }
  // Does any part stand in the page?
  bool is_needed(std::uint64_t page) const {
    const std::uint64_t last = region_bytes - 1 - page * page_bytes;  // bytes from the end of the region
    for (std::uint64_t i = (last + 1 - page_bytes) / part_bytes_; i <= last / part_bytes_ && i < parts_; ++i) {
      if (is_set(taken_, i)) return true;
    }
    return false;
  }

  std::uintptr_t at_;
  std::uint64_t part_bytes_;
  unsigned parts_;
  unsigned used_ = 0;
  unsigned begun_ = 0;          // parts that somebody has had
  unsigned waiting_count_ = 0;  // free parts whose pages have not been given back
  bit_words<region_bytes / least_part / word_bits> taken_{};
  bit_words<region_bytes / least_part / word_bits> waiting_{};
  bit_words<region_bytes / page_bytes / word_bits> pages_{};  // that take memory
};

// All parts of one size. The caller maps regions, and unmaps those that a release hands out.
class slab {
 public:
  explicit slab(std::uint64_t part_bytes) : part_bytes_(part_bytes) {}

  bool is_empty() const { return regions_.empty(); }
  std::uint64_t bytes_of_pages() const {
    std::uint64_t bytes = 0;
    for (const auto& [at, region] : regions_) bytes += region.bytes_of_pages();
    return bytes;
  }
  // Will another region soon be begun?
  bool is_nearly_full() const { return 2 * used_ > (2 * regions_.size() - 1) * (slab_region::region_bytes / part_bytes_); }

  // Nothing if a region has to be added.
  void* take() {
    slab_region* const region = first_with_room();
    if (region == nullptr) return nullptr;
    const unsigned waited = region->waiting();
    void* const part = region->take();
    waiting_ -= waited - region->waiting();
    ++used_;
    return part;
  }
  void add(std::uintptr_t at, bool has_pages) {
    regions_.try_emplace(at, at, part_bytes_, has_pages);
    full_down_to_ = std::max(full_down_to_, at + 1);
  }
  bool has(const void* part) const { return regions_.find(region_of(part)) != regions_.end(); }
  // The region, if it was the last part of it: the slab has forgotten it. Otherwise 0.  Requires: has(part).
  std::uintptr_t put_back(const void* part) noexcept {
    const auto found = regions_.find(region_of(part));
    slab_region& region = found->second;
    region.put_back(part);
    --used_;
    ++waiting_;
    full_down_to_ = std::max(full_down_to_, region.at() + 1);
    std::uintptr_t empty = 0;
    if (region.used() == 0) {
      waiting_ -= region.waiting();
      empty = region.at();
      regions_.erase(found);
    }
    if (waiting_ > 1 + used_ / 64) sweep();
    return empty;
  }

 private:
  static std::uintptr_t region_of(const void* part) {
    return reinterpret_cast<std::uintptr_t>(part) & ~(static_cast<std::uintptr_t>(slab_region::region_bytes) - 1);
  }
  slab_region* first_with_room() {
    for (auto at = regions_.lower_bound(full_down_to_); at != regions_.end(); ++at) {
      if (!at->second.is_full()) return &at->second;
      full_down_to_ = at->first;
    }
    return nullptr;
  }
  void sweep() {
    for (auto& [at, region] : regions_) {
      if (region.waiting() != 0) region.sweep();
    }
    waiting_ = 0;
  }

  std::uint64_t part_bytes_;
  std::map<std::uintptr_t, slab_region, std::greater<>> regions_;  // the highest address first
  std::uintptr_t full_down_to_ = ~std::uintptr_t{0};               // all regions above are full
  std::uint64_t used_ = 0;                                         // parts
  std::uint64_t waiting_ = 0;                                      // for sweep()
};

}  // namespace tamis::detail
