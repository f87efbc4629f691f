#pragma once

// Zeroed memory for tables, from the resource in force (memory.hpp): whole cache lines, and checked against the machine before
// it is taken.

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "tamis/detail/base/access.hpp"
#include "tamis/detail/base/checked.hpp"
#include "tamis/detail/base/compiler.hpp"
#include "tamis/result.hpp"

namespace tamis::detail {

// Whose memory it is says a number: src/detail/base/memory_owners.hpp.
struct table_memory {
  void* data;
  std::uint16_t owner;
};
// An error names the size if it exceeds the machine's memory; memory_refused if the resource refuses it. `release_table` takes
// the same size.
result<table_memory> allocate_table(std::uint64_t bytes);
void release_table(const table_memory& table, std::uint64_t bytes) noexcept;
// The same error, for who takes so much in many pieces.
status check_table_bytes(std::uint64_t bytes);

constexpr std::uint64_t whole_lines(std::uint64_t bytes) { return divide_up(bytes, cache_line_bytes) * cache_line_bytes; }

// "1.5 GiB"
std::string format_bytes(std::uint64_t bytes);
std::array<char, 48> shown_bytes(std::uint64_t bytes) noexcept;  // the same with a zero behind it, without memory

// A fixed number of trivial values, zero at first.
template <class T>
class zeroed_array {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 64);

 public:
  zeroed_array() = default;
  zeroed_array(zeroed_array&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), extent_(std::exchange(other.extent_, {})) {}
  zeroed_array& operator=(zeroed_array&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(extent_, other.extent_);
    return *this;
  }
  // In the memory that is in force now.
  zeroed_array(const zeroed_array& other) : zeroed_array(make(other.size()).value()) {
    if (size() != 0) std::memcpy(data_, other.data_, bytes());
  }
  zeroed_array& operator=(const zeroed_array& other) {
    if (this != &other) *this = zeroed_array(other);
    return *this;
  }
  ~zeroed_array() {
    if (data_ != nullptr) release_table({data_, static_cast<std::uint16_t>(extent_.owner)}, bytes());
  }

  static result<zeroed_array> make(std::uint64_t size) {
    zeroed_array array;
    if (size == 0) return array;
    const auto bytes = checked_multiply(size, sizeof(T));
    if (!bytes) return failure{"a table of 2^64 bytes or more cannot be addressed", error_code::no_memory};
    TAMIS_TRY(const table_memory memory, allocate_table(*bytes));
    array.data_ = static_cast<T*>(memory.data);
    array.extent_ = {size & most_size, memory.owner};
    return array;
  }

  // Of memory that holds the values already. It goes back to its owner like any other.
  // Requires: whole cache lines; fewer values than 2^48.
  static zeroed_array adopt(const table_memory& memory, std::uint64_t size) {
    assert(reinterpret_cast<std::uintptr_t>(memory.data) % cache_line_bytes == 0 && size <= most_size);
    zeroed_array array;
    array.data_ = static_cast<T*>(memory.data);
    array.extent_ = {size & most_size, memory.owner};
    return array;
  }

  // A copy with zeros behind it.  Requires: size >= size().
  result<zeroed_array> lengthened(std::uint64_t size) const {
    assert(size >= this->size());
    TAMIS_TRY(zeroed_array longer, make(size));
    if (this->size() != 0) std::memcpy(longer.data_, data_, bytes());
    return longer;
  }

  // A copy, value by value, of what other threads may be changing.
  template <class Access>
  zeroed_array copied() const {
    zeroed_array copy = make(size()).value();
    for (std::uint64_t i = 0; i < size(); ++i) copy.data_[i] = Access::load(data_[i]);
    return copy;
  }

  std::uint64_t size() const { return extent_.size; }
  std::uint64_t bytes() const { return size() * sizeof(T); }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](std::uint64_t i) {
    assert(i < size());
    return data_[i];
  }
  const T& operator[](std::uint64_t i) const {
    assert(i < size());
    return data_[i];
  }
  T* begin() { return data_; }
  T* end() { return data_ + size(); }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size(); }
  std::span<T> span() { return {data_, size()}; }
  std::span<const T> span() const { return {data_, size()}; }

  friend bool operator==(const zeroed_array& a, const zeroed_array& b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  static constexpr std::uint64_t most_size = (std::uint64_t{1} << 48) - 1;  // check_table_bytes allows no more
  struct extent {
    std::uint64_t size : 48 = 0;
    std::uint64_t owner : 16 = 0;
  };

  T* data_ = nullptr;
  extent extent_;
};

}  // namespace tamis::detail
