#include "tamis/bits/coder_quarters.hpp"

#include <algorithm>
#include <array>

namespace tamis {
namespace {

constexpr std::size_t codes = 16237;
static_assert(codes <= std::size_t{1} << quarter_bits);

// What the increments of a quarter add up to, and whether such a quarter has a code.
struct profile {
  unsigned sum = 0;
  unsigned twos = 0;
  unsigned threes = 0;

  constexpr void add(unsigned letter) {
    sum += letter;
    twos += letter == 2;
    threes += letter == 3;
  }
  constexpr bool coded() const {
    if (sum <= 3) return true;
    return threes == 0 && (sum == 4 || (sum == 5 && twos <= 1));
  }
};

struct code_table {
  std::array<std::uint32_t, 1 << quarter_bits> letters{};  // `codes` of them, and zeros
  std::size_t size = 0;

  constexpr code_table() { add(quarter_letters, 0, {}); }

  // All quarters whose upper letters are given, in ascending order.
  constexpr void add(unsigned left, std::uint32_t upper, profile p) {
    if (left == 0) {
      if (p.coded()) letters[size++] = upper;
      return;
    }
    for (unsigned letter = 0; letter <= largest_quarter_letter; ++letter) {
      profile with = p;
      with.add(letter);
      if (with.sum > 5) return;
      add(left - 1, upper | letter << (2 * (left - 1)), with);
    }
  }
};

constexpr code_table table;
static_assert(table.size == codes);

}  // namespace

std::span<const std::uint32_t, 1 << quarter_bits> quarter_codes() { return table.letters; }

std::optional<std::uint64_t> encode_quarter(std::span<const std::uint8_t, quarter_letters> letters) {
  std::uint32_t packed = 0;
  for (unsigned i = 0; i < quarter_letters; ++i) {
    if (letters[i] > largest_quarter_letter) return std::nullopt;
    packed |= std::uint32_t{letters[i]} << (2 * i);
  }
  const auto end = table.letters.begin() + codes;
  const auto at = std::lower_bound(table.letters.begin(), end, packed);
  if (at == end || *at != packed) return std::nullopt;
  return static_cast<std::uint64_t>(at - table.letters.begin());
}

}  // namespace tamis
