// Growing from 2^10 keys: rate and space, with and without a store that can be asked.

#include <bit>

#include "lab/experiments/evergreen_common.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

constexpr std::uint64_t first_keys = 1024;
constexpr double first_rate = 1.0 / 256;  // 2^-r
constexpr double most_bits = 13;

const std::vector<contestant>& contestants() {
  static const std::vector<contestant> all = {
      {"evergreen_store", "evergreen", {{"remainder", "8"}}},
      {"evergreen_growing", "evergreen", {{"remainder", "8"}, {"fingerprints", "growing"}}, false},
      {"evergreen_fixed", "evergreen", {{"remainder", "8"}, {"fingerprints", "fixed"}}, false},
      {"infini_growing", "infini", {{"fingerprint", "8"}, {"mode", "growing"}}, false},
      {"infini_chained", "infini", {{"fingerprint", "8"}, {"mode", "chained"}}, false}};
  return all;
}

// Four points per doubling.
status grow(contest_filter f, std::uint64_t most_keys, std::uint64_t questions, const experiment_options& options, table& out) {
  random_source random = options.random();
  random_source strangers = random.split();
  memory_remote stored;
  std::uint64_t keys = 0;
  for (std::uint64_t until = first_keys; until <= most_keys; until += std::bit_floor(until) / 4) {
    for (; keys < until; ++keys) {
      const digest d = any_digest(random);
      if (f.has_remote()) stored.insert(d);
      if (!f.insert(d, stored)) return failure{f.name() + " refused key " + std::to_string(keys)};
    }
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < questions; ++i) wrong += f.filter().may_contain(any_digest(strangers));
    out.add({f.name(), keys}, {static_cast<double>(wrong) / static_cast<double>(questions), f.filter().expected_fpr(),
                               f.bits_per_key(), static_cast<double>(questions)});
  }
  return {};
}

result<table> run(const experiment_options& options) {
  table out({"filter", "keys"}, {"rate", "expected_rate", "bits_per_key", "questions"});
  for (std::size_t i = 0; i < contestants().size(); ++i) {
    TAMIS_TRY(contest_filter f, beginner(contestants()[i], first_keys));
    TAMIS_CHECK(grow(std::move(f), std::uint64_t{1} << options.at(17, 26), options.at(400'000U, 4'000'000U), options, out));
    options.done(i + 1, contestants().size());
  }
  return out;
}

row_list last_doubling(const table& seen, const char* filter) {
  const row_list rows = where(seen.rows(), "filter", filter);
  const double last = rows.back().number("keys");
  return between(rows, "keys", last / 2, last);
}
// The rate of every point of the last doubling.
verdict stays(const table& seen, const char* filter, double bound, std::string claim, std::string_view why = "") {
  tally held(std::move(claim));
  for (const table::row& r : last_doubling(seen, filter)) {
    const double chance = std::sqrt(bound / r.value("questions") / static_cast<double>(seen.runs()));
    held.at_most(r, r.value("rate"), bound, chance);
  }
  return held.judge(why);
}

// From 2^14 keys on the first size does not show any more.
row_list settled(const table& seen, const char* filter) {
  return between(where(seen.rows(), "filter", filter), "keys", 1 << 14, 1e18);
}
double spread(const row_list& rows, std::string_view column) {
  range seen;
  for (const table::row& r : rows) seen.see(r.value(column));
  return seen.high() / seen.low();
}

// Our filter that may ask its store beside the paper's that has none.
std::vector<verdict> beside_infini(const table& seen) {
  const row_list ours = settled(seen, "evergreen_store");
  const row_list theirs = settled(seen, "infini_growing");
  return {
      decide(spread(ours, "rate") <= spread(theirs, "rate"),
             "with a store, the rate is at least as stable as that of infini growing: largest over smallest, from 2^14 keys on",
             brief(spread(ours, "rate")) + " and " + brief(spread(theirs, "rate"))),
      decide(mean_of(ours, "bits_per_key") <= mean_of(theirs, "bits_per_key"),
             "with a store, it needs fewer bits per key than infini growing, in the mean from 2^14 keys on",
             brief(mean_of(ours, "bits_per_key")) + " and " + brief(mean_of(theirs, "bits_per_key")) +
                 " bits, at mean rates of " + brief(mean_of(ours, "rate")) + " and " + brief(mean_of(theirs, "rate")))};
}

std::vector<verdict> judge(const table& seen) {
  tally space("with a store it needs at most 13 bits per key, from 2^14 keys on");
  for (const table::row& r : settled(seen, "evergreen_store")) {
    space.at_most(r, r.value("bits_per_key"), most_bits);
  }
  std::vector<verdict> verdicts = beside_infini(seen);
  verdicts.insert(verdicts.end(),
                  {stays(seen, "evergreen_store", first_rate,
                         "with a store, the rate stays where it was: at most 2^-r in the last doubling"),
                   stays(seen, "evergreen_growing", 2 * first_rate,
                         "without a store, the rate is at most 2 times 2^-r in the last doubling, if fingerprints grow"),
                   space.judge()});
  return verdicts;
}

std::vector<chart> draw(const table& seen) {
  const axis keys{.label = "keys", .log = true};
  chart rates{.name = "rates",
              .title = "False positives of new questions while a filter grows from 2^10 keys",
              .x = keys,
              .y = {.label = "false positives, %", .factor = 100, .low = 0},
              .panels = {contest_panel("", seen.rows(), "keys", "rate")}};
  chart space{.name = "space",
              .title = "Space while a filter grows from 2^10 keys",
              .x = keys,
              .y = {.label = "bits per key", .log = true},
              .panels = {contest_panel("", seen.rows(), "keys", "bits_per_key")}};
  return {rates, space};
}

const registered it(
    {.name = "evergreen-growth",
     .paper = evergreen_paper,
     .figures = "growing alone",
     .claim = "With a store, the rate of a growing filter stays where it was; without one it stays below twice the first, if "
              "fingerprints grow.",
     .parameters = "From 2^10 to 2^26 keys (quick: 2^17), r = 8 at first; 4,000,000 new questions (quick: 400,000) at each of "
                   "four points per doubling.",
     .agrees =
         "in the last doubling the rate is at most 2^-r with a store and twice 2^-r without; at most 13 bits per key from 2^14 "
         "keys on with one; a rate as stable as that of infini growing, with fewer bits",
     .runs = {2, 2},
     .seconds = {2, 700},
     .run = run,
     .judge = judge,
     .draw = draw});

}  // namespace
}  // namespace tamis::lab
