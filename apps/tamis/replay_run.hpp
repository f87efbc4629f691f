#pragma once

// What a replay counts. A contestant is a filter in front of the store; the scene keeps what is true of the query log whatever
// the filter: which queries are negative, and which negative key each one is.

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "digest_store.hpp"
#include "tamis/any_filter.hpp"

namespace tamis::cli {

// Counts along the log without knowing its length: when the slices run out, neighbours are joined and slices are twice as wide.
class timeline {
 public:
  static constexpr std::size_t parts = 10;

  void add(std::uint64_t query);
  // What fell into each of so many equal parts of a log of that many queries.
  std::vector<std::uint64_t> in_parts(std::uint64_t queries, std::size_t count) const;
  std::array<std::uint64_t, parts> tenths(std::uint64_t queries) const;

 private:
  static constexpr std::size_t slices = 1024;

  std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>(slices);
  unsigned shift_ = 0;  // a slice is 2^shift queries
};

// Numbers keys 0, 1, 2, ... in order of first appearance.
class key_numbers {
 public:
  key_numbers();
  std::uint64_t number(digest d);
  std::uint64_t size() const { return used_; }

 private:
  struct slot {
    digest key;
    std::uint64_t number_plus_one = 0;  // 0: free
  };

  slot& find(digest d);
  void grow();

  std::vector<slot> slots_;
  std::uint64_t used_ = 0;
};

inline constexpr std::uint64_t member = ~std::uint64_t{0};

class query_log {
 public:
  // Sets numbers[i] to `member` or to the number of the negative key behind query i.
  void judge(std::span<const digest> queries, const digest_store& store, std::vector<std::uint64_t>& numbers);

  std::uint64_t queries() const { return queries_; }
  std::uint64_t negatives() const { return negatives_; }
  std::uint64_t distinct_negatives() const { return keys_.size(); }
  std::array<std::uint64_t, timeline::parts> negatives_over_time() const { return over_time_.tenths(queries_); }

 private:
  std::uint64_t queries_ = 0;
  std::uint64_t negatives_ = 0;
  key_numbers keys_;
  timeline over_time_;
};

class contestant {
 public:
  explicit contestant(any_filter filter) : filter_(std::move(filter)) {}
  // A store that filters by itself.
  explicit contestant(std::shared_ptr<const filtering_side> own) : own_(std::move(own)) {}
  // The store alone: every query reads it.
  static contestant without_filter() { return contestant(); }

  // The next queries of the log, which `numbers` judges, through filter and store, one after the other: an answer sees every
  // adaptation before it.
  void ask(std::span<const digest> queries, std::span<const std::uint64_t> numbers, const slow_side& store);

  std::string name() const { return own_ ? own_->name() : filter_ ? filter_->kind() : "none"; }
  memory_bits bits() const { return own_ ? own_->bits() : filter_ ? filter_->bits() : memory_bits{}; }
  bool filters() const { return own_ || filter_; }
  bool adapts() const { return filter_ && filter_->can().adapt; }
  std::uint64_t false_positives() const { return first_time_ + repeated_; }
  std::uint64_t first_time() const { return first_time_; }
  std::uint64_t repeated() const { return repeated_; }
  std::uint64_t false_negatives() const { return false_negatives_; }
  std::uint64_t store_reads() const { return store_reads_; }
  std::uint64_t store_reads_avoided() const { return asked_ - store_reads_; }
  std::uint64_t adaptations() const { return adaptations_; }
  // Ranges of stored digests that adapting read. Whether one key is stored is not counted: the read in vain has just told that.
  std::uint64_t range_scans() const { return range_scans_; }
  double seconds() const { return std::chrono::duration<double>(busy_).count(); }
  struct speeds {
    double slowest, fastest;  // queries per second
  };
  // Among the turns that were long enough to tell; all the same if there was but one.
  speeds speed_range() const;
  std::array<std::uint64_t, timeline::parts> false_positives_over_time() const { return over_time_.tenths(asked_); }
  std::vector<std::uint64_t> false_positives_in_parts(std::size_t count) const { return over_time_.in_parts(asked_, count); }

 private:
  contestant() = default;
  void note_speed(std::size_t queries, std::chrono::steady_clock::duration taken);
  void look_up(std::span<const digest> queries, const slow_side& store);
  void look_up_in_own(std::span<const digest> queries);
  std::size_t consult_store(std::span<const digest> queries, std::size_t first, std::size_t last, const slow_side& store);
  void count(std::span<const std::uint64_t> numbers);

  std::optional<any_filter> filter_;  // this one, or the next, or neither
  std::shared_ptr<const filtering_side> own_;
  std::vector<std::uint8_t> was_wrong_;  // by number of the negative key
  std::unique_ptr<bool[]> answers_;      // of the present call, as are the wrong ones
  std::size_t answers_size_ = 0;
  std::vector<std::size_t> wrong_;
  std::uint64_t asked_ = 0;
  std::uint64_t store_reads_ = 0;
  std::uint64_t first_time_ = 0;
  std::uint64_t repeated_ = 0;
  std::uint64_t false_negatives_ = 0;
  std::uint64_t adaptations_ = 0;
  std::uint64_t range_scans_ = 0;
  std::optional<speeds> speeds_;
  std::chrono::steady_clock::duration busy_{};
  timeline over_time_;
};

}  // namespace tamis::cli
