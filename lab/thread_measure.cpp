#include "lab/thread_measure.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <ctime>
#include <latch>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "lab/measure/keys.hpp"
#include "lab/measure/loops.hpp"
#include "tamis/concurrent.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

using wall = std::chrono::steady_clock;

double seconds_on_processor() {
  std::timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// A filter that threads share in one of the ways. Every call answers for a piece of the work, so that being virtual costs
// nothing.
class shared_by {
 public:
  virtual ~shared_by() = default;
  virtual std::size_t look_up(key_span keys) const = 0;  // one by one
  virtual std::size_t look_up_many(key_span keys) const = 0;
  virtual std::size_t insert(key_span keys) = 0;  // one by one
  virtual bool look_up_one(std::uint64_t key) const = 0;
};

// A bare filter, or one that sees to its threads by itself.
template <class Filter>
class as_it_is final : public shared_by {
 public:
  explicit as_it_is(Filter filter) : filter_(std::move(filter)) {}
  std::size_t look_up(key_span keys) const override {
    return count_singles(keys, filter_.hash(), [this](digest d) { return filter_.may_contain(d); });
  }
  std::size_t look_up_many(key_span keys) const override {
    return count_chunks(keys, [this](key_span chunk, std::span<bool> out) { filter_.may_contain_many(chunk, out); });
  }
  std::size_t insert(key_span keys) override {
    return count_singles(keys, filter_.hash(), [this](digest d) { return filter_.insert(d) == insert_result::inserted; });
  }
  bool look_up_one(std::uint64_t key) const override { return filter_.may_contain(key); }

 private:
  Filter filter_;
};

class locked_filter final : public shared_by {
 public:
  explicit locked_filter(any_filter filter) : filter_(std::move(filter)) {}
  std::size_t look_up(key_span keys) const override {
    return count_singles(keys, filter_.hash(), [this](digest d) {
      const std::shared_lock reading(lock_);
      return filter_.may_contain(d);
    });
  }
  std::size_t look_up_many(key_span keys) const override {
    return count_chunks(keys, [this](key_span chunk, std::span<bool> out) {
      const std::shared_lock reading(lock_);
      filter_.may_contain_many(chunk, out);
    });
  }
  std::size_t insert(key_span keys) override {
    return count_singles(keys, filter_.hash(), [this](digest d) {
      const std::unique_lock writing(lock_);
      return filter_.insert(d) == insert_result::inserted;
    });
  }
  bool look_up_one(std::uint64_t key) const override {
    const std::shared_lock reading(lock_);
    return filter_.may_contain(key);
  }

 private:
  mutable std::shared_mutex lock_;
  any_filter filter_;
};

using shared_filter = std::unique_ptr<shared_by>;

result<shared_filter> make(const contender& who, sharing how) {
  const auto named = [&](const auto& made) { return failure{who.id + ": " + made.message()}; };
  if (how == sharing::concurrent) {
    auto made = concurrent_filter::create(who.id, who.params);
    if (!made) return named(made);
    return shared_filter(std::make_unique<as_it_is<concurrent_filter>>(*std::move(made)));
  }
  auto made = any_filter::create(registry::builtin(), who.id, who.params);
  if (!made) return named(made);
  if (how == sharing::nothing) return shared_filter(std::make_unique<as_it_is<any_filter>>(*std::move(made)));
  return shared_filter(std::make_unique<locked_filter>(*std::move(made)));
}

// Pieces of keys for whoever comes next.
class shared_work {
 public:
  explicit shared_work(key_span keys) : keys_(keys) {}
  key_span next() {
    const std::size_t first = std::min(taken_.fetch_add(piece, std::memory_order_relaxed), keys_.size());
    return keys_.subspan(first, std::min(piece, keys_.size() - first));
  }

 private:
  static constexpr std::size_t piece = batch_chunk;
  key_span keys_;
  std::atomic<std::size_t> taken_ = 0;
};

// What one kind of thread did.
struct tally {
  std::atomic<std::uint64_t> operations = 0;
  std::atomic<double> on_processor = 0.0;
};

// Runs all jobs at once, each in a thread; how long it took from the first's beginning to the last's end.
template <class Jobs>
double run_at_once(const Jobs& jobs) {
  struct span_of_time {
    wall::time_point begin, end;
  };
  std::vector<span_of_time> spans(jobs.size());
  std::latch ready(static_cast<std::ptrdiff_t>(jobs.size()));
  std::vector<std::thread> threads;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    threads.emplace_back([&, j] {
      ready.arrive_and_wait();
      spans[j].begin = wall::now();
      jobs[j]();
      spans[j].end = wall::now();
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto first = std::min_element(spans.begin(), spans.end(), [](auto& a, auto& b) { return a.begin < b.begin; });
  const auto last = std::max_element(spans.begin(), spans.end(), [](auto& a, auto& b) { return a.end < b.end; });
  return std::chrono::duration<double>(last->end - first->begin).count();
}

rate rate_of(const tally& done, double seconds) {
  return {static_cast<double>(done.operations) / seconds, done.on_processor / seconds};
}

// Does `work` and notes its operations, which it returns, and its time on a processor.
template <class Work>
void noted(tally& sum, Work work) {
  const double before = seconds_on_processor();
  sum.operations += work();
  sum.on_processor += seconds_on_processor() - before;
}

template <class Piece>
std::uint64_t do_all(shared_work& work, Piece piece) {
  std::uint64_t done = 0;
  for (key_span keys = work.next(); !keys.empty(); keys = work.next()) {
    piece(keys);
    done += keys.size();
  }
  return done;
}

template <class Piece>
rate rate_of_threads(unsigned threads, key_span keys, Piece piece) {
  shared_work work(keys);
  tally sum;
  const std::vector<std::function<void()>> jobs(threads, [&] { noted(sum, [&] { return do_all(work, piece); }); });
  return rate_of(sum, run_at_once(jobs));
}

struct beside {
  rate lookups, insert;
};

// Inserts a few keys at a time, until all are in or nobody looks up any more.
std::uint64_t insert_while(const std::atomic<bool>& goes_on, shared_by& filter, key_span keys) {
  constexpr std::size_t few = 64;
  std::uint64_t done = 0;
  for (; done < keys.size() && goes_on; done += few) filter.insert(keys.subspan(done, std::min(few, keys.size() - done)));
  return std::min<std::uint64_t>(done, keys.size());
}

// One thread fills the filter, the others look up until it has, or until the time is up: readers of a std::shared_mutex who
// always come again may keep a writer out for ever.
beside rates_beside(shared_by& filter, unsigned threads, double seconds_at_most, key_span members, key_span negatives) {
  tally readers, writer;
  std::atomic<bool> goes_on = true;
  std::vector<std::function<void()>> jobs;
  jobs.emplace_back([&] {
    noted(writer, [&] { return insert_while(goes_on, filter, members); });
    goes_on = false;
  });
  for (unsigned t = 1; t < threads; ++t) {
    jobs.emplace_back([&, t] {
      const wall::time_point end =
          wall::now() + std::chrono::duration_cast<wall::duration>(std::chrono::duration<double>(seconds_at_most));
      noted(readers, [&] {
        std::uint64_t done = 0;
        std::size_t at = negatives.size() / threads * t;
        while (goes_on) {
          const key_span keys = negatives.subspan(at, std::min<std::size_t>(64, negatives.size() - at));
          use_alone(filter.look_up(keys));
          done += keys.size();
          at = at + keys.size() == negatives.size() ? 0 : at + keys.size();
          if (wall::now() > end) goes_on = false;
        }
        return done;
      });
    });
  }
  const double seconds = run_at_once(jobs);
  return {rate_of(readers, seconds), rate_of(writer, seconds)};
}

tail_row tails_of(const std::string& id, sharing how, shared_by& filter, double seconds_at_most, key_span members,
                  key_span negatives) {
  nanosecond_histogram lookups, clock;
  std::atomic<bool> goes_on = true;
  const auto write = [&] {
    insert_while(goes_on, filter, members);
    goes_on = false;
  };
  const auto read = [&] {
    const auto ns = [](wall::time_point from, wall::time_point to) { return static_cast<std::uint64_t>((to - from).count()); };
    const wall::time_point end =
        wall::now() + std::chrono::duration_cast<wall::duration>(std::chrono::duration<double>(seconds_at_most));
    for (std::size_t i = 0; goes_on; i = i + 1 == negatives.size() ? 0 : i + 1) {
      const wall::time_point before = wall::now();
      use_alone(filter.look_up_one(negatives[i]));
      const wall::time_point after = wall::now();
      const wall::time_point again = wall::now();
      lookups.add(ns(before, after));
      clock.add(ns(after, again));
      if (again > end) goes_on = false;
    }
  };
  run_at_once(std::vector<std::function<void()>>{write, read});
  if (lookups.count() == 0)
    return {.id = id, .how = how, .lookup = {}, .clock = {}};  // the writer was done before the reader began
  return {id, how, lookups.count(), lookups.summary(), clock.summary()};
}

std::vector<unsigned> thread_counts(unsigned most) {
  std::vector<unsigned> counts;
  for (unsigned n = 1; n < most; n *= 2) counts.push_back(n);
  counts.push_back(most);
  return counts;
}

class threads_run {
 public:
  threads_run(const std::vector<contender>& contenders, const thread_options& options)
      : contenders_(contenders), options_(options), keys_(make_keys(options.keys, options.queries, options.seed)) {}

  result<thread_report> run() {
    thread_report report;
    for (const contender& who : contenders_) {
      for (const sharing how : all_sharings) {
        for (const unsigned threads : thread_counts(options_.threads)) {
          rows_.emplace_back().who = &who;
          thread_row& row = rows_.back().row;
          row.id = who.id;
          row.how = how;
          row.threads = threads;
        }
      }
    }
    for (unsigned repeat = 0; repeat < options_.repeats; ++repeat) {
      for (row_in_work& row : rows_) {
        TAMIS_CHECK(measure(row));
        step();
      }
    }
    for (row_in_work& row : rows_) report.rows.push_back(finished(row));
    TAMIS_CHECK(measure_tails(report));
    return report;
  }

 private:
  struct row_in_work {
    thread_row row;
    const contender* who = nullptr;
    std::vector<rate> lookups, lookups_many, inserts, beside_lookups, beside_insert;
  };

  status measure(row_in_work& w) {
    const unsigned threads = w.row.threads;
    const bool one_writes = w.row.how != sharing::nothing;
    TAMIS_TRY(shared_filter filter, make(*w.who, w.row.how));
    const rate inserts = rate_of_threads(one_writes ? threads : 1, keys_.members, [&](key_span keys) { filter->insert(keys); });
    if (one_writes || threads == 1) w.inserts.push_back(inserts);
    if (filter->look_up_many(keys_.members) != keys_.members.size())
      return failure{w.who->id + ": it has lost keys, shared by " + to_string(w.row.how)};
    w.lookups.push_back(rate_of_threads(threads, keys_.negatives, [&](key_span keys) { use_alone(filter->look_up(keys)); }));
    w.lookups_many.push_back(
        rate_of_threads(threads, keys_.negatives, [&](key_span keys) { use_alone(filter->look_up_many(keys)); }));
    if (!one_writes || threads == 1) return {};
    TAMIS_TRY(filter, make(*w.who, w.row.how));
    const beside both = rates_beside(*filter, threads, options_.seconds_beside, keys_.members, keys_.negatives);
    w.beside_lookups.push_back(both.lookups);
    w.beside_insert.push_back(both.insert);
    return {};
  }

  status measure_tails(thread_report& report) {
    for (const contender& who : contenders_) {
      const registry_entry* const entry = registry::builtin().find(who.id.substr(0, who.id.find('+'))).value();
      if (!entry->can.expand || options_.threads == 1) continue;
      contender small = who;
      small.params.capacity = std::min<std::uint64_t>(who.params.capacity, 1000);
      for (const sharing how : {sharing::shared_mutex, sharing::concurrent}) {
        TAMIS_TRY(const shared_filter filter, make(small, how));
        report.tails.push_back(tails_of(who.id, how, *filter, options_.seconds_beside, keys_.members, keys_.negatives));
      }
    }
    return {};
  }

  // The median of the rates.
  static rate middle(std::vector<rate> all) {
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), at, all.end(), [](const rate& a, const rate& b) { return a.per_second < b.per_second; });
    return *at;
  }
  static std::optional<rate> middle_if_any(const std::vector<rate>& all) {
    return all.empty() ? std::nullopt : std::optional(middle(all));
  }
  static thread_row finished(const row_in_work& w) {
    thread_row row = w.row;
    row.lookups = middle(w.lookups);
    row.lookups_many = middle(w.lookups_many);
    row.inserts = middle_if_any(w.inserts);
    row.beside_lookups = middle_if_any(w.beside_lookups);
    row.beside_insert = middle_if_any(w.beside_insert);
    return row;
  }

  void step() {
    ++done_;
    const auto all = static_cast<double>(rows_.size() * options_.repeats);
    if (options_.progress) options_.progress(static_cast<double>(done_) / all);
  }

  const std::vector<contender>& contenders_;
  const thread_options& options_;
  key_sets keys_;
  std::vector<row_in_work> rows_;
  std::size_t done_ = 0;
};

}  // namespace

