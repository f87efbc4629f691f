#include "lab/advise.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "lab/advise/trial.hpp"
#include "lab/contenders.hpp"
#include "tamis/detail/any/known_mistakes.hpp"

namespace tamis::lab {
namespace {

constexpr double tie = 0.02;                  // figures this close are taken for equal
constexpr double largest_first_rate = 0.25;   // of an adaptive filter that the log would allow even more
constexpr double rate_tolerance = 1.02;       // expected rates are those of one filter's content
constexpr double memory_tolerance = 1.005;    // of sizes that were scaled up
constexpr double most_bits_per_key = 4096;    // of filter_params
constexpr double new_keys_without_log = 1e6;  // and as many queries
constexpr unsigned most_doublings = 20;       // of a memory that nothing fits in
constexpr double prior_mistakes = 100;        // weight of the formula against the trial's count
constexpr std::size_t most_with_list = 3;     // filters that do not adapt, the best ones, that are tried with a list
constexpr double list_bits[] = {0.125, 0.25, 0.5, 1, 2, 4};  // per key, where the rate is kept

struct totals {
  double queries, negatives, distinct;
};

std::string bytes_text(double bits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.3g MB", bits / 8e6);
  return text;
}

std::string rate_text(double rate) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", rate);
  return text;
}

class adviser {
 public:
  adviser(const advice_wish& wish, const registry& known, const totals& log, const trial_setting& setting)
      : wish_(wish), known_(known), log_(log), setting_(setting) {}

  estimate judge(const registry_entry& entry) const {
    estimate e;
    e.entry = &entry;
    if (wish_.deletes && !entry.can.erase) {
      e.refusal = "cannot delete";
      return e;
    }
    auto sized = wish_.fpr ? for_rate(entry, 0) : for_memory(entry, 0);
    if (!sized) {
      e.refusal = sized.message();
      return e;
    }
    e = *sized;
    if (!allowed(e)) {
      e.refusal = "keeps " + bytes_text(static_cast<double>(e.at_end.slow)) + " of slow memory";
    } else if (!within_memory(e)) {
      e.refusal = "needs " + bytes_text(static_cast<double>(e.at_end.fast));
    }
    return e;
  }

  bool tries_lists() const { return setting_.has_log() && (!wish_.fpr || wish_.trust_log); }

  // With the list of known mistakes that suits it best, if there is one that fits.
  std::optional<estimate> judge_with_list(const registry_entry& entry) const {
    std::optional<estimate> best;
    const auto see = [&](const result<estimate>& e) {
      if (!e || !within_memory(*e) || !allowed(*e)) return;
      const double figure = wish_.fpr ? e->priced_bits : e->cost_ns;
      if (!best || figure < (wish_.fpr ? best->priced_bits : best->cost_ns)) best = *e;
    };
    if (wish_.fpr) {
      for (const double bits : list_bits) see(for_rate(entry, bits));
    } else {
      for (const double share : tried_shares) {
        if (share > 0) see(for_memory(entry, share));
      }
    }
    return best;
  }

 private:
  bool allowed(const estimate& e) const { return wish_.slow_memory || e.at_end.slow == 0; }
  bool within_memory(const estimate& e) const { return static_cast<double>(e.at_end.fast) <= bit_limit() * memory_tolerance; }
  double bit_limit() const {
    return wish_.memory_bytes ? 8 * static_cast<double>(*wish_.memory_bytes) : std::numeric_limits<double>::infinity();
  }

  result<estimate> evaluate(const registry_entry& entry, filter_params params) const {
    TAMIS_TRY(const trial_result got, run_trial({known_, entry}, params, setting_));
    estimate e;
    e.entry = &entry;
    const bool expands = setting_.grows() && entry.can.expand;
    params.capacity = expands ? setting_.capacity() : setting_.final_keys();
    e.params = std::move(params);
    e.at_start = got.at_start;
    e.at_end = got.at_end;
    e.mean_fast_bits = got.mean_fast_bits;
    e.first_rate = got.first_rate;
    e.lookup_ns = got.lookup_ns;
    count_mistakes(got, e);
    e.rate = (e.first_time + e.repeated) / log_.negatives;
    e.reads_per_query = (e.first_time + e.repeated) / log_.queries;
    const auto mistakes = static_cast<double>(got.first_time + got.repeated);
    e.scans_per_query = mistakes == 0 ? 0 : e.reads_per_query * static_cast<double>(got.range_scans) / mistakes;
    e.cost_ns = e.lookup_ns + (e.reads_per_query + e.scans_per_query) * wish_.read_ns;
    e.priced_bits = e.mean_fast_bits + wish_.slow_bit_price * static_cast<double>(e.at_end.slow);
    return e;
  }

