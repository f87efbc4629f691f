#pragma once

// Where saved bytes go and come from. A source knows how many bytes it has left, so that no length from a file is believed
// before it has been compared with what is really there.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tamis/result.hpp"

namespace tamis {

class byte_sink {
 public:
  virtual ~byte_sink() = default;
  // Takes all of `bytes`, in the order of the calls, or fails.
  virtual status write(std::span<const std::byte> bytes) = 0;
};

class byte_source {
 public:
  virtual ~byte_source() = default;
  // Fills `bytes` or fails.
  virtual status read(std::span<std::byte> bytes) = 0;
  // How many bytes can still be read: what a file claims to hold is compared with it before memory is asked for.
  virtual std::uint64_t remaining() const = 0;
};

class memory_sink final : public byte_sink {
 public:
  status write(std::span<const std::byte> bytes) override;
  // What was written so far.
  const std::vector<std::byte>& bytes() const { return bytes_; }
  std::vector<std::byte> take() && { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// Only counts.
class counting_sink final : public byte_sink {
 public:
  status write(std::span<const std::byte> bytes) override {
    count_ += bytes.size();
    return {};
  }
  // Bytes written so far.
  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t count_ = 0;
};

class memory_source final : public byte_source {
 public:
  // Requires: the bytes live as long as the source.
  explicit memory_source(std::span<const std::byte> bytes) : rest_(bytes) {}
  status read(std::span<std::byte> bytes) override;
  std::uint64_t remaining() const override { return rest_.size(); }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace tamis
