#pragma once

// One symbol of a code, without walking through all symbols before it. Whole numbers can only be decoded symbol by symbol
// (detail/telescoping/code/arithmetic_coder.hpp), because every part is rounded down. Here the code is a fraction x of the
// range, 0 <= x < 1, in floating point, and a run of zeros is one step, since k zeros leave p^k of the range whatever the code
// is:
//
//   |                      0                      |     1     | 2 |·|        x < p^n: n zeros follow
//   |               0 0               |  0 1  |·|                           p^(k+1) <= x < p^k: k zeros, then another symbol
//
// That is not exact, so it says when it is not sure, and the caller then decodes exactly. Let the exact interval after some
// symbols have `size` numbers, and let the code lie `at` numbers above its lowest. The product of the parts is off from `size`,
// and x times that product is off from `at`, by less than 2^10 numbers together:
//   - every part is a sum of rounded ones, 16 roundings at most, so that a product of parts is off by less than 17 (a zero adds
//     less than 3, and leaves 0.78 or 0.75 of what was there), and a symbol adds less than 16 + 17 to `at`
//   - a code has at most 25 symbols that are not 0, since each of them takes more than 2.19 of its 56 bits
//   - floating point is off by less than 2^-53 of the range an operation, less than 100 numbers in all
// Extensions of up to eight bits add 2^8 numbers each, and a code has at most eleven: less than 2^12.
// A decision is sure if the code is so many numbers away from both ends of the interval. The lowest number of an interval never
// is, but numbers in its middle nearly always are, and they are codes of the same symbols:
// detail/telescoping/code/symbol_code.hpp.

#include <array>
#include <bit>
#include <cstdint>

#include "tamis/detail/telescoping/code/arithmetic_coder.hpp"

namespace tamis::detail {

// What runs of zeros leave of the range, if a zero has probability p.
class zero_runs {
 public:
  constexpr explicit zero_runs(double p) {
    double left = 1.0;
    for (unsigned k = 0; k <= coded_symbols; ++k) {
      power_[k] = left;
      grow_[k] = 1.0 / left;
      left *= p;
    }
    unsigned k = coded_symbols;
    for (unsigned cell = 0; cell < cells; ++cell) {
      const double middle = (1.0 + (cell % cells_per_octave + 0.5) / cells_per_octave) * octave(cell / cells_per_octave);
      while (k > 0 && middle >= power_[k]) --k;
      guess_[cell] = static_cast<std::uint8_t>(k);
    }
  }

  TAMIS_INLINE constexpr double power(unsigned k) const { return power_[k]; }
  TAMIS_INLINE constexpr double grow(unsigned k) const { return grow_[k]; }  // 1 / power(k)

  // How many zeros lie before the first other symbol: nearly always.  Requires: x >= p^64, about.
  TAMIS_INLINE constexpr unsigned likely(double x) const {
    return guess_[(std::bit_cast<std::uint64_t>(x) >> cell_shift) - first_cell];
  }
  constexpr unsigned exactly(double x) const {
    unsigned k = likely(x);
    while (k > 0 && x >= power_[k]) --k;
    while (k < coded_symbols && x < power_[k + 1]) ++k;
    return k;
  }

 private:
  static constexpr unsigned cells_per_octave = 64;
  static constexpr unsigned octaves = 29;  // 0.75^64 > 2^-26.6, and x may be half of that where it is not sure
  static constexpr unsigned cells = cells_per_octave * octaves + 1;
  static constexpr unsigned cell_shift = 46;
  static constexpr std::uint64_t first_cell = std::bit_cast<std::uint64_t>(0x1p-29) >> cell_shift;
  static constexpr double octave(unsigned i) {
    double low = 0x1p-29;
    while (i-- != 0) low *= 2;
    return low;
  }

  std::array<double, coded_symbols + 1> power_{};
  std::array<double, coded_symbols + 1> grow_{};
  std::array<std::uint8_t, cells> guess_{};
};

inline constexpr std::uint32_t unsure_symbol = ~std::uint32_t{0};

// Is x, between 0 and 1, further than `error` from both?
TAMIS_INLINE constexpr bool surely_inside(double x, double error) {
  const double from_middle = x - 0.5;
  return (from_middle < 0 ? -from_middle : from_middle) < 0.5 - error;
}
TAMIS_INLINE constexpr double fraction_of_range(std::uint64_t code) {
  return static_cast<double>(static_cast<std::int64_t>(code)) * 0x1p-56;
}

// Hash selectors, whatever their probabilities are (detail/telescoping/code/selector_model.hpp).
class selector_decoder {
 public:
  static constexpr unsigned most_symbols = 16;

