#pragma once

// Bytes from somewhere, in order: a file, a pipe, or what another input makes of those.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tamis/result.hpp"

namespace tamis::readers {

class input {
 public:
  virtual ~input() = default;

  // Fills the room from the front and says how far: at least one byte, or 0 at the end, however often it is asked then. An
  // error gives the reason, not the name of the file, and nothing may be asked for after it.  Requires: room for a byte.
  virtual result<std::size_t> read(std::span<char> room) = 0;
};

// An input whose first bytes were read already, to see what it is.
std::unique_ptr<input> with_head(std::string head, std::unique_ptr<input> rest);

// What a compressed input holds. All members or frames of the file, one after the other. An input that ends inside one, or goes
// on after one with anything but the next, is an error; one that was cut exactly between two cannot be told from a whole one.
// Where the build has no zlib or no zstd, the first read says so.
std::unique_ptr<input> gunzipped(std::unique_ptr<input> packed);
std::unique_ptr<input> unzstd(std::unique_ptr<input> packed);

}  // namespace tamis::readers
