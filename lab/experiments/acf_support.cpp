// Adaptive cuckoo filters, section 3: false positives against the number of different questions |Q|, and the sequence on which
// Cyclic and Swapping make Omega(n) of them.
//
// acf-support: n = 2^16 keys, slots of 8 bits; n questions, each one of |Q| = 1, 2, 4, … n at random. eps_q is eps |Q|, the
// optimum. acf-omega: |Q| = 256 and fingerprints of 4 bits whatever n is, Cyclic with s = 1 and Swapping with k = 3, b = 2, so
// that some question collides under both selectors or in both slots of a bin.

#include <algorithm>
#include <cmath>

#include "lab/experiment.hpp"
#include "lab/experiments/acf_filters.hpp"
#include "tamis/detail/math/acf.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

constexpr const char* paper = "Support optimality and adaptive cuckoo filters";

std::vector<digest> random_digests(std::uint64_t count, random_source& random) {
  std::vector<digest> made(count);
  for (digest& d : made) {
    d.high = random();
    d.low = random();
  }
  return made;
}

struct repeated_questions {
  std::vector<digest> members;
  std::vector<digest> queries;  // n of them, each one of `support` keys
};

repeated_questions draw_keys(std::uint64_t n, std::uint64_t support, random_source random) {
  repeated_questions sample{random_digests(n, random), {}};
  const std::vector<digest> distinct_keys = random_digests(support, random);
  for (std::uint64_t i = 0; i < n; ++i) sample.queries.push_back(distinct_keys[random.below(support)]);
  return sample;
}

result<table> run_support(const experiment_options& options) {
  std::vector<std::string> values{"eps_q"};
  values.insert(values.end(), acf_names.begin(), acf_names.end());
  table out({"keys", "support", "slot_bits"}, values);
  constexpr std::uint64_t n = 1 << 16;
  constexpr unsigned slot_bits = 8;
  random_source random = options.random();
  for (std::uint64_t support = 1; support <= n; support *= 2) {
    const repeated_questions sample = draw_keys(n, support, random.split());
    std::vector<double> row{acf_rate(4, 1, slot_bits, 0.95) * static_cast<double>(support)};
    for (const double wrong : race(sample, slot_bits)) row.push_back(wrong);
    out.add({n, support, slot_bits}, row);
    options.done(out.rows().size(), 17);
  }
  return out;
}

std::vector<verdict> judge_support(const table& seen) {
  tally optimal(
      "the Cuckooing filter makes about eps |Q| false positives however often each is repeated: at most 1.2 eps |Q| + 3");
  double excess = 0;
  for (const table::row& r : seen.rows()) {
    optimal.at_most(r, r.value("cuckooing_paper"), 1.2 * r.value("eps_q") + 3, r.error("cuckooing_paper"));
    for (const double wrong : r.samples("cyclic_1")) excess = std::max(excess, wrong / (2 * r.value("eps_q") + 3));
  }
  const std::string claim =
      "Cyclic with s = 1 is not support optimal: a key that collides under both selectors is wrong every time";
  return {optimal.judge(), excess > 10
                               ? decide(true, claim, "in one run " + brief(excess) + " times what 2 eps |Q| + 3 allows")
                               : untested(claim, "no such key turned up in " + std::to_string(seen.runs()) + " runs: at most " +
                                                     brief(excess) + " times 2 eps |Q| + 3 in one of them")};
}

std::vector<chart> draw_support(const table& seen) {
  chart c{.name = "support",
          .title = "Theorem 1: false positives in n = 65,536 questions of |Q| different keys",
          .x = {.label = "|Q|: different keys asked for", .log = true},
          .y = {.label = "false positives", .log = true},
          .note = "Hollow marks on the lower edge: none in any run."};
  panel p{"", {}};
  for (const acf_line& l : acf_lines)
    p.lines.push_back({l.label, l.colour, mark::line, points_of(seen.rows(), "support", l.column)});
  p.lines.push_back({"eps |Q|, the optimum", "grey", mark::dashed, points_of(seen.rows(), "support", "eps_q")});
  c.panels.push_back(std::move(p));
  return {c};
}

