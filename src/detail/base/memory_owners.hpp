#pragma once

// All resources by number. A table keeps the number of its owner in the word of its size, so that it is no larger than a
// pointer and a size: a segment of evergreen has five of them in three cache lines.

#include <array>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <new>

#include "tamis/memory.hpp"

namespace tamis::detail {

class memory_owners {
 public:
  static constexpr std::size_t most = std::size_t{1} << 16;

  static std::uint16_t number_of(const memory_resource& resource) { return resource.owner_; }
  static memory_resource& at(std::uint16_t number) {
    if (number == 0) return huge_page_memory();
    memory_resource* const found = all[number].load(std::memory_order_relaxed);
    assert(found != nullptr && "a resource has to outlive its tables");
    return *found;
  }

  // Without a lock: a process may fork while another thread is here.
  static std::uint16_t add(memory_resource* resource) {
    static std::atomic<std::uint32_t> next = 0;
    for (std::size_t tries = 0; tries < most; ++tries) {
      const auto number = static_cast<std::uint16_t>(next.fetch_add(1, std::memory_order_relaxed));
      memory_resource* nobody = nullptr;
      if (number != 0 && all[number].compare_exchange_strong(nobody, resource)) return number;
    }
    throw std::bad_alloc();
  }
  static void remove(std::uint16_t number) { all[number].store(nullptr); }

 private:
  // Half a MiB of addresses; only the pages that were written take memory.
  static inline constinit std::array<std::atomic<memory_resource*>, most> all = {};
};

}  // namespace tamis::detail
