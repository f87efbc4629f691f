#pragma once

// Tables of many parts, each too small for huge pages of its own. Parts up to 128 KiB stand in slabs, one for each size
// (slab.hpp). Larger ones share regions, one huge page each: freed parts are used again for others of their size, and a region
// without parts is given back.
//
// The system takes long to find a huge page (0.1 to 0.3 ms, in a virtual machine 5 to 10), and nothing can divide that. Slabs
// therefore take huge pages only if they have been found, and so do larger parts of those who must not wait; others stand on
// small pages. If asked to look ahead, a thread that lives for one region finds the next one when half of the last is used.

#include <sys/mman.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "slab.hpp"
#include "tamis/detail/base/checked.hpp"

namespace tamis::detail {

inline constexpr std::uint64_t huge_page_bytes = std::uint64_t{2} << 20;

// Does a table get huge pages of its own? From two of them on, and below if it fills eleven sixteenths of the last: more than
// half as much again is never taken in vain. Others stand on the allocator's own pages.
inline constexpr std::uint64_t most_of_a_huge_page = huge_page_bytes / 16 * 11;
constexpr bool is_mapped(std::uint64_t bytes) {
  const std::uint64_t last = bytes % huge_page_bytes;
  return bytes >= 2 * huge_page_bytes || (bytes >= most_of_a_huge_page && (last == 0 || last >= most_of_a_huge_page));
}
// And is its end to stand on small ones? Where it fills less of the last huge page, and that would be a part of the table that
// shows: up to 50 MiB.
constexpr bool ends_on_small_pages(std::uint64_t bytes) {
  const std::uint64_t last = bytes % huge_page_bytes;
  return last != 0 && last < most_of_a_huge_page && bytes < 25 * huge_page_bytes;
}

enum class pages { huge, small };
inline void wish_for_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::uint64_t bytes, [[maybe_unused]] pages wish) {
#ifdef MADV_HUGEPAGE
  // A wish: without huge pages everything still works.
  madvise(memory, bytes, wish == pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#endif
}
// Maps a little more than needed and gives back what stands before and after the part that is aligned to huge pages.
inline void* map_aligned(std::uint64_t bytes, pages wish = pages::huge) {
  const std::uint64_t wanted = bytes + huge_page_bytes;
  void* mapped = mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  const auto start = reinterpret_cast<std::uintptr_t>(mapped);
  const std::uintptr_t aligned = divide_up(start, huge_page_bytes) * huge_page_bytes;
  if (aligned != start) munmap(mapped, aligned - start);
  const std::uint64_t behind = start + wanted - (aligned + bytes);
  if (behind != 0) munmap(reinterpret_cast<void*>(aligned + bytes), behind);
  wish_for_pages(reinterpret_cast<void*>(aligned), bytes, wish);
  return reinterpret_cast<void*>(aligned);
}
// Zeroed memory for a table.  Requires: is_mapped(bytes).
inline void* map_table(std::uint64_t bytes) {
  const std::uint64_t mapped = divide_up(bytes, huge_page_bytes) * huge_page_bytes;
  void* const memory = map_aligned(mapped);
  if (ends_on_small_pages(bytes))
    wish_for_pages(static_cast<std::byte*>(memory) + mapped - huge_page_bytes, huge_page_bytes, pages::small);
  return memory;
}
// The same at a certain place, if nothing is there; otherwise nothing.  Requires: both are multiples of huge pages.
inline void* map_at(std::uintptr_t place, std::uint64_t bytes, pages wish) {
  void* const wanted = reinterpret_cast<void*>(place);
  void* mapped = mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  if (mapped != wanted) {
    munmap(mapped, bytes);
    return nullptr;
  }
  wish_for_pages(mapped, bytes, wish);
  return mapped;
}

class part_pool {
 public:
  static constexpr std::uint64_t region_bytes = huge_page_bytes;
  static constexpr std::uint64_t pool_from_bytes = region_bytes / 2;
  static constexpr std::uint64_t slabs_from_bytes = region_bytes / 32;
  static constexpr std::uint64_t most_slab_bytes = region_bytes / 16;  // of a part: beyond, a region's end would be left over

  // Nothing while all parts together are small: then the allocator's own pages do as well.
  void* allocate(std::uint64_t bytes, bool may_wait) {
    const std::lock_guard lock(mutex_);
    if (bytes <= most_slab_bytes) return in_use_ + bytes < slabs_from_bytes ? nullptr : take_of_slab(bytes);
    if (!may_wait && !found_.has(region_bytes / 2)) find_next();
    if (in_use_ + bytes < pool_from_bytes) return nullptr;
    void* part = take_free(bytes);
    if (part == nullptr) part = may_wait ? take_fresh(bytes) : take_found(bytes);
    ++parts_[region_of(part)];
    in_use_ += bytes;
    return part;
  }
  void note_outside(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    in_use_ += bytes;
    outside_ += bytes;
  }
  // False if the part is none of the pool's.
  bool release(void* part, std::uint64_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    in_use_ -= bytes;
    if (const auto slab = slabs_.find(bytes); slab != slabs_.end() && slab->second.has(part)) {
      if (const std::uintptr_t empty = slab->second.put_back(part); empty != 0) unmap(empty);
      if (slab->second.is_empty()) slabs_.erase(slab);
      return true;
    }
    const auto region = parts_.find(region_of(part));
    if (region == parts_.end()) {
      outside_ -= bytes;
      return false;
    }
    if (--region->second == 0 && !is_begun(region->first)) {
      give_back(region->first);
      parts_.erase(region);
    } else {
      try {
        free_[bytes].push_back(part);
      } catch (const std::bad_alloc&) {
        // The part stays unused until its region goes.
      }
    }
    return true;
  }

  // Memory that the parts take now, with what is left over in their pages.
  std::uint64_t bytes_taken() const {
    const std::lock_guard lock(mutex_);
    std::uint64_t bytes = outside_ + region_bytes * (parts_.size() + spare_.size());
    for (const auto& [size, slab] : slabs_) bytes += slab.bytes_of_pages();
    return bytes;
  }

  // A region that the system has found.
  void prepare() {
    const std::uintptr_t region = map(pages::huge);
    for (std::uint64_t at = 0; at < region_bytes; at += 4096) reinterpret_cast<volatile char*>(region)[at] = 0;
    const std::lock_guard lock(mutex_);
    try {
      spare_.push_back(region);
    } catch (const std::bad_alloc&) {
      munmap(reinterpret_cast<void*>(region), region_bytes);
      throw;
    }
  }
  void look_ahead(bool asked) {
    const std::lock_guard lock(mutex_);
    looks_ahead_ = asked;
  }

  // Around fork: the child, in which no other thread lives on, must not find the pool locked or half changed by one.
  void before_fork() { mutex_.lock(); }
  void after_fork_in_parent() { mutex_.unlock(); }
  void after_fork_in_child() {
    is_looking_ = false;
    mutex_.unlock();
  }

 private:
  // A region from which parts are cut one behind the other.
  struct source {
    std::uintptr_t region = 0;
    std::uint64_t used = region_bytes;

    bool has(std::uint64_t bytes) const { return bytes <= region_bytes - used; }
  };

  static std::uintptr_t region_of(const void* part) {
    return reinterpret_cast<std::uintptr_t>(part) & ~(static_cast<std::uintptr_t>(region_bytes) - 1);
  }
  bool is_begun(std::uintptr_t region) const {
    return region == fresh_.region || region == found_.region || region == small_.region;
  }

  void* take_of_slab(std::uint64_t bytes) {
    const auto at = slabs_.try_emplace(bytes, bytes).first;
    slab& of = at->second;
    void* part = of.take();
    try {
      if (part == nullptr) {
        const bool is_found = !of.is_empty() && !spare_.empty();  // a size of few parts needs no huge page
        const std::uintptr_t region = is_found ? take_spare() : map(pages::small);
        add_region(of, region, is_found);
        part = of.take();
      }
    } catch (const std::bad_alloc&) {
      if (of.is_empty()) slabs_.erase(at);
      throw;
    }
    in_use_ += bytes;
    if (of.is_nearly_full()) find_next();
    return part;
  }
  static void add_region(slab& to, std::uintptr_t region, bool is_found) {
    try {
      to.add(region, is_found);
    } catch (const std::bad_alloc&) {
      unmap(region);
      throw;
    }
  }

  void* take_free(std::uint64_t bytes) {
    const auto free = free_.find(bytes);
    if (free == free_.end() || free->second.empty()) return nullptr;
    void* part = free->second.back();
    free->second.pop_back();
    std::memset(part, 0, bytes);
    return part;
  }
  void* take_fresh(std::uint64_t bytes) {
    if (!fresh_.has(bytes)) begin(fresh_, spare_.empty() ? map(pages::huge) : take_spare());
    return cut(fresh_, bytes);
  }
  void* take_found(std::uint64_t bytes) {
    if (!found_.has(bytes) && !spare_.empty()) begin(found_, take_spare());
    if (found_.has(bytes)) return cut(found_, bytes);
    if (!small_.has(bytes)) begin(small_, map(pages::small));
    return cut(small_, bytes);
  }
  // Regions lie side by side where they can. What remembers where huge pages are (the TLB) chooses a place for a page by the
  // last bits of its number: regions with a hole of a page between any two would have half of the places.
  std::uintptr_t map(pages wish) {
    const std::uintptr_t above = last_mapped_.load(std::memory_order_relaxed);
    void* region = above == 0 ? nullptr : map_at(above - region_bytes, region_bytes, wish);
    if (region == nullptr) region = map_aligned(region_bytes, wish);
    last_mapped_.store(reinterpret_cast<std::uintptr_t>(region), std::memory_order_relaxed);
    return reinterpret_cast<std::uintptr_t>(region);
  }
  std::uintptr_t take_spare() {
    const std::uintptr_t region = spare_.back();
    spare_.pop_back();
    return region;
  }
  void begin(source& from, std::uintptr_t region) {
    const std::uintptr_t before = std::exchange(from.region, region);
    from.used = 0;
    if (const auto full = parts_.find(before); full != parts_.end() && full->second == 0) {
      give_back(before);
      parts_.erase(full);
    }
  }
  static void* cut(source& from, std::uint64_t bytes) {
    void* part = reinterpret_cast<void*>(from.region + from.used);
    from.used += bytes;
    return part;
  }
  void give_back(std::uintptr_t region) noexcept {
    for (auto& [bytes, parts] : free_) std::erase_if(parts, [region](void* part) { return region_of(part) == region; });
    unmap(region);
  }
  static void unmap(std::uintptr_t region) noexcept { munmap(reinterpret_cast<void*>(region), region_bytes); }

  // Has the next region found if it will soon be needed. The thread takes no signals, and ends with the region in spare_.
  void find_next() {
    if (!looks_ahead_ || is_looking_ || !spare_.empty()) return;
    if (in_use_ < pool_from_bytes / 2) return;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return;
    try {
      std::thread([this] {
        try {
          prepare();
        } catch (const std::bad_alloc&) {
          // Parts stand on small pages, or those fail in their turn.
        }
        const std::lock_guard lock(mutex_);
        is_looking_ = false;
      }).detach();
      is_looking_ = true;
    } catch (const std::exception&) {
      // No thread to be had, or no memory for it: parts stand on small pages.
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  mutable std::mutex mutex_;
  std::atomic<std::uintptr_t> last_mapped_ = 0;
  std::uint64_t in_use_ = 0;
  std::uint64_t outside_ = 0;  // of these, on the allocator's pages
  bool looks_ahead_ = false;
  bool is_looking_ = false;
  source fresh_;                                      // huge pages that may still have to be found
  source found_;                                      // those that have been
  source small_;                                      // small pages
  std::vector<std::uintptr_t> spare_;                 // regions that have been found
  std::map<std::uintptr_t, std::uint64_t> parts_;     // in use, per region
  std::map<std::uint64_t, std::vector<void*>> free_;  // per size
  std::map<std::uint64_t, slab> slabs_;               // per size
};

}  // namespace tamis::detail
