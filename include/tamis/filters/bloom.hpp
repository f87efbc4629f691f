#pragma once

// The Bloom filter (Bloom, "Space/time trade-offs in hash coding with allowable errors", CACM 1970): k bits of m for every key,
// all of them taken from one digest by double hashing.
//
//   digest ──► h1 + h2, h1 + 2 h2, …, h1 + k h2, each mixed and reduced to [0, m)
//   ┌─┬─┬─┬─┬─┬─┬─ … ─┬─┐
//   │0│1│0│0│1│0│     │1│      m bits, any number
//   └─┴─┴─┴─┴─┴─┴─ … ─┴─┘
//
// A lookup touches up to k cache lines, but a negative one rarely more than the first three. It never refuses a key; beyond its
// capacity the rate rises, and expected_fpr() says so.

#include <algorithm>
#include <cmath>
#include <string>

#include "tamis/concepts.hpp"
#include "tamis/detail/base/numbered_check.hpp"
#include "tamis/detail/bits/bitmap.hpp"
#include "tamis/detail/hash/double_hash.hpp"
#include "tamis/detail/io/archive.hpp"
#include "tamis/detail/math/bloom.hpp"
#include "tamis/detail/math/fold.hpp"

namespace tamis::inline TAMIS_LEVEL {

class bloom {
 public:
  using options = bloom_options;
  static constexpr option_info option_table[] = {{"k", "1 to 64", "best for the size", "bits that a key sets"}};
  static constexpr filter_info info{
      .id = "bloom",
      .summary = "the classic Bloom filter, any k",
      .paper = "Bloom: Space/time trade-offs in hash coding with allowable errors (CACM 1970)",
      .options = option_table,
      .never_full = true,
  };

  static result<bloom> create(const filter_params& params) {
    TAMIS_CHECK(check_params(info, params));
    TAMIS_TRY(const std::uint64_t k, number_option(params, "k", 0, 1, detail::most_bloom_places));
    TAMIS_TRY(const detail::bloom_shape shape,
              params.fpr ? detail::bloom_shape_for_rate(params.capacity, *params.fpr, 1, static_cast<unsigned>(k))
                         : detail::bloom_shape_for_bits(params.capacity, *params.bits_per_key, 1, static_cast<unsigned>(k)));
    bloom made;
    TAMIS_TRY(made.table_, detail::bitmap::make(shape.cells));
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

  status merge(const bloom& other) {
    TAMIS_CHECK(fits(other));
    unite<detail::plain_access>(other);
    keys_ += other.keys_;
    return {};
  }

  // As small as it can be with a rate of at most `fpr`, for what it holds now: halved, or divided otherwise if the number of
  // its bits is odd. By how much; 1 if no divisor up to 64 will do. No key is lost.
  result<std::uint64_t> fold(double fpr) { return detail::fold_within(*this, fpr); }
  std::uint64_t cells() const { return table_.size(); }
  // Requires: by divides cells().
  result<bloom> folded(std::uint64_t by) const {
    bloom smaller;
    TAMIS_TRY(smaller.table_, table_.folded(by));
    smaller.capacity_ = std::max(keys_, detail::divide_up(capacity_, by));
    smaller.keys_ = keys_;
    smaller.k_ = k_;
    return smaller;
  }

  // Without keys, of the same shape.
  result<bloom> emptied() const {
    bloom made;
    TAMIS_TRY(made.table_, detail::bitmap::make(table_.size()));
    made.capacity_ = capacity_;
    made.k_ = k_;
    return made;
  }

  std::uint64_t keys() const { return keys_; }
  std::uint64_t capacity() const { return capacity_; }
  double expected_fpr() const {
    return std::pow(static_cast<double>(table_.count()) / static_cast<double>(table_.size()), static_cast<double>(k_));
  }
  memory_bits bits() const { return {table_.bits()}; }
  option_list settings() const { return {{"k", std::to_string(k_)}}; }

  // Batches fetch the places ahead that are tested first: with half of the bits set, seven of eight negative lookups need no
  // more.
  TAMIS_INLINE void prefetch(digest d) const {
    detail::double_hash places(d);
    for (unsigned i = 0; i < std::min(k_, detail::places_at_once); ++i) table_.prefetch(places.next(table_.size()));
  }
  TAMIS_INLINE void prefetch_insert(digest d) const {
    detail::double_hash places(d);
    for (unsigned i = 0; i < k_; ++i) table_.prefetch(places.next(table_.size()));
  }

  // What many threads may do at once, with atomic_access (lock_free.hpp); the keys are counted there.
  template <class Access>
  TAMIS_INLINE void add(digest d) {
    detail::double_hash places(d);
    for (unsigned i = 0; i < k_; ++i) table_.set<Access>(places.next(table_.size()));
  }
  template <class Access>
  TAMIS_INLINE bool accepts(digest d) const {
    return detail::all_places(d, k_, table_.size(), [this](std::uint64_t i) { return table_.get<Access>(i); });
  }
  status fits(const bloom& other) const {
    if (table_.size() == other.table_.size() && k_ == other.k_) return {};
    return failure{"the two bloom filters have different shapes: " + shape() + " and " + other.shape()};
  }
  // Requires: fits(other).
  template <class Access>
  void unite(const bloom& other) {
    table_.unite<Access>(other.table_);
  }
  template <class Access>
  bloom copied(std::uint64_t keys) const {
    bloom copy;
    copy.capacity_ = capacity_;
    copy.keys_ = keys;
    copy.k_ = k_;
    copy.table_ = table_.copied<Access>();
    return copy;
  }

  friend bool operator==(const bloom&, const bloom&) = default;

  template <class Self, class Archive>
  static void visit(Self& self, Archive& archive) {
    archive(self.capacity_, self.keys_, self.k_, self.table_);
  }
  static constexpr bool accepts_any_table = true;  // bits and counters have no wrong values
  status validate() const {
    if (detail::is_wrong(k_ < 1) || detail::is_wrong(k_ > detail::most_bloom_places)) {
      return failure{"k is " + std::to_string(k_) + ", not 1 to 64"};
    }
    if (detail::is_wrong(table_.size() == 0)) return failure{"the table is empty"};
    return {};
  }

 private:
  std::string shape() const { return std::to_string(table_.size()) + " bits, k = " + std::to_string(k_); }

  friend detail::stored_access;
  bloom() = default;

  std::uint64_t capacity_ = 0;
  std::uint64_t keys_ = 0;
  unsigned k_ = 0;
  detail::bitmap table_;
};

}  // namespace tamis::inline TAMIS_LEVEL
