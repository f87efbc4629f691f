#include "printable.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace tamis::cli {
namespace {

struct character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: there is no whole and valid one
};

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// The first character of UTF-8.  Requires: the text is not empty.
character first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 && lead < 0xf5   ? 4
                            : lead >= 0xe0 && lead < 0xf0 ? 3
                            : lead >= 0xc2 && lead < 0xe0 ? 2
                                                          : 0;
  if (bytes == 0 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!continues(text[i])) return {};
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3fu);
  }
  const bool overlong = code < (bytes == 2 ? 0x80u : bytes == 3 ? 0x800u : 0x10000u);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (overlong || surrogate || code > 0x10ffff) return {};
  return {code, bytes};
}

// Controls, and what changes the direction of text or cannot be seen.
bool is_hidden(std::uint32_t code) {
  const auto in = [code](std::uint32_t first, std::uint32_t last) { return code >= first && code <= last; };
  return code < 0x20 || in(0x7f, 0x9f) || code == 0xad || code == 0x61c || in(0x200b, 0x200f) || in(0x2028, 0x202e) ||
         in(0x2060, 0x206f) || code == 0xfeff || in(0xfff9, 0xfffb) || in(0xe0000, 0xe007f);
}

void append_escape(std::string& shown, std::uint32_t code) {
  switch (code) {
    case '\n': shown += "\\n"; return;
    case '\r': shown += "\\r"; return;
    case '\t': shown += "\\t"; return;
    default: shown += code < 0x80 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
  }
}

}  // namespace

std::string printable(std::string_view text, bool utf8) {
  std::string shown;
  while (!text.empty()) {
    const character next = first_of(text);
    if (next.bytes == 0 || (next.bytes > 1 && !utf8)) {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
      text.remove_prefix(1);
      continue;
    }
    if (is_hidden(next.code)) {
      append_escape(shown, next.code);
    } else {
      shown += text.substr(0, next.bytes);
    }
    text.remove_prefix(next.bytes);
  }
  return shown;
}

}  // namespace tamis::cli
