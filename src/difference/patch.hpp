#pragma once

// What stands in a patch, and in a table of checksums: frames like those of filters, of kinds of their own.

#include <cstdint>
#include <string>
#include <vector>

#include "pieces.hpp"
#include "slot_table.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tamis/detail/io/frame.hpp"
#include "tamis/result.hpp"

namespace tamis::difference {

inline constexpr const char* patch_kind = "difference";
inline constexpr const char* sums_kind = "checksums";
inline constexpr std::uint32_t patch_version = 1;
inline constexpr std::uint32_t sums_version = 1;

// A run of bytes, which no other length bounds but that of the patch.
struct byte_run {
  std::vector<std::byte> bytes;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    std::uint64_t size = self.bytes.size();
    archive(size);
    if constexpr (!std::is_const_v<Self>) {
      if (!archive.ok()) return;
      if (size > archive.remaining()) return archive.fail("it ends too early");
      self.bytes.resize(size);
    }
    archive.bytes(self.bytes);
  }
};

// The hash is that of the frame.
struct patch_content {
  std::uint64_t old_sum = 0;    // of the file that it is for (frame_index::sum)
  std::uint64_t old_bytes = 0;  // and the length of its payload
  std::uint64_t made_sum = 0;   // the same of what it makes
  std::uint64_t made_bytes = 0;
  std::string kind;
  std::uint32_t kind_version = 0;
  std::uint8_t block_bits = 0;
  std::vector<piece> pieces;
  std::vector<slot_table> tables;
  byte_run code;  // of slots and changed bits
  byte_run raw;   // pages that are sent as they are

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.old_sum, self.old_bytes, self.made_sum, self.made_bytes, self.kind, self.kind_version, self.block_bits);
    archive(self.pieces, self.tables, self.code, self.raw);
  }
  // Are all numbers those that a difference can have? Then `made_bytes` may be taken.
  status validate() const;
};

// How much larger than file and patch together a file can be that is made of them. A patch that needs more sends every page.
inline constexpr std::uint64_t most_growth = 64;

std::vector<std::byte> saved_patch(const patch_content& patch, const hash_identity& hash);
result<std::pair<patch_content, hash_identity>> read_patch(std::span<const std::byte> bytes);

// What stands before the payload of a file, and the index that is read of it.
// Requires: the index has names that a file can have, and all its sums.
std::vector<std::byte> head_of(const detail::frame_index& index);
result<detail::frame_index> read_head(std::span<const std::byte> head);

std::vector<std::byte> saved_sums(const detail::frame_index& index);
// The table of checksums that stands in a frame of this kind.
result<detail::frame_index> read_sums(std::span<const std::byte> bytes);

}  // namespace tamis::difference
