#pragma once

// One checksum for each block of a stream of bytes: a sink that makes them and a source that checks them.
//
//   │ block 0 │ block 1 │ … │ last │      2^block_bits bytes each, the last one what is left
//     XXH3-64   XXH3-64   …   XXH3-64

#include <cstdint>
#include <string>
#include <vector>

#include "tamis/detail/base/checked.hpp"
#include "tamis/detail/io/checksum.hpp"
#include "tamis/stream.hpp"

namespace tamis::detail {

// The blocks of so many bytes. Numbers that come from a file are checked before this is made of them.
struct block_division {
  std::uint64_t bytes = 0;
  unsigned block_bits = 16;

  std::uint64_t block_bytes() const { return std::uint64_t{1} << block_bits; }
  std::uint64_t blocks() const { return (bytes >> block_bits) + ((bytes & (block_bytes() - 1)) != 0 ? 1 : 0); }
  std::uint64_t begin(std::uint64_t block) const { return block << block_bits; }
  std::uint64_t size(std::uint64_t block) const {
    const std::uint64_t left = bytes - begin(block);
    return left < block_bytes() ? left : block_bytes();
  }
};

// Sums up what is written to it, and keeps nothing else.
class block_summing_sink final : public byte_sink {
 public:
  explicit block_summing_sink(unsigned block_bits) : all_{0, block_bits} {}

  status write(std::span<const std::byte> bytes) override;
  const block_division& blocks() const { return all_; }
  // Of all blocks, the last one included.
  std::vector<std::uint64_t> take() &&;

 private:
  block_division all_;
  checksum open_;  // of the block that is not full yet
  std::vector<std::uint64_t> sums_;
};

// The error for a block that is not what was saved.
failure damaged_block(std::uint64_t block, const block_division& blocks);

// Hands out bytes only of blocks whose checksum was right. Whole blocks go straight to where they are wanted.
class block_checking_source final : public byte_source {
 public:
  // Requires: there are blocks.blocks() sums, and both outlive this.
  block_checking_source(byte_source& from, const block_division& blocks, std::span<const std::uint64_t> sums)
      : from_(from), blocks_(blocks), sums_(sums) {}

  status read(std::span<std::byte> bytes) override;
  std::uint64_t remaining() const override { return blocks_.bytes - begin() + rest_.size(); }

 private:
  std::uint64_t begin() const { return next_ == sums_.size() ? blocks_.bytes : blocks_.begin(next_); }
  status read_block(std::span<std::byte> to);

  byte_source& from_;
  block_division blocks_;
  std::span<const std::uint64_t> sums_;
  std::uint64_t next_ = 0;  // block
  std::vector<std::byte> buffer_;
  std::span<const std::byte> rest_;  // of the block in the buffer
};

}  // namespace tamis::detail
