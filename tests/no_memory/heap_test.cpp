#include "tests/no_memory/heap.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <vector>

namespace tamis::test {

std::uint64_t heap_left = unlimited;
std::int64_t heap_bytes = 0;
std::int64_t heap_most = 0;

namespace {

bool may_allocate() {
  if (heap_left == 0) return false;
  if (heap_left != unlimited) --heap_left;
  return true;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  void* memory = nullptr;
  if (!may_allocate() || posix_memalign(&memory, alignment, bytes == 0 ? 1 : bytes) != 0) throw std::bad_alloc();
  heap_bytes += static_cast<std::int64_t>(malloc_usable_size(memory));
  heap_most = std::max(heap_most, heap_bytes);
  return memory;
}
void release(void* memory) noexcept {
  heap_bytes -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace
}  // namespace tamis::test

void* operator new(std::size_t bytes) { return tamis::test::allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return tamis::test::allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { tamis::test::release(memory); }
void operator delete(void* memory, std::size_t) noexcept { tamis::test::release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { tamis::test::release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { tamis::test::release(memory); }
// Tables.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  void* memory = nullptr;
  return tamis::test::may_allocate() && posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}

namespace tamis::test {
namespace {

TEST(heap, counts_and_refuses) {
  const std::int64_t before = heap_bytes;
  auto* const some = new std::vector<char>(1000);
  EXPECT_GE(heap_bytes, before + 1000);
  heap_left = 0;
  EXPECT_THROW(some->resize(10'000), std::bad_alloc);
  EXPECT_EQ(std::aligned_alloc(64, 64), nullptr);
  heap_left = unlimited;
  delete some;
  EXPECT_EQ(heap_bytes, before);
}

}  // namespace
}  // namespace tamis::test
