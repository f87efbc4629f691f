#pragma once

// The extension adaptive filter, the TAF paper's broom filter (section 5; Bender, Farach-Colton, Goswami, Johnson, McCauley and
// Singh, "Bloom filters, adaptivity, and the dictionary problem", FOCS 2018): a slot keeps its remainder for ever, and when a
// query was wrong about it, it also stores the next bits of its key's digest, as many as tell the two apart.
//
//   digest   | quotient | remainder: r bits | extension: 0, 1, 2, … bits | …
//   64 slots | occupied 64 | runends 64 | offset 8 | code 56 |  · · ·  | r | r | … | r |        r + 3 bits a slot
//
// The 64 extensions of a block are coded in 56 bits (appendix C.4). When they do not fit any more they are dropped, which needs
// no key. Lookups decode only where the remainder matches.

#include <cmath>

#include "tamis/detail/telescoping/adaptive_quotient.hpp"
#include "tamis/detail/telescoping/code/symbol_code.hpp"

namespace tamis::inline TAMIS_LEVEL {

// What the symbols of slots mean. Contracts: detail/telescoping/adaptive_quotient.hpp
struct exaf_scheme {
  using symbol = detail::extension_code::symbol;  // the extension, with a one in front
  static constexpr detail::rank_select_layout layout{.coded = true};
  static constexpr double metadata = detail::quotient_coded_metadata;
  static constexpr bool value_depends_on_symbol = false;
  static constexpr bool shrinks = true;  // every bit of an extension halves what the slot accepts

  using options = remainder_options;
  static constexpr option_info option_table[] = {{"remainder", "1 to 56", "from the rate or the bits", "bits stored per key"}};
  static constexpr filter_info info{
      .id = "exaf",
      .summary = "extension adaptive (broom) filter: lengthens fingerprints that were wrong",
      .paper = "Lee, McCauley, Singh, Stein: Telescoping filter: a practical adaptive filter (ESA 2021), section 5",
      .options = option_table,
  };

  static result<exaf_scheme> create(const filter_params&, unsigned) { return exaf_scheme(); }
  static detail::extension_code code() { return {}; }
  void add_settings(option_list&) const {}

  TAMIS_INLINE static std::uint64_t value(const detail::hash_suffix& x, unsigned r, symbol) { return x.head(r); }
  TAMIS_INLINE static bool accepts(std::uint64_t stored, symbol extension, const detail::hash_suffix& y, unsigned r) {
    return stored == y.head(r) && (extension == 0 || extension == extended(y, r, detail::extension_model::length(extension)));
  }
  // x's bits as far as they tell it from y.
  static std::optional<symbol> advance(symbol extension, const detail::hash_suffix& x, const detail::hash_suffix& y,
                                       unsigned r) {
    for (unsigned bits = detail::extension_model::length(extension) + 1; bits <= detail::extension_model::longest; ++bits) {
      if (extended(x, r, bits) != extended(y, r, bits)) return extended(x, r, bits);
    }
    return std::nullopt;
  }
  // Of the digests with the slot's quotient and remainder, how many it accepts.
  static double share(symbol extension) {
    return std::ldexp(1.0, -static_cast<int>(detail::extension_model::length(extension)));
  }

  friend bool operator==(const exaf_scheme&, const exaf_scheme&) = default;

  template <class Self, class Archive>
  static void visit(Self&, Archive& archive) {
    archive();
  }
  static status validate_for(unsigned) { return {}; }

 private:
  static symbol extended(const detail::hash_suffix& x, unsigned r, unsigned bits) {
    return static_cast<symbol>((std::uint64_t{1} << bits) | x.bits(r, bits));
  }
};

using exaf = detail::adaptive_quotient<exaf_scheme>;

}  // namespace tamis::inline TAMIS_LEVEL