  void count_mistakes(const trial_result& got, estimate& e) const {
    const double once = e.first_rate * log_.distinct;
    const double again = e.first_rate * (log_.negatives - log_.distinct);
    if (!e.adapts() || !setting_.has_log()) {
      e.first_time = once;
      e.repeated = again;
      return;
    }
    const auto first = static_cast<double>(got.first_time);
    const double expected = e.first_rate * static_cast<double>(got.distinct_asked);
    e.first_time = once * (first + prior_mistakes) / (expected + prior_mistakes);
    const bool lasts = e.entry->info->fixes_last && !e.has_list();
    const double repeats_unseen = lasts || once == 0 ? 0 : again / once;
    e.repeated = e.first_time * (static_cast<double>(got.repeated) + repeats_unseen) / (first + 1);
  }

  // The largest first-time rate, and with it the least memory, that keeps the wanted rate: the first-time rate itself and the
  // one over the log, or the latter only where the log is trusted.
  // `list`: bits per key of a list of known mistakes beside it.
  result<estimate> for_rate(const registry_entry& entry, double list) const {
    const double wanted = *wish_.fpr;
    const bool adapts = entry.can.adapt || list > 0;
    const auto at = [&](double rate) {
      return evaluate(entry, {.capacity = 0, .fpr = rate, .bits_per_key = std::nullopt, .options = list_of(list)});
    };
    const auto keeps = [&](const result<estimate>& e) {
      const double bound = wanted * rate_tolerance;
      return e && e->rate <= bound && (wish_.trust_log || e->first_rate <= bound);
    };
    result<estimate> best = at(wanted);
    if (!best) return best;
    double low = wanted, high = 0;  // logarithmically between what keeps the rate and what does not
    if (keeps(best)) {
      high = std::min(largest_first_rate, wanted * log_.negatives / log_.distinct);
      if (!wish_.trust_log || !adapts || !setting_.has_log() || high <= wanted * 1.1) return best;
      if (auto most = at(high); keeps(most)) return most;
    } else {
      const double missed = std::max(best->rate, wish_.trust_log ? 0 : best->first_rate);
      high = wanted;
      for (unsigned tries = 0; !keeps(best); ++tries) {
        if (tries == 8)
          return failure{"cannot keep the rate: " + rate_text(missed) + " at a first-time rate of the wanted one"};
        high = low;
        low /= tries < 4 ? 2 : 16;
        best = at(low);
        if (!best) return best;
      }
    }
    for (unsigned halvings = 0; halvings < 5 && high / low > 1.1; ++halvings) {
      const double middle = std::sqrt(low * high);
      if (auto tried = at(middle); keeps(tried)) {
        best = std::move(tried);
        low = middle;
      } else {
        high = middle;
      }
    }
    return best;
  }

  // All the memory there is. A filter that grows begins with its share, and with less if it grows by more than the keys do.
  // `share` of it for a list of known mistakes.
  result<estimate> for_memory(const registry_entry& entry, double share) const {
    double bits = std::min(bit_limit() / static_cast<double>(setting_.final_keys()), most_bits_per_key);
    const auto with = [&] {
      return evaluate(entry, {.capacity = 0, .fpr = std::nullopt, .bits_per_key = bits, .options = list_of(share * bits)});
    };
    auto best = with();
    for (unsigned tries = 0; tries < 6 && best; ++tries) {
      const double over = static_cast<double>(best->at_end.fast) / bit_limit();
      if (over <= memory_tolerance) break;
      bits /= over;
      best = with();
    }
    return best;
  }

  static option_list list_of(double bits_per_key) {
    if (bits_per_key == 0) return {};
    char text[32];
    std::snprintf(text, sizeof text, "%.4gb", bits_per_key);
    return {{"mistakes", text}};
  }

