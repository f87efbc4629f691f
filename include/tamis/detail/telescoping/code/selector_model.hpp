#pragma once

// Models for hash selectors, whose distribution is that of Corollary 3 of the TAF paper: nearly geometric.

#include <cstdint>

#include "tamis/detail/telescoping/code/arithmetic_coder.hpp"

namespace tamis::detail {

// Appendix C.2: tuned for a rate of 1/256 and 0.875 bits a slot. Every probability is a sum of few powers of two. Letters 0
// to 6.
struct tuned_selector_model {
  static constexpr unsigned last_symbol = 6;

  // How much of the range the symbol takes.
  TAMIS_INLINE static constexpr std::uint64_t share(std::uint64_t range, unsigned symbol) {
    switch (symbol) {
      case 0: return (range >> 1) + (range >> 2) + (range >> 5);
      case 1: return (range >> 3) + (range >> 4) + (range >> 7) + (range >> 9);
      case 2: return (range >> 6) + (range >> 8);
      case 3: return (range >> 10) + (range >> 11);
      case 4: return (range >> 14) + (range >> 16);
      case 5: return (range >> 19) + (range >> 20) + (range >> 23);
      default: return 0;
    }
  }

  TAMIS_INLINE static constexpr std::uint64_t zero(std::uint64_t range) { return share(range, 0); }

  constexpr code_interval part(std::uint64_t range, unsigned symbol) const {
    if (symbol > last_symbol) return {};
    std::uint64_t low = 0;
    for (unsigned smaller = 0; smaller < symbol; ++smaller) low += share(range, smaller);
    return {low, symbol == last_symbol ? range - low : share(range, symbol)};
  }

  // The same, but for rounding: what detail/telescoping/code/random_access_decoder.hpp calculates with.
  static constexpr double probability(unsigned symbol) {
    constexpr std::uint64_t whole = std::uint64_t{1} << 23;  // every part of it is a whole number
    std::uint64_t left = whole;
    for (unsigned smaller = 0; smaller < last_symbol; ++smaller) left -= share(whole, smaller);
    return static_cast<double>(symbol == last_symbol ? left : share(whole, symbol)) / static_cast<double>(whole);
  }

  constexpr unsigned take(std::uint64_t& range, std::uint64_t& code) const {
    std::uint64_t left = range;
    for (unsigned symbol = 0; symbol < last_symbol; ++symbol) {
      const std::uint64_t size = share(range, symbol);
      if (code < size) {
        range = size;
        return symbol;
      }
      code -= size;
      left -= size;
    }
    range = left;
    return last_symbol;
  }
};

// Appendix C.3: for any rate. A 0 has probability 1 - 2^-x, a symbol i > 0 has 2^-x (1 - 2^-y) 2^(-y (i - 1)).
class general_selector_model {
 public:
  static constexpr unsigned last_symbol = 15;

  // The largest selector worth having. Short remainders need many. Long ones hardly ever a third: up to there all of them lie
  // in the first 96 bits after the quotient, and a lookup can compare with eight at once.
  static constexpr unsigned last_symbol_for(unsigned r) {
    if (r < 8) return last_symbol;
    return r <= 12 ? 7 : r <= 24 ? 96 / r - 1 : 3;
  }

  // Requires: x >= 2, or not even 64 zeros would fit.
  constexpr general_selector_model(unsigned x, unsigned y) : x_(x), y_(y) {}

  // Good values for remainders of r bits at 0.875 bits a slot. There P(0) is near 0.78; P(2) / P(1) = rate + 0.12, so that
  // only short remainders make large selectors likely.
  static constexpr general_selector_model for_remainder(unsigned r) { return {2, r <= 2 ? 1u : r == 3 ? 2u : 3u}; }

  TAMIS_INLINE constexpr std::uint64_t zero(std::uint64_t range) const { return all_but(range, x_); }

  // The same, but for rounding: what detail/telescoping/code/random_access_decoder.hpp calculates with.
  constexpr double probability(unsigned symbol) const {
    const auto power = [](unsigned n) { return 1.0 / static_cast<double>(std::uint64_t{1} << n); };
    return symbol == 0 ? 1.0 - power(x_) : power(x_ + y_ * (symbol - 1)) * (1.0 - power(y_));
  }

  constexpr code_interval part(std::uint64_t range, unsigned symbol) const {
    if (symbol > last_symbol) return {};
    std::uint64_t size = all_but(range, x_);
    std::uint64_t low = 0;
    for (unsigned smaller = 0; smaller < symbol; ++smaller) {
      low += size;
      size = all_but(range - low, y_);
    }
    return {low, size};
  }

  constexpr unsigned take(std::uint64_t& range, std::uint64_t& code) const {
    unsigned symbol = 0;
    std::uint64_t size = all_but(range, x_);
    for (; code >= size && symbol < last_symbol; ++symbol) {
      code -= size;
      range -= size;
      size = all_but(range, y_);
    }
    range = size;
    return symbol;
  }

 private:
  // floor(m (2^n - 1) / 2^n) without overflow: m = 2^n·a + b gives a (2^n - 1) + b - ceil(b / 2^n).
  static constexpr std::uint64_t all_but(std::uint64_t m, unsigned n) {
    const std::uint64_t mask = (std::uint64_t{1} << n) - 1;
    return (m >> n) * mask + (m & mask) - ((m & mask) != 0);
  }

  unsigned x_;
  unsigned y_;
};

}  // namespace tamis::detail
