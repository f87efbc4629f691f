#pragma once

// The frame around everything tamis saves (docs/format.md has the bytes):
//
//   magic · versions · length · hash identity · kind │ a checksum for each block │ checksum of all before │ payload
//
// There is one way out and one way in, whatever is saved and wherever to. The payload begins at a multiple of 64 bytes, so that
// its tables (archive.hpp) lie in whole cache lines of a mapped file.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tamis/detail/io/archive.hpp"
#include "tamis/detail/io/block_sums.hpp"
#include "tamis/hasher.hpp"

namespace tamis::detail {

inline constexpr std::uint32_t format_version = 2;

struct frame_header {
  std::string kind;                // what is inside: a filter's id
  std::uint32_t kind_version = 0;  // of the payload's encoding
  hash_identity hash;
};

// What stands before the payload.
struct frame_index {
  frame_header header;
  block_division blocks;  // of the payload
  std::vector<std::uint64_t> sums;
  std::uint64_t sum = 0;  // of all of that: two frames with the same one have the same content

  std::uint64_t payload_begin() const;  // in the file
};

// Writes the frame; `payload` is called twice, once to learn the length and the checksums.
status write_frame(byte_sink& sink, const frame_header& header, const std::function<void(writer&)>& payload);

// The index alone, as it stands before the payload.
status write_index(byte_sink& sink, const frame_index& index);

// Reads a frame that must fill the source exactly. `payload` gets the checked header and a reader that is bounded to the
// payload; it reads all of it. What it reads is of blocks whose checksums were right.
status read_frame(byte_source& source, const std::function<status(const frame_header&, reader&)>& payload);

// The index of a frame that must fill the source exactly; the source stands at the payload afterwards.
result<frame_index> read_index(byte_source& source);

}  // namespace tamis::detail
