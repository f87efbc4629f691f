#include "tamis/result.hpp"

namespace tamis {

std::string_view to_string(error_code code) {
  switch (code) {
    case error_code::invalid_argument: return "invalid argument";
    case error_code::out_of_range: return "out of range";
    case error_code::not_found: return "not found";
    case error_code::damaged: return "damaged";
    case error_code::newer_version: return "newer version";
    case error_code::wrong_hash: return "wrong hash";
    case error_code::mismatch: return "mismatch";
    case error_code::unsupported: return "unsupported";
    case error_code::full: return "full";
    case error_code::io: return "input or output";
    case error_code::no_memory: return "no memory";
    case error_code::in_use: return "in use";
  }
  return "unknown";
}

}  // namespace tamis
