// ABF paper, figures 4 and 5: false-positive rate against A/N on the model's own workload.
//
// N = 8M or 12M keys are in; A = N, 2N, … 10N others are asked for, 10·A lookups of one of them at random; M = 1024 words of 64
// bits, S = 2, k = 3, 4, 5. Columns: simulated rates of bloom1 and of abf with the paper's blind switch and with Algorithm 3,
// equations 3 to 10 as printed, and the refined model (detail/math/abf.hpp).

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <tuple>

#include "lab/experiment.hpp"
#include "lab/experiments/abf_filters.hpp"
#include "tamis/detail/math/abf.hpp"
#include "tamis/hasher.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

constexpr unsigned repeats = 10;  // t

struct workload_sample {
  std::vector<digest> members;
  std::vector<digest> queries;
};

workload_sample draw_keys(std::uint64_t keys, std::uint64_t negatives, random_source random) {
  const hasher hash = hasher::fast(random());
  std::uint64_t next = 0;
  const auto fresh = [&](std::uint64_t count) {
    std::vector<digest> made(count);
    for (digest& d : made) d = hash(next++);
    return made;
  };
  workload_sample sample{fresh(keys), {}};
  const std::vector<digest> others = fresh(negatives);
  for (std::uint64_t i = 0; i < negatives * repeats; ++i) sample.queries.push_back(others[random.below(negatives)]);
  return sample;
}

struct predicted {
  double printed;  // equations 3 to 10
  double refined;
};
// Takes as long as the simulation, and is the same in every run.
predicted model_of(std::uint64_t n, unsigned k, unsigned ratio) {
  static std::mutex guard;
  static std::map<std::tuple<std::uint64_t, unsigned, unsigned>, predicted> known;
  const std::lock_guard held(guard);
  const auto [place, is_new] = known.try_emplace({n, k, ratio});
  if (is_new) {
    const std::uint64_t keys = n * abf_words;
    const abf_setting setting{abf_words, abf_word_bits - 1, k, 2, keys, keys * ratio, repeats, 1};
    place->second = {abf_printed_rate(setting), abf_rate(setting)};
  }
  return place->second;
}

std::vector<double> rates(std::uint64_t n, unsigned k, unsigned ratio, random_source random) {
  const std::uint64_t keys = n * abf_words;
  const workload_sample sample = draw_keys(keys, keys * ratio, random);
  const predicted model = model_of(n, k, ratio);
  return {after(plain_filter(n, k), sample).rate(), after(adaptive_filter(n, k, 2, abf_switch::blind), sample).rate(),
          after(adaptive_filter(n, k, 2, abf_switch::checked), sample).rate(), model.printed, model.refined};
}

result<table> run(const experiment_options& options) {
  table out({"keys_per_word", "k", "negatives_per_key"}, {"bloom1", "abf_blind", "abf_checked", "model_printed", "model"});
  random_source random = options.random();
  const std::vector<unsigned> ratios = options.at<std::vector<unsigned>>({1, 2, 4, 10}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  for (const std::uint64_t n : {8u, 12u}) {
    for (const unsigned k : {3u, 4u, 5u}) {
      for (const unsigned ratio : ratios) {
        out.add({n, k, ratio}, rates(n, k, ratio, random.split()));
        options.done(out.rows().size(), 6 * ratios.size());
      }
    }
  }
  return out;
}

std::vector<verdict> judge(const table& seen) {
  tally model("theory and simulation are very similar: the model without the paper's approximations is within 5 %");
  tally printed("the equations as printed estimate the rate slightly too high: by at most 8 %, and not too low");
  tally helps("adaptation lowers the rate for every A/N");
  tally rises("it helps most where few keys are asked for: the rate rises from A/N = 1 to 10");
  for (const table::row& r : seen.rows()) {
    const double rate = r.value("abf_blind");
    const double error = r.error("abf_blind") / rate;
    model.at_most(r, std::abs(rate / r.value("model") - 1), 0.05, error);
    printed.at_most(r, r.value("model_printed") / rate, 1.08, error);
    printed.at_least(r, r.value("model_printed") / rate, 1, error);
    helps.at_most(r, rate, r.value("bloom1"), r.error("abf_blind"));
  }
  std::size_t best = 0;
  std::size_t ratios = 0;
  for (const std::string& n : distinct(seen.rows(), "keys_per_word")) {
    for (const std::string& k : distinct(seen.rows(), "k")) {
      const row_list curve = where(where(seen.rows(), "keys_per_word", n), "k", k);
      rises.at_most("N = " + n + "M, k = " + k, curve.front().value("abf_blind"), curve.back().value("abf_blind"));
    }
  }
  const row_list at_8 = where(seen.rows(), "keys_per_word", "8");
  for (const table::row& r : where(at_8, "k", "4")) {
    const row_list others = where(at_8, "negatives_per_key", r.text("negatives_per_key"));
    const auto lower = [&r](const table::row& o) { return o.value("abf_blind") < r.value("abf_blind"); };
    ++ratios;
    best += std::none_of(others.begin(), others.end(), lower);
  }
  return {model.judge(), printed.judge(), helps.judge(), rises.judge(),
          decide(2 * best > ratios, "at N = 8M, k = 4 is best",
                 "for " + std::to_string(best) + " of " + std::to_string(ratios) +
                     " values of A/N; k = 4 and 5 differ by less than chance in some")};
}

std::vector<chart> draw(const table& seen) {
  chart c{.name = "figures-4-5",
          .title = "Figures 4 and 5: false-positive rate against A/N, S = 2",
          .x = {.label = "A/N: keys asked for per key stored"},
          .y = {.label = "false positives, %", .factor = 100, .low = 0.0}};
  for (const std::string& n : distinct(seen.rows(), "keys_per_word")) {
    for (const std::string& k : distinct(seen.rows(), "k")) {
      const row_list rows = where(where(seen.rows(), "keys_per_word", n), "k", k);
      const auto points = [&rows](std::string_view column) { return points_of(rows, "negatives_per_key", column); };
      c.panels.push_back({"N = " + n + "M, k = " + k,
                          {{"abf simulated, blind switch", "abf", mark::dots, points("abf_blind")},
                           {"abf simulated, Algorithm 3", "abf/3", mark::dots, points("abf_checked")},
                           {"model", "abf", mark::line, points("model")},
                           {"model as printed", "abf/2", mark::dashed, points("model_printed")},
                           {"bloom1", "bloom1", mark::dots, points("bloom1")}}});
    }
  }
  return {c};
}

const registered it(
    {.name = "abf-synthetic",
     .paper = "Adaptive one memory access Bloom filters",
     .figures = "figures 4 and 5",
     .claim = "Adaptation lowers the rate where few keys are asked for (small A/N), most at k = 4, and the model predicts it.",
     .parameters = "M = 1024 words of 64 bits; N = 8M and 12M; A/N = 1 to 10; 10 A lookups; S = 2; k = 3, 4, 5. Quick: fewer "
                   "runs, four values of A/N.",
     .agrees =
         "the refined model is within 5 % of the simulation and the printed one above it by at most 8 %; the rate is below "
         "that of bloom1 everywhere and rises with A/N",
     .runs = {4, 10},
     .seconds = {5, 5},
     .run = run,
     .judge = judge,
     .draw = draw});

}  // namespace
}  // namespace tamis::lab