  const advice_wish& wish_;
  const registry& known_;
  totals log_;
  const trial_setting& setting_;
};

// Among figures that are as good as equal: less slow memory, then less fast, then the registry's order.
void rank(advice& a) {
  const auto better = [&a](const estimate& x, const estimate& y) { return a.figure(x) < a.figure(y); };
  std::stable_sort(a.ranked.begin(), a.ranked.end(), better);
  if (a.ranked.empty()) return;
  const double limit = a.figure(a.ranked.front()) * (1 + tie);
  const auto equals = std::find_if(a.ranked.begin(), a.ranked.end(), [&](const estimate& e) { return a.figure(e) > limit; });
  const auto best = std::min_element(a.ranked.begin(), equals, [&](const estimate& x, const estimate& y) {
    if (x.at_end.slow != y.at_end.slow) return x.at_end.slow < y.at_end.slow;
    return a.by_memory ? x.cost_ns < y.cost_ns : x.mean_fast_bits < y.mean_fast_bits;
  });
  std::rotate(a.ranked.begin(), best, best + 1);
}

}  // namespace

namespace {

// The least memory that any filter asked for which does everything else.
std::string cheapest(const advice& found, const advice_wish& wish) {
  const estimate* least = nullptr;
  for (const estimate& e : found.others) {
    const bool would = e.params.capacity != 0 && (wish.slow_memory || e.at_end.slow == 0);
    if (would && (least == nullptr || e.at_end.fast < least->at_end.fast)) least = &e;
  }
  if (least == nullptr) return "";
  return least->name() + " would with " + bytes_text(static_cast<double>(least->at_end.fast));
}

advice judged(const advice_wish& wish, std::span<const digest> members, const query_sample* log) {
  advice found;
  found.final_keys = wish.final_keys();
  found.by_memory = wish.fpr.has_value();
  const trial_setting setting(wish.capacity, found.final_keys, members, log);
  totals sums{new_keys_without_log, new_keys_without_log, new_keys_without_log};
  if (setting.has_log()) {
    sums = {static_cast<double>(log->queries()), static_cast<double>(log->negatives()), log->distinct_negatives()};
  }
  const registry& known = wish.known != nullptr ? *wish.known : registry::builtin();
  const adviser judge(wish, known, sums, setting);
  double done = 0;
  const double all = static_cast<double>(known.entries().size() + (judge.tries_lists() ? most_with_list : 0));
  const auto one_done = [&] {
    if (wish.progress) wish.progress(++done / all);
  };
  for (const registry_entry& entry : known.entries()) {
    estimate e = judge.judge(entry);
    (e.fits() ? found.ranked : found.others).push_back(std::move(e));
    one_done();
  }
  rank(found);
  if (!judge.tries_lists()) return found;
  std::vector<const registry_entry*> plain;
  for (const estimate& e : found.ranked) {
    if (!e.adapts() && plain.size() < most_with_list) plain.push_back(e.entry);
  }
  for (const registry_entry* entry : plain) {
    if (auto e = judge.judge_with_list(*entry)) found.ranked.push_back(std::move(*e));
    one_done();
  }
  rank(found);
  return found;
}

}  // namespace

bool estimate::has_list() const { return detail::list_option(params.options) != nullptr; }

std::string estimate::name() const { return std::string(entry->info->id) + (has_list() ? "+mistakes" : ""); }

advice advise(const advice_wish& wish, std::span<const digest> members, const query_sample* log) {
  advice found = judged(wish, members, log);
  if (!found.ranked.empty()) return found;
  found.would_fit = cheapest(found, wish);
  advice_wish larger = wish;
  for (unsigned doublings = 0; found.would_fit.empty() && wish.memory_bytes && doublings < most_doublings; ++doublings) {
    *larger.memory_bytes *= 2;
    const advice other = judged(larger, members, log);
    if (!other.ranked.empty()) {
      found.would_fit =
          other.ranked.front().name() + " would with " + bytes_text(8 * static_cast<double>(*larger.memory_bytes));
    }
  }
  return found;
}

}  // namespace tamis::lab