  // share(symbol): its probability.
  template <class Share>
  constexpr selector_decoder(unsigned last_symbol, Share share) : zeros_(share(0)), last_(last_symbol) {
    double low = 0.0;
    for (unsigned symbol = 0; symbol <= last_; ++symbol) {
      low_[symbol] = low;
      grow_[symbol] = 1.0 / share(symbol);
      low += share(symbol);
    }
    for (unsigned k = 0; k <= coded_symbols; ++k) one_[k] = zeros_.grow(k) * grow_[1];
    one_low_ = low_[1] * grow_[1];
  }

  // Letter i, or unsure_symbol.  Requires: i < 64.
  TAMIS_INLINE constexpr std::uint32_t operator()(std::uint64_t code, unsigned i) const {
    double x = fraction_of_range(code);
    double error = 0x1p10 * 0x1p-56;  // in parts of the range, which shrinks
    for (auto left = static_cast<int>(i + 1);;) {
      if (x < zeros_.power(static_cast<unsigned>(left)) - error) return 0;
      unsigned zeros = zeros_.likely(x);
      std::uint32_t symbol = 1;
      double grow = one_[zeros];
      double next = x * grow - one_low_;
      if (!surely_inside(next, error * grow)) {
        zeros = zeros_.exactly(x);
        next = x * zeros_.grow(zeros);
        while (symbol < last_ && next >= low_[symbol + 1]) ++symbol;
        next = (next - low_[symbol]) * grow_[symbol];
        grow = zeros_.grow(zeros) * grow_[symbol];
        if (!surely_inside(next, error * grow)) return unsure_symbol;
      }
      x = next;
      error *= grow;
      left -= static_cast<int>(zeros + 1);
      if (left <= 0) return left == 0 ? symbol : unsure_symbol;
    }
  }

 private:
  zero_runs zeros_;
  unsigned last_;
  std::array<double, coded_symbols + 1> one_{};  // what x grows by after some zeros and a one
  double one_low_ = 0.0;
  std::array<double, most_symbols> low_{};
  std::array<double, most_symbols> grow_{};
};

// Extensions (detail/telescoping/code/extension_model.hpp): no extension has probability 7/8, one of l bits 2^-(2l + 3).
class extension_decoder {
 public:
  constexpr extension_decoder() : zeros_(7.0 / 8) {
    for (unsigned k = 0; k <= coded_symbols; ++k) extended_[k] = zeros_.grow(k) * 8;
    double longer = 1.0;
    for (unsigned bits = 1; bits <= longest; ++bits) {
      lengths_[bits] = {longer, 4 / (longer * longer)};
      longer /= 2;
    }
  }

  // Letter i, or unsure_symbol.  Requires: i < 64.
  TAMIS_INLINE constexpr std::uint32_t operator()(std::uint64_t code, unsigned i) const {
    double x = fraction_of_range(code);
    double error = 0x1p12 * 0x1p-56;
    for (auto left = static_cast<int>(i + 1);;) {
      if (x < zeros_.power(static_cast<unsigned>(left)) - error) return 0;
      unsigned zeros = zeros_.likely(x);
      double rest = 8.0 - x * extended_[zeros];  // of the extended part, above x
      if (rest <= 0.0 || rest >= 1.0) {
        zeros = zeros_.exactly(x);
        rest = 8.0 - x * extended_[zeros];
        if (rest <= 0.0 || rest >= 1.0) return unsure_symbol;
      }
      // Longer extensions than those of l bits take the last 2^-l of it.
      const auto bits = 1023 - static_cast<unsigned>(std::bit_cast<std::uint64_t>(rest) >> 52);
      if (bits > longest) return unsure_symbol;
      const double place = (lengths_[bits].longer - rest) * lengths_[bits].grow;
      const auto extension = static_cast<std::int32_t>(place);
      x = place - extension;
      error *= extended_[zeros] * lengths_[bits].grow;
      if (!surely_inside(x, error)) return unsure_symbol;
      left -= static_cast<int>(zeros + 1);
      if (left <= 0) return left == 0 ? std::uint32_t{1} << bits | static_cast<std::uint32_t>(extension) : unsure_symbol;
    }
  }

 private:
  static constexpr unsigned longest = 8;
  struct length {
    double longer;  // what this and longer extensions take of the extended part
    double grow;    // 4^bits: how many times it has one extension
  };

  zero_runs zeros_;
  std::array<double, coded_symbols + 1> extended_{};
  std::array<length, longest + 1> lengths_{};
};

}  // namespace tamis::detail
