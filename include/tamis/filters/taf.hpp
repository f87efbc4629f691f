#pragma once

// The telescoping adaptive filter (Lee, McCauley, Singh and Stein, "Telescoping filter: a practical adaptive filter", ESA
// 2021): a rank-and-select quotient filter in which every slot has a hash selector. A slot with selector k holds the k-th r
// bits after the quotient; when a query was wrong about a slot, its selector goes up and the remainder slides on.
//
//   digest   | quotient | r bits: k = 0 | r bits: k = 1 | r bits: k = 2 | …    for ever: see detail/hash/hash_suffix.hpp
//                              └── stored ──► └── after a false positive
//   64 slots | occupied 64 | runends 64 | offset 8 | code 56 |  · · ·  | r | r | … | r |        r + 3 bits a slot
//
// The 64 selectors of a block are coded in 56 bits (appendix C). When they do not fit any more, the block is reset: all
// selectors 0, all remainders the first ones again, taken from the stored digests. detail/telescoping/adaptive_quotient.hpp has
// the operations, and why no member is lost.

#include <algorithm>
#include <cstdint>
#include <string>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/telescoping/adaptive_quotient.hpp"
#include "tamis/detail/telescoping/code/symbol_code.hpp"
#include "tamis/detail/telescoping/remainder_tags.hpp"

namespace tamis::inline TAMIS_LEVEL {

// What the symbols of slots mean. Contracts: detail/telescoping/adaptive_quotient.hpp
class taf_scheme {
 public:
  using symbol = detail::selector_code::symbol;  // the hash selector
  static constexpr detail::rank_select_layout layout{.coded = true};
  static constexpr double metadata = detail::quotient_coded_metadata;
  static constexpr bool value_depends_on_symbol = true;
  static constexpr bool shrinks = false;  // a slot accepts as much under any selector

  using options = taf_options;
  static constexpr option_info option_table[] = {
      {"remainder", "1 to 56", "from the rate or the bits", "bits stored per key"},
      {"code", "paper or quarters", "paper", "how 64 selectors become 56 bits: the paper's code, or a faster one"},
  };
  static constexpr filter_info info{
      .id = "taf",
      .summary = "telescoping adaptive filter: fixes every false positive it is told of",
      .paper = "Lee, McCauley, Singh, Stein: Telescoping filter: a practical adaptive filter (ESA 2021)",
      .options = option_table,
  };

  static result<taf_scheme> create(const filter_params& params, unsigned remainder) {
    constexpr std::string_view codes[] = {"paper", "quarters"};
    TAMIS_TRY(const std::string code, choice_option(params, "code", "paper", codes));
    return taf_scheme(code == "paper" ? detail::selector_coding::paper : detail::selector_coding::quarters, remainder);
  }
  taf_scheme() : taf_scheme(detail::selector_coding::paper, 8) {}

  const detail::selector_code& code() const { return code_; }
  void add_settings(option_list& all) const {
    all.emplace_back("code", coding_ == detail::selector_coding::paper ? "paper" : "quarters");
  }

  TAMIS_INLINE static std::uint64_t value(const detail::hash_suffix& x, unsigned r, symbol selector) {
    return selector == 0 ? x.head(r) : x.bits(std::uint64_t{selector} * r, r);
  }
  TAMIS_INLINE static bool accepts(std::uint64_t stored, symbol selector, const detail::hash_suffix& y, unsigned r) {
    return stored == value(y, r, selector);
  }
  // The next selector under which x and y differ.
  std::optional<symbol> advance(symbol selector, const detail::hash_suffix& x, const detail::hash_suffix& y, unsigned r) const {
    while (selector < code_.last_symbol()) {
      ++selector;
      if (value(x, r, selector) != value(y, r, selector)) return selector;
    }
    return std::nullopt;
  }

  // Byte k: the last eight bits of a query's remainder under selector k.  Requires: r >= 8.
  const detail::remainder_tags& tags() const { return tags_; }
  // Of the eight slots of a block from `first` on, those of `among` that may hold what y has: under any selector at all, since
  // comparing with all of them costs less than the decoding it saves, or under their own where that is quickly known. Bit i or
  // 8 + i or 16 + i or 24 + i says so of slot i.  Requires: r >= 8; first <= 56.
  TAMIS_INLINE std::uint32_t candidates(const std::uint8_t* low_bytes, std::uint64_t code, unsigned first, std::uint32_t among,
                                        std::uint64_t tags) const {
    if (coding_ == detail::selector_coding::paper) return detail::equal_any(low_bytes, tags, among);
    return detail::equal_chosen(low_bytes, tags, detail::pdep(code_.eight(code, first), 0x0303030303030303u)) & among;
  }
  // Are candidates certain?
  TAMIS_INLINE bool candidates_accept() const { return coding_ == detail::selector_coding::quarters && remainder_ == 8; }

  friend bool operator==(const taf_scheme& a, const taf_scheme& b) {
    return a.coding_ == b.coding_ && a.remainder_ == b.remainder_;
  }

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.coding_, self.remainder_);
    if constexpr (!std::is_const_v<Self>) self = taf_scheme(self.coding_, self.remainder_);
  }
  status validate_for(unsigned remainder) const {
    if (detail::is_wrong(coding_ != detail::selector_coding::paper && coding_ != detail::selector_coding::quarters))
      return failure{"its code is unknown"};
    if (detail::is_wrong(remainder_ != remainder)) return failure{"its code is for remainders of another length"};
    return {};
  }

 private:
  taf_scheme(detail::selector_coding coding, unsigned remainder)
      : coding_(coding),
        remainder_(remainder),
        code_(coding, remainder),
        tags_(remainder, std::min(code_.last_symbol() + 1, 8u)) {}

  detail::selector_coding coding_;
  std::uint32_t remainder_;
  detail::selector_code code_;
  detail::remainder_tags tags_;
};

using taf = detail::adaptive_quotient<taf_scheme>;

}  // namespace tamis::inline TAMIS_LEVEL
