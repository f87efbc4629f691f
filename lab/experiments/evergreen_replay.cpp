// An adversary that asks every false positive it has ever seen again and again, while keys come in.

#include "lab/experiments/evergreen_common.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

constexpr std::uint64_t steps = 20;

// Keys at first, twice as many in the end; ten times as many new questions, from which the false positives come, and as many
// replays.
std::uint64_t first_keys(const experiment_options& options) { return options.at(30'000u, 100'000u); }

const std::vector<contestant>& contestants() {
  static const std::vector<contestant> all = {{"evergreen", "evergreen"},
                                              {"taf", "taf"},
                                              {"exaf", "exaf"},
                                              {"abf", "abf"},
                                              {"acf_cuckooing", "acf-cuckooing", {{"load", "95"}}},
                                              {"acf_cyclic", "acf-cyclic"},
                                              {"acf_swapping", "acf-swapping"}};
  return all;
}

status attack(contest_filter& f, const experiment_options& options, table& out) {
  random_source random = options.random();
  memory_remote stored;
  const auto insert = [&]() -> status {
    const digest d = any_digest(random);
    stored.insert(d);
    if (!f.insert(d, stored)) return failure{f.name() + " refused a key"};
    return {};
  };
  const std::uint64_t keys = first_keys(options);
  const std::uint64_t questions = 10 * keys;
  for (std::uint64_t i = 0; i < keys; ++i) TAMIS_CHECK(insert());
  std::vector<digest> wrong;
  for (std::uint64_t i = 0; i < questions; ++i) {
    const digest d = any_digest(random);
    if (f.ask(d, stored)) wrong.push_back(d);
  }
  if (wrong.empty()) return failure{f.name() + " was never wrong: there is nothing to replay"};
  const double fresh_rate = f.take_rate();
  for (std::uint64_t i = 0; i < questions; ++i) {
    if (i % (questions / keys) == 0) TAMIS_CHECK(insert());
    f.ask(wrong[i % wrong.size()], stored);
    if ((i + 1) % (questions / steps) == 0) {
      out.add({f.name(), i + 1}, {static_cast<double>(wrong.size()), fresh_rate, f.take_rate()});
    }
  }
  return {};
}

result<table> run(const experiment_options& options) {
  table out({"filter", "replays"}, {"known", "fresh_rate", "replayed_rate"});
  TAMIS_TRY(std::vector<contest_filter> all, contest(contestants(), 2 * first_keys(options)));
  for (std::size_t i = 0; i < all.size(); ++i) {
    TAMIS_CHECK(attack(all[i], options, out));
    options.done(i + 1, all.size());
  }
  return out;
}

std::vector<verdict> judge(const table& seen) {
  tally held("replaying all that was ever wrong gets no higher rate out of evergreen than asking anew, in any step");
  for (const table::row& r : where(seen.rows(), "filter", "evergreen")) {
    held.at_most(r, r.value("replayed_rate"), r.value("fresh_rate"));
  }
  return {held.judge()};
}

std::vector<chart> draw(const table& seen) {
  chart c{.name = "rates",
          .title = "An adversary that replays its finds while keys come in",
          .x = {.label = "replays"},
          .y = {.label = "false positives, %", .log = true, .factor = 100},
          .panels = {contest_panel("", seen.rows(), "replays", "replayed_rate")},
          .note = "Dashed: evergreen's rate of new questions. Hollow marks on the lower edge: none seen."};
  const row_list ours = where(seen.rows(), "filter", "evergreen");
  c.panels[0].lines.push_back({"evergreen, asked anew", "evergreen", mark::dashed, points_of(ours, "replays", "fresh_rate")});
  return {c};
}

const registered it(
    {.name = "evergreen-replay",
     .paper = evergreen_paper,
     .figures = "an adversary that replays its finds",
     .claim = "Replaying all false positives ever seen gets no higher rate than asking anew, though keys come in meanwhile.",
     .parameters =
         "100,000 keys (quick: 30,000), ten times as many new questions, then as many replays of those that were wrong, "
         "while the keys double; 13.5 bits per key in the end.",
     .agrees = "evergreen's rate of replays is at most that of new questions in each of 20 steps",
     .runs = {3, 5},
     .seconds = {0.2, 1},
     .run = run,
     .judge = judge,
     .draw = draw});

}  // namespace
}  // namespace tamis::lab
