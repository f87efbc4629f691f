#include "memory.hpp"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace tamis::redis {
namespace {

constexpr std::size_t alignment = 64;

void* heap_zeroed(std::size_t bytes) { return std::calloc(1, bytes); }

allocator from{std::malloc, heap_zeroed, std::free, malloc_usable_size};
thread_local account* in_force = nullptr;

bool is_aligned(const void* block) { return reinterpret_cast<std::uintptr_t>(block) % alignment == 0; }

void* take_block(std::size_t bytes, bool zeroed) { return zeroed ? from.allocate_zeroed(bytes) : from.allocate(bytes); }

// jemalloc's blocks of whole cache lines are aligned to cache lines, other allocators' need not be. A block that is not stands
// in a larger one whose address is written in front of it, and is remembered, since nothing else tells the two apart.
class shifted_blocks {
 public:
  void* make(std::size_t bytes, bool zeroed) {
    void* const outer = take_block(bytes + 2 * alignment, zeroed);
    if (outer == nullptr) return nullptr;
    const auto first = reinterpret_cast<std::uintptr_t>(outer) + alignment;
    auto* const inner = reinterpret_cast<void**>(first / alignment * alignment + alignment);
    inner[-1] = outer;
    const std::lock_guard lock(mutex_);
    if (!remember(inner)) {
      from.release(outer);
      return nullptr;
    }
    return inner;
  }
  // The block that the server knows.
  void* outer_of(void* block) {
    if (count_.load(std::memory_order_acquire) == 0 || !is_aligned(block)) return block;
    const std::lock_guard lock(mutex_);
    void** const at = std::find(blocks_, blocks_ + size_, block);
    return at == blocks_ + size_ ? block : static_cast<void**>(block)[-1];
  }
  void forget(void* block) {
    const std::lock_guard lock(mutex_);
    void** const at = std::find(blocks_, blocks_ + size_, block);
    *at = blocks_[--size_];
    count_.store(size_, std::memory_order_release);
  }

 private:
  bool remember(void* block) {
    if (size_ == room_) {
      const std::size_t room = std::max<std::size_t>(64, 2 * room_);
      void* const larger = std::realloc(blocks_, room * sizeof(void*));
      if (larger == nullptr) return false;
      blocks_ = static_cast<void**>(larger);
      room_ = room;
    }
    blocks_[size_++] = block;
    count_.store(size_, std::memory_order_release);
    return true;
  }

  std::mutex mutex_;
  void** blocks_ = nullptr;
  std::size_t size_ = 0;
  std::size_t room_ = 0;
  std::atomic<std::size_t> count_ = 0;
};
shifted_blocks& shifted() {
  static shifted_blocks blocks;
  return blocks;
}

class server_tables final : public memory_resource {
 public:
  void* allocate_zeroed(std::uint64_t bytes, std::uint64_t aligned_to) noexcept override {
    if (in_force != nullptr && in_force->limit != 0 && in_force->bytes + bytes > in_force->limit) return nullptr;
    return take(bytes, true, aligned_to > alignof(std::max_align_t));
  }
  void release(void* memory, std::uint64_t, std::uint64_t) noexcept override { give_back(memory); }
};

}  // namespace

void set_allocator(const allocator& other) { from = other; }

void* take(std::size_t bytes, bool zeroed, bool aligned) noexcept {
  if (aligned) bytes = (bytes + alignment - 1) / alignment * alignment;
  void* block = take_block(bytes, zeroed);
  if (block != nullptr && aligned && !is_aligned(block)) [[unlikely]] {
    from.release(block);
    block = shifted().make(bytes, zeroed);
  }
  if (block != nullptr && in_force != nullptr) in_force->bytes += from.size_of(shifted().outer_of(block));
  return block;
}

void give_back(void* block) noexcept {
  if (block == nullptr) return;
  void* const outer = shifted().outer_of(block);
  if (in_force != nullptr) in_force->bytes -= from.size_of(outer);
  if (outer != block) shifted().forget(block);
  from.release(outer);
}

memory_resource& server_memory() {
  static server_tables tables;
  return tables;
}

accounting::accounting(account& to) noexcept : before_(in_force) { in_force = &to; }
accounting::~accounting() { in_force = before_; }

}  // namespace tamis::redis
