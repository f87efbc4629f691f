#pragma once

// What a replay counts. A contestant is a filter in front of the store; the scene keeps what is true of the query log whatever
// the filter: which queries are negative, and which negative key each one is.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "digest_store.hpp"
#include "lab/counted_memory.hpp"
#include "store_history.hpp"
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
inline constexpr std::size_t timed_turn = std::size_t{1} << 14;  // a shorter one tells more about the clock than about a filter

class query_log {
 public:
  // Sets numbers[i] to `member` or to the number of the negative key behind query i.
  void judge(std::span<const digest> queries, const slow_side& store, std::vector<std::uint64_t>& numbers);
  // The same for all queries of a log in which keys come and go, in one: a number for every event.
  std::vector<std::uint64_t> judge(const change_log& log, const store_history& history);

  std::uint64_t queries() const { return queries_; }
  std::uint64_t negatives() const { return negatives_; }
  std::uint64_t distinct_negatives() const { return keys_.size(); }
  // What a filter of this rate that does not adapt strays from its mean number of mistakes by luck alone, as a share of it: one
  // standard deviation, over hash seeds. Each key is a mistake or not, all its queries at once.
  double luck(double rate) const;
  std::array<std::uint64_t, timeline::parts> negatives_over_time() const { return over_time_.tenths(events_); }

 private:
  std::uint64_t judge_one(digest d, bool is_member);

  std::uint64_t events_ = 0;  // queries and changes
  std::uint64_t queries_ = 0;
  std::uint64_t negatives_ = 0;
  key_numbers keys_;
  std::vector<std::uint32_t> asked_;  // how often, by number of the key
  double squares_ = 0;                // sum of asked_^2
  timeline over_time_;
};

// Of a log in which keys come and go, the events from `first` to before `last`.
struct log_turn {
  const change_log& log;
  const store_history& history;
  std::span<const std::uint64_t> numbers;  // of all events, judged
  std::uint64_t first, last;
};

class contestant {
 public:
  // `memory`: what it takes its tables from, if that is counted.
  explicit contestant(any_filter filter, std::shared_ptr<const lab::counted_memory> memory = nullptr);
  // A store that filters by itself, or a rival.
  explicit contestant(std::shared_ptr<filtering_side> own) : own_(std::move(own)) {}
  contestant(contestant&&) = default;
  contestant& operator=(contestant&&) = delete;  // memory would go before the filter that takes from it
  // The store alone: every query reads it.
  static contestant without_filter() { return contestant(); }

  // The next queries of the log, which `numbers` judges, through filter and store, one after the other: an answer sees every
  // adaptation before it.
  void ask(std::span<const digest> queries, std::span<const std::uint64_t> numbers, const slow_side& store);

  // The next events. A key that a full filter refuses is kept beside it, whole: no answer about it may be "no".
  void play(const log_turn& turn);
  // Notes memory and keys, for the course of them over the log.
  void mark(std::uint64_t keys);

  std::string name() const { return own_ ? own_->name() : filter_ ? filter_->kind() : "none"; }
  memory_bits bits() const;  // what is kept beside it included
  bool filters() const { return own_ || filter_; }
  bool adapts() const { return own_ ? own_->learns() : filter_ && filter_->can().adapt; }
  // By remembering mistakes beside a filter that does not adapt by itself.
  bool remembers() const { return adapts() && (own_ || !filter_->model().plain().can().adapt); }
  bool can_change() const { return !own_ || own_->can_change(); }
  // The rate that the filter itself expects; nothing if it does not say.
  std::optional<double> expected_rate() const { return filter_ ? std::optional(filter_->expected_fpr()) : std::nullopt; }
  std::uint64_t false_positives() const { return first_time_ + repeated_; }
  std::uint64_t first_time() const { return first_time_; }
  std::uint64_t repeated() const { return repeated_; }
  std::uint64_t false_negatives() const { return false_negatives_; }
  std::uint64_t store_reads() const { return store_reads_; }
  std::uint64_t store_reads_avoided() const { return asked_ - store_reads_; }
  std::uint64_t adaptations() const { return adaptations_; }
  // Ranges of stored digests that adapting read. Whether one key is stored is not counted: the read in vain has just told that.
  std::uint64_t range_scans() const { return range_scans_; }
  std::uint64_t refused() const { return refused_count_; }          // inserts into a full filter
  std::uint64_t ignored_erases() const { return ignored_erases_; }  // it cannot: the keys stay in
  std::uint64_t peak_bits() const { return std::max(peak_bits_, bits().fast); }
  // The most memory that it ever took, fast and slow, with what growing copies; nothing if that was not counted.
  std::optional<std::uint64_t> most_taken_bits() const;
  struct moment {
    std::uint64_t keys;  // in the store
    std::uint64_t bits;
  };
  const std::vector<moment>& moments() const { return moments_; }  // that were marked
  double seconds() const { return std::chrono::duration<double>(busy_).count(); }
  struct speeds {
    double slowest, fastest;  // queries per second
  };
  bool is_timed() const { return !own_ || own_->is_timed(); }
  // Among the turns that were long enough to tell; all the same if there was but one.
  speeds speed_range() const;
  std::array<std::uint64_t, timeline::parts> false_positives_over_time() const { return over_time_.tenths(events_); }
  std::vector<std::uint64_t> false_positives_in_parts(std::size_t count) const { return over_time_.in_parts(events_, count); }

 private:
  contestant() = default;
  void end_turn(std::size_t queries, std::chrono::steady_clock::duration taken);
  void make_room(std::size_t queries);
  void change(digest key, log_op op, const store_history& history, std::uint64_t time);
  void insert(digest key, const slow_side& store);
  void erase(digest key, const slow_side& store);
  void keep_refused(std::span<const digest> queries, std::span<bool> answers) const;
  // `store` says what is there, `remote` what adapting reads: not the same for a filter that holds deleted keys.
  void look_up(std::span<const digest> queries, const slow_side& store, const slow_side& remote);
  void look_up_in_own(std::span<const digest> queries, const slow_side& store);
  std::size_t consult_store(std::span<const digest> queries, std::size_t first, std::size_t last, const slow_side& store,
                            const slow_side& remote);
  void count(std::span<const std::uint64_t> numbers);

  std::shared_ptr<const lab::counted_memory> memory_;  // before the filter that takes from it, which has to go first
  std::optional<any_filter> filter_;                   // this one, or the next, or neither
  std::shared_ptr<filtering_side> own_;
  std::vector<filtering_side::outcome> outcomes_;
  std::vector<std::uint8_t> was_wrong_;  // by number of the negative key
  std::unique_ptr<bool[]> answers_;      // of the present call, as are the wrong ones
  std::size_t answers_size_ = 0;
  std::vector<std::size_t> wrong_;
  bool keeps_deleted_ = false;  // it cannot delete, and adapts by itself: what it holds has to be in the remote that it reads
  std::set<digest> refused_;    // keys that are kept beside it
  std::uint64_t refused_count_ = 0;
  std::uint64_t ignored_erases_ = 0;
  std::uint64_t changes_ = 0;
  std::uint64_t peak_bits_ = 0;
  std::uint64_t most_bytes_ = 0;  // of memory_, while the log was played: also asking for the expected rate may copy a table
  std::vector<moment> moments_;
  std::uint64_t events_ = 0;  // queries and changes
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
