#pragma once

// How a block's 64 symbols become 56 bits, chosen at run time. Letters are coded in groups: all 64 together, or in four
// quarters that overflow, and are reset, alone.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "tamis/detail/bits/elias_fano_list.hpp"
#include "tamis/detail/telescoping/code/arithmetic_coder.hpp"
#include "tamis/detail/telescoping/code/extension_model.hpp"
#include "tamis/detail/telescoping/code/quarter_code.hpp"
#include "tamis/detail/telescoping/code/random_access_decoder.hpp"
#include "tamis/detail/telescoping/code/selector_model.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// Letters of one group in 56 / groups bits of the block's code.
constexpr std::uint64_t group_code(std::uint64_t block_code, unsigned groups, unsigned group) {
  const unsigned bits = 56 / groups;
  return block_code >> (bits * group) & ((std::uint64_t{1} << bits) - 1);
}
constexpr std::uint64_t with_group_code(std::uint64_t block_code, unsigned groups, unsigned group, std::uint64_t code) {
  const unsigned shift = 56 / groups * group;
  return block_code ^ (group_code(block_code, groups, group) ^ code) << shift;
}

// Single symbols of both models (detail/telescoping/code/selector_model.hpp); the general one by its y.
inline constexpr selector_decoder tuned_selector_decoder{tuned_selector_model::last_symbol, tuned_selector_model::probability};
template <unsigned Y>
inline constexpr selector_decoder general_selector_decoder{
    general_selector_model::last_symbol, [](unsigned symbol) { return general_selector_model(2, Y).probability(symbol); }};

// The paper's code is the lowest number of the symbols' interval. A block has other 56 bits for the same symbols, which are
// decoded without walking through all symbols before the one that is asked for:
//
//   odd    a list of the places of symbols other than 0 (detail/bits/elias_fano_list.hpp), if it fits: up to 13 increments
//   even   a number near the middle of the interval, which has at least two numbers
//   0      no symbols at all
//
// Only symbols that the paper's code has room for are coded at all, so that a block holds as much as the paper says. (A list
// from a file is not asked that: where symbols do not fit, all that encodes them anew resets the block.)
TAMIS_INLINE constexpr bool is_list(std::uint64_t code) { return (code & 1) != 0; }
constexpr std::uint64_t even_number(code_interval interval) { return (interval.low + interval.size / 2) & ~std::uint64_t{1}; }

template <class Symbol>
std::uint64_t nonzero_symbols(const std::array<Symbol, coded_symbols>& symbols) {
  std::uint64_t mask = 0;
  for (unsigned i = 0; i < coded_symbols; ++i) mask |= static_cast<std::uint64_t>(symbols[i] != 0) << i;
  return mask;
}

// The symbols of a code from outside that are not 0, bit by bit; none if encode makes no such code of one group, or makes 0.
template <class Code>
std::uint64_t symbols_if_made(const Code& how, std::uint64_t code) {
  if (is_list(code)) return how.places_if_made(code);
  std::array<typename Code::symbol, coded_symbols> symbols;
  const code_interval interval = how.decode_number(code, std::span(symbols));
  const std::span<const typename Code::symbol> all(symbols);
  if (interval.size < 2 || !how.has_symbols(all) || how.encode_in(interval, all) != code) return 0;
  return nonzero_symbols(symbols);
}

enum class selector_coding : std::uint8_t { paper, quarters };

class selector_code {
 public:
  using symbol = std::uint8_t;

  selector_code() : selector_code(selector_coding::paper, 8) {}
  selector_code(selector_coding coding, unsigned remainder)
      : coding_(coding),
        tuned_(remainder == 8),
        last_symbol_(coding == selector_coding::quarters ? largest_quarter_symbol
                     : tuned_                            ? tuned_selector_model::last_symbol
                                                         : general_selector_model::last_symbol_for(remainder)),
        general_(general_selector_model::for_remainder(remainder)),
        zeros_(tuned_ ? leading_zeros(tuned_selector_model()) : leading_zeros(general_)),
        decoder_(tuned_           ? &tuned_selector_decoder
                 : remainder <= 2 ? &general_selector_decoder<1>
                 : remainder == 3 ? &general_selector_decoder<2>
                                  : &general_selector_decoder<3>) {}

  unsigned groups() const { return coding_ == selector_coding::paper ? 1 : 4; }
  unsigned last_symbol() const { return last_symbol_; }

  // The first symbols of a block.
  void decode(std::uint64_t code, std::span<symbol> symbols) const {
    if (coding_ == selector_coding::quarters) return decode_quarters(code, symbols);
    if (is_list(code)) {
      std::fill(symbols.begin(), symbols.end(), symbol{0});
      return elias_fano_list(code).for_each([&](unsigned place) {
        if (place < symbols.size()) ++symbols[place];
      });
    }
    decode_number(code, symbols);
  }
  code_interval decode_number(std::uint64_t code, std::span<symbol> symbols) const {
    const auto zeros = std::min<std::size_t>(zeros_(code), symbols.size());
    std::fill_n(symbols.begin(), zeros, symbol{0});
    const std::uint64_t range = zeros_.range_after(static_cast<unsigned>(zeros));
    return tuned_ ? tamis::detail::decode(tuned_selector_model(), code, symbols.subspan(zeros), range)
                  : tamis::detail::decode(general_, code, symbols.subspan(zeros), range);
  }

