#pragma once

// A fast code for hash selectors, not the paper's: each quarter of a block, 16 slots, has a code of 14 bits of its own, which
// is the number of its selectors in a table of all that are likely enough. Decoding is one load. Selectors go up to 3; a
// quarter holds every set of three increments, and those of four and five that spread: four but not 4 or 3 + 1, five ones, or a
// 2 and three ones.

#include <cstdint>
#include <optional>
#include <span>

namespace tamis::detail {

inline constexpr unsigned quarter_symbols = 16;
inline constexpr unsigned quarter_bits = 14;
inline constexpr unsigned largest_quarter_symbol = 3;

// The 16 symbols of each code, symbol i in bits 2i and 2i + 1; ascending, so that code 0 is sixteen zeros. Numbers that are no
// code stand for sixteen zeros too.
std::span<const std::uint32_t, 1 << quarter_bits> quarter_codes();

// The code of these symbols, or none if they are not in the table.
std::optional<std::uint64_t> encode_quarter(std::span<const std::uint8_t, quarter_symbols> symbols);

}  // namespace tamis::detail
