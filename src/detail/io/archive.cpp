#include "tamis/detail/io/archive.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tamis::detail {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 16;

}  // namespace

void writer::bytes(std::span<const std::byte> bytes) {
  if (!status_.ok()) return;
  position_ += bytes.size();
  if (buffer_.size() + bytes.size() <= buffer_bytes) {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    return;
  }
  if (!buffer_.empty()) status_ = sink_.write(buffer_);
  buffer_.clear();
  if (status_.ok()) status_ = sink_.write(bytes);
}

status writer::finish() {
  if (status_.ok() && !buffer_.empty()) status_ = sink_.write(buffer_);
  buffer_.clear();
  return status_;
}

void writer::align() {
  constexpr std::array<std::byte, cache_line_bytes> zeros{};
  bytes(std::span(zeros).first(bytes_to_line(position_)));
}

void reader::bytes(std::span<std::byte> bytes) {
  if (!ok()) return;
  if (bytes.size() > remaining_) return fail("it ends too early");
  status_ = source_.read(bytes);
  if (!ok()) return;
  position_ += bytes.size();
  remaining_ -= bytes.size();
}

void reader::align() {
  std::array<std::byte, cache_line_bytes> zeros{};
  const auto gap = std::span(zeros).first(bytes_to_line(position_));
  bytes(gap);
  if (ok() && std::any_of(gap.begin(), gap.end(), [](std::byte b) { return b != std::byte{0}; }))
    fail("what should be zeros beside a table is not");
}

void reader::fail(std::string message, error_code code) {
  if (ok()) status_ = failure{std::move(message), code};
}

std::uint64_t reader::length(std::uint64_t element_bytes) {
  std::uint64_t size = 0;
  (*this)(size);
  if (ok() && size > remaining_ / element_bytes) {
    fail("an array claims " + std::to_string(size) + " elements, more than the rest of the file holds");
  }
  return ok() ? size : 0;
}

}  // namespace tamis::detail
