#pragma once

// The frame around everything tamis saves (docs/format.md has the bytes):
//
//   magic · format version · kind · kind's version · hash identity · payload length · checksum | payload | checksum
//
// There is one way out and one way in, whatever is saved and wherever to.

#include <cstdint>
#include <functional>
#include <string>

#include "tamis/detail/io/archive.hpp"
#include "tamis/hasher.hpp"

namespace tamis::detail {

inline constexpr std::uint32_t format_version = 1;

struct frame_header {
  std::string kind;                // what is inside: a filter's id
  std::uint32_t kind_version = 0;  // of the payload's encoding
  hash_identity hash;
};

// Writes the frame; `payload` is called twice, once to learn the length.
status write_frame(byte_sink& sink, const frame_header& header, const std::function<void(writer&)>& payload);

// Reads a frame that must fill the source exactly. `payload` gets the checked header and a reader that is bounded to the
// payload; it reads all of it. Nothing it made may be used unless the answer is ok: only then do the checksums agree.
status read_frame(byte_source& source, const std::function<status(const frame_header&, reader&)>& payload);

}  // namespace tamis::detail