const char* to_string(sharing how) {
  constexpr std::array names = {"nothing", "shared_mutex", "concurrent_filter"};
  return names[static_cast<std::size_t>(how)];
}

result<thread_report> bench_threads(const std::vector<contender>& contenders, const thread_options& options) {
  return threads_run(contenders, options).run();
}

// Below 16 every number has a bucket of its own.
unsigned nanosecond_histogram::bucket(std::uint64_t ns) {
  if (ns < 2 * eighths) return static_cast<unsigned>(ns);
  const unsigned octave = static_cast<unsigned>(std::bit_width(ns)) - 4;  // of 8 << octave to 16 << octave
  return octave * eighths + static_cast<unsigned>(ns >> octave);
}
std::uint64_t nanosecond_histogram::end_of(unsigned bucket) {
  if (bucket < 2 * eighths) return bucket;
  const unsigned octave = bucket / eighths - 1;
  return ((std::uint64_t{bucket % eighths + eighths} + 1) << octave) - 1;
}

void nanosecond_histogram::add(std::uint64_t ns) {
  ++counts_[bucket(ns)];
  ++count_;
  longest_ = std::max(longest_, ns);
}

double nanosecond_histogram::quantile(double share) const {
  const auto wanted = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_))));
  std::uint64_t sum = 0;
  for (unsigned b = 0; b < counts_.size(); ++b) {
    sum += counts_[b];
    if (sum >= wanted) return static_cast<double>(std::min(end_of(b), longest_));
  }
  return static_cast<double>(longest_);
}

tail nanosecond_histogram::summary() const {
  return {quantile(0.5), quantile(0.99), quantile(0.999), quantile(0.9999), static_cast<double>(longest_)};
}

}  // namespace tamis::lab
