#include "lab/measure.hpp"

#include <cassert>
#include <cstdio>

#include "lab/measure/keys.hpp"
#include "lab/measure/limits.hpp"
#include "lab/measure/loops.hpp"
#include "tamis/detail/math/binomial.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

// One filter under measurement, and what the repeats gave so far.
struct entrant {
  const contender* asked = nullptr;
  std::optional<any_filter> filter;
  std::optional<line_reads> lines;
  bench_row row;
  std::vector<double> insert, insert_many, negative, negative_many, positive, positive_many, erase, prefetched, dependent;
};

class bench_run {
 public:
  bench_run(const std::vector<contender>& contenders, const bench_options& options)
      : options_(options),
        known_(options.known != nullptr ? *options.known : registry::builtin()),
        keys_(make_keys(options.keys, options.queries, options.seed)) {
    entrants_.resize(contenders.size());
    for (std::size_t i = 0; i < contenders.size(); ++i) entrants_[i].asked = &contenders[i];
  }

  result<bench_report> run() {
    for (entrant& e : entrants_) TAMIS_CHECK(prove(e));
    for (unsigned repeat = 0; repeat < options_.repeats; ++repeat) TAMIS_CHECK(measure_once());
    bench_report report{{}, summarize(hash_)};
    for (entrant& e : entrants_) report.rows.push_back(finished(e));
    return report;
  }

 private:
  // Fills the filter and checks its answers; after this the row knows everything but times.
  status prove(entrant& e) {
    TAMIS_CHECK(renew(e));
    if (insert_all(e) != keys_.members.size()) return failure{e.asked->id + ": it is full before its capacity is reached"};
    fill_list(*e.filter);
    e.row.list = list_of(e.filter->model());
    const std::size_t kept = count_many(*e.filter, keys_.members);
    const std::size_t wrong = count_many(*e.filter, keys_.negatives);
    e.row.fpr_expected = e.filter->expected_fpr();
    const status checked = check_answers(keys_.members.size() - kept, wrong, keys_.negatives.size(), e.row.fpr_expected);
    if (!checked) return failure{e.asked->id + ": " + checked.message()};
    e.row.fpr = static_cast<double>(wrong) / static_cast<double>(keys_.negatives.size());
    e.row.bits_per_key = static_cast<double>(e.filter->bits().fast) / static_cast<double>(keys_.members.size());
    e.row.id = e.asked->id;
    e.row.settings = e.filter->settings();
    TAMIS_TRY(e.lines, line_reads::make(e.filter->bits().fast / 8));
    step();
    return {};
  }

  status measure_once() {
    const std::size_t n = keys_.members.size();
    for (entrant& e : entrants_) {
      TAMIS_CHECK(renew(e));
      e.insert.push_back(ns_per_operation(n, [&] {
        count_singles(keys_.members, hash_function(), [&](digest d) { return e.filter->insert(d) == insert_result::inserted; });
      }));
      TAMIS_CHECK(renew(e));
      e.insert_many.push_back(ns_per_operation(n, [&] { insert_all(e); }));
      fill_list(*e.filter);
    }
    time_lookups(keys_.negatives, &entrant::negative, &entrant::negative_many);
    time_lookups(keys_.positives, &entrant::positive, &entrant::positive_many);
    for (entrant& e : entrants_) {
      e.lines->prefetched_ns(keys_.negatives.size());  // warms up
      e.prefetched.push_back(e.lines->prefetched_ns(keys_.negatives.size()));
      e.dependent.push_back(e.lines->dependent_ns(keys_.negatives.size() / 4 + 1));
    }
    hash_.push_back(ns_per_operation(keys_.negatives.size(), [&] {
      count_singles(keys_.negatives, hash_function(), [](digest d) { return use_alone(d.high), use_alone(d.low), false; });
    }));
    for (entrant& e : entrants_) {
      if (e.filter->can().erase) {
        e.erase.push_back(ns_per_operation(n, [&] {
          count_singles(keys_.members, hash_function(), [&](digest d) { return e.filter->erase(d) == erase_result::erased; });
        }));
      }
      step();
    }
    return {};
  }

  void time_lookups(key_span queries, std::vector<double> entrant::*single, std::vector<double> entrant::*many) {
    for (entrant& e : entrants_) {
      count_many(*e.filter, queries);  // warms up
      (e.*single).push_back(ns_per_operation(queries.size(), [&] {
        count_singles(queries, hash_function(), [&](digest d) { return e.filter->may_contain(d); });
      }));
      (e.*many).push_back(ns_per_operation(queries.size(), [&] { count_many(*e.filter, queries); }));
    }
  }

  status renew(entrant& e) {
    e.filter.reset();  // gives its memory back first
    auto made = any_filter::create(known_, e.asked->id, e.asked->params);
    if (!made) return failure{e.asked->id + ": " + made.message()};
    e.filter = *std::move(made);
    return {};
  }
  std::size_t insert_all(entrant& e) {
    return sum_chunks(keys_.members, [&](key_span chunk) { return e.filter->insert_many(chunk); });
  }
  // Reports false positives until the list is full. Where they are rare it may stay emptier: so many strangers are enough.
  void fill_list(any_filter& f) const {
    const std::uint64_t most_strangers = 16 * keys_.negatives.size();
    std::optional<list_use> list = list_of(f.model());
    for (std::uint64_t i = 0; list && list->in_use < list->entries && i < most_strangers; ++i) {
      if (f.adapt(keys_.stranger(i)) == adapt_result::fixed) list = list_of(f.model());
    }
  }
  std::size_t count_many(const any_filter& f, key_span keys) {
    return count_chunks(keys, [&](key_span chunk, std::span<bool> out) { f.may_contain_many(chunk, out); });
  }
  static hasher hash_function() { return {}; }

  static bench_row finished(entrant& e) {
    bench_row row = e.row;
    row.insert = summarize(e.insert);
    row.insert_many = summarize(e.insert_many);
    row.negative = summarize(e.negative);
    row.negative_many = summarize(e.negative_many);
    row.positive = summarize(e.positive);
    row.positive_many = summarize(e.positive_many);
    if (!e.erase.empty()) row.erase = summarize(e.erase);
    row.line_prefetched = summarize(e.prefetched);
    row.line_dependent = summarize(e.dependent);
    return row;
  }

  void step() {
    ++done_;
    const double all = static_cast<double>(entrants_.size()) * (options_.repeats + 1);
    if (options_.progress) options_.progress(static_cast<double>(done_) / all);
  }

  const bench_options& options_;
  const registry& known_;
  key_sets keys_;
  std::vector<entrant> entrants_;
  std::vector<double> hash_;
  std::uint64_t done_ = 0;
};

}  // namespace

result<bench_report> bench(const std::vector<contender>& contenders, const bench_options& options) {
  assert(options.keys != 0 && options.queries != 0 && options.repeats != 0);
  return bench_run(contenders, options).run();
}

status check_answers(std::uint64_t members_lost, std::uint64_t false_positives, std::uint64_t negatives, double expected_fpr) {
  if (members_lost != 0) return failure{std::to_string(members_lost) + " members are not found"};
  const std::uint64_t most = binomial_upper_bound(negatives, expected_fpr, 1e-9);
  if (false_positives <= most) return {};
  char rate[32];
  std::snprintf(rate, sizeof rate, "%.3g", expected_fpr);
  return failure{std::to_string(false_positives) + " of " + std::to_string(negatives) +
                 " negative lookups are false positives, " + std::to_string(most) +
                 " is the most that chance explains at a rate of " + rate};
}

}  // namespace tamis::lab
