#include <algorithm>
#include <cstring>

#include "readers/input.hpp"

namespace tamis::readers {
namespace {

class headed_input final : public input {
 public:
  headed_input(std::string head, std::unique_ptr<input> rest) : head_(std::move(head)), rest_(std::move(rest)) {}

  result<std::size_t> read(std::span<char> room) override {
    if (given_ == head_.size()) return rest_->read(room);
    const std::size_t count = std::min(room.size(), head_.size() - given_);
    std::memcpy(room.data(), head_.data() + given_, count);
    given_ += count;
    return count;
  }

 private:
  std::string head_;
  std::size_t given_ = 0;
  std::unique_ptr<input> rest_;
};

}  // namespace

std::unique_ptr<input> with_head(std::string head, std::unique_ptr<input> rest) {
  if (head.empty()) return rest;
  return std::make_unique<headed_input>(std::move(head), std::move(rest));
}

}  // namespace tamis::readers
