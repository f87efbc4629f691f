#pragma once

// Fingerprint sacrifice (Bender et al., PVLDB 2012; InfiniFilter paper, section 3): a quotient filter that doubles when it is
// full. Its keys are not at hand, so that the bit which their new quotient needs is taken from the fingerprint:
//
//   n slots    | quotient: q bits     | remainder: r bits     |
//   2n slots   | quotient: q + 1 bits   | remainder: r - 1    |
//
// All fingerprints get shorter with every doubling and the rate doubles. After F doublings no bit is left: the quotients alone
// say yes to more than half of all queries. The filter does not double any more then; it takes keys until no slot is left,
// refuses, and expected_fpr() says what it is worth.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tamis/detail/math/chain.hpp"
#include "tamis/detail/quotient/remainder_filter.hpp"
#include "tamis/detail/quotient/three_bit.hpp"

namespace tamis::inline TAMIS_LEVEL {

class sacrifice : public detail::remainder_filter<detail::three_bit> {
 public:
  using options = growth_options;
  static constexpr option_info option_table[] = {
      {"fingerprint", "1 to 56", "from the rate or the bits", "bits stored per key at first, F"},
      {"threshold", "50 to 95", "80", "slots in use, in percent of the quotients, at which the filter doubles"},
  };
  static constexpr filter_info info{
      .id = "sacrifice",
      .summary = "quotient filter that doubles by taking a bit from every fingerprint, until none is left",
      .paper =
          "Bender et al.: Don't thrash: how to cache your hash on flash (PVLDB 2012); InfiniFilter (SIGMOD 2023), section 3",
      .options = option_table,
  };

  static result<sacrifice> create(const filter_params& params) {
    TAMIS_CHECK(check_params(info, params));
    TAMIS_TRY(const std::uint64_t threshold, number_option(params, "threshold", detail::chain_threshold, 50, 95));
    TAMIS_TRY(const detail::quotient_shape shape,
              detail::quotient_shape_of(info, params, detail::three_bit_metadata, 1, static_cast<double>(threshold) / 100.0,
                                        "fingerprint"));
    sacrifice made;
    TAMIS_TRY(made.table_, detail::three_bit::make(shape.quotients, shape.spare, shape.remainder));
    made.threshold_ = static_cast<std::uint32_t>(threshold);
    made.fingerprint_ = shape.remainder;
    return made;
  }

  [[nodiscard]] insert_result insert(digest d) {
    if (keys() >= capacity()) {
      if (insert_doubled(d)) return insert_result::inserted;
    }
    return remainder_filter::insert(d);
  }

  // Doubles the table.
  status expand() {
    TAMIS_TRY(table_, doubled());
    return {};
  }
  unsigned expansions() const { return fingerprint_ - table_.width(); }

  // Without keys, as it was before it doubled.
  result<sacrifice> emptied() const {
    sacrifice made;
    const std::uint64_t first = table_.quotients() >> expansions();
    TAMIS_TRY(made.table_, detail::three_bit::make(first, detail::quotient_spare(first), fingerprint_));
    made.threshold_ = threshold_;
    made.fingerprint_ = fingerprint_;
    return made;
  }

  // Two filters that have doubled equally often.
  status merge(const sacrifice& other) { return merge_tables(other, info); }

  // Keys at which the table doubles.
  std::uint64_t capacity() const {
    const std::uint64_t n = table_.quotients();
    return std::max<std::uint64_t>(1, n / 100 * threshold_ + n % 100 * threshold_ / 100);
  }
  option_list settings() const {
    return {{"fingerprint", std::to_string(fingerprint_)}, {"threshold", std::to_string(threshold_)}};
  }

  friend bool operator==(const sacrifice&, const sacrifice&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.fingerprint_, self.threshold_, self.table_);
  }
  status validate() const {
    if (detail::is_wrong(fingerprint_ < 1) || detail::is_wrong(fingerprint_ > detail::longest_remainder))
      return failure{"fingerprints do not have 1 to 56 bits"};
    if (detail::is_wrong(table_.width() > fingerprint_)) return failure{"the remainders have more bits than they had at first"};
    if (detail::is_wrong(threshold_ < 50) || detail::is_wrong(threshold_ > 95))
      return failure{"the threshold is " + std::to_string(threshold_) + ", not 50 to 95"};
    return {};
  }

 private:
  // One pass: a run becomes the runs of two quotients, by the first bit of its remainders.
  result<detail::three_bit> doubled() const {
    if (table_.width() == 0) return failure{"sacrifice cannot double again: no bit of the fingerprints is left"};
    if (table_.quotients() > largest_capacity) return failure{"sacrifice cannot double again: it has more than 2^48 places"};
    const std::uint64_t spare = std::max(detail::quotient_spare(2 * table_.quotients()), table_.slots() - table_.quotients());
    TAMIS_TRY(detail::three_bit made, detail::three_bit::make(2 * table_.quotients(), spare, table_.width() - 1));
    const std::uint64_t first_bit = std::uint64_t{1} << (table_.width() - 1);
    std::uint64_t end = 0;
    bool fits = true;
    std::vector<std::uint64_t> halves[2];
    table_.for_each_run([&](std::uint64_t quotient, detail::slot_range run) {
      for (auto& half : halves) half.clear();
      for (; !run.empty(); ++run.first) {
        const std::uint64_t remainder = table_.value(run.first);
        halves[(remainder & first_bit) != 0].push_back(remainder & ~first_bit);
      }
      for (unsigned i = 0; i < 2; ++i) {
        if (halves[i].empty()) continue;
        const auto to = detail::append_with_room(made, 2 * quotient + i, halves[i].size(), end);
        fits = fits && to;
        for (std::size_t j = 0; to && j < halves[i].size(); ++j) made.set_value(to->first + j, halves[i][j]);
      }
    });
    if (!fits) return failure{"sacrifice cannot double: too many keys have the last place"};
    return made;
  }

  // Doubles and inserts, or changes nothing.
  bool insert_doubled(digest d) {
    result<detail::three_bit> grown = doubled();
    if (!grown) return false;
    std::swap(table_, *grown);
    if (remainder_filter::insert(d) == insert_result::inserted) return true;
    std::swap(table_, *grown);
    return false;
  }

  friend detail::stored_access;
  sacrifice() = default;

  std::uint32_t fingerprint_ = 0;
  std::uint32_t threshold_ = 0;
};

}  // namespace tamis::inline TAMIS_LEVEL
