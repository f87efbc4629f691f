#pragma once

// The counting Bloom filter (Fan, Cao, Almeida and Broder, "Summary cache", 2000): a Bloom filter whose bits are counters of
// four bits, so that keys can be taken out again.
//
//   ┌────┬────┬────┬─ … ─┬────┐
//   │ 0  │ 2  │ 15 │     │ 1  │      m counters; 15 sticks: it may stand for more, so it is never lowered
//   └────┴────┴────┴─ … ─┴────┘
//
// A key whose places coincide raises that counter more than once and lowers it as often. A stuck counter never makes a key
// disappear; it only keeps an erased one visible.

#include <algorithm>
#include <cmath>
#include <string>

#include "tamis/concepts.hpp"
#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/bits/sticky_counters.hpp"
#include "tamis/detail/hash/double_hash.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tamis/detail/math/bloom.hpp"

namespace tamis::inline TAMIS_LEVEL {

class counting_bloom {
 public:
  using options = bloom_options;
  static constexpr unsigned counter_bits = 4;
  static constexpr option_info option_table[] = {{"k", "1 to 64", "best for the size", "counters that a key raises"}};
  static constexpr filter_info info{
      .id = "counting-bloom",
      .summary = "Bloom filter with 4-bit counters: deletes and counts",
      .paper = "Fan, Cao, Almeida, Broder: Summary cache (IEEE/ACM Transactions on Networking 2000)",
      .options = option_table,
      .never_full = true,
  };

  static result<counting_bloom> create(const filter_params& params) {
    TAMIS_CHECK(check_params(info, params));
    TAMIS_TRY(const std::uint64_t k, number_option(params, "k", 0, 1, detail::most_bloom_places));
    TAMIS_TRY(const detail::bloom_shape shape,
              params.fpr ? detail::bloom_shape_for_rate(params.capacity, *params.fpr, counter_bits, static_cast<unsigned>(k))
                         : detail::bloom_shape_for_bits(params.capacity, *params.bits_per_key, counter_bits,
                                                        static_cast<unsigned>(k)));
    counting_bloom made;
    TAMIS_TRY(made.counters_, detail::sticky_counters<counter_bits>::make(shape.cells));
    made.capacity_ = params.capacity;
    made.k_ = shape.k;
    return made;
  }

  insert_result insert(digest d) {
    add<detail::plain_access>(d);
    ++keys_;
    return insert_result::inserted;
  }

  TAMIS_INLINE bool may_contain(digest d) const { return accepts<detail::plain_access>(d); }

  erase_result erase(digest d) {
    if (!may_contain(d)) return erase_result::absent;
    take_out<detail::plain_access>(d);
    keys_ -= keys_ != 0;
    return erase_result::erased;
  }

  std::uint64_t count(digest d) const { return count_among<detail::plain_access>(d, keys_); }

  status merge(const counting_bloom& other) {
    TAMIS_CHECK(fits(other));
    unite<detail::plain_access>(other);
    keys_ += other.keys_;
    return {};
  }

  // Without keys, of the same shape.
  result<counting_bloom> emptied() const {
    counting_bloom made;
    TAMIS_TRY(made.counters_, detail::sticky_counters<counter_bits>::make(counters_.size()));
    made.capacity_ = capacity_;
    made.k_ = k_;
    return made;
  }

  std::uint64_t keys() const { return keys_; }
  std::uint64_t capacity() const { return capacity_; }
  double expected_fpr() const {
    return std::pow(static_cast<double>(counters_.count_nonzero()) / static_cast<double>(counters_.size()),
                    static_cast<double>(k_));
  }
  memory_bits bits() const { return {counters_.bits()}; }
  option_list settings() const { return {{"k", std::to_string(k_)}}; }

  // Batches: see bloom.
  TAMIS_INLINE void prefetch(digest d) const {
    detail::double_hash places(d);
    for (unsigned i = 0; i < std::min(k_, detail::places_at_once); ++i) counters_.prefetch(places.next(counters_.size()));
  }
  TAMIS_INLINE void prefetch_insert(digest d) const {
    for_each_place(d, [this](std::uint64_t i) { counters_.prefetch(i); });
  }

  // What many threads may do at once, with atomic_access (lock_free.hpp); the keys are counted there.
  template <class Access>
  TAMIS_INLINE void add(digest d) {
    for_each_place(d, [this](std::uint64_t i) { counters_.increment<Access>(i); });
  }
  // A key that was never inserted may be accepted with two of its places on one counter of 1: lowers no counter below zero.
  template <class Access>
  TAMIS_INLINE void take_out(digest d) {
    for_each_place(d, [this](std::uint64_t i) { counters_.decrement_if_any<Access>(i); });
  }
  template <class Access>
  TAMIS_INLINE bool accepts(digest d) const {
    return detail::all_places(d, k_, counters_.size(), [this](std::uint64_t i) { return counters_.get<Access>(i) != 0; });
  }
  // The smallest counter. If even that is stuck, all that is known is that there are no more copies than keys.
  template <class Access>
  std::uint64_t count_among(digest d, std::uint64_t keys) const {
    unsigned least = counters_.top;
    for_each_place(d, [&](std::uint64_t i) { least = std::min(least, counters_.get<Access>(i)); });
    return least == counters_.top ? std::max<std::uint64_t>(keys, counters_.top) : least;
  }
  status fits(const counting_bloom& other) const {
    if (counters_.size() == other.counters_.size() && k_ == other.k_) return {};
    return failure{"the two counting-bloom filters have different shapes: " + shape() + " and " + other.shape()};
  }
  // Requires: fits(other).
  template <class Access>
  void unite(const counting_bloom& other) {
    for (std::uint64_t i = 0; i < counters_.size(); ++i) {
      if (const unsigned more = other.counters_.get<Access>(i)) counters_.add<Access>(i, more);
    }
  }
  template <class Access>
  counting_bloom copied(std::uint64_t keys) const {
    counting_bloom copy;
    copy.capacity_ = capacity_;
    copy.keys_ = keys;
    copy.k_ = k_;
    copy.counters_ = counters_.copied<Access>();
    return copy;
  }

  friend bool operator==(const counting_bloom&, const counting_bloom&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.capacity_, self.keys_, self.k_, self.counters_);
  }
  static constexpr bool accepts_any_table = true;  // bits and counters have no wrong values
  status validate() const {
    if (detail::is_wrong(k_ < 1) || detail::is_wrong(k_ > detail::most_bloom_places)) {
      return failure{"k is " + std::to_string(k_) + ", not 1 to 64"};
    }
    if (detail::is_wrong(counters_.size() == 0)) return failure{"the table is empty"};
    return {};
  }

 private:
  template <class Visit>
  TAMIS_INLINE void for_each_place(digest d, Visit visit) const {
    detail::double_hash places(d);
    for (unsigned i = 0; i < k_; ++i) visit(places.next(counters_.size()));
  }

  std::string shape() const { return std::to_string(counters_.size()) + " counters, k = " + std::to_string(k_); }

  friend detail::stored_access;
  counting_bloom() = default;

  std::uint64_t capacity_ = 0;
  std::uint64_t keys_ = 0;
  unsigned k_ = 0;
  detail::sticky_counters<counter_bits> counters_;
};

}  // namespace tamis::inline TAMIS_LEVEL
