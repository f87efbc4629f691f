#include "tamis/base/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <string_view>
#include <vector>

#include "tamis/base/prepared_memory.hpp"

namespace tamis {
namespace {

constexpr std::uint64_t huge_page_bytes = std::uint64_t{2} << 20;
constexpr std::uint64_t map_from_bytes = 2 * huge_page_bytes;  // below, the allocator's own pages do as well

std::uint64_t machine_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page_bytes <= 0) return ~std::uint64_t{0};
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
}

constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) { return divide_up(bytes, unit) * unit; }

// Maps a little more than needed and gives back what stands before and after the part that is aligned to `unit`.
void* map_aligned(std::uint64_t bytes, std::uint64_t unit = huge_page_bytes) {
  const std::uint64_t wanted = bytes + unit;
  void* mapped = mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  const auto start = reinterpret_cast<std::uintptr_t>(mapped);
  const std::uintptr_t aligned = round_up(start, unit);
  if (aligned != start) munmap(mapped, aligned - start);
  const std::uint64_t behind = start + wanted - (aligned + bytes);
  if (behind != 0) munmap(reinterpret_cast<void*>(aligned + bytes), behind);
  auto* memory = reinterpret_cast<void*>(aligned);
#ifdef MADV_HUGEPAGE
  madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: without huge pages everything still works
#endif
  return memory;
}

// Tables of many parts, each too small for huge pages of its own: the parts share regions of huge pages. Freed parts are used
// again for others of their size; a region without parts is given back.
class part_pool {
 public:
  // Nothing while all parts together are small: then the allocator's own pages do as well.
  void* allocate(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (in_use_ + bytes < map_from_bytes) return nullptr;
    void* part = take_free(bytes);
    if (part == nullptr) part = take_fresh(bytes);
    ++parts_[region_of(part)];
    in_use_ += bytes;
    return part;
  }
  void note_outside(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    in_use_ += bytes;
  }
  void add_spare(void* region) {
    const std::lock_guard lock(mutex_);
    spare_.push_back(reinterpret_cast<std::uintptr_t>(region));
  }
  // False if the part is none of the pool's.
  bool release(void* part, std::uint64_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    in_use_ -= bytes;
    const auto region = parts_.find(region_of(part));
    if (region == parts_.end()) return false;
    if (--region->second == 0 && region->first != current_) {
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

  static constexpr std::uint64_t region_bytes = 4 * huge_page_bytes;

 private:
  static std::uintptr_t region_of(const void* part) {
    return reinterpret_cast<std::uintptr_t>(part) & ~(static_cast<std::uintptr_t>(region_bytes) - 1);
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
    if (current_ == 0 || used_ + bytes > region_bytes) {
      if (const auto full = parts_.find(current_); full != parts_.end() && full->second == 0) {
        give_back(current_);
        parts_.erase(full);
      }
      if (spare_.empty()) spare_.push_back(reinterpret_cast<std::uintptr_t>(map_aligned(region_bytes, region_bytes)));
      current_ = spare_.back();
      spare_.pop_back();
      used_ = 0;
    }
    void* part = reinterpret_cast<void*>(current_ + used_);
    used_ += bytes;
    return part;
  }
  void give_back(std::uintptr_t region) noexcept {
    for (auto& [bytes, parts] : free_) std::erase_if(parts, [region](void* part) { return region_of(part) == region; });
    munmap(reinterpret_cast<void*>(region), region_bytes);
  }

  std::mutex mutex_;
  std::uint64_t in_use_ = 0;
  std::uintptr_t current_ = 0;  // the region that fresh parts come from, and how much of it they have
  std::uint64_t used_ = 0;
  std::vector<std::uintptr_t> spare_;                 // regions that were prepared
  std::map<std::uintptr_t, std::uint64_t> parts_;     // in use, per region
  std::map<std::uint64_t, std::vector<void*>> free_;  // per size
};

constexpr std::uint64_t least_part_bytes = 1024;
constexpr std::uint64_t most_part_bytes = huge_page_bytes / 2;
#if defined(__SANITIZE_ADDRESS__)
constexpr bool pools_parts = false;  // parts side by side would hide what runs over the end of one
#else
constexpr bool pools_parts = true;
#endif
constexpr bool is_part(std::uint64_t bytes) { return pools_parts && least_part_bytes <= bytes && bytes <= most_part_bytes; }

// Never destroyed: tables of static storage may be freed after it would have been.
part_pool& parts() {
  static auto* pool = new part_pool;
  return *pool;
}

}  // namespace

result<void*> allocate_zeroed(std::uint64_t bytes) {
  const std::uint64_t limit = machine_memory();
  if (bytes > limit) {
    return error{"a table of " + format_bytes(bytes) + " does not fit into this machine's memory of " + format_bytes(limit)};
  }
  if (bytes >= map_from_bytes) return map_aligned(round_up(bytes, huge_page_bytes));
  const std::uint64_t rounded = round_up(bytes, cache_line_bytes);
  if (is_part(rounded)) {
    if (void* part = parts().allocate(rounded)) return part;
  }
  void* memory = std::aligned_alloc(cache_line_bytes, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, rounded);
  if (is_part(rounded)) parts().note_outside(rounded);
  return memory;
}

void release_zeroed(void* memory, std::uint64_t bytes) noexcept {
  if (bytes >= map_from_bytes) {
    munmap(memory, round_up(bytes, huge_page_bytes));
    return;
  }
  const std::uint64_t rounded = round_up(bytes, cache_line_bytes);
  if (!is_part(rounded) || !parts().release(memory, rounded)) std::free(memory);
}

void prepare_small_tables(std::uint64_t bytes) {
  if (!pools_parts) return;
  for (std::uint64_t done = 0; done < bytes; done += part_pool::region_bytes) {
    void* region = map_aligned(part_pool::region_bytes, part_pool::region_bytes);
    for (std::uint64_t at = 0; at < part_pool::region_bytes; at += 4096) static_cast<volatile char*>(region)[at] = 0;
    parts().add_spare(region);
  }
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 7> units = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit].data());
  return text.data();
}

}  // namespace tamis
