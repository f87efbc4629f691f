#include "replay_run.hpp"

#include <algorithm>
#include <cmath>

#include "tamis/registry.hpp"

namespace tamis::cli {
namespace {

constexpr std::size_t step = 4096;
// An adaptation makes the answers after it in the same step stale, and they are asked again: short steps keep that cheap.
constexpr std::size_t adaptive_step = 64;

constexpr std::uint64_t digest_bits = 128;
constexpr std::uint64_t changes_per_look = 1024;  // at the memory of a filter that grows

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

std::uint64_t query_log::judge_one(digest d, bool is_member) {
  ++queries_;
  if (is_member) return member;
  ++negatives_;
  over_time_.add(events_);
  const std::uint64_t number = keys_.number(d);
  if (number == asked_.size()) asked_.push_back(0);
  if (asked_[number] != ~std::uint32_t{0}) squares_ += 2.0 * asked_[number]++ + 1;
  return number;
}

double query_log::luck(double rate) const {
  if (negatives_ == 0 || !(rate > 0)) return 0;
  return std::sqrt((1 - rate) / rate * squares_) / static_cast<double>(negatives_);
}

void query_log::judge(std::span<const digest> queries, const slow_side& store, std::vector<std::uint64_t>& numbers) {
  numbers.resize(queries.size());
  for (std::size_t i = 0; i < queries.size(); ++i) {
    numbers[i] = judge_one(queries[i], store.contains(queries[i]));
    ++events_;
  }
}

std::vector<std::uint64_t> query_log::judge(const change_log& log, const store_history& history) {
  std::vector<std::uint64_t> numbers(log.size(), member);
  for (std::uint64_t i = 0; i < log.size(); ++i) {
    if (log.is_query(i)) numbers[i] = judge_one(log.keys[i], history.contains(log.keys[i], i));
    ++events_;
  }
  return numbers;
}

contestant::contestant(any_filter filter, std::shared_ptr<const lab::counted_memory> memory)
    : memory_(std::move(memory)), filter_(std::move(filter)) {
  const auto alone = registry::builtin().find(filter_->info().id);
  keeps_deleted_ = !filter_->can().erase && alone.ok() && (*alone)->can.adapt;
}

std::optional<std::uint64_t> contestant::most_taken_bits() const {
  if (!memory_) return std::nullopt;
  return 8 * most_bytes_ + digest_bits * refused_.size();
}

memory_bits contestant::bits() const {
  if (own_) return own_->bits();
  if (!filter_) return {};
  memory_bits all = filter_->bits();
  all.fast += digest_bits * refused_.size();
  return all;
}

void contestant::play(const log_turn& turn) {
  const auto& [log, history, numbers, first, last] = turn;
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t i = first; i < last;) {
    if (!log.is_query(i)) {
      change(log.keys[i], log.ops[i], history, i);
      ++i;
      continue;
    }
    std::uint64_t end = i;
    while (end < last && log.is_query(end)) ++end;
    make_room(end - i);
    look_up(std::span(log.keys).subspan(i, end - i), history.at(i), history.at(i, !keeps_deleted_));
    count(numbers.subspan(i, end - i));
    i = end;
  }
  end_turn(last - first, std::chrono::steady_clock::now() - start);
}

void contestant::change(digest key, log_op op, const store_history& history, std::uint64_t time) {
  ++events_;
  if (!filter_) return;
  if (op == log_op::insert) {
    insert(key, history.at(time + 1, !keeps_deleted_));
  } else {
    erase(key, history.at(time, !keeps_deleted_));
  }
  if (++changes_ % changes_per_look == 0) peak_bits_ = std::max(peak_bits_, bits().fast);
}

void contestant::insert(digest key, const slow_side& store) {
  const auto in = [&] { return filter_->insert(key, remote_ref(store)) == insert_result::inserted; };
  if (in() || (filter_->can().expand && filter_->expand().ok() && in())) return;
  ++refused_count_;
  refused_.insert(key);
}

void contestant::erase(digest key, const slow_side& store) {
  if (refused_.erase(key) != 0) return;
  if (filter_->can().erase) {
    filter_->erase(key, remote_ref(store));
  } else {
    ++ignored_erases_;
  }
}

void contestant::mark(std::uint64_t keys) {
  moments_.push_back({keys, bits().fast});
  peak_bits_ = std::max(peak_bits_, bits().fast);
}

void contestant::ask(std::span<const digest> queries, std::span<const std::uint64_t> numbers, const slow_side& store) {
  make_room(queries.size());
  const auto start = std::chrono::steady_clock::now();
  if (own_) {
    look_up_in_own(queries, store);
  } else {
    look_up(queries, store, store);
  }
  end_turn(queries.size(), std::chrono::steady_clock::now() - start);
  count(numbers);
}

void contestant::make_room(std::size_t queries) {
  wrong_.clear();
  if (answers_size_ >= queries) return;
  answers_ = std::make_unique<bool[]>(queries);
  answers_size_ = queries;
}

void contestant::end_turn(std::size_t queries, std::chrono::steady_clock::duration taken) {
  if (memory_) most_bytes_ = memory_->most_bytes();
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

void contestant::look_up_in_own(std::span<const digest> queries, const slow_side& store) {
  using outcome = filtering_side::outcome;
  outcomes_.resize(std::max(outcomes_.size(), queries.size()));
  own_->look_up(queries, store, std::span(outcomes_).first(queries.size()));
  for (std::size_t i = 0; i < queries.size(); ++i) {
    answers_[i] = outcomes_[i] != outcome::stopped;
    store_reads_ += answers_[i];
    if (outcomes_[i] != outcome::in_vain) continue;
    wrong_.push_back(i);
    adaptations_ += own_->learns();
  }
}

void contestant::look_up(std::span<const digest> queries, const slow_side& store, const slow_side& remote) {
  const std::size_t most = adapts() ? adaptive_step : step;
  for (std::size_t first = 0; first < queries.size();) {
    const std::size_t last = std::min(first + most, queries.size());
    const std::span<bool> answers(answers_.get() + first, last - first);
    if (filter_) {
      filter_->may_contain_many(queries.subspan(first, last - first), answers);
      if (!refused_.empty()) keep_refused(queries.subspan(first, last - first), answers);
    } else {
      std::fill(answers.begin(), answers.end(), true);
    }
    first = consult_store(queries, first, last, store, remote);
  }
}

void contestant::keep_refused(std::span<const digest> queries, std::span<bool> answers) const {
  for (std::size_t i = 0; i < queries.size(); ++i) answers[i] = answers[i] || refused_.contains(queries[i]);
}

// Reads the store for every "maybe", up to the end or the first adaptation; says where to go on.
std::size_t contestant::consult_store(std::span<const digest> queries, std::size_t first, std::size_t last,
                                      const slow_side& store, const slow_side& remote) {
  const counted_scans stored(remote, range_scans_);
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
    over_time_.add(events_ + i);
  }
  asked_ += numbers.size();
  events_ += numbers.size();
}

}  // namespace tamis::cli
