#include "tamis/stream.hpp"

#include <cstring>

namespace tamis {

status memory_sink::write(std::span<const std::byte> bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return {};
}

status memory_source::read(std::span<std::byte> bytes) {
  if (bytes.size() > rest_.size()) return failure{"it ends too early", error_code::damaged};
  if (!bytes.empty()) std::memcpy(bytes.data(), rest_.data(), bytes.size());
  rest_ = rest_.subspan(bytes.size());
  return {};
}

}  // namespace tamis
