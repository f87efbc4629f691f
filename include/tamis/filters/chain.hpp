#pragma once

// Filters that grow by adding further quotient filters.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>

#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/base/table_list.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tamis/detail/math/chain.hpp"
#include "tamis/filters/quotient.hpp"

namespace tamis::inline TAMIS_LEVEL {

// What chain-linear and chain-geometric share: a chain of quotient filters (InfiniFilter paper, section 3). Keys go into one of
// them; when it is full to the threshold, the chain gets another one. A query has to ask all of them.
//
//   chain-linear      | filter | filter | filter |
//   chain-geometric   | filter | filter          | filter                          |
//
// Sizes are the first one times a power of two, so that the fingerprints of a key in all filters are prefixes of one stream of
// bits, the longer the younger the filter is. Erasing takes the longest match: if it was another key's, then that key also
// matches what was this key's, which is a prefix of it.

class quotient_chain {
 public:
  TAMIS_INLINE bool may_contain(digest d) const {
    for (auto link = links_.rbegin(); link != links_.rend(); ++link) {
      if (link->may_contain(d)) return true;
    }
    return false;
  }

  std::uint64_t count(digest d) const {
    std::uint64_t copies = 0;
    for (const quotient& link : links_) copies += link.count(d);
    return copies;
  }

  [[nodiscard]] insert_result insert(digest d) {
    quotient& target = links_[target_];
    if (target.keys() < target.capacity() && target.insert(d) == insert_result::inserted) return insert_result::inserted;
    return insert_elsewhere(d);
  }

  // From the filter with the longest match. One that nothing is left in goes, unless keys are being inserted there.
  erase_result erase(digest d) {
    for (std::size_t i = links_.size(); i-- > 0;) {
      if (links_[i].erase(d) == erase_result::absent) continue;
      if (links_[i].keys() == 0 && i != target_) {
        links_.erase(links_.begin() + static_cast<std::ptrdiff_t>(i));
        target_ -= i < target_;
      }
      return erase_result::erased;
    }
    return erase_result::absent;
  }

  // Another filter, into which keys go from now on.
  status expand() {
    TAMIS_TRY(quotient link, next());
    links_.push_back(std::move(link));
    target_ = links_.size() - 1;
    return {};
  }

  std::uint64_t keys() const {
    std::uint64_t sum = 0;
    for (const quotient& link : links_) sum += link.keys();
    return sum;
  }
  // Keys at which all filters have reached their threshold.
  std::uint64_t capacity() const {
    std::uint64_t sum = 0;
    for (const quotient& link : links_) sum += link.capacity();
    return sum;
  }
  double expected_fpr() const {
    detail::chain_rate rate;
    for (const quotient& link : links_) rate.add(link.expected_fpr());
    return rate.value();
  }
  memory_bits bits() const {
    // The fields of the first filter are not counted, as nowhere else, but those of the others are.
    memory_bits sum{8 * (links_.capacity() - 1) * sizeof(quotient)};
    for (const quotient& link : links_) sum.fast += link.bits().fast;
    return sum;
  }

  // The filters, from the first one to the youngest.
  const detail::table_list<quotient>& links() const { return links_; }

  TAMIS_INLINE void prefetch(digest d) const {
    for (const quotient& link : links_) link.prefetch(d);
  }
  TAMIS_INLINE void prefetch_insert(digest d) const { links_[target_].prefetch(d); }

  friend bool operator==(const quotient_chain&, const quotient_chain&) = default;

 protected:
  static constexpr option_info fingerprint_option{"fingerprint", "1 to 56", "from the rate or the bits",
                                                  "bits stored per key in the first filter, F"};
  static constexpr option_info threshold_option{"threshold", "50 to 95", "80",
                                                "slots in use, in percent of the quotients, at which a filter is full"};

  quotient_chain() = default;
  // `doubles`: each filter that is added is twice as large as the one before, otherwise as large. Not usable before start().
  explicit quotient_chain(bool doubles) : doubles_(doubles) {}

