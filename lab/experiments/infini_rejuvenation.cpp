// InfiniFilter paper, figure 14: positive queries rejuvenate fingerprints. Uniformly random queries of stored keys are mixed
// with inserts, 0, 0.2, 1 or 2 of them per insert, each followed by a rejuvenation; slots of 16 and of 8 bits from 2^10 slots
// on.

#include "lab/experiments/infini_common.hpp"
#include "tamis/detail/math/growth.hpp"

namespace tamis::lab {

using namespace detail;

namespace {

constexpr std::uint64_t first_slots = 1 << 10;
constexpr unsigned paper_phases = 16;  // to 2^25 slots
constexpr unsigned quick_phases = 10;
constexpr double ratios[] = {0.0, 0.2, 1.0, 2.0};

template <class See>
status grow_and_rejuvenate(unsigned fingerprint, double ratio, unsigned phases, const experiment_options& options, See see) {
  TAMIS_TRY(any_filter f, make_infini_contender({"infini", "infini", {}, fingerprint}, first_slots));
  random_source random = options.random();
  const std::uint64_t seed = random();
  double due = 0.0;
  for (unsigned phase = 0; phase < phases; ++phase) {
    const std::uint64_t last = phase_keys(first_slots, phase);
    for (std::uint64_t in = f.keys(); in < last; ++in) {
      if (f.insert(growth_key(growth_stored, in, seed)) == insert_result::full) return failure{"infini refused a key"};
      for (due += ratio; due >= 1.0; due -= 1.0) {
        const digest d = f.hash()(growth_key(growth_stored, random.below(in + 1), seed));
        if (!f.may_contain(d)) return failure{"infini lost a key"};
        TAMIS_CHECK(f.rejuvenate(d));
      }
    }
    phase_figures figures;
    ask_strangers(f, infini_queries(options), seed, figures);
    see(phase, figures);
  }
  return {};
}

result<table> run(const experiment_options& options) {
  table out({"slot_bits", "ratio", "expansions", "keys"}, {"fpr", "stated_fpr", "model_without", "query_ns", "queries"},
            summary::median);
  const unsigned phases = options.at(quick_phases, paper_phases);
  const auto queries = static_cast<double>(infini_queries(options));
  for (const unsigned slot_bits : {16u, 8u}) {
    const unsigned fingerprint = slot_bits - 4;
    for (const double ratio : ratios) {
      TAMIS_CHECK(grow_and_rejuvenate(fingerprint, ratio, phases, options, [&](unsigned phase, const phase_figures& f) {
        out.add({slot_bits, ratio, phase, f.keys},
                {f.fpr, f.stated_fpr, infini_rate(fingerprint, infini_alpha, phase), f.query_ns, queries});
        options.done(out.rows().size(), 2 * std::size(ratios) * phases);
      }));
    }
  }
  return out;
}

// Of the difference between two measured rates.
double chance_between(const table::row& a, const table::row& b) {
  return std::sqrt((a.value("fpr") + b.value("fpr")) / a.value("queries") / static_cast<double>(a.samples("fpr").size()));
}

std::vector<verdict> judge(const table& seen) {
  model_tallies models("equation 5 without positive queries");
  tally lower("the more positive queries, the lower the rate, from the second expansion on");
  tally stable(
      "with a query per insert or more the rate is stable: after the third expansion it changes by no more than a third");
  std::vector<verdict> speeds;
  for (const std::string& bits : distinct(seen.rows(), "slot_bits")) {
    const row_list rows = where(seen.rows(), "slot_bits", bits);
    for (const table::row& r : where(rows, "ratio", "0")) models.see(r, r.value("model_without"));
    const std::vector<std::string> shares = distinct(rows, "ratio");
    for (std::size_t i = 1; i < shares.size(); ++i) {
      const row_list fewer = where(rows, "ratio", shares[i - 1]);
      for (const table::row& r : since(where(rows, "ratio", shares[i]), 2)) {
        const table::row other = row_of(fewer, "expansions", r.text("expansions"));
        lower.at_most(r, r.value("fpr"), other.value("fpr"), chance_between(r, other));
      }
    }
    for (const char* ratio : {"1", "2"}) {
      const row_list late = since(where(rows, "ratio", ratio), 3);
      for (const table::row& r : late) {
        const double chance = chance_between(r, late.front());
        stable.at_most(r, r.value("fpr"), 4.0 / 3 * late.front().value("fpr"), chance);
        stable.at_least(r, r.value("fpr"), 2.0 / 3 * late.front().value("fpr"), chance);
      }
    }
    // Without queries there is a secondary from here on.
    const row_list late = since(rows, rows.front().number("slot_bits") - 3);
    speeds.push_back(times_at_most(times(where(late, "ratio", "2"), where(late, "ratio", "0"), "expansions", "query_ns"), 1.0,
                                   "with " + bits +
                                       "-bit slots 2 positive queries per insert make negative ones faster, where "
                                       "there is a secondary without"));
  }
  std::vector<verdict> verdicts{models.near(), models.above(), lower.judge(), stable.judge()};
  verdicts.insert(verdicts.end(), speeds.begin(), speeds.end());
  return verdicts;
}

chart part(const row_list& rows, const std::string& name, const std::string& what, const axis& y, std::string_view column) {
  const std::string& bits = rows.front().text("slot_bits");
  chart c{.name = name + "-" + bits,
          .title = "Figure 14: " + what + " of infini with " + bits + "-bit slots that rejuvenates",
          .x = keys_axis,
          .y = y,
          .panels = {{}},
          .note = "Numbers: positive queries per insert."};
  const char* const colours[] = {"infini", "two", "three", "four"};
  const std::vector<std::string> shares = distinct(rows, "ratio");
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const row_list its = where(rows, "ratio", shares[i]);
    c.panels[0].lines.push_back({shares[i], colours[i % std::size(colours)], mark::line, points_of(its, "keys", column)});
    if (shares[i] == "0" && column == "fpr") {
      c.panels[0].lines.push_back({"0, equation 5", "infini", mark::dashed, points_of(its, "keys", "model_without")});
    }
  }
  return c;
}

std::vector<chart> draw(const table& seen) {
  std::vector<chart> all;
  for (const std::string& bits : distinct(seen.rows(), "slot_bits")) {
    const row_list rows = where(seen.rows(), "slot_bits", bits);
    all.push_back(part(rows, "rates", "false-positive rate", rate_axis, "fpr"));
    all.push_back(part(rows, "queries", "query time", query_axis, "query_ns"));
  }
  return all;
}

const registered it(
    {.name = "infini-rejuvenation",
     .paper = infini_paper,
     .figures = "figure 14",
     .claim = "The more positive queries there are, the lower and the stabler are the false-positive rate and the query time.",
     .parameters =
         "slots of 16 and of 8 bits, from 2^10 slots to 2^25 (quick: 2^19); 0, 0.2, 1 and 2 queries of stored keys per "
         "insert; a million negative queries (quick: 250,000) after every doubling.",
     .agrees = "from the second expansion on a higher ratio has a lower rate, ratios of 1 and 2 keep it within a third of that "
               "after the third, and where there is a secondary a ratio of 2 makes queries faster",
     .runs = {3, 3},
     .seconds = {1.1, 90},
     .timed = true,
     .run = run,
     .judge = judge,
     .draw = draw});

}  // namespace
}  // namespace tamis::lab
