// Which absent keys a filter is wrong about is decided by its hash seed. Where few keys are much of a log, the mistakes of a
// filter that does not adapt are a matter of luck: how much, and what adapting makes of it.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lab/contest.hpp"
#include "lab/experiment.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

constexpr double bits_per_key = 10;
constexpr double skews[] = {0.6, 1, 1.4};  // exponents of Zipf's law

struct player {
  const char* name;
  const char* id;
  bool remembers;  // with a list of known mistakes
};
constexpr player players[] = {{"bloom", "bloom", false},
                              {"bloom1", "bloom1", false},
                              {"rsqf", "rsqf", false},
                              {"rsqf+mistakes", "rsqf", true},
                              {"acf-cuckooing", "acf-cuckooing", false},
                              {"taf", "taf", false},
                              {"evergreen-fixed", "evergreen-fixed", false}};
constexpr bool is_plain(std::string_view name) { return name == "bloom" || name == "bloom1" || name == "rsqf"; }

digest any_key(random_source& random) { return {random(), random()}; }

contest_set set_of(std::uint64_t keys, std::uint64_t distinct, std::uint64_t length, double s, random_source random) {
  contest_set made{"Zipf", {}, {}};
  for (std::uint64_t i = 0; i < keys; ++i) made.members.push_back(any_key(random));
  std::vector<digest> absent(distinct);
  for (digest& d : absent) d = any_key(random);
  std::vector<double> sums(distinct);
  double sum = 0;
  for (std::size_t k = 0; k < distinct; ++k) sums[k] = sum += std::pow(static_cast<double>(k + 1), -s);
  for (std::uint64_t i = 0; i < length; ++i) {
    const double at = static_cast<double>(random() >> 11) * 0x1p-53 * sum;
    made.log.push_back(absent[static_cast<std::size_t>(std::upper_bound(sums.begin(), sums.end() - 1, at) - sums.begin())]);
  }
  return made;
}

// Sums over the different keys, of how often each is asked for to the second and to the fourth power.
struct power_sums {
  double second = 0;
  double fourth = 0;

  explicit power_sums(std::vector<digest> log) {
    std::sort(log.begin(), log.end());
    for (std::size_t first = 0, last = 0; first < log.size(); first = last) {
      while (last < log.size() && log[last] == log[first]) ++last;
      const auto square = static_cast<double>((last - first) * (last - first));
      second += square;
      fourth += square * square;
    }
  }
};

// A key is a mistake with chance p, and then all its n queries are: a sum of such has these cumulants.
struct foretold_spread {
  double deviation;
  double error;  // of a deviation that is estimated from so many seeds: heavy tails, where few keys are most of the log

  foretold_spread(double p, const power_sums& sums, double seeds) {
    const double variance = p * (1 - p) * sums.second;
    const double fourth = p * (1 - p) * (1 - 6 * p * (1 - p)) * sums.fourth;
    deviation = std::sqrt(variance);
    error = deviation / 2 * std::sqrt((fourth / (variance * variance) + 2) / seeds);
  }
};

double mean_of(const std::vector<double>& all) {
  return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
}
double deviation_of(const std::vector<double>& all) {
  const double mean = mean_of(all);
  double sum = 0;
  for (const double x : all) sum += (x - mean) * (x - mean);
  return std::sqrt(sum / static_cast<double>(all.size() - 1));
}

result<score> play(const player& who, const contest_game& g) {
  return who.remembers ? play_listed(g, who.name, who.id) : play_adaptive(g, who.name, who.id);
}

result<table> run(const experiment_options& options) {
  table out({"s", "filter"},
            {"least", "median", "most", "mean", "deviation", "foretold", "foretold_chance", "seeds", "queries"});
  random_source random = options.random();
  const unsigned seeds = options.at(40U, 200U);
  const std::uint64_t keys = options.at(5'000U, 20'000U);
  std::uint64_t done = 0;
  for (const double s : skews) {
    const contest_set set = set_of(keys, keys, 20 * keys, s, random.split());
    std::vector<std::vector<double>> mistakes(std::size(players));
    for (unsigned seed = 0; seed < seeds; ++seed) {
      const contest_ground played = ground_of(set, random(), 0);
      for (std::size_t i = 0; i < std::size(players); ++i) {
        TAMIS_TRY(const score got, play(players[i], {played, played, bits_per_key}));
        mistakes[i].push_back(got.mistakes);
      }
      options.done(++done, std::size(skews) * seeds);
    }
    const auto length = static_cast<double>(set.log.size());
    const power_sums sums(set.log);
    for (std::size_t i = 0; i < std::size(players); ++i) {
      std::sort(mistakes[i].begin(), mistakes[i].end());
      const double mean = mean_of(mistakes[i]);
      const foretold_spread foretold(mean / length, sums, seeds);
      out.add({s, players[i].name},
              {mistakes[i].front(), mistakes[i][seeds / 2], mistakes[i].back(), mean, deviation_of(mistakes[i]),
               foretold.deviation, foretold.error, static_cast<double>(seeds), length});
    }
  }
  return out;
}