  // A chain of one filter. `fpr` is its rate at capacity, or what a chain with decreasing rates never exceeds.
  status start(const filter_info& info, filter_params params, bool decreasing) {
    TAMIS_CHECK(check_params(info, params));
    TAMIS_TRY(const std::uint64_t threshold, number_option(params, threshold_option.name, detail::chain_threshold, 50, 95));
    if (decreasing && params.fpr) *params.fpr /= detail::decreasing_chaining_limit;
    TAMIS_TRY(const detail::quotient_shape shape,
              detail::quotient_shape_of(info, params, detail::three_bit_metadata, 1, static_cast<double>(threshold) / 100.0,
                                        fingerprint_option.name));
    threshold_ = static_cast<std::uint32_t>(threshold);
    decreasing_ = decreasing;
    fingerprint_ = shape.remainder;
    TAMIS_TRY(quotient first, link_of(shape.quotients, shape.remainder));
    links_.push_back(std::move(first));
    first_ = shape.quotients;
    return {};
  }

  // The first filter alone, without keys.
  template <class Chain>
  result<Chain> emptied_chain(Chain made) const {
    made.first_ = first_;
    made.fingerprint_ = fingerprint_;
    made.threshold_ = threshold_;
    made.decreasing_ = decreasing_;
    TAMIS_TRY(quotient first, link_of(first_, fingerprint_of_link(first_)));
    made.links_.push_back(std::move(first));
    return made;
  }

  option_list chain_settings() const {
    return {{"fingerprint", std::to_string(fingerprint_)}, {"threshold", std::to_string(threshold_)}};
  }

  template <class Self, class Archive>
  static void visit_chain(Self& self, Archive& archive) {
    archive(self.first_, self.target_, self.fingerprint_, self.threshold_, self.decreasing_, self.links_);
  }
  status validate_chain() const {
    if (detail::is_wrong(target_ >= links_.size())) return failure{"the chain has no filter to insert into"};
    if (detail::is_wrong(threshold_ < 50) || detail::is_wrong(threshold_ > 95))
      return failure{"the threshold is " + std::to_string(threshold_) + ", not 50 to 95"};
    if (detail::is_wrong(fingerprint_ < 1) || detail::is_wrong(fingerprint_ > detail::longest_remainder))
      return failure{"fingerprints do not have 1 to 56 bits"};
    if (detail::is_wrong(decreasing_ && !doubles_)) return failure{"the rates of a linear chain do not decrease"};
    std::uint64_t before = 0;
    for (const quotient& link : links_) {
      const std::uint64_t quotients = link.table().quotients();
      const bool is_multiple =
          doubles_ ? first_ != 0 && quotients % first_ == 0 && std::has_single_bit(quotients / first_) : quotients == first_;
      if (detail::is_wrong(!is_multiple) || detail::is_wrong(doubles_ && quotients <= before) ||
          detail::is_wrong(link.table().width() != fingerprint_of_link(quotients)) ||
          detail::is_wrong(link.capacity() != limit(quotients))) {
        return failure{"a filter of the chain has another size than its place in the chain says"};
      }
      before = quotients;
    }
    return {};
  }

  bool decreasing() const { return decreasing_; }

 private:
  std::uint64_t limit(std::uint64_t quotients) const {
    return std::max<std::uint64_t>(1, quotients / 100 * threshold_ + quotients % 100 * threshold_ / 100);
  }
  unsigned fingerprint_of_link(std::uint64_t quotients) const {
    if (!decreasing_) return fingerprint_;
    return detail::decreasing_fingerprint(fingerprint_, static_cast<unsigned>(std::countr_zero(quotients / first_)) + 1);
  }
  result<quotient> link_of(std::uint64_t quotients, unsigned fingerprint) const {
    return quotient::of_shape({quotients, detail::quotient_spare(quotients), fingerprint}, limit(quotients));
  }
  result<quotient> next() const {
    const std::uint64_t largest = links_.back().table().quotients();
    if (doubles_ && largest > largest_capacity) return failure{"a chain of more than 2^48 keys cannot be addressed"};
    const std::uint64_t quotients = doubles_ ? 2 * largest : first_;
    return link_of(quotients, fingerprint_of_link(quotients));
  }