result<table> run_omega(const experiment_options& options) {
  table out({"keys", "support"}, {"plain", "cuckooing", "cuckooing_paper", "cyclic_1", "swapping_2"});
  constexpr unsigned f = 4;
  constexpr std::uint64_t support = 256;
  random_source random = options.random();
  const std::uint64_t last = options.at<std::uint64_t>(1 << 16, 1 << 18);
  for (std::uint64_t n = 1 << 10; n <= last; n *= 2) {
    const repeated_questions sample = draw_keys(n, support, random.split());
    const auto count = [&](any_filter filter, bool learns = true) {
      return static_cast<double>(after(std::move(filter), sample, learns).wrong());
    };
    out.add({n, support},
            {count(acf_of("acf-cuckooing", n, f, {{"path", "shortest"}}), false),
             count(acf_of("acf-cuckooing", n, f, {{"path", "shortest"}})),
             count(acf_of("acf-cuckooing", n, f, {{"path", "paper"}})), count(acf_of("acf-cyclic", n, f + 1, {}, 1)),
             count(acf_of("acf-swapping", n, f, {{"k", "3"}, {"b", "2"}}))});
    options.done(n, last);
  }
  return out;
}

// How false positives grow from the smallest table in which the effect shows to the largest: 1 is in proportion to n.
double growth(const table& seen, std::string_view column) {
  const table::row from = seen.rows()[4];  // 2^14
  const table::row to = seen.rows().back();
  return std::log(std::max(1.0, to.value(column)) / std::max(1.0, from.value(column))) /
         std::log(to.number("keys") / from.number("keys"));
}

std::vector<verdict> judge_omega(const table& seen) {
  const auto grows = [&](std::string_view column, std::string_view name) {
    const double power = growth(seen, column);
    return decide(power > 0.6, std::string(name) + " makes Omega(n) false positives for a constant |Q|",
                  "they grow as n^" + brief(power) + ", to " + brief(seen.rows().back().value(column)) + " of " +
                      seen.rows().back().text("keys") + " questions");
  };
  const double power = growth(seen, "cuckooing_paper");
  return {grows("cyclic_1", "Cyclic with s = 1"), grows("swapping_2", "Swapping with b = 2"),
          decide(power < 0.2, "Cuckooing does not",
                 "they grow as n^" + brief(power) + ", to " + brief(seen.rows().back().value("cuckooing_paper")))};
}

std::vector<chart> draw_omega(const table& seen) {
  chart c{.name = "omega",
          .title = "Section 3: false positives in n questions of 256 different keys, fingerprints of 4 bits",
          .x = {.label = "n: keys stored, and questions", .log = true},
          .y = {.label = "false positives", .log = true}};
  const auto points = [&seen](std::string_view column) { return points_of(seen.rows(), "keys", column); };
  c.panels.push_back({"",
                      {{"Cuckooing, shortest path", "acf-cuckooing", mark::line, points("cuckooing")},
                       {"Cuckooing, the paper's path", "acf-cuckooing/2", mark::line, points("cuckooing_paper")},
                       {"Cyclic, s = 1", "acf-cyclic", mark::line, points("cyclic_1")},
                       {"Swapping, k = 3, b = 2", "acf-swapping", mark::line, points("swapping_2")},
                       {"not adapting", "grey", mark::line, points("plain")}}});
  return {c};
}

const registered support({.name = "acf-support",
                          .paper = paper,
                          .figures = "theorem 1",
                          .claim = "Over n questions from a set of |Q| keys the Cuckooing filter makes about eps |Q| false "
                                   "positives, however often each is "
                                   "repeated.",
                          .parameters = "n = 2^16 keys and questions; slots of 8 bits; |Q| = 1, 2, 4, … 2^16; k = 4 (the "
                                        "analysis is for k = 2). Quick: fewer runs.",
                          .agrees = "Cuckooing is at or below 1.2 eps |Q| + 3 for every |Q|, and Cyclic with s = 1 is not",
                          .runs = {16, 20},
                          .seconds = {0.75, 0.75},
                          .run = run_support,
                          .judge = judge_support,
                          .draw = draw_support});
const registered omega({.name = "acf-omega",
                        .paper = paper,
                        .figures = "section 3",
                        .claim = "For a constant |Q| there are sequences with Omega(n) false positives of the Cyclic and the "
                                 "Swapping filter, and few of the "
                                 "Cuckooing filter.",
                        .parameters = "|Q| = 256; fingerprints of 4 bits; n = 2^10 to 2^18 (quick: 2^16).",
                        .agrees = "from n = 2^14 on Cyclic and Swapping grow at least as n^0.6, Cuckooing at most as n^0.2",
                        .runs = {5, 10},
                        .seconds = {0.1, 0.35},
                        .run = run_omega,
                        .judge = judge_omega,
                        .draw = draw_omega});

}  // namespace
}  // namespace tamis::lab
