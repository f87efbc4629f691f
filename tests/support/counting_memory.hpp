#pragma once

// A memory resource that counts, refuses when it is told to, and checks what comes back.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "tamis/memory.hpp"

namespace tamis::test {

class counting_memory final : public memory_resource {
 public:
  static constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

  counting_memory() = default;
  ~counting_memory() override { EXPECT_EQ(bytes(), 0u) << "not all was given back"; }

  std::uint64_t bytes() const { return bytes_; }    // handed out now
  std::uint64_t blocks() const { return blocks_; }  // the same
  std::uint64_t calls() const { return calls_; }    // ever

  std::uint64_t left = unlimited;  // so many more are not refused; for one thread only

  void* allocate_zeroed(std::uint64_t bytes, std::uint64_t alignment) noexcept override {
    EXPECT_NE(bytes, 0u);
    EXPECT_TRUE(alignment != 0 && alignment <= front && (alignment & (alignment - 1)) == 0) << alignment;
    if (left == 0) return nullptr;
    if (left != unlimited) --left;
    void* block = nullptr;
    if (posix_memalign(&block, front, front + bytes) != 0) return nullptr;  // to the byte, for the address sanitizer
    std::memset(block, 0, front + bytes);
    const label here{this, bytes, alignment};
    std::memcpy(block, &here, sizeof here);
    bytes_ += bytes, ++blocks_, ++calls_;
    return static_cast<std::byte*>(block) + front;
  }
  void release(void* memory, std::uint64_t bytes, std::uint64_t alignment) noexcept override {
    std::byte* const block = static_cast<std::byte*>(memory) - front;
    label here{};
    std::memcpy(&here, block, sizeof here);
    EXPECT_EQ(here.from, this);
    EXPECT_EQ(here.bytes, bytes);
    EXPECT_EQ(here.alignment, alignment);
    bytes_ -= bytes, --blocks_;
    std::memset(block, 0xdd, front + bytes);
    std::free(block);
  }

 private:
  static constexpr std::uint64_t front = 64;  // bytes before a block, and its alignment
  struct label {
    const counting_memory* from;
    std::uint64_t bytes;
    std::uint64_t alignment;
  };

  std::atomic<std::uint64_t> bytes_ = 0;
  std::atomic<std::uint64_t> blocks_ = 0;
  std::atomic<std::uint64_t> calls_ = 0;
};

}  // namespace tamis::test
