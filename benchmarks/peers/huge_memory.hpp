#pragma once

// Memory of peers: large tables as ours have them, aligned to 2 MiB and marked for huge pages, or as malloc gives it.

#include <errno.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace tamis::benchmarks {

inline constexpr std::size_t huge_bytes = std::size_t{2} << 20;

// Set by --pages=small. Adapters share no variable: each of them is a program of its own to the compiler.
inline constexpr const char* small_pages = "TAMIS_PEERS_SMALL_PAGES";

inline bool huge_wanted(std::size_t bytes) { return bytes >= huge_bytes / 2 && std::getenv(small_pages) == nullptr; }

// To be freed by free(); from 1 MiB on in pages of its own.
inline void* huge_malloc(std::size_t bytes) {
  if (!huge_wanted(bytes)) return std::malloc(bytes);
  const std::size_t rounded = (bytes + huge_bytes - 1) / huge_bytes * huge_bytes;
  void* const memory = std::aligned_alloc(huge_bytes, rounded);
  if (memory != nullptr) madvise(memory, rounded, MADV_HUGEPAGE);
  return memory;
}
inline void* huge_calloc(std::size_t count, std::size_t size) {
  void* const memory = huge_malloc(count * size);
  if (memory != nullptr) std::memset(memory, 0, count * size);
  return memory;
}
inline int huge_posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  if (!huge_wanted(bytes)) return posix_memalign(memory, alignment, bytes);
  *memory = huge_malloc(bytes);
  return *memory == nullptr ? ENOMEM : 0;
}

}  // namespace tamis::benchmarks
