#pragma once

// The lines of a file of keys: plain, compressed by gzip or zstd, or a capture of packets (readers/key_input.hpp).

#include <functional>
#include <string>
#include <string_view>

#include "tamis/result.hpp"

namespace tamis::lab {

// Calls use(line) for each, without its line end. An error begins with the path.
status for_each_line(const std::string& path, const std::function<void(std::string_view)>& use);

}  // namespace tamis::lab
