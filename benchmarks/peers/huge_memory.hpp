#pragma once

// Memory of peers: large tables as ours have them, aligned to 2 MiB and marked for huge pages, or as malloc gives it.

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace tamis::benchmarks {

inline constexpr std::size_t huge_bytes = std::size_t{2} << 20;

// Set by --pages=small. Adapters share no variable: each of them is a program of its own to the compiler.
inline constexpr const char* small_pages = "TAMIS_PEERS_SMALL_PAGES";

// To be freed by free(); from 1 MiB on in pages of its own.
inline void* huge_malloc(std::size_t bytes) {
  if (bytes < huge_bytes / 2 || std::getenv(small_pages) != nullptr) return std::malloc(bytes);
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

}  // namespace tamis::benchmarks
