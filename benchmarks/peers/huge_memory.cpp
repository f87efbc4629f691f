#include "benchmarks/peers/huge_memory.hpp"

#include <new>

// Arrays of the whole program: cf12 takes its table by new[].

void* operator new[](std::size_t bytes) {
  void* const memory = tamis::benchmarks::huge_malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
