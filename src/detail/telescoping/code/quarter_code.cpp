#include "tamis/detail/telescoping/code/quarter_code.hpp"

#include <algorithm>
#include <array>

namespace tamis::detail {
namespace {

constexpr std::size_t codes = 16237;
static_assert(codes <= std::size_t{1} << quarter_bits);

// What the increments of a quarter add up to, and whether such a quarter has a code.
struct profile {
  unsigned sum = 0;
  unsigned twos = 0;
  unsigned threes = 0;

  constexpr void add(unsigned symbol) {
    sum += symbol;
    twos += symbol == 2;
    threes += symbol == 3;
  }
  constexpr bool coded() const {
    if (sum <= 3) return true;
    return threes == 0 && (sum == 4 || (sum == 5 && twos <= 1));
  }
};

struct code_table {
  std::array<std::uint32_t, 1 << quarter_bits> symbols{};  // `codes` of them, and zeros
  std::size_t size = 0;

  constexpr code_table() { add(quarter_symbols, 0, {}); }

  // All quarters whose upper symbols are given, in ascending order.
  constexpr void add(unsigned left, std::uint32_t upper, profile p) {
    if (left == 0) {
      if (p.coded()) symbols[size++] = upper;
      return;
    }
    for (unsigned symbol = 0; symbol <= largest_quarter_symbol; ++symbol) {
      profile with = p;
      with.add(symbol);
      if (with.sum > 5) return;
      add(left - 1, upper | symbol << (2 * (left - 1)), with);
    }
  }
};

constexpr code_table table;
static_assert(table.size == codes);

}  // namespace

std::span<const std::uint32_t, 1 << quarter_bits> quarter_codes() { return table.symbols; }

std::optional<std::uint64_t> encode_quarter(std::span<const std::uint8_t, quarter_symbols> symbols) {
  std::uint32_t packed = 0;
  for (unsigned i = 0; i < quarter_symbols; ++i) {
    if (symbols[i] > largest_quarter_symbol) return std::nullopt;
    packed |= std::uint32_t{symbols[i]} << (2 * i);
  }
  const auto end = table.symbols.begin() + codes;
  const auto at = std::lower_bound(table.symbols.begin(), end, packed);
  if (at == end || *at != packed) return std::nullopt;
  return static_cast<std::uint64_t>(at - table.symbols.begin());
}

}  // namespace tamis::detail
