// Keys come and nobody knows how many: who keeps the rate, in how much memory, and at what price? Filters that grow, a scalable
// Bloom filter as people build it, and a filter that is made anew from the store at every doubling.

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

#include "lab/experiment.hpp"
#include "lab/growers.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

constexpr std::uint64_t first_keys = 1024;
constexpr double rate = 0.01;
constexpr unsigned points_per_doubling = 4;
constexpr std::uint64_t settled = 1 << 13;  // from here on the first size does not show any more

struct contender {
  const char* name;
  const char* colour;
  std::function<result<std::unique_ptr<grower>>(const grower_terms&)> make;
};

const std::vector<contender>& contenders() {
  const auto growing = [](const char* id) { return [id](const grower_terms& t) { return make_growing(id, t); }; };
  static const std::vector<contender> all = {
      {"evergreen", "evergreen", growing("evergreen")},
      {"infini", "infini", growing("infini")},
      {"chain-geometric", "chain-geometric", growing("chain-geometric")},
      {"chain-linear", "chain-linear", growing("chain-linear")},
      {"scalable Bloom", "bloom", make_scalable_bloom},
      {"bloom, rebuilt", "bloom/3", [](const grower_terms& t) { return make_rebuilt("bloom", t); }},
      {"rsqf, rebuilt", "rsqf", [](const grower_terms& t) { return make_rebuilt("rsqf", t); }}};
  return all;
}

// Ranks 1 to `keys` with chances in proportion to 1 / rank: few of them are most of the questions.
class zipf_ranks {
 public:
  explicit zipf_ranks(std::size_t keys) : sums_(keys) {
    double sum = 0;
    for (std::size_t i = 0; i < keys; ++i) sums_[i] = sum += 1 / static_cast<double>(i + 1);
  }
  std::uint64_t draw(random_source& random) const {
    const double at = static_cast<double>(random() >> 11) * 0x1p-53 * sums_.back();
    return static_cast<std::uint64_t>(std::upper_bound(sums_.begin(), sums_.end() - 1, at) - sums_.begin());
  }

 private:
  std::vector<double> sums_;
};

digest any_key(random_source& random) { return {random(), random()}; }
digest of_rank(std::uint64_t rank, std::uint64_t salt) { return {mix64(rank ^ salt), mix64(mix64(rank + 1) ^ salt)}; }

struct job {
  std::uint64_t most_keys;
  std::uint64_t new_questions;  // at each point
  std::size_t asked_often;      // different keys behind the questions that come between inserts
};

status grow(const contender& who, const job& j, const experiment_options& options, table& out) {
  TAMIS_TRY(const std::unique_ptr<grower> f, who.make({first_keys, rate}));
  random_source random = options.random();
  random_source strangers = random.split();
  random_source log = random.split();
  const std::uint64_t salt = random();
  const zipf_ranks popular(j.asked_often);
  memory_remote stored;
  std::uint64_t keys = 0;
  std::uint64_t asked = 0, wrong_often = 0;
  for (std::uint64_t until = first_keys; until <= j.most_keys; until += std::bit_floor(until) / points_per_doubling) {
    f->memory().forget_most();
    for (; keys < until; ++keys) {
      const digest d = any_key(random);
      stored.insert(d);
      if (!f->insert(d, stored)) return failure{std::string(who.name) + " refused key " + std::to_string(keys)};
      for (int question = 0; question < 2; ++question, ++asked) {
        const digest often = of_rank(popular.draw(log), salt);
        if (!f->may_contain(often)) continue;
        ++wrong_often;
        f->adapt(often, stored);
      }
    }
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < j.new_questions; ++i) wrong += f->may_contain(any_key(strangers));
    const auto n = static_cast<double>(keys);
    out.add({who.name, keys}, {static_cast<double>(wrong) / static_cast<double>(j.new_questions),
                               static_cast<double>(wrong_often) / static_cast<double>(asked),
                               static_cast<double>(f->bits()) / n, 8 * static_cast<double>(f->memory().most_bytes()) / n,
                               static_cast<double>(f->keys_reread()) / n, static_cast<double>(j.new_questions)});
  }
  return {};
}

result<table> run(const experiment_options& options) {
  table out({"filter", "keys"}, {"rate", "repeated_rate", "bits_per_key", "peak_bits_per_key", "reread_per_key", "questions"});
  const job j{std::uint64_t{1} << options.at(17, 20), options.at(100'000U, 300'000U), options.at(10'000U, 100'000U)};
  std::uint64_t done = 0;
  for (const contender& who : contenders()) {
    TAMIS_CHECK(grow(who, j, options, out));
    options.done(++done, contenders().size());
  }
  return out;
}

// ---- verdicts

row_list late(const table& seen, std::string_view filter) {
  return between(where(seen.rows(), "filter", filter), "keys", static_cast<double>(settled), 1e18);
}
row_list last_doubling(const table& seen, std::string_view filter) {
  const row_list rows = where(seen.rows(), "filter", filter);
  return between(rows, "keys", rows.back().number("keys") / 2 + 1, 1e18);
}
double mean_of(const row_list& rows, std::string_view column) {
  double sum = 0;
  for (const table::row& r : rows) sum += r.value(column);
  return sum / static_cast<double>(rows.size());
}
double most_of(const row_list& rows, std::string_view column) {
  double most = 0;
  for (const table::row& r : rows) most = std::max(most, r.value(column));
  return most;
}

