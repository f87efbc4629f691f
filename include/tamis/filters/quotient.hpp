#pragma once

// The classic quotient filter (Bender et al., PVLDB 2012; InfiniFilter paper, section 2): a key's fingerprint is cut into a
// quotient, which is its place, and a remainder, which is stored there or, if the place is taken, further right. Three flags a
// slot say which remainder belongs to which place.
//
//   digest   | quotient: log2(n) bits | remainder: r bits | not used |
//                    │
//                    ▼
//   64 slots | occupied 64 | continuation 64 | shifted 64 |  · · ·  | r | r | r | … | r |       r + 3 bits a slot
//
// The table behind it is detail/quotient/three_bit.hpp. Copies of a key take a slot each and are erased one by one.

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tamis/detail/quotient/remainder_filter.hpp"
#include "tamis/detail/quotient/three_bit.hpp"

namespace tamis::inline TAMIS_LEVEL {

class quotient : public detail::remainder_filter<detail::three_bit> {
 public:
  using options = remainder_options;
  static constexpr option_info option_table[] = {{"remainder", "1 to 56", "from the rate or the bits", "bits stored per key"}};
  static constexpr filter_info info{
      .id = "quotient",
      .summary = "classic quotient filter with three flags a slot: deletes, merges, iterates in order",
      .paper = "Bender et al.: Don't thrash: how to cache your hash on flash (PVLDB 2012)",
      .options = option_table,
  };

  static result<quotient> create(const filter_params& params) {
    TAMIS_TRY(const detail::quotient_shape shape,
              detail::quotient_shape_of(info, params, detail::three_bit_metadata, 1, detail::three_bit_load));
    return of_shape(shape, params.capacity);
  }
  // For filters that are made of quotient filters.
  static result<quotient> of_shape(const detail::quotient_shape& shape, std::uint64_t capacity) {
    quotient made;
    TAMIS_TRY(made.table_, detail::three_bit::make(shape.quotients, shape.spare, shape.remainder));
    made.capacity_ = capacity;
    return made;
  }

  // Without keys, of the same shape.
  result<quotient> emptied() const {
    return of_shape({table_.quotients(), table_.slots() - table_.quotients(), table_.width()}, capacity_);
  }

  status merge(const quotient& other) { return merge_tables(other, info); }

  const detail::three_bit& table() const { return table_; }

  friend bool operator==(const quotient&, const quotient&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.capacity_, self.table_);
  }
  status validate() const {
    if (detail::is_wrong(table_.width() < 1) || detail::is_wrong(table_.width() > detail::longest_remainder))
      return failure{"the remainders do not have 1 to 56 bits"};
    return {};
  }

 private:
  friend detail::stored_access;
  quotient() = default;
};

}  // namespace tamis::inline TAMIS_LEVEL
