#pragma once

// Memory that knows how much of it is taken, and how much ever was at a time: with what growing copies. For one thread.

#include <algorithm>
#include <cstdint>

#include "tamis/memory.hpp"

namespace tamis::lab {

class counted_memory final : public memory_resource {
 public:
  void* allocate_zeroed(std::uint64_t bytes, std::uint64_t alignment) noexcept override {
    void* const memory = huge_page_memory().allocate_zeroed(bytes, alignment);
    if (memory != nullptr) most_ = std::max(most_, taken_ += bytes);
    return memory;
  }
  void release(void* memory, std::uint64_t bytes, std::uint64_t alignment) noexcept override {
    taken_ -= bytes;
    huge_page_memory().release(memory, bytes, alignment);
  }

  std::uint64_t taken_bytes() const { return taken_; }
  std::uint64_t most_bytes() const { return most_; }
  void forget_most() { most_ = taken_; }

 private:
  std::uint64_t taken_ = 0;
  std::uint64_t most_ = 0;
};

}  // namespace tamis::lab
