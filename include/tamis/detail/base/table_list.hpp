#pragma once

// Lists and single objects that are part of a filter's tables (directories, links of a chain), in the memory that was in force
// when they were made. If that is huge_page_memory(), they are on the heap: small, and read once per lookup at most.

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "tamis/memory.hpp"

namespace tamis::detail {

// Moving a list moves its memory; a copy is made in the memory that is in force then.
template <class T>
class table_allocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;
  using is_always_equal = std::false_type;

  table_allocator() noexcept : from_(memory_scope::in_force()) {
    if (from_ == &huge_page_memory()) from_ = nullptr;
  }
  template <class U>
  table_allocator(const table_allocator<U>& other) noexcept  // NOLINT(google-explicit-constructor): containers need it
      : from_(other.from()) {}
  table_allocator select_on_container_copy_construction() const noexcept { return {}; }

  T* allocate(std::size_t n) {
    if (from_ == nullptr) return std::allocator<T>().allocate(n);
    if (n > ~std::size_t{0} / sizeof(T)) throw std::bad_array_new_length();
    void* const memory = from_->allocate_zeroed(n * sizeof(T), alignof(T));
    if (memory == nullptr) throw memory_refused(n * sizeof(T));
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t n) noexcept {
    if (from_ == nullptr) return std::allocator<T>().deallocate(memory, n);
    from_->release(memory, n * sizeof(T), alignof(T));
  }

  memory_resource* from() const noexcept { return from_; }  // nullptr: the heap
  template <class U>
  friend bool operator==(const table_allocator& a, const table_allocator<U>& b) noexcept {
    return a.from() == b.from();
  }

 private:
  static_assert(alignof(T) <= 64);

  memory_resource* from_;
};

template <class T>
using table_list = std::vector<T, table_allocator<T>>;

// One object that keeps its place.
template <class T>
struct table_delete {
  table_allocator<T> from;

  void operator()(T* object) noexcept {
    std::destroy_at(object);
    from.deallocate(object, 1);
  }
};
template <class T>
using table_ptr = std::unique_ptr<T, table_delete<T>>;

template <class T>
table_ptr<T> make_table_ptr(T object) {
  static_assert(std::is_nothrow_move_constructible_v<T>);
  table_delete<T> made;
  return {std::construct_at(made.from.allocate(1), std::move(object)), made};
}

}  // namespace tamis::detail
