#pragma once

// The model for fingerprint extensions (TAF paper, appendix C.4). An extension is a bit string; as a symbol it is written with
// a one in front, and the empty one is 0:
//
//   "" = 0    "0" = 10b    "1" = 11b    "00" = 100b    …
//
// No extension has probability 7/8; one of l bits has 2^-l of the rest, and all 2^l of that length are equally likely.

#include <algorithm>
#include <bit>
#include <cstdint>

#include "tamis/detail/telescoping/code/arithmetic_coder.hpp"

namespace tamis::detail {

struct extension_model {
  static constexpr unsigned longest = 24;  // bits: 2 · 24 + 3 are nearly a whole code

  static constexpr unsigned length(std::uint32_t symbol) {
    return symbol == 0 ? 0 : static_cast<unsigned>(std::bit_width(symbol)) - 1;
  }

  TAMIS_INLINE static constexpr std::uint64_t zero(std::uint64_t range) { return range - (range >> 3); }

  constexpr code_interval part(std::uint64_t range, std::uint32_t symbol) const {
    const std::uint64_t extended = range >> 3;
    const std::uint64_t plain = range - extended;
    const unsigned bits = length(symbol);
    if (bits == 0) return {0, symbol == 0 ? plain : 0};
    if (bits > longest) return {};
    const std::uint64_t shorter = extended - (extended >> (bits - 1));
    const std::uint64_t each = extended >> (2 * bits);
    return {plain + shorter + each * (symbol - (std::uint32_t{1} << bits)), each};
  }

  constexpr std::uint32_t take(std::uint64_t& range, std::uint64_t& code) const {
    const std::uint32_t found = symbol(range, code);
    const code_interval here = part(range, found);
    code -= here.low;
    range = here.size;
    return found;
  }

 private:
  constexpr std::uint32_t symbol(std::uint64_t range, std::uint64_t code) const {
    const std::uint64_t extended = range >> 3;
    const std::uint64_t plain = range - extended;
    if (code < plain) return 0;
    code -= plain;
    unsigned bits = 1;
    while (bits < longest && code >= extended - (extended >> bits)) ++bits;
    const std::uint64_t each = extended >> (2 * bits);
    if (each == 0) return 0;  // no code that encode makes comes here
    const std::uint64_t x = (code - (extended - (extended >> (bits - 1)))) / each;
    const std::uint64_t last = (std::uint64_t{1} << bits) - 1;  // what rounding leaves over belongs to nobody
    return static_cast<std::uint32_t>((std::uint64_t{1} << bits) + std::min(x, last));
  }
};

}  // namespace tamis::detail
