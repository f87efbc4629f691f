#pragma once

// What the filters with remainders in their slots share: a digest's fingerprint, and a table (detail/quotient/rank_select.hpp
// or detail/quotient/three_bit.hpp) whose runs hold the remainders of a quotient.
//
//   digest   | quotient: log2(n) bits | remainder: r bits | not used |
//
// Both come from the digest's first word: its second one is then never made where the hash is inlined, which is a tenth of a
// lookup. So no more than 2^64 fingerprints are told apart; the rate says so (detail/math/quotient.hpp).

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "tamis/concepts.hpp"
#include "tamis/detail/bits/word.hpp"
#include "tamis/detail/hash/place.hpp"
#include "tamis/detail/math/quotient.hpp"

namespace tamis::detail::inline TAMIS_LEVEL {

// The shape that the parameters ask of any filter of the quotient family. `metadata`: bits per slot beside the remainder.
inline result<quotient_shape> quotient_shape_of(const filter_info& info, const filter_params& params, double metadata,
                                                unsigned least_remainder = 1, double load = quotient_load,
                                                std::string_view option = "remainder") {
  TAMIS_CHECK(check_params(info, params));
  TAMIS_TRY(const std::uint64_t remainder, number_option(params, option, 0, least_remainder, longest_remainder));
  const auto r = static_cast<unsigned>(remainder);
  return params.fpr ? quotient_shape_for_rate(params.capacity, *params.fpr, r, load)
                    : quotient_shape_for_bits(params.capacity, *params.bits_per_key, metadata, r, load);
}

// Have two tables the same fingerprints, so that they can be merged?
template <class Table>
status same_shape(const Table& a, const Table& b, const filter_info& info) {
  if (a.quotients() == b.quotients() && a.width() == b.width()) return {};
  const auto shape = [](const Table& t) {
    return std::to_string(t.quotients()) + " quotients, " + std::to_string(t.width()) + "-bit remainders";
  };
  return failure{"the two " + std::string(info.id) + " filters have different shapes: " + shape(a) + " and " + shape(b)};
}

// A table without keys, with as much room.
template <class Table>
result<Table> emptied_table(const Table& t) {
  return Table::make(t.quotients(), t.slots() - t.quotients(), t.width());
}

template <class Table>
class quotient_fingerprints {
 public:
  struct fingerprint {
    std::uint64_t quotient;
    std::uint64_t remainder;

    friend auto operator<=>(const fingerprint&, const fingerprint&) = default;
  };
  // `Width`: that of the remainders, if it is known.
  template <unsigned Width = 0>
  TAMIS_INLINE fingerprint fingerprint_of(digest d) const {
    const word_placed p = place_of_word(d.high, table_.quotients());
    if constexpr (Width != 0) return {p.place, p.rest >> (word_bits - Width)};
    return {p.place, p.rest >> 1 >> (word_bits - 1 - table_.width())};
  }

  std::uint64_t capacity() const { return capacity_; }
  memory_bits bits() const { return {table_.bits()}; }
  option_list settings() const { return {{"remainder", std::to_string(table_.width())}}; }

  TAMIS_INLINE void prefetch(digest d) const { table_.prefetch(fingerprint_of(d).quotient); }

  friend bool operator==(const quotient_fingerprints&, const quotient_fingerprints&) = default;

 protected:
  quotient_fingerprints() = default;

  std::uint64_t capacity_ = 0;
  Table table_;
};

}  // namespace tamis::detail::inline TAMIS_LEVEL
