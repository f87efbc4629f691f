// operator new and delete of this module alone (no symbol but the entry leaves it): objects are the server's memory, too. What
// is made before the server has told its functions lies in an arena that is never given back.

#include <cstddef>
#include <cstdint>
#include <new>

#include "api.hpp"
#include "memory.hpp"

namespace {

alignas(64) std::byte arena[64 * 1024];
std::size_t arena_used = 0;

bool is_early(const void* block) {
  const auto* const byte = static_cast<const std::byte*>(block);
  return byte >= arena && byte < arena + sizeof(arena);
}

void* made(std::size_t bytes, std::size_t alignment) noexcept {
  if (tamis::redis::api.Free == nullptr) {
    const std::size_t first = (arena_used + 63) / 64 * 64;
    if (bytes > sizeof(arena) - first) return nullptr;
    arena_used = first + bytes;
    return arena + first;
  }
  if (alignment > 64) return nullptr;
  return tamis::redis::take(bytes == 0 ? 1 : bytes, false, alignment > alignof(std::max_align_t));
}

void* made_or_thrown(std::size_t bytes, std::size_t alignment) {
  void* const block = made(bytes, alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void deleted(void* block) noexcept {
  if (!is_early(block)) tamis::redis::give_back(block);
}

}  // namespace

void* operator new(std::size_t bytes) { return made_or_thrown(bytes, 1); }
void* operator new[](std::size_t bytes) { return made_or_thrown(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t to) { return made_or_thrown(bytes, static_cast<std::size_t>(to)); }
void* operator new[](std::size_t bytes, std::align_val_t to) { return made_or_thrown(bytes, static_cast<std::size_t>(to)); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return made(bytes, 1); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return made(bytes, 1); }
void operator delete(void* block) noexcept { deleted(block); }
void operator delete[](void* block) noexcept { deleted(block); }
void operator delete(void* block, std::size_t) noexcept { deleted(block); }
void operator delete[](void* block, std::size_t) noexcept { deleted(block); }
void operator delete(void* block, std::align_val_t) noexcept { deleted(block); }
void operator delete[](void* block, std::align_val_t) noexcept { deleted(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { deleted(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { deleted(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { deleted(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { deleted(block); }