std::vector<verdict> judge(const table& seen) {
  std::vector<verdict> all;
  for (const std::string& name : distinct(seen.rows(), "filter")) {
    tally kept(name + " keeps the rate that was asked for, 1 %, at every point: at most 1.05 times");
    for (const table::row& r : where(seen.rows(), "filter", name)) {
      kept.at_most(r, r.value("rate"), 1.05 * rate, std::sqrt(rate / r.value("questions") / static_cast<double>(seen.runs())));
    }
    all.push_back(
        kept.judge(name == "chain-linear" ? "Every part has the same rate, and there are more and more of them." : ""));
  }
  const double mine = mean_of(late(seen, "evergreen"), "bits_per_key");
  for (const char* rival : {"infini", "chain-geometric", "chain-linear", "scalable Bloom", "bloom, rebuilt", "rsqf, rebuilt"}) {
    const double theirs = mean_of(late(seen, rival), "bits_per_key");
    all.push_back(decide(mine < theirs, std::string("in the mean evergreen takes less memory than ") + rival,
                         brief(mine) + " and " + brief(theirs) + " bits per key, at mean rates of " +
                             brief(100 * mean_of(late(seen, "evergreen"), "rate")) + " and " +
                             brief(100 * mean_of(late(seen, rival), "rate")) + " %"));
  }
  const double peak = most_of(last_doubling(seen, "bloom, rebuilt"), "peak_bits_per_key");
  const double my_peak = most_of(last_doubling(seen, "evergreen"), "peak_bits_per_key");
  all.push_back(decide(my_peak < peak,
                       "in the last doubling its peak, too, is below that of a Bloom filter that is rebuilt, of which two are "
                       "there meanwhile",
                       brief(my_peak) + " and " + brief(peak) +
                           " bits per key. What a renewal copies, up to 0.4 MB, does not grow with the filter; in small ones "
                           "it shows. Rebuilding read " +
                           brief(late(seen, "bloom, rebuilt").back().value("reread_per_key")) +
                           " keys of the store for each that is in"));
  const double often = late(seen, "evergreen").back().value("repeated_rate");
  double least = 1;
  std::string who;
  for (const std::string& name : distinct(seen.rows(), "filter")) {
    const double theirs = late(seen, name).back().value("repeated_rate");
    if (name == "evergreen" || theirs >= least) continue;
    least = theirs;
    who = name;
  }
  all.push_back(decide(often <= 0.5 * least,
                       "where questions repeat, evergreen, told of its mistakes, makes at most half of anybody else's",
                       brief(100 * often) + " % against " + brief(100 * least) + " % (" + who + ")"));
  return all;
}

panel lines_of(const table& seen, std::string_view column, std::string title = "") {
  panel p{std::move(title), {}};
  for (const contender& who : contenders()) {
    p.lines.push_back({who.name, who.colour, mark::line, points_of(where(seen.rows(), "filter", who.name), "keys", column)});
  }
  return p;
}

std::vector<chart> draw(const table& seen) {
  const axis keys{.label = "keys", .log = true};
  return {{.name = "rates",
           .title = "False positives while a filter grows from 1,024 keys, made for 1 %",
           .x = keys,
           .y = {.label = "false positives, %", .log = true, .factor = 100},
           .panels = {lines_of(seen, "rate", "new questions"), lines_of(seen, "repeated_rate", "repeated questions")},
           .note = "Repeated questions: Zipf, two between two inserts, from the beginning; who can adapt is told."},
          {.name = "memory",
           .title = "Memory while a filter grows from 1,024 keys",
           .x = keys,
           .y = {.label = "bits per key", .low = 0},
           .panels = {lines_of(seen, "bits_per_key", "between two inserts"),
                      lines_of(seen, "peak_bits_per_key", "the most since the last point")},
           .note = "On the right with what growing and rebuilding copy."}};
}

std::vector<page_table> tabulate(const table& seen) {
  page_table t{"From 8,192 keys on",
               {"filter", "rate, mean", "rate, most", "repeated questions", "bits per key, mean", "most", "peak, last doubling",
                "keys read again, per key"},
               {}};
  for (const contender& who : contenders()) {
    const row_list rows = late(seen, who.name);
    const table::row last = rows.back();
    t.rows.push_back({who.name, brief(100 * mean_of(rows, "rate")) + " %", brief(100 * most_of(rows, "rate")) + " %",
                      brief(100 * last.value("repeated_rate")) + " %", brief(mean_of(rows, "bits_per_key")),
                      brief(most_of(rows, "bits_per_key")), brief(most_of(last_doubling(seen, who.name), "peak_bits_per_key")),
                      brief(last.value("reread_per_key"))});
  }
  return {t};
}

const registered it(
    {.name = "growth-contest",
     .paper = "Comparisons (our own)",
     .figures = "growth: who keeps the rate, in how much memory",
     .claim =
         "A filter that grows in small steps from its store keeps the rate in less memory than chains, scalable Bloom filters, "
         "and filters that are rebuilt at every doubling.",
     .parameters = "From 2^10 to 2^20 keys (quick: 2^17), made for 1 %; 300,000 new questions (quick: 100,000) at each of four "
                   "points per doubling; two repeated questions between two inserts, Zipf over 100,000 keys (quick: 10,000). "
                   "Scalable Bloom: each part for twice the keys at half the rate, the first at half of 1 %. Rebuilt: from the "
                   "store, for twice the keys, when full. evergreen may ask the store.",
     .agrees = "the rate is kept within 5 %; mean memory, peak memory and repeated mistakes compare as stated",
     .runs = {1, 2},
     .seconds = {4, 50},
     .run = run,
     .judge = judge,
     .draw = draw,
     .tabulate = tabulate});

}  // namespace
}  // namespace tamis::lab
