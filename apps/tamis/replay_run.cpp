#include "replay_run.hpp"

#include <algorithm>

namespace tamis::cli {
namespace {

constexpr std::size_t step = 4096;
// An adaptation makes the answers after it in the same step stale, and they are asked again: short steps keep that cheap.
constexpr std::size_t adaptive_step = 64;
constexpr std::size_t timed_turn = std::size_t{1} << 14;  // a shorter turn tells more about the clock than about a filter

// A store as a filter sees it that adapts.
class counted_scans {
 public:
  counted_scans(const slow_side& store, std::uint64_t& scans) : store_(store), scans_(scans) {}
  void for_each_in(digest_range range, const std::function<bool(digest)>& visit) const {
    scans_ += range.first != range.last;
    store_.for_each_in(range, visit);
  }

 private:
  const slow_side& store_;
  std::uint64_t& scans_;
};

}  // namespace

void timeline::add(std::uint64_t query) {
  while (query >> shift_ >= slices) {
    for (std::size_t i = 0; i < slices / 2; ++i) counts_[i] = counts_[2 * i] + counts_[2 * i + 1];
    std::fill(counts_.begin() + slices / 2, counts_.end(), 0);
    ++shift_;
  }
  ++counts_[query >> shift_];
}

std::vector<std::uint64_t> timeline::in_parts(std::uint64_t queries, std::size_t count) const {
  std::vector<std::uint64_t> sums(count);
  for (std::uint64_t slice = 0; slice < slices && slice << shift_ < queries; ++slice) {
    const double place = static_cast<double>(slice << shift_) / static_cast<double>(queries);
    sums[static_cast<std::size_t>(place * static_cast<double>(count))] += counts_[slice];
  }
  return sums;
}

std::array<std::uint64_t, timeline::parts> timeline::tenths(std::uint64_t queries) const {
  const std::vector<std::uint64_t> sums = in_parts(queries, parts);
  std::array<std::uint64_t, parts> tenths{};
  std::copy(sums.begin(), sums.end(), tenths.begin());
  return tenths;
}

key_numbers::key_numbers() : slots_(std::size_t{1} << 16) {}

key_numbers::slot& key_numbers::find(digest d) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = d.low & mask;
  while (slots_[at].number_plus_one != 0 && slots_[at].key != d) at = (at + 1) & mask;
  return slots_[at];
}

std::uint64_t key_numbers::number(digest d) {
  slot* place = &find(d);
  if (place->number_plus_one == 0) {
    if (3 * (used_ + 1) > 2 * slots_.size()) {
      grow();
      place = &find(d);
    }
    *place = {d, ++used_};
  }
  return place->number_plus_one - 1;
}

void key_numbers::grow() {
  std::vector<slot> old(2 * slots_.size());
  old.swap(slots_);
  for (const slot& s : old) {
    if (s.number_plus_one != 0) find(s.key) = s;
  }
}

void query_log::judge(std::span<const digest> queries, const digest_store& store, std::vector<std::uint64_t>& numbers) {
  numbers.resize(queries.size());
  for (std::size_t i = 0; i < queries.size(); ++i) {
    numbers[i] = store.contains(queries[i]) ? member : keys_.number(queries[i]);
    if (numbers[i] == member) continue;
    ++negatives_;
    over_time_.add(queries_ + i);
  }
  queries_ += queries.size();
}

void contestant::ask(std::span<const digest> queries, std::span<const std::uint64_t> numbers, const slow_side& store) {
  if (answers_size_ < queries.size()) {
    answers_ = std::make_unique<bool[]>(queries.size());
    answers_size_ = queries.size();
  }
  wrong_.clear();
  const auto start = std::chrono::steady_clock::now();
  if (own_) {
    look_up_in_own(queries);
  } else {
    look_up(queries, store);
  }
  note_speed(queries.size(), std::chrono::steady_clock::now() - start);
  count(numbers);
}

void contestant::note_speed(std::size_t queries, std::chrono::steady_clock::duration taken) {
  busy_ += taken;
  if (queries < timed_turn) return;
  const double speed = static_cast<double>(queries) / std::chrono::duration<double>(taken).count();
  if (!speeds_) speeds_ = speeds{speed, speed};
  speeds_ = speeds{std::min(speed, speeds_->slowest), std::max(speed, speeds_->fastest)};
}

contestant::speeds contestant::speed_range() const {
  const double mean = static_cast<double>(asked_) / seconds();
  return speeds_.value_or(speeds{mean, mean});
}

void contestant::look_up_in_own(std::span<const digest> queries) {
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const auto [passed, found] = own_->look_up(queries[i]);
    answers_[i] = passed;
    store_reads_ += passed;
    if (passed && !found) wrong_.push_back(i);
  }
}

void contestant::look_up(std::span<const digest> queries, const slow_side& store) {
  const std::size_t most = adapts() ? adaptive_step : step;
  for (std::size_t first = 0; first < queries.size();) {
    const std::size_t last = std::min(first + most, queries.size());
    const std::span<bool> answers(answers_.get() + first, last - first);
    if (filter_) {
      filter_->may_contain_many(queries.subspan(first, last - first), answers);
    } else {
      std::fill(answers.begin(), answers.end(), true);
    }
    first = consult_store(queries, first, last, store);
  }
}

// Reads the store for every "maybe", up to the end or the first adaptation; says where to go on.
std::size_t contestant::consult_store(std::span<const digest> queries, std::size_t first, std::size_t last,
                                      const slow_side& store) {
  const counted_scans stored(store, range_scans_);
  for (std::size_t i = first; i < last; ++i) {
    if (!answers_[i]) continue;
    ++store_reads_;
    if (store.contains(queries[i])) continue;
    wrong_.push_back(i);
    if (adapts() && filter_->adapt(queries[i], remote_ref(stored)) == adapt_result::fixed) {
      ++adaptations_;
      return i + 1;
    }
  }
  return last;
}

void contestant::count(std::span<const std::uint64_t> numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) false_negatives_ += !answers_[i] && numbers[i] == member;
  for (const std::size_t i : wrong_) {
    const std::uint64_t key = numbers[i];
    if (key >= was_wrong_.size()) was_wrong_.resize(std::max<std::size_t>(key + 1, 2 * was_wrong_.size()));
    (was_wrong_[key] != 0 ? repeated_ : first_time_) += 1;
    was_wrong_[key] = 1;
    over_time_.add(asked_ + i);
  }
  asked_ += numbers.size();
}

}  // namespace tamis::cli
