// An adversary that asks for new keys, keeps all that were answered wrongly, and replays them in turn: for every new question
// one old one. Nothing is inserted meanwhile, and the memory is fixed.

#include <cmath>

#include "lab/experiments/evergreen_common.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

constexpr double budgets[] = {10, 12};
constexpr double probes_per_key[] = {0.1, 0.3, 1, 3, 10};
constexpr double goal = 0.55;

const std::vector<contestant>& contestants() {
  static const std::vector<contestant> all = {{"evergreen-fixed", "evergreen-fixed"},
                                              {"evergreen-soft", "evergreen-fixed", {{"budget", "soft"}}},
                                              {"taf", "taf"},
                                              {"acf-cuckooing", "acf-cuckooing"},
                                              {"acf-cuckooing-95", "acf-cuckooing", {{"load", "95"}}},
                                              {"rsqf-list", "rsqf+mistakes", {{"mistakes", "0.5b"}}}};
  return all;
}

// Probes up to so many in all, each followed by a replay.
class attacker {
 public:
  attacker(contest_filter& f, const memory_remote& stored, random_source random) : f_(f), stored_(stored), random_(random) {}

  void probe(std::uint64_t until) {
    for (; probes_ < until; ++probes_) {
      const digest d = any_digest(random_);
      if (f_.ask(d, stored_)) found_.push_back(d);
      if (found_.empty()) continue;
      f_.ask(found_[next_], stored_);
      next_ = (next_ + 1) % found_.size();
    }
  }
  std::uint64_t found() const { return found_.size(); }

 private:
  contest_filter& f_;
  const memory_remote& stored_;
  random_source random_;
  std::vector<digest> found_;
  std::size_t next_ = 0;
  std::uint64_t probes_ = 0;
};

status attack(contest_filter& f, double bits, std::uint64_t keys, const experiment_options& options, table& out) {
  random_source random = options.random();
  memory_remote stored;
  for (std::uint64_t i = 0; i < keys; ++i) {
    const digest d = any_digest(random);
    stored.insert(d);
    if (!f.insert(d, stored)) return failure{f.name() + " refused a key"};
  }
  attacker by(f, stored, random.split());
  for (const double ratio : probes_per_key) {
    const auto probes = static_cast<std::uint64_t>(ratio * static_cast<double>(keys));
    by.probe(probes);
    out.add({bits, f.name(), ratio},
            {static_cast<double>(f.wrong()), static_cast<double>(by.found()), f.bits_per_key(), static_cast<double>(probes)});
  }
  return {};
}

result<table> run(const experiment_options& options) {
  table out({"bits", "filter", "probes_per_key"}, {"mistakes", "found", "bits_taken", "probes"});
  const std::uint64_t keys = options.at(20'000, 1'000'000);
  std::uint64_t done = 0;
  for (const double bits : budgets) {
    TAMIS_TRY(std::vector<contest_filter> all, contest(contestants(), keys, bits));
    for (contest_filter& f : all) {
      TAMIS_CHECK(attack(f, bits, keys, options, out));
      options.done(++done, std::size(budgets) * all.size());
    }
  }
  return out;
}

std::vector<verdict> judge(const table& seen) {
  std::vector<verdict> all;
  for (const char* acf : {"acf-cuckooing", "acf-cuckooing-95"}) {
    tally held(std::string("up to ten probes per key, at most 0.55 of the mistakes of ") +
               (acf == std::string_view("acf-cuckooing") ? "acf-cuckooing" : "acf-cuckooing, load=95"));
    for (const table::row& r : where(seen.rows(), "filter", "evergreen-fixed")) {
      const row_list at = where(where(seen.rows(), "bits", r.text("bits")), "probes_per_key", r.text("probes_per_key"));
      const double bound = goal * row_of(at, "filter", acf).value("mistakes");
      const double chance = std::sqrt((r.value("mistakes") + goal * bound) / static_cast<double>(seen.runs()));
      held.at_most(r, r.value("mistakes"), bound, chance);
    }
    all.push_back(held.judge(acf == std::string_view("acf-cuckooing") ? why_steps : why_95));
  }
  tally kept("a hard budget is never exceeded");
  for (const table::row& r : where(seen.rows(), "filter", "evergreen-fixed")) {
    kept.at_most(r, r.value("bits_taken"), r.number("bits"));
  }
  all.push_back(kept.judge());
  return all;
}

constexpr contest_line lines[] = {{"evergreen-fixed", "evergreen-fixed, hard budget", "evergreen-fixed"},
                                  {"evergreen-soft", "evergreen-fixed, soft budget", "evergreen-fixed/2"},
                                  {"taf", "taf", "taf"},
                                  {"acf-cuckooing", "acf-cuckooing", "acf-cuckooing"},
                                  {"acf-cuckooing-95", "acf-cuckooing, load=95", "acf-cuckooing/3"},
                                  {"rsqf-list", "rsqf + list of mistakes, half a bit per key", "rsqf"}};

std::vector<chart> draw(const table& seen) {
  chart c{.name = "mistakes",
          .title = "An adversary that replays everything it found",
          .x = {.label = "new questions per key", .log = true},
          .y = {.label = "mistakes per new question, %", .log = true, .factor = 100},
          .note = "Flat: what was found stays fixed. Rising: replays are answered wrongly again."};
  for (const std::string& bits : distinct(seen.rows(), "bits")) {
    panel p{bits + " bits per key", {}};
    for (const contest_line& l : lines) {
      line of{l.label, l.colour, l.as, {}};
      for (const table::row& r : where(where(seen.rows(), "bits", bits), "filter", l.name)) {
        const double probes = r.value("probes");
        of.points.push_back({r.number("probes_per_key"), r.value("mistakes") / probes, r.error("mistakes") / probes});
      }
      p.lines.push_back(std::move(of));
    }
    c.panels.push_back(std::move(p));
  }
  return {c};
}

std::vector<page_table> tabulate(const table& seen) {
  std::vector<page_table> all;
  for (const std::string& bits : distinct(seen.rows(), "bits")) {
    const row_list rows = where(seen.rows(), "bits", bits);
    page_table t{"Mistakes at " + bits + " bits per key, after so many new questions per key", {"filter"}, {}};
    for (const std::string& probes : distinct(rows, "probes_per_key")) t.head.push_back(probes);
    t.head.push_back("bits per key in the end");
    for (const contest_line& l : lines) {
      std::vector<std::string> cells = {l.label};
      const row_list of = where(rows, "filter", l.name);
      for (const table::row& r : of) cells.push_back(brief(r.value("mistakes")));
      if (!of.empty()) cells.push_back(brief(of.back().value("bits_taken")));
      if (!of.empty()) t.rows.push_back(std::move(cells));
    }
    all.push_back(std::move(t));
  }
  return all;
}

const registered it(
    {.name = "evergreen-adversary",
     .paper = evergreen_paper,
     .figures = "an adversary that replays everything",
     .claim = "An adversary that replays every false positive it found gets no more out of evergreen than new questions give.",
     .parameters =
         "A million keys (quick: 20,000), up to ten times as many new questions, each followed by a replay of one that "
         "was wrong; 10 and 12 bits per key, nothing is inserted meanwhile.",
     .agrees = "evergreen makes at most 0.55 of acf-cuckooing's mistakes at each of five points, and keeps its memory",
     .runs = {1, 3},
     .seconds = {1, 60},
     .run = run,
     .judge = judge,
     .draw = draw,
     .tabulate = tabulate});

}  // namespace
}  // namespace tamis::lab
