#pragma once

// Numbers and addresses as text, for keys that are packets.

#include <charconv>
#include <cstdint>
#include <string>

namespace tamis::readers {

inline void append_decimal(std::uint32_t value, std::string& out) {
  char digits[10];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

// `1.2.3.4` for 0x01020304.
inline void append_ipv4(std::uint32_t address, std::string& out) {
  for (unsigned shift = 24;; shift -= 8) {
    append_decimal((address >> shift) & 0xff, out);
    if (shift == 0) return;
    out += '.';
  }
}

}  // namespace tamis::readers