std::vector<verdict> judge(const table& seen) {
  tally foretold(
      "the spread of filters that do not adapt is sqrt(rate (1 - rate) sum of squares): each key is a mistake or not, "
      "with all its queries at once");
  tally calm(
      "a filter that adapts, or remembers, spreads at most a fifth of what bloom does, where the log is skewed (s >= 1)");
  for (const table::row& r : seen.rows()) {
    if (is_plain(r.text("filter"))) {
      const double error = r.value("foretold_chance") / std::sqrt(static_cast<double>(seen.runs()));
      foretold.at_most(r, r.value("deviation"), r.value("foretold"), error);
      foretold.at_least(r, r.value("deviation"), r.value("foretold"), error);
    } else if (r.number("s") >= 1) {
      const table::row bloom = row_of(where(seen.rows(), "s", r.text("s")), "filter", "bloom");
      calm.at_most(r, r.value("deviation"), 0.2 * bloom.value("deviation"));
    }
  }
  range spread;
  for (const table::row& r : where(seen.rows(), "s", setting(skews[2]).text())) {
    if (is_plain(r.text("filter"))) spread.see(r.value("most") / std::max(1.0, r.value("least")));
  }
  return {foretold.judge(), calm.judge(),
          decide(spread.low() >= 3,
                 "at s = 1.4 the unluckiest seed of each plain filter has at least three times the mistakes of the luckiest",
                 spread.text())};
}

std::vector<chart> draw(const table& seen) {
  chart c{.name = "spread",
          .title = "Mistakes on one log under different hash seeds, at 10 bits per key",
          .x = {.label = "", .names = {}},
          .y = {.label = "mistakes", .log = true},
          .note = "Each panel is one log. Nothing differs between the seeds but luck."};
  for (const player& who : players) c.x.names.emplace_back(who.name);
  for (const double s : skews) {
    panel p{"Zipf, s = " + brief(s), {}};
    line least{"least", "three", mark::dots, {}};
    line median{"median", "one", mark::paper, {}};
    line most{"most", "four", mark::dots, {}};
    const row_list rows = where(seen.rows(), "s", setting(s).text());
    for (std::size_t i = 0; i < std::size(players); ++i) {
      const table::row r = row_of(rows, "filter", players[i].name);
      const auto x = static_cast<double>(i + 1);
      least.points.push_back({x, r.value("least")});
      median.points.push_back({x, r.value("median")});
      most.points.push_back({x, r.value("most")});
    }
    p.lines = {most, median, least};
    c.panels.push_back(std::move(p));
  }
  return {c};
}

std::vector<page_table> tabulate(const table& seen) {
  page_table t{"Mistakes under different hash seeds",
               {"s", "filter", "least", "median", "most", "mean", "standard deviation", "foretold for a plain filter"},
               {}};
  for (const table::row& r : seen.rows()) {
    t.rows.push_back({r.text("s"), r.text("filter"), brief(r.value("least")), brief(r.value("median")), brief(r.value("most")),
                      brief(r.value("mean")), brief(r.value("deviation")),
                      is_plain(r.text("filter")) ? brief(r.value("foretold")) : "-"});
  }
  return {t};
}

const registered it(
    {.name = "luck",
     .paper = "Comparisons (our own)",
     .figures = "luck: the spread over hash seeds",
     .claim =
         "On a log in which few keys are asked for often, the mistakes of a filter that does not adapt are decided by the hash "
         "seed; those of a filter that adapts, or remembers its mistakes, are not.",
     .parameters =
         "20,000 keys (quick: 5,000), as many different absent keys, 20 queries for each on average, by Zipf's law with "
         "s = 0.6, 1 and 1.4; 10 bits per key; 200 hash seeds (quick: 40).",
     .agrees =
         "plain filters spread as the log foretells; adaptive ones at most a fifth of bloom; 3 times between luckiest and "
         "unluckiest seed",
     .runs = {1, 1},
     .seconds = {5, 100},
     .run = run,
     .judge = judge,
     .draw = draw,
     .tabulate = tabulate});

}  // namespace
}  // namespace tamis::lab