  // Letter i of a block.
  TAMIS_INLINE symbol symbol_at(std::uint64_t code, unsigned i) const {
    if (coding_ == selector_coding::quarters) return some(code, 0)[i];
    return is_list(code) ? static_cast<symbol>(elias_fano_list(code).at(i).count) : symbol_of_number(code, i);
  }
  TAMIS_NOINLINE symbol symbol_of_number(std::uint64_t code, unsigned i) const {
    const std::uint32_t likely = (*decoder_)(code, i);
    return likely != unsure_symbol ? static_cast<symbol>(likely) : exact_symbol_at(code, i);
  }
  // The same, symbol by symbol.  Requires: not in quarters.
  TAMIS_NOINLINE symbol exact_symbol_at(std::uint64_t code, unsigned i) const {
    const unsigned zeros = zeros_(code);
    if (i < zeros) return 0;
    const std::uint64_t range = zeros_.range_after(zeros);
    return static_cast<symbol>(tuned_ ? symbol_of(tuned_selector_model(), code, i, zeros, range)
                                      : symbol_of(general_, code, i, zeros, range));
  }

  // The first `count` symbols of a block, or what finds them.
  class some_symbols {
   public:
    some_symbols(const selector_code& how, std::uint64_t code, unsigned count)
        : quarters_(how.coding_ == selector_coding::quarters), code_(code) {
      if (!quarters_) how.decode(code, std::span(symbols_).first(count));
    }
    symbol operator[](unsigned i) const {
      if (!quarters_) return symbols_[i];
      return quarter_codes()[group_code(code_, 4, i / quarter_symbols)] >> (2 * (i % quarter_symbols)) & 3;
    }

   private:
    bool quarters_;
    std::uint64_t code_;
    std::array<symbol, coded_symbols> symbols_;  // the first `count`, unless they come in quarters
  };
  some_symbols some(std::uint64_t code, unsigned count) const { return {*this, code, count}; }

  // The symbols of slots first to first + 7 of a block, two bits each, and others above them.  Requires: quarters; first <= 56.
  TAMIS_INLINE std::uint64_t eight(std::uint64_t code, unsigned first) const {
    const unsigned quarter = first / quarter_symbols;
    const std::uint64_t low = quarters_[group_code(code, 4, quarter)];
    const std::uint64_t high = quarters_[code >> (quarter_bits * quarter + quarter_bits) & ((1u << quarter_bits) - 1)];
    return (low | high << 32) >> (2 * (first % quarter_symbols));
  }

  // The code of one group, or none if it overflows.
  std::optional<std::uint64_t> encode(std::span<const symbol> group) const {
    if (coding_ == selector_coding::quarters) return encode_quarter(group.first<quarter_symbols>());
    const auto all = interval(group);
    if (!all) return std::nullopt;
    return encode_in(*all, group);
  }
  // The same where the interval of the symbols is known.  Requires: not in quarters.
  static std::uint64_t encode_in(code_interval all, std::span<const symbol> group) {
    unsigned increments = 0;
    for (const symbol l : group) increments += l;
    if (increments == 0) return 0;
    if (increments > elias_fano_list::most_items) return even_number(all);
    return elias_fano_list::make([&](unsigned place) { return group[place]; }).code();
  }
  // Of a list from outside: as above.
  std::uint64_t places_if_made(std::uint64_t code) const {
    const std::uint64_t places = elias_fano_list::places_if_made(code, last_symbol_);
    return places != 0 && elias_fano_list(code).unused() == 0 ? places : 0;
  }
  bool has_symbols(std::span<const symbol> symbols) const {
    return std::all_of(symbols.begin(), symbols.end(), [this](symbol l) { return l <= last_symbol_; });
  }
  // All numbers that are codes of these symbols.  Requires: not in quarters.
  std::optional<code_interval> interval(std::span<const symbol> symbols) const {
    if (!has_symbols(symbols)) return std::nullopt;
    return tuned_ ? interval_of(tuned_selector_model(), symbols) : interval_of(general_, symbols);
  }

 private:
  static void decode_quarters(std::uint64_t code, std::span<symbol> symbols) {
    for (unsigned first = 0; first < symbols.size(); first += quarter_symbols) {
      const std::uint64_t quarter = group_code(code, 4, first / quarter_symbols);
      std::uint32_t packed = quarter_codes()[quarter];
      const std::size_t last = std::min<std::size_t>(symbols.size(), first + quarter_symbols);
      for (std::size_t i = first; i < last; ++i, packed >>= 2) symbols[i] = packed & 3;
    }
  }

