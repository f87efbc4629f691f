// Keys come and go: a random key is erased and a new one inserted, many times over, under skewed queries.

#include <cmath>

#include "lab/experiments/evergreen_common.hpp"
#include "lab/workload.hpp"
#include "tamis/hasher.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

constexpr unsigned turnovers = 10;  // as many keys are replaced in all as this times those that are in
constexpr unsigned questions_per_change = 4;

const std::vector<contestant>& contestants() {
  static const std::vector<contestant> all = {{"evergreen", "evergreen"},
                                              {"evergreen_untold", "evergreen", {}, false},
                                              {"taf", "taf"},
                                              {"exaf", "exaf"},
                                              {"acf_cyclic", "acf-cyclic"},
                                              {"rsqf", "rsqf"},
                                              {"infini_growing", "infini", {{"mode", "growing"}}, false}};
  return all;
}

status churn(contest_filter& f, std::uint64_t keys, random_source random, table& out) {
  const hasher hash;
  const std::pair<std::string, std::string> skew[] = {{"keys", "1000000"}, {"s", "1.0"}};
  TAMIS_TRY(const auto source, make_workload("zipf", skew, random()));
  std::vector<std::uint64_t> ids(questions_per_change);
  memory_remote stored;
  std::vector<digest> in(keys);
  for (digest& d : in) {
    d = any_digest(random);
    stored.insert(d);
    if (!f.insert(d, stored)) return failure{f.name() + " was full before its capacity"};
  }
  for (unsigned halves = 1; halves <= 2 * turnovers; ++halves) {
    for (std::uint64_t i = 0; i < keys / 2; ++i) {
      digest& gone = in[random.below(keys)];
      f.erase(gone, stored);
      stored.erase(gone);
      gone = any_digest(random);
      stored.insert(gone);
      if (!f.insert(gone, stored)) return failure{f.name() + " refused a key"};
      source->next(ids);
      for (const std::uint64_t id : ids) f.ask(hash(id), stored);
    }
    out.add({f.name(), halves / 2.0}, {f.take_rate(), f.bits_per_key()});
  }
  std::uint64_t lost = 0;
  for (const digest d : in) lost += !f.filter().may_contain(d);
  if (lost != 0) return failure{f.name() + " lost " + std::to_string(lost) + " keys"};
  return {};
}

result<table> run(const experiment_options& options) {
  const std::uint64_t keys = options.at(50'000u, 200'000u);
  table out({"filter", "turnover"}, {"rate", "bits_per_key"});
  TAMIS_TRY(std::vector<contest_filter> all, contest(contestants(), keys));
  for (std::size_t i = 0; i < all.size(); ++i) {
    TAMIS_CHECK(churn(all[i], keys, options.random(), out));
    options.done(i + 1, all.size());
  }
  return out;
}

// The last two turnovers beside the second and third.
std::vector<verdict> judge(const table& seen) {
  tally rate("after ten turnovers evergreen's rate is what it was: at most 1.3 times");
  tally space("and so are its bits per key");
  const row_list ours = where(seen.rows(), "filter", "evergreen");
  const row_list early = between(ours, "turnover", 1.5, 3);
  const row_list late = between(ours, "turnover", turnovers - 1.5, turnovers);
  const double chance = std::hypot(mean_error(early, "rate"), mean_error(late, "rate"));
  rate.at_most("the last two turnovers", mean_of(late, "rate"), 1.3 * mean_of(early, "rate"), chance);
  space.at_most("the last two turnovers", mean_of(late, "bits_per_key"), 1.3 * mean_of(early, "bits_per_key"));
  return {rate.judge(), space.judge()};
}

std::vector<chart> draw(const table& seen) {
  const axis turnover{.label = "turnovers: keys replaced per key stored"};
  chart rates{.name = "rates",
              .title = "False positives while keys come and go",
              .x = turnover,
              .y = {.label = "false positives, %", .log = true, .factor = 100},
              .panels = {contest_panel("", seen.rows(), "turnover", "rate")}};
  chart space{.name = "space",
              .title = "Space while keys come and go",
              .x = turnover,
              .y = {.label = "bits per key", .low = 0},
              .panels = {contest_panel("", seen.rows(), "turnover", "bits_per_key")}};
  return {rates, space};
}

const registered it(
    {.name = "evergreen-churn",
     .paper = evergreen_paper,
     .figures = "deletes",
     .claim = "After every key has been replaced ten times, rate under skewed queries and space are what they were.",
     .parameters =
         "200,000 keys (quick: 50,000); a random one goes and a new one comes, ten times as often as there are keys; four "
         "questions after each, Zipf with s = 1 over a million keys; 13.5 bits per key.",
     .agrees =
         "evergreen's rate and bits per key in the last two turnovers are at most 1.3 times those in the second and third",
     .runs = {3, 3},
     .seconds = {3, 13},
     .run = run,
     .judge = judge,
     .draw = draw});

}  // namespace
}  // namespace tamis::lab
