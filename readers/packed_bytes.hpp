#pragma once

// The compressed bytes that a decoder works on, refilled when they are used up.

#include <memory>
#include <vector>

#include "readers/input.hpp"

namespace tamis::readers {

class packed_bytes {
 public:
  explicit packed_bytes(std::unique_ptr<input> from) : from_(std::move(from)), buffer_(std::size_t{1} << 17) {}

  bool empty() const { return used_ == size_; }
  std::span<char> rest() { return std::span(buffer_).subspan(used_, size_ - used_); }
  void use(std::size_t count) { used_ += count; }

  // False at the end.  Requires: empty().
  result<bool> refill() {
    TAMIS_TRY(size_, from_->read(buffer_));
    used_ = 0;
    return size_ != 0;
  }

 private:
  std::unique_ptr<input> from_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;
  std::size_t size_ = 0;
};

}  // namespace tamis::readers
