#include "tamis/base/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>

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

// Maps a little more than needed and gives back what stands before and after the aligned part.
void* map_aligned(std::uint64_t bytes) {
  const std::uint64_t wanted = bytes + huge_page_bytes;
  void* mapped = mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  const auto start = reinterpret_cast<std::uintptr_t>(mapped);
  const std::uintptr_t aligned = round_up(start, huge_page_bytes);
  if (aligned != start) munmap(mapped, aligned - start);
  const std::uint64_t behind = start + wanted - (aligned + bytes);
  if (behind != 0) munmap(reinterpret_cast<void*>(aligned + bytes), behind);
  auto* memory = reinterpret_cast<void*>(aligned);
#ifdef MADV_HUGEPAGE
  madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: without huge pages everything still works
#endif
  return memory;
}

}  // namespace

result<void*> allocate_zeroed(std::uint64_t bytes) {
  const std::uint64_t limit = machine_memory();
  if (bytes > limit) {
    return error{"a table of " + format_bytes(bytes) + " does not fit into this machine's memory of " + format_bytes(limit)};
  }
  if (bytes >= map_from_bytes) return map_aligned(round_up(bytes, huge_page_bytes));
  const std::uint64_t rounded = round_up(bytes, cache_line_bytes);
  void* memory = std::aligned_alloc(cache_line_bytes, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, rounded);
  return memory;
}

void release_zeroed(void* memory, std::uint64_t bytes) noexcept {
  if (bytes >= map_from_bytes) {
    munmap(memory, round_up(bytes, huge_page_bytes));
  } else {
    std::free(memory);
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
