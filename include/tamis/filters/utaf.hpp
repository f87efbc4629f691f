#pragma once

// The uncompressed telescoping adaptive filter (section 6.2 of the TAF paper, which uses it to isolate the cost of coding): a
// TAF whose selectors have a byte each.
//
//   64 slots | occupied 64 | runends 64 | offset 8 |  · · ·  | r | r | … | r |  · · ·  | s | s | … | s |     r + 10.125 bits a
//   slot
//
// Nothing overflows when slots move, so inserts and deletes need no remote. A selector beyond 255 sends its own slot back to 0.

#include "tamis/filters/taf.hpp"

namespace tamis::inline TAMIS_LEVEL {

// What the symbols of slots mean. Contracts: detail/telescoping/adaptive_quotient.hpp
struct utaf_scheme {
  using symbol = std::uint8_t;  // the hash selector
  static constexpr detail::rank_select_layout layout{.labels = true};
  static constexpr double metadata = detail::quotient_metadata + 8.0;
  static constexpr bool value_depends_on_symbol = true;
  static constexpr bool shrinks = false;

  using options = remainder_options;
  static constexpr option_info option_table[] = {{"remainder", "1 to 56", "from the rate or the bits", "bits stored per key"}};
  static constexpr filter_info info{
      .id = "utaf",
      .summary = "telescoping adaptive filter with uncoded selectors: larger, faster to update",
      .paper = "Lee, McCauley, Singh, Stein: Telescoping filter: a practical adaptive filter (ESA 2021), section 6.2",
      .options = option_table,
  };

  static result<utaf_scheme> create(const filter_params&, unsigned) { return utaf_scheme(); }
  void add_settings(option_list&) const {}

  TAMIS_INLINE static std::uint64_t value(const detail::hash_suffix& x, unsigned r, symbol selector) {
    return taf_scheme::value(x, r, selector);
  }
  TAMIS_INLINE static bool accepts(std::uint64_t stored, symbol selector, const detail::hash_suffix& y, unsigned r) {
    return taf_scheme::accepts(stored, selector, y, r);
  }
  static std::optional<symbol> advance(symbol selector, const detail::hash_suffix& x, const detail::hash_suffix& y,
                                       unsigned r) {
    while (selector < 255) {
      ++selector;
      if (value(x, r, selector) != value(y, r, selector)) return selector;
    }
    return std::nullopt;
  }

  friend bool operator==(const utaf_scheme&, const utaf_scheme&) = default;

  template <class Self, class Archive>
  static void visit(Self&, Archive& archive) {
    archive();
  }
  static status validate_for(unsigned) { return {}; }
};

using utaf = detail::adaptive_quotient<utaf_scheme>;

}  // namespace tamis::inline TAMIS_LEVEL