  // The target is full. Where deletes have made room, the largest filter that is at most half full is the next one; else there
  // is a new one. Where there is no memory for that, the target takes what it can beyond its threshold.
  insert_result insert_elsewhere(digest d) {
    for (std::size_t i = links_.size(); i-- > 0;) {
      if (i == target_ || links_[i].keys() > links_[i].capacity() / 2) continue;
      if (links_[i].insert(d) == insert_result::full) continue;
      target_ = i;
      return insert_result::inserted;
    }
    result<quotient> link = next();
    if (!link) return links_[target_].insert(d);
    if (link->insert(d) == insert_result::full) return insert_result::full;
    links_.push_back(*std::move(link));
    target_ = links_.size() - 1;
    return insert_result::inserted;
  }

  std::uint64_t first_ = 0;        // quotients of the first filter
  std::uint64_t target_ = 0;       // the filter that keys go into
  std::uint32_t fingerprint_ = 0;  // F
  std::uint32_t threshold_ = 0;    // alpha in per cent
  bool doubles_ = false;
  bool decreasing_ = false;
  detail::table_list<quotient> links_;
};

// Linear chaining (InfiniFilter paper, section 3): every further filter has the size and the rate of the first one. N times the
// keys cost N lookups and N times the rate. filters/chain.hpp draws it.

class chain_linear : public quotient_chain {
 public:
  using options = growth_options;
  static constexpr option_info option_table[] = {fingerprint_option, threshold_option};
  static constexpr filter_info info{
      .id = "chain-linear",
      .summary = "grows by adding quotient filters of equal size; every query asks all of them",
      .paper = "Guo, Wu, Chen, Luo: The dynamic Bloom filters (TKDE 2010); InfiniFilter (SIGMOD 2023), section 3",
      .options = option_table,
  };

  static result<chain_linear> create(const filter_params& params) {
    chain_linear made;
    TAMIS_CHECK(made.start(info, params, false));
    return made;
  }

  // Without keys, as it was before it grew.
  result<chain_linear> emptied() const { return emptied_chain(chain_linear()); }

  option_list settings() const { return chain_settings(); }

  friend bool operator==(const chain_linear&, const chain_linear&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    visit_chain(self, archive);
  }
  status validate() const { return validate_chain(); }

 private:
  friend detail::stored_access;
  chain_linear() : quotient_chain(false) {}
};

// Geometric chaining (InfiniFilter paper, section 3): every further filter has twice the size of the one before. N times the
// keys cost log2(N) + 1 lookups; the rate grows as much, or, with decreasing rates, stays below pi²/6 times the first one,
// for 2 log2(i) more bits per key in the i-th filter. filters/chain.hpp draws it.

class chain_geometric : public quotient_chain {
 public:
  using options = chain_geometric_options;
  static constexpr option_info option_table[] = {
      fingerprint_option,
      threshold_option,
      {"rates", "equal or decreasing", "decreasing with a rate, else equal",
       "rate of the i-th filter: the first one's, or that divided by i², so that the rate is kept"},
  };
  static constexpr filter_info info{
      .id = "chain-geometric",
      .summary = "grows by adding quotient filters of doubled size; every query asks all of them",
      .paper = "Almeida et al.: Scalable Bloom filters (IPL 2007); Pagh, Segev, Wieder (FOCS 2013); InfiniFilter, section 3",
      .options = option_table,
  };

  static result<chain_geometric> create(const filter_params& params) {
    constexpr std::string_view rates[] = {"equal", "decreasing"};
    TAMIS_CHECK(check_params(info, params));
    // Who asks for a rate wants it however much the chain grows.
    TAMIS_TRY(const std::uint64_t asked, number_option(params, fingerprint_option.name, 0, 1, detail::longest_remainder));
    TAMIS_TRY(const std::string rate, choice_option(params, "rates", asked == 0 && params.fpr ? "decreasing" : "equal", rates));
    chain_geometric made;
    TAMIS_CHECK(made.start(info, params, rate == "decreasing"));
    return made;
  }

  // Without keys, as it was before it grew.
  result<chain_geometric> emptied() const { return emptied_chain(chain_geometric()); }

  option_list settings() const {
    option_list all = chain_settings();
    all.emplace_back("rates", decreasing() ? "decreasing" : "equal");
    return all;
  }

  friend bool operator==(const chain_geometric&, const chain_geometric&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    visit_chain(self, archive);
  }
  status validate() const { return validate_chain(); }

 private:
  friend detail::stored_access;
  chain_geometric() : quotient_chain(true) {}
};

}  // namespace tamis::inline TAMIS_LEVEL
