#pragma once

// What the experiments of the InfiniFilter paper share (section 5): filters grow from a first size, phase by phase; a phase is
// one doubling of the keys, to 80 % of the slots. At its end negative queries measure rate and time.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "lab/experiment.hpp"
#include "lab/measure/timing.hpp"
#include "tamis/registry.hpp"

namespace tamis::lab {

inline constexpr const char* infini_paper = "InfiniFilter";
inline constexpr double infini_alpha = 0.8;

// Key i of a set: distinct for distinct i < 2^56 and sets.
inline std::uint64_t growth_key(std::uint64_t set, std::uint64_t i, std::uint64_t seed) {
  return detail::mix64(set << 56 | i) ^ seed;
}
inline constexpr std::uint64_t growth_stored = 3;
inline constexpr std::uint64_t growth_absent = 4;

// Keys at the end of phase x, if the first phase has `slots` slots.
inline std::uint64_t phase_keys(std::uint64_t slots, unsigned phase) {
  return static_cast<std::uint64_t>(infini_alpha * static_cast<double>(slots)) << phase;
}

struct infini_contender {  // `contender` is a type of lab/measure.hpp
  std::string name;        // in the table
  std::string id;          // of the filter
  option_list options;     // beside the fingerprint
  unsigned fingerprint;
};

inline result<any_filter> make_infini_contender(const infini_contender& c, std::uint64_t slots) {
  filter_params params{.capacity = phase_keys(slots, 0), .fpr = 0.5, .options = c.options};
  params.options.emplace_back("fingerprint", std::to_string(c.fingerprint));
  return any_filter::create(c.id, params);
}

// What is measured at the end of a phase.
struct phase_figures {
  std::uint64_t keys = 0;
  double fpr = 0.0;
  double stated_fpr = 0.0;
  double bits_per_key = 0.0;
  double insert_ns = 0.0;  // mean of the phase, growth included
  double query_ns = 0.0;   // one negative query after the other
};

// Negative queries, one by one: how many were positives, and the time of each. The paper asks a million.
inline std::uint64_t infini_queries(const experiment_options& options) { return options.at<std::uint64_t>(250'000, 1'000'000); }
inline void ask_strangers(const any_filter& f, std::uint64_t queries, std::uint64_t seed, phase_figures& figures) {
  std::vector<digest> asked(queries);
  for (std::uint64_t i = 0; i < queries; ++i) asked[i] = f.hash()(growth_key(growth_absent, i, seed));
  std::uint64_t positives = 0;
  figures.query_ns = ns_per_operation(queries, [&] {
    for (const digest d : asked) {
      const bool answer = f.may_contain(d);
      use_alone(answer);
      positives += answer;
    }
  });
  figures.keys = f.keys();
  figures.fpr = static_cast<double>(positives) / static_cast<double>(queries);
  figures.stated_fpr = f.expected_fpr();
  figures.bits_per_key = static_cast<double>(f.bits().fast) / static_cast<double>(f.keys());
}

// Inserts stored keys until there are `last`; false if the filter refuses one.
inline bool insert_phase(any_filter& f, std::uint64_t last, std::uint64_t seed, phase_figures& figures) {
  const std::uint64_t first = f.keys();
  std::vector<digest> chunk;
  constexpr std::uint64_t most = 1 << 16;
  double ns = 0.0;
  for (std::uint64_t i = first; i < last; i += chunk.size()) {
    chunk.resize(std::min(most, last - i));
    for (std::uint64_t j = 0; j < chunk.size(); ++j) chunk[j] = f.hash()(growth_key(growth_stored, i + j, seed));
    bool fits = true;
    ns += ns_per_operation(1, [&] {
      for (const digest d : chunk) fits = f.insert(d) == insert_result::inserted && fits;
    });
    if (!fits) return false;
  }
  figures.insert_ns = ns / static_cast<double>(last - first);
  return true;
}

// Lets a filter grow from `slots` slots and tells `see(phase, figures)` at the end of each phase: where the newest filter of a
// chain, or the only table of the others, is at its threshold. A chain then holds about twice the keys of the others.
template <class See>
status grow(const infini_contender& c, std::uint64_t slots, unsigned phases, const experiment_options& options, See see) {
  TAMIS_TRY(any_filter f, make_infini_contender(c, slots));
  const std::uint64_t seed = options.random()();
  for (unsigned phase = 0; phase < phases; ++phase) {
    // Sacrifice would now fill its last table to the brim: the paper's curve ends where no bit is left, too.
    if (c.id == "sacrifice" && phase > c.fingerprint && !f.expand()) return {};
    const std::uint64_t keys = phase_keys(slots, phase);
    phase_figures figures;
    if (!insert_phase(f, c.id == "chain-geometric" ? 2 * keys - phase_keys(slots, 0) : keys, seed, figures)) {
      return failure{c.name + " refused a key"};
    }
    ask_strangers(f, infini_queries(options), seed, figures);
    see(phase, figures);
  }
  return {};
}

// Statements about models. They add up the rates of parts, so that they bound the chance that one of these says yes, and come
// near it only where it is small: at 0.2 they are 10 % too high.
class model_tallies {
 public:
  explicit model_tallies(const std::string& models)
      : near_("rates follow " + models + ": within 15 % up to 0.2"), above_("rates beyond 0.2 stay below " + models) {}

  void see(const table::row& r, double model) {
    const double chance = std::sqrt(model / r.value("queries") / static_cast<double>(r.samples("fpr").size()));
    if (model >= 0.2) return above_.at_most(r, r.value("fpr"), model, chance);
    near_.at_most(r, r.value("fpr"), 1.15 * model, chance);
    near_.at_least(r, r.value("fpr"), 0.85 * model, chance);
  }
  verdict near(std::string_view why = "") const { return near_.judge(why); }
  verdict above() const { return above_.judge(); }

 private:
  tally near_;
  tally above_;
};

// Times of single points depend on the caches and on luck: the geometric mean of how many times those of `a` are those of `b`.
// Rows belong together if they agree in `setting`; those of which only one is there do not count.
struct compared {
  double mean = 0.0;
  std::size_t points = 0;
  range each;
};
inline compared times(const row_list& a, const row_list& b, std::string_view setting, std::string_view column) {
  compared c;
  double logs = 0.0;
  for (const table::row& r : a) {
    for (const table::row& o : where(b, setting, r.text(setting))) {
      const double ratio = r.value(column) / o.value(column);
      logs += std::log(ratio);
      c.each.see(ratio);
      ++c.points;
    }
  }
  if (c.points != 0) c.mean = std::exp(logs / static_cast<double>(c.points));
  return c;
}
inline verdict times_at_most(const compared& c, double bound, const std::string& claim) {
  const std::string said = claim + ": at most " + brief(bound) + " times, geometric mean";
  if (c.points == 0) return untested(said, "no row of this table can decide it");
  return decide(c.mean <= bound, said,
                brief(c.mean) + " times; single points of " + std::to_string(c.points) + ": " + c.each.text());
}
inline row_list since(const row_list& rows, double expansions) {
  row_list late;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(late),
               [&](const table::row& r) { return r.number("expansions") >= expansions; });
  return late;
}

// A filter has its colour, its second variant a lighter one.
inline std::string infini_colour(const std::string& name) {
  const std::size_t end = name.find_first_of(" /");
  return end == std::string::npos ? name : name.substr(0, end) + "/2";
}

// One line for each filter over the keys, and its model, if there is one, dashed in the same colour.
inline panel growth_panel(std::string title, const row_list& rows, std::string_view column, std::string_view model = "") {
  panel p{std::move(title), {}};
  for (const std::string& name : distinct(rows, "filter")) {
    const row_list its = where(rows, "filter", name);
    p.lines.push_back({name, infini_colour(name), mark::line, points_of(its, "keys", column)});
    if (!model.empty()) p.lines.push_back({name + ", model", infini_colour(name), mark::dashed, points_of(its, "keys", model)});
  }
  return p;
}

inline const axis keys_axis{.label = "keys", .log = true};
inline const axis rate_axis{.label = "false positives, %", .log = true, .factor = 100};
inline const axis query_axis{.label = "ns a negative query", .log = true};
inline const axis insert_axis{.label = "ns an insert", .log = true};

}  // namespace tamis::lab
