#pragma once

// The rank-and-select quotient filter (Pandey, Bender, Johnson and Patro, "A general-purpose counting filter", SIGMOD 2017): a
// key's fingerprint is cut into a quotient, which is its place, and a remainder, which is stored there.
//
//   digest   | quotient: log2(n) bits | remainder: r bits | not used |
//                    │
//                    ▼
//   64 slots | occupied 64 | runends 64 | offset 8 |  · · ·  | r | r | r | … | r |       r + 2.125 bits a slot
//
// The table behind it is detail/quotient/rank_select.hpp. Copies of a key take a slot each and are erased one by one.

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tamis/detail/quotient/rank_select.hpp"
#include "tamis/detail/quotient/remainder_filter.hpp"

namespace tamis::inline TAMIS_LEVEL {

class rsqf : public detail::remainder_filter<detail::rank_select<>> {
 public:
  using options = remainder_options;
  static constexpr option_info option_table[] = {{"remainder", "1 to 56", "from the rate or the bits", "bits stored per key"}};
  static constexpr filter_info info{
      .id = "rsqf",
      .summary = "rank-and-select quotient filter: deletes, merges, iterates in order",
      .paper = "Pandey, Bender, Johnson, Patro: A general-purpose counting filter (SIGMOD 2017)",
      .options = option_table,
  };

  static result<rsqf> create(const filter_params& params) {
    TAMIS_TRY(const detail::quotient_shape shape, detail::quotient_shape_of(info, params, detail::quotient_metadata));
    rsqf made;
    TAMIS_TRY(made.table_, detail::rank_select<>::make(shape.quotients, shape.spare, shape.remainder));
    made.capacity_ = params.capacity;
    return made;
  }

  // Without keys, of the same shape.
  result<rsqf> emptied() const {
    rsqf made;
    TAMIS_TRY(made.table_, detail::emptied_table(table_));
    made.capacity_ = capacity_;
    return made;
  }

  status merge(const rsqf& other) { return merge_tables(other, info); }

  friend bool operator==(const rsqf&, const rsqf&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.capacity_, self.table_);
  }
  status validate() const {
    if (detail::is_wrong(table_.width() > detail::longest_remainder)) return failure{"the remainders have more than 56 bits"};
    return {};
  }

 private:
  friend detail::stored_access;
  rsqf() = default;
};

}  // namespace tamis::inline TAMIS_LEVEL
