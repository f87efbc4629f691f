#include "tamis/memory.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "detail/base/memory_owners.hpp"
#include "detail/base/part_pool.hpp"
#include "detail/base/small_tables.hpp"
#include "tamis/detail/base/compiler.hpp"
#include "tamis/detail/base/zeroed_array.hpp"

namespace tamis {

using namespace detail;

namespace {

constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) { return divide_up(bytes, unit) * unit; }

constexpr std::uint64_t least_part_bytes = 1024;
constexpr std::uint64_t most_part_bytes = huge_page_bytes / 2;
// With the address sanitizer, parts side by side would hide what runs over the end of one.
#ifdef __has_feature  // Clang's way to say what GCC says by a macro
constexpr bool pools_parts = !__has_feature(address_sanitizer);
#elif defined(__SANITIZE_ADDRESS__)
constexpr bool pools_parts = false;
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

constinit thread_local bool may_wait = true;
constinit thread_local memory_resource* of_scope = nullptr;
constinit std::atomic<memory_resource*> of_process = nullptr;

// std::aligned_alloc wants a multiple of the alignment.
void* allocate_aligned(std::uint64_t bytes, std::uint64_t alignment) noexcept {
  void* const memory = std::aligned_alloc(alignment, bytes);
  if (memory != nullptr) std::memset(memory, 0, bytes);
  return memory;
}

class heap final : public memory_resource {
 public:
  void* allocate_zeroed(std::uint64_t bytes, std::uint64_t alignment) noexcept override {
    const std::uint64_t at_least = std::max<std::uint64_t>(alignment, alignof(std::max_align_t));
    if (bytes > ~std::uint64_t{0} - at_least) return nullptr;
    return allocate_aligned(round_up(bytes, at_least), at_least);
  }
  void release(void* memory, std::uint64_t, std::uint64_t) noexcept override { std::free(memory); }
};

}  // namespace

class huge_pages final : public memory_resource {
 public:
  huge_pages() noexcept : memory_resource(std::uint16_t{0}) {}

  // Everything is aligned to a cache line at least.
  void* allocate_zeroed(std::uint64_t bytes, [[maybe_unused]] std::uint64_t alignment) noexcept override {
    assert(alignment <= cache_line_bytes);
    if (bytes > ~std::uint64_t{0} - 2 * huge_page_bytes) return nullptr;
    try {
      if (is_mapped(bytes)) return map_table(bytes);
      const std::uint64_t rounded = round_up(bytes, cache_line_bytes);
      if (is_part(rounded)) {
        if (void* part = parts().allocate(rounded, may_wait)) return part;
      }
      void* const memory = allocate_aligned(rounded, cache_line_bytes);
      if (memory != nullptr && is_part(rounded)) parts().note_outside(rounded);
      return memory;
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }
  void release(void* memory, std::uint64_t bytes, std::uint64_t) noexcept override {
    if (is_mapped(bytes)) {
      munmap(memory, round_up(bytes, huge_page_bytes));
      return;
    }
    const std::uint64_t rounded = round_up(bytes, cache_line_bytes);
    if (!is_part(rounded) || !parts().release(memory, rounded)) std::free(memory);
  }
};

constinit std::atomic<bool> memory_resource::others_exist = false;

memory_resource::memory_resource() : owner_(memory_owners::add(this)) { others_exist = true; }
memory_resource::~memory_resource() {
  if (owner_ != 0) memory_owners::remove(owner_);
}

// Neither is ever destroyed, for the same reason as the parts.
memory_resource& huge_page_memory() noexcept {
  alignas(huge_pages) static std::byte place[sizeof(huge_pages)];
  static auto* const all = new (place) huge_pages;
  return *all;
}
memory_resource& heap_memory() {
  static auto* const all = new heap;
  return *all;
}

memory_resource& default_memory() noexcept {
  memory_resource* const set = of_process.load(std::memory_order_acquire);
  return set != nullptr ? *set : huge_page_memory();
}
void set_default_memory(memory_resource* memory) noexcept { of_process.store(memory, std::memory_order_release); }
memory_resource& current_memory() noexcept { return of_scope != nullptr ? *of_scope : default_memory(); }

void memory_scope::open(memory_resource* from) noexcept {
  before_ = std::exchange(of_scope, from);
  is_open_ = true;
}
void memory_scope::close() noexcept { of_scope = before_; }

memory_refused::memory_refused(std::uint64_t bytes) noexcept : bytes_(bytes) {
  std::snprintf(text_, sizeof text_, "%s of memory were refused", shown_bytes(bytes).data());
}
memory_refused::~memory_refused() = default;

no_waiting::no_waiting() noexcept : before_(std::exchange(may_wait, false)) {}
no_waiting::~no_waiting() { may_wait = before_; }

std::uint64_t detail::bytes_of_small_tables() { return parts().bytes_taken(); }

void prepare_small_tables(std::uint64_t bytes) {
  if (!pools_parts) return;
  for (std::uint64_t done = 0; done < bytes; done += part_pool::region_bytes) parts().prepare();
}

void prepare_ahead(bool asked) { parts().look_ahead(asked); }

}  // namespace tamis
