#include "tamis/detail/base/zeroed_array.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>

#include "part_pool.hpp"
#include "tamis/memory.hpp"

namespace tamis::detail {
namespace {

std::uint64_t machine_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page_bytes <= 0) return ~std::uint64_t{0};
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
}

constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) { return divide_up(bytes, unit) * unit; }

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
  static auto* const pool = new part_pool;
  return *pool;
}

// Before main: handlers are called in reverse, so that whoever locks filters of their own around a fork does so before the pool
// is locked, as in any other call.
[[maybe_unused]] const int handles_forks = pthread_atfork([] { parts().before_fork(); }, [] { parts().after_fork_in_parent(); },
                                                          [] { parts().after_fork_in_child(); });

thread_local bool may_wait = true;

}  // namespace

result<void*> allocate_zeroed(std::uint64_t bytes) {
  if (is_mapped(bytes)) {  // smaller ones fit any machine, and asking it takes longer than to allocate them
    const std::uint64_t limit = machine_memory();
    if (bytes > limit) {
      return failure{"a table of " + format_bytes(bytes) + " does not fit into this machine's memory of " +
                     format_bytes(limit)};
    }
    return map_aligned(round_up(bytes, huge_page_bytes));
  }
  const std::uint64_t rounded = round_up(bytes, cache_line_bytes);
  if (is_part(rounded)) {
    if (void* part = parts().allocate(rounded, may_wait)) return part;
  }
  void* memory = std::aligned_alloc(cache_line_bytes, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, rounded);
  if (is_part(rounded)) parts().note_outside(rounded);
  return memory;
}

void release_zeroed(void* memory, std::uint64_t bytes) noexcept {
  if (is_mapped(bytes)) {
    munmap(memory, round_up(bytes, huge_page_bytes));
    return;
  }
  const std::uint64_t rounded = round_up(bytes, cache_line_bytes);
  if (!is_part(rounded) || !parts().release(memory, rounded)) std::free(memory);
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

}  // namespace tamis::detail

namespace tamis {

using namespace detail;

no_waiting::no_waiting() noexcept : before_(std::exchange(may_wait, false)) {}

no_waiting::~no_waiting() { may_wait = before_; }

void prepare_small_tables(std::uint64_t bytes) {
  if (!pools_parts) return;
  for (std::uint64_t done = 0; done < bytes; done += part_pool::region_bytes) parts().prepare();
}

void allow_memory_thread(bool allowed) { parts().allow_thread(allowed); }

}  // namespace tamis
