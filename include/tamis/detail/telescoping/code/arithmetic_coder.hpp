#pragma once

// Arithmetic coding of 64 symbols in 56 bits, in whole numbers only (TAF paper, appendix C.1). A message is an interval of
// {0, …, 2^56 - 1}: every symbol narrows it to its own part, and the lowest number of the last interval is the code.
//
//   |            0            |    1    | 2 |·|        symbol 0 always takes the lowest part, so the code of 64 zeros is 0,
//   |   0   |  1  |·|                                  and no other message has that code
//
// A Model says which part of a range a symbol takes (`part`), and takes the first symbol off a code (`take`).

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "tamis/detail/base/compiler.hpp"

namespace tamis::detail {

inline constexpr unsigned coded_symbols = 64;
inline constexpr std::uint64_t code_range = std::uint64_t{1} << 56;

// Numbers low, …, low + size - 1. Inside a model, relative to the range that is being divided.
struct code_interval {
  std::uint64_t low = 0;
  std::uint64_t size = 0;
};

// The interval of the symbols, or none if they do not fit. A part of fewer than two numbers does not count as one: the next
// symbol could not be told from another.
template <class Model, class Letter>
constexpr std::optional<code_interval> interval_of(const Model& model, std::span<const Letter> symbols) {
  code_interval all{0, code_range};
  for (const Letter symbol : symbols) {
    const code_interval part = model.part(all.size, symbol);
    if (part.size < 2) return std::nullopt;
    all = {all.low + part.low, part.size};
  }
  return all;
}

template <class Model, class Letter>
constexpr std::optional<std::uint64_t> encode(const Model& model, std::span<const Letter> symbols) {
  const auto interval = interval_of(model, symbols);
  if (!interval) return std::nullopt;
  return interval->low;
}

// The first symbols of a code, as many as there is room for. Any number below 2^56 may be given: then the symbols are some
// symbols, and encode(decode(code)) == code only if encode has made the code.
// A decoder that knows that the code begins with zeros may skip them: `range` is then what they leave. The answer is the
// interval of the symbols, skipped zeros included, if they have one: interval_of() would divide the same ranges. Its size says
// whether they have.
template <class Model, class Letter>
constexpr code_interval decode(const Model& model, std::uint64_t code, std::span<Letter> symbols,
                               std::uint64_t range = code_range) {
  std::uint64_t left = code;
  for (Letter& symbol : symbols) symbol = static_cast<Letter>(model.take(range, left));
  return {code - left, range};
}

// Letter `index` of a code of which the first `known` symbols are 0 and leave `range`: nothing is kept of those in between,
// most of which are 0 too.  Requires: known <= index.
template <class Model>
TAMIS_INLINE constexpr auto symbol_of(const Model& model, std::uint64_t code, unsigned index, unsigned known,
                                      std::uint64_t range) {
  while (true) {
    for (; known < index; ++known) {
      const std::uint64_t zero = model.zero(range);
      if (code >= zero) break;
      range = zero;
    }
    const auto symbol = model.take(range, code);
    if (known++ == index) return symbol;
  }
}

// How many symbols are 0 before the first other one: the ranges after 1, 2, … zeros, in which the code 0…0 x still lies.
class leading_zeros {
 public:
  template <class Model>
  constexpr explicit leading_zeros(const Model& model) {
    std::uint64_t range = code_range;
    for (std::uint64_t& bound : bounds_) bound = range = model.part(range, 0).size;
  }

  constexpr unsigned operator()(std::uint64_t code) const {
    unsigned zeros = 0;
    for (unsigned step = coded_symbols / 2; step != 0; step /= 2) {
      zeros += code < bounds_[zeros + step - 1] ? step : 0;
    }
    return zeros + (code < bounds_[zeros] ? 1 : 0);
  }
  // What so many zeros leave of the range.
  constexpr std::uint64_t range_after(unsigned zeros) const { return zeros == 0 ? code_range : bounds_[zeros - 1]; }

 private:
  std::array<std::uint64_t, coded_symbols> bounds_{};
};

}  // namespace tamis::detail
