#pragma once

// What stayed and what moved: a new payload as pieces of the old one, each wherever it was, and of zeros.

#include <cstdint>
#include <span>
#include <vector>

#include "tamis/detail/io/archive.hpp"
#include "tamis/detail/io/frame.hpp"

namespace tamis::difference {

inline constexpr std::uint64_t zeros = ~std::uint64_t{0};

struct piece {
  std::uint64_t bytes = 0;
  std::uint64_t from = zeros;  // in the old payload

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.bytes, self.from);
  }
};

// Are these pieces of `old` bytes, and `made` bytes together?
bool fit(std::span<const piece> pieces, std::uint64_t old, std::uint64_t made);

// Pieces of which few bits differ from the new payload, found by comparing both.
std::vector<piece> find_pieces(std::span<const std::byte> old, std::span<const std::byte> made);
// The same by the checksums of the old blocks alone: blocks of the new payload that are somewhere in the old one.
std::vector<piece> find_blocks(const detail::frame_index& old, const detail::frame_index& made);

// Requires: they fit.
void join(std::span<const piece> pieces, std::span<const std::byte> old, std::span<std::byte> made);

}  // namespace tamis::difference
