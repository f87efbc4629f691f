#pragma once

// XXH3-64 over a stream of bytes.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace tamis::detail {

class checksum {
 public:
  checksum();
  checksum(checksum&&) noexcept;
  ~checksum();

  void update(std::span<const std::byte> bytes);
  std::uint64_t value() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tamis::detail
