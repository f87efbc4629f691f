#pragma once

// All memory of a filter is the server's: used_memory and maxmemory see every byte, in blocks of the sizes that its allocator
// really hands out. What is taken and given back while an `accounting` lives is counted for one value, which makes MEMORY USAGE
// exact, and may be limited.

#include <cstddef>
#include <cstdint>

#include "tamis/memory.hpp"

namespace tamis::redis {

// The server's allocator. Until one is set, everything is malloc's.
struct allocator {
  void* (*allocate)(std::size_t) = nullptr;         // or nullptr
  void* (*allocate_zeroed)(std::size_t) = nullptr;  // or nullptr
  void (*release)(void*) = nullptr;
  std::size_t (*size_of)(void*) = nullptr;
};
void set_allocator(const allocator& from);

// Aligned to 64 bytes if asked; nullptr if there is none.
void* take(std::size_t bytes, bool zeroed, bool aligned) noexcept;
void give_back(void* block) noexcept;

// Tables of filters. Refuses what would lead beyond the limit of the account in force.
memory_resource& server_memory();

struct account {
  std::uint64_t bytes = 0;
  std::uint64_t limit = 0;  // 0: none
};

// While it lives, what this thread takes and gives back belongs to the account.
class accounting {
 public:
  explicit accounting(account& to) noexcept;
  accounting(const accounting&) = delete;
  accounting& operator=(const accounting&) = delete;
  ~accounting();

 private:
  account* before_;
};

}  // namespace tamis::redis
