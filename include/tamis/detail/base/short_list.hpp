#pragma once

// A list of plain values, the first N of which stand in the list itself: what is nearly always short then never asks the heap,
// whose answer may take milliseconds. Otherwise a small part of std::vector.

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace tamis::detail {

template <class T, std::size_t N>
class short_list {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;

  short_list() {}  // NOLINT(modernize-use-equals-default): `= default` would zero the values of a `short_list()`
  short_list(const short_list& other) { append(other.begin(), other.end()); }
  short_list& operator=(const short_list& other) {
    if (this == &other) return *this;
    clear();
    append(other.begin(), other.end());
    return *this;
  }
  ~short_list() = default;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return more_ ? more_.get() : first_; }
  const T* data() const { return more_ ? more_.get() : first_; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](std::size_t i) {
    assert(i < size_);
    return data()[i];
  }
  const T& operator[](std::size_t i) const {
    assert(i < size_);
    return data()[i];
  }
  T& back() { return (*this)[size_ - 1]; }

  void clear() { size_ = 0; }
  void push_back(T value) {
    if (size_ == room_) make_room();
    data()[size_++] = value;
  }
  void append(std::size_t copies, T value) {
    for (; copies != 0; --copies) push_back(value);
  }
  void append(const T* first, const T* last) {
    for (; first != last; ++first) push_back(*first);
  }
  // Requires: at most as many as there are.
  void shorten(std::size_t size) {
    assert(size <= size_);
    size_ = size;
  }
  void erase(T* at) {
    std::copy(at + 1, end(), at);
    --size_;
  }

 private:
  void make_room() {
    std::unique_ptr<T[]> larger(new T[2 * room_]);
    std::copy(begin(), end(), larger.get());
    more_ = std::move(larger);
    room_ *= 2;
  }

  std::size_t size_ = 0;
  std::size_t room_ = N;
  std::unique_ptr<T[]> more_;  // then all values stand here
  union {
    T first_[N];  // in a union: not written before they are used
  };
};

}  // namespace tamis::detail
