#include "lab/advise/trial.hpp"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "tamis/detail/any/known_mistakes.hpp"
#include "tamis/memory_remote.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

constexpr std::uint64_t most_created = std::uint64_t{1} << 20;  // keys of a filter that is made only to see its size
constexpr std::size_t made_up_queries = std::size_t{1} << 16;
constexpr std::size_t timed_queries = std::size_t{1} << 16;
constexpr std::uint64_t enough_mistakes = 1000;  // of which the shares are known to a few per cent
constexpr std::uint64_t most_rounds = 8;
constexpr unsigned growth_points = 16;
constexpr double useless_rate = 0.5;
constexpr std::size_t step = 64;  // as in a replay: an adaptation makes the answers after it in a step stale

// Of this thread: what else the machine does meanwhile counts for nothing.
double processor_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

struct digest_hash {
  std::size_t operator()(digest d) const { return d.low; }
};

// The same keys as other digests: rounds are independent of each other.
digest remixed(digest d, std::uint64_t round) {
  if (round == 0) return d;
  return {mix64(d.high + round * 0x9e3779b97f4a7c15u), mix64(d.low ^ (round * 0xd1342543de82ef95u))};
}

std::vector<digest> remixed(std::span<const digest> digests, std::uint64_t round) {
  std::vector<digest> all(digests.begin(), digests.end());
  for (digest& d : all) d = remixed(d, round);
  return all;
}

// Counts what adapting reads. That one key is stored is known from the read in vain.
class counted_remote {
 public:
  counted_remote(const memory_remote& stored, std::uint64_t& scans) : stored_(stored), scans_(scans) {}
  template <class Visit>
  void for_each_in(digest_range range, Visit&& visit) const {
    scans_ += range.first != range.last;
    stored_.for_each_in(range, visit);
  }

 private:
  const memory_remote& stored_;
  std::uint64_t& scans_;
};

class one_trial {
 public:
  one_trial(const tried_filter& filter, const filter_params& params, const trial_setting& setting)
      : known_(filter.known),
        entry_(filter.entry),
        params_(params),
        setting_(setting),
        expands_(setting.grows() && entry_.can.expand),
        adapts_(entry_.can.adapt || tried_filter::has_list(params)) {}

  result<trial_result> run() {
    TAMIS_CHECK(see_sizes());
    const bool adapts = adapts_ && setting_.has_log();
    const std::uint64_t rounds = adapts ? most_rounds : 1;
    for (std::uint64_t round = 0; round < rounds && got_.first_time < enough_mistakes; ++round) {
      const trial_setting::part& part = setting_.part_of_round(round);
      TAMIS_CHECK(fill(part, round));
      const std::span<const digest> queries = part.queries;
      ask(part, remixed(adapts ? queries : queries.first(std::min(timed_queries, queries.size())), round));
    }
    got_.lookup_ns = busy_ns_ / static_cast<double>(asked_);
    return got_;
  }

 private:
  std::uint64_t made_for() const { return expands_ ? setting_.capacity() : setting_.final_keys(); }
  static std::uint64_t in_little(std::uint64_t keys, unsigned shift) { return std::max<std::uint64_t>(1, keys >> shift); }

  result<std::unique_ptr<any_model>> make(std::uint64_t capacity) const {
    filter_params params = params_;
    params.capacity = capacity;
    return make_model(known_, entry_.info->id, params);
  }

  // Sizes are those of an empty filter for all keys, or for so many of them, by a power of two, that it is cheap to make.
  status see_sizes() {
    unsigned shift = 0;
    while (made_for() >> shift > most_created) ++shift;
    TAMIS_TRY(const auto made, make(in_little(made_for(), shift)));
    got_.at_start = scaled(made->bits(), static_cast<double>(std::uint64_t{1} << shift));
    return {};
  }

  static memory_bits scaled(memory_bits bits, double factor) {
    return {static_cast<std::uint64_t>(static_cast<double>(bits.fast) * factor),
            static_cast<std::uint64_t>(static_cast<double>(bits.slow) * factor)};
  }

  status fill(const trial_setting::part& part, std::uint64_t round) {
    TAMIS_TRY(filter_, make(in_little(made_for(), setting_.shift())));
    const memory_bits empty = filter_->bits();
    const std::vector<digest> members = remixed(part.members, round);
    stored_ = memory_remote();
    std::size_t in = 0;
    if (expands_) {
      in = grow(members);
    } else {
      if (adapts_) std::for_each(members.begin(), members.end(), [this](digest d) { stored_.insert(d); });
      in = filter_->insert_many(hasher(), members, {});
    }
    if (in < members.size())
      return failure{"full after " + std::to_string(in) + " of " + std::to_string(members.size()) + " keys"};
    if (round != 0) return {};
    // What filling and growing made of the memory, applied to the size of the whole filter.
    const memory_bits full = filter_->bits();
    const auto ratio = [](auto a, auto b) { return b == 0 ? 1.0 : static_cast<double>(a) / static_cast<double>(b); };
    got_.at_end = {scaled(got_.at_start, ratio(full.fast, empty.fast)).fast,
                   scaled(got_.at_start, ratio(full.slow, empty.slow)).slow};
    if (empty.slow == 0) got_.at_end.slow = full.slow << setting_.shift();
    got_.mean_fast_bits =
        expands_ ? static_cast<double>(got_.at_start.fast) * mean_ratio_ : static_cast<double>(got_.at_end.fast);
    full_fast_ = full.fast;
    got_.first_rate = filter_->expected_fpr();
    if (got_.first_rate > useless_rate) return failure{"would be wrong about more than every second new key"};
    return {};
  }

