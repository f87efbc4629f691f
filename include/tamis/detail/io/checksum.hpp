#pragma once

// XXH3-64: of bytes that are at hand, or over a stream of them.

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

  static std::uint64_t of(std::span<const std::byte> bytes);

  void update(std::span<const std::byte> bytes);
  std::uint64_t value() const;
  // As if nothing had been added.
  void reset();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tamis::detail