  selector_coding coding_;
  bool tuned_;
  unsigned last_symbol_;
  general_selector_model general_;
  leading_zeros zeros_;
  const selector_decoder* decoder_;
  const std::uint32_t* quarters_ = quarter_codes().data();
};

class extension_code {
 public:
  using symbol = std::uint32_t;

  static constexpr unsigned groups() { return 1; }

  static void decode(std::uint64_t code, std::span<symbol> symbols) {
    if (!is_list(code)) {
      decode_number(code, symbols);
      return;
    }
    std::fill(symbols.begin(), symbols.end(), symbol{0});
    const elias_fano_list places(code);
    unsigned item = 0;
    places.for_each([&](unsigned place) {
      if (place < symbols.size()) symbols[place] = listed(places, item);
      ++item;
    });
  }
  static code_interval decode_number(std::uint64_t code, std::span<symbol> symbols) {
    const auto zeros = std::min<std::size_t>(leading_zero_symbols(code), symbols.size());
    std::fill_n(symbols.begin(), zeros, symbol{0});
    const std::uint64_t range = leading_zero_symbols.range_after(static_cast<unsigned>(zeros));
    return tamis::detail::decode(extension_model(), code, symbols.subspan(zeros), range);
  }
  TAMIS_INLINE static symbol symbol_at(std::uint64_t code, unsigned i) {
    if (!is_list(code)) return symbol_of_number(code, i);
    const auto [item, count] = elias_fano_list(code).at(i);
    return count == 0 ? 0 : listed(elias_fano_list(code), item);
  }
  TAMIS_NOINLINE static symbol symbol_of_number(std::uint64_t code, unsigned i) {
    const std::uint32_t likely = decoder(code, i);
    return likely != unsure_symbol ? likely : exact_symbol_at(code, i);
  }
  TAMIS_NOINLINE static symbol exact_symbol_at(std::uint64_t code, unsigned i) {
    const unsigned zeros = leading_zero_symbols(code);
    if (i < zeros) return 0;
    return symbol_of(extension_model(), code, i, zeros, leading_zero_symbols.range_after(zeros));
  }
  static std::array<symbol, coded_symbols> some(std::uint64_t code, unsigned count) {
    std::array<symbol, coded_symbols> symbols;
    decode(code, std::span(symbols).first(count));
    return symbols;
  }
  static std::optional<std::uint64_t> encode(std::span<const symbol> group) {
    const auto all = interval(group);
    if (!all) return std::nullopt;
    return encode_in(*all, group);
  }
  static std::uint64_t encode_in(code_interval all, std::span<const symbol> group) {
    unsigned count = 0;
    unsigned bits = 0;
    for (const symbol l : group) {
      count += l != 0;
      bits += extension_model::length(l);
    }
    if (count == 0) return 0;
    if (elias_fano_list::groups + 1 + 3 * count + 2 * bits > elias_fano_list::code_bits) return even_number(all);
    const elias_fano_list places = elias_fano_list::make([&](unsigned place) { return group[place] != 0 ? 1u : 0u; });
    std::uint64_t ends = 0;
    std::uint64_t strings = 0;
    unsigned length = 0;
    for (const symbol l : group) {
      if (l == 0) continue;
      strings |= std::uint64_t{l ^ (symbol{1} << extension_model::length(l))} << length;
      length += extension_model::length(l);
      ends |= std::uint64_t{1} << (length - 1);
    }
    return places.code() | (ends | strings << bits) << places.end();
  }
  static std::uint64_t places_if_made(std::uint64_t code) {
    const std::uint64_t places = elias_fano_list::places_if_made(code, 1);
    if (places == 0) return 0;
    const elias_fano_list list(code);
    const std::uint64_t ends_and_strings = list.unused();
    if (popcount(ends_and_strings) < list.size()) return 0;
    const unsigned bits = select(ends_and_strings, list.size() - 1) + 1;
    const unsigned room = elias_fano_list::code_bits - 2 * list.size() - list.end();
    return 2 * bits <= room && ends_and_strings >> 2 * bits == 0 ? places : 0;
  }
  static bool has_symbols(std::span<const symbol>) { return true; }
  static std::optional<code_interval> interval(std::span<const symbol> symbols) {
    return interval_of(extension_model(), symbols);
  }

  static constexpr extension_decoder decoder{};

 private:
  // Above a list of places lie the lengths of their extensions, each as a one behind zeros, and then the extensions themselves.
  TAMIS_NOINLINE static symbol listed(elias_fano_list places, unsigned item) {
    const std::uint64_t ends = places.code() >> places.end();
    const unsigned begin = item == 0 ? 0 : select(ends, item - 1) + 1;
    const unsigned end = select(ends, item) + 1;
    const unsigned all = select(ends, places.size() - 1) + 1;
    const auto bits = static_cast<symbol>(ends >> all >> begin & low_mask(end - begin));
    return symbol{1} << (end - begin) | bits;
  }

  static constexpr leading_zeros leading_zero_symbols{extension_model()};
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
