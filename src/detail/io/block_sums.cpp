#include "tamis/detail/io/block_sums.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tamis::detail {

status block_summing_sink::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::uint64_t filled = all_.bytes & (all_.block_bytes() - 1);
    const auto part = bytes.first(std::min<std::uint64_t>(bytes.size(), all_.block_bytes() - filled));
    if (part.size() == all_.block_bytes()) {
      sums_.push_back(checksum::of(part));
    } else {
      open_.update(part);
      if (filled + part.size() == all_.block_bytes()) {
        sums_.push_back(open_.value());
        open_.reset();
      }
    }
    all_.bytes += part.size();
    bytes = bytes.subspan(part.size());
  }
  return {};
}

std::vector<std::uint64_t> block_summing_sink::take() && {
  if (sums_.size() != all_.blocks()) sums_.push_back(open_.value());
  return std::move(sums_);
}

failure damaged_block(std::uint64_t block, const block_division& blocks) {
  return {"the checksum of block " + std::to_string(block) + " of " + std::to_string(blocks.blocks()) +
              " of its content is wrong: the file is damaged",
          error_code::damaged};
}

status block_checking_source::read_block(std::span<std::byte> to) {
  TAMIS_CHECK(from_.read(to));
  if (checksum::of(to) != sums_[next_]) return damaged_block(next_, blocks_);
  ++next_;
  return {};
}

status block_checking_source::read(std::span<std::byte> bytes) {
  if (bytes.size() > remaining()) return failure{"it ends too early", error_code::damaged};
  while (!bytes.empty()) {
    if (rest_.empty()) {
      const std::uint64_t size = blocks_.size(next_);
      if (bytes.size() >= size) {
        TAMIS_CHECK(read_block(bytes.first(size)));
        bytes = bytes.subspan(size);
        continue;
      }
      buffer_.resize(size);
      TAMIS_CHECK(read_block(buffer_));
      rest_ = buffer_;
    }
    const std::size_t part = std::min(rest_.size(), bytes.size());
    std::memcpy(bytes.data(), rest_.data(), part);
    rest_ = rest_.subspan(part);
    bytes = bytes.subspan(part);
  }
  return {};
}

}  // namespace tamis::detail