  // One key after the other, as they come in a store, which renews what it can from the store. How many went in.
  std::size_t grow(const std::vector<digest>& members) {
    const remote_ref stored(stored_);
    const auto empty = static_cast<double>(filter_->bits().fast);
    const std::uint64_t first = in_little(setting_.capacity(), setting_.shift());
    double sum = 0;
    std::uint64_t next_point = first;
    unsigned points = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
      stored_.insert(members[i]);
      if (filter_->insert(members[i], stored) == insert_result::full) {
        if (!filter_->expand().ok() || filter_->insert(members[i], stored) == insert_result::full) return i;
      }
      while (i + 1 >= next_point && points < growth_points) {
        sum += static_cast<double>(filter_->bits().fast) / empty;
        ++points;
        next_point = first + (members.size() - first) * points / (growth_points - 1);
      }
    }
    mean_ratio_ = sum / points;
    return members.size();
  }

  void ask(const trial_setting::part& part, const std::vector<digest>& queries) {
    std::vector<bool> was_wrong(part.distinct);
    const counted_remote counted(stored_, got_.range_scans);
    const remote_ref stored(counted);
    bool answers[step];
    const double start = processor_ns();
    for (std::size_t first = 0; first < queries.size();) {
      const std::size_t count = std::min(step, queries.size() - first);
      filter_->may_contain_many(hasher(), std::span(queries).subspan(first, count), std::span(answers).first(count));
      std::size_t done = 0;
      while (done < count) {
        const std::size_t i = done++;
        if (!answers[i]) continue;
        const std::uint32_t key = part.numbers[first + i];
        (was_wrong[key] ? got_.repeated : got_.first_time) += 1;
        was_wrong[key] = true;
        if (adapts_ && filter_->adapt(queries[first + i], stored) == adapt_result::fixed) break;
      }
      first += done;
    }
    busy_ns_ += processor_ns() - start;
    note_fixes();
    asked_ += queries.size();
    got_.distinct_asked += part.distinct;
  }

  // Fixes take memory, too: what they made of the first round's filter.
  void note_fixes() {
    if (full_fast_ == 0) return;
    const double grown = static_cast<double>(filter_->bits().fast) / static_cast<double>(std::exchange(full_fast_, 0));
    got_.at_end.fast = scaled(got_.at_end, grown).fast;
    got_.mean_fast_bits *= grown;
  }

  const registry& known_;
  const registry_entry& entry_;
  const filter_params& params_;
  const trial_setting& setting_;
  bool expands_;
  bool adapts_;
  trial_result got_;
  std::unique_ptr<any_model> filter_;
  memory_remote stored_;
  double mean_ratio_ = 1;
  std::uint64_t full_fast_ = 0;  // bits of the first round's filter before it is asked
  double busy_ns_ = 0;
  std::size_t asked_ = 0;
};

}  // namespace

trial_setting::trial_setting(std::uint64_t capacity, std::uint64_t final_keys, std::span<const digest> members,
                             const query_sample* log)
    : capacity_(capacity),
      final_keys_(final_keys),
      shift_(log != nullptr ? log->thinning() : query_sample(final_keys).thinning()),
      has_log_(log != nullptr && !log->sampled().empty()),
      parts_(has_log_ ? std::min(log->parts(), most_rounds) : 1) {
  for (std::uint64_t p = 0; p < parts_.size(); ++p) {
    const auto is_in = [&](digest d) { return log == nullptr || log->part_contains(p, d); };
    std::copy_if(members.begin(), members.end(), std::back_inserter(parts_[p].members), is_in);
    if (has_log_) std::copy_if(log->sampled().begin(), log->sampled().end(), std::back_inserter(parts_[p].queries), is_in);
  }
  const auto has_queries = [](const part& p) { return !p.queries.empty(); };
  std::stable_partition(parts_.begin(), parts_.end(), has_queries);
  has_log_ = has_queries(parts_.front());
  for (part& p : parts_) fill_up(p);
}

void trial_setting::fill_up(part& p) const {
  random_source random(0x7461'6d69'73);
  const std::uint64_t wanted = std::max<std::uint64_t>(1, final_keys_ >> shift_);
  if (p.members.size() > wanted) p.members.resize(wanted);
  while (p.members.size() < wanted) p.members.push_back({random(), random()});
  if (!has_log_) {
    for (std::size_t i = 0; i < made_up_queries; ++i) p.queries.push_back({random(), random()});
  }
  std::unordered_map<digest, std::uint32_t, digest_hash> seen;
  for (const digest d : p.queries)
    p.numbers.push_back(seen.try_emplace(d, static_cast<std::uint32_t>(seen.size())).first->second);
  p.distinct = static_cast<std::uint32_t>(seen.size());
}

bool tried_filter::has_list(const filter_params& params) { return list_option(params.options) != nullptr; }

result<trial_result> run_trial(const tried_filter& filter, filter_params params, const trial_setting& setting) {
  return one_trial(filter, params, setting).run();
}

}  // namespace tamis::lab
