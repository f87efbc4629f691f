// InfiniFilter paper, figure 13: query time, false-positive rate, memory and insert time while filters grow from 2^12 slots,
// for slots of 16 and of 8 bits: geometric chaining, fingerprint sacrifice and the chained InfiniFilter. Linear chaining, which
// the paper leaves out because geometric chaining dominates it, is not measured either. The models are those of section 3 and
// equation 5.

#include "lab/experiments/infini_common.hpp"
#include "tamis/math/chain.hpp"
#include "tamis/math/growth.hpp"

namespace tamis::lab {
namespace {

constexpr std::uint64_t first_slots = 1 << 12;
constexpr unsigned phases = 14;  // of 16-bit and of 8-bit slots: to 2^25 slots

struct models {
  double fpr;
  double bits;
};

models models_of(const contender& c, unsigned expansions) {
  const double n = std::exp2(expansions);
  if (c.id == "chain-geometric") {
    return {geometric_chaining_rate(c.fingerprint, infini_alpha, n), chaining_space(c.fingerprint, infini_alpha)};
  }
  if (c.id == "sacrifice") {
    return {sacrificing_rate(c.fingerprint, infini_alpha, n), sacrificing_space(c.fingerprint, infini_alpha, n)};
  }
  return {infini_rate(c.fingerprint, infini_alpha, expansions), infini_bits(c.fingerprint, infini_alpha, 3.0)};
}

// The end of a phase is where the newest filter of a chain, or the only table of the others, is at its threshold.
std::uint64_t end_of_phase(const contender& c, unsigned phase) {
  const std::uint64_t keys = phase_keys(first_slots, phase);
  return c.id == "chain-geometric" ? 2 * keys - phase_keys(first_slots, 0) : keys;
}

status add_run(const contender& c, std::uint64_t seed, std::vector<phase_samples>& seen) {
  TAMIS_TRY(any_filter f, make_contender(c, first_slots));
  for (unsigned phase = 0; phase < phases; ++phase) {
    if (c.id == "sacrifice" && phase > c.fingerprint) return {};  // no bit is left: the paper's curve ends here too
    phase_figures figures;
    if (!insert_phase(f, f.keys(), end_of_phase(c, phase), seed, figures)) return error{c.name + " refused a key"};
    ask_strangers(f, infini_queries, seed, figures);
    seen[phase].add(figures);
  }
  return {};
}

status run(const experiment_options& options, std::ostream& csv) {
  csv << "slot_bits,filter,expansions,keys,fpr,model_fpr,stated_fpr,bits_per_key,model_bits,insert_ns,query_ns\n";
  struct row {
    unsigned slot_bits;
    contender who;
    std::vector<phase_samples> seen = std::vector<phase_samples>(phases);
  };
  std::vector<row> rows;
  for (const unsigned slot_bits : {16u, 8u}) {
    rows.push_back({slot_bits, {"chain-geometric", "chain-geometric", {}, slot_bits - 3}});
    rows.push_back({slot_bits, {"sacrifice", "sacrifice", {}, slot_bits - 3}});
    rows.push_back({slot_bits, {"infini", "infini", {}, slot_bits - 4}});  // its age counter takes a bit
  }
  // Filters take turns within a run: a slow moment of the machine hits all of them.
  random_source random(options.seed);
  for (unsigned i = 0; i < options.runs; ++i) {
    const std::uint64_t seed = random();
    for (row& r : rows) TAMIS_CHECK(add_run(r.who, seed, r.seen));
  }
  for (const row& r : rows) {
    for (unsigned phase = 0; phase < phases && !r.seen[phase].empty(); ++phase) {
      const phase_figures f = r.seen[phase].summary();
      const models model = models_of(r.who, phase);
      csv << r.slot_bits << ',' << r.who.name << ',' << phase << ',' << f.keys << ',' << f.fpr << ',' << model.fpr << ','
          << f.stated_fpr << ',' << f.bits_per_key << ',' << model.bits << ',' << f.insert_ns << ',' << f.query_ns << '\n';
    }
  }
  return {};
}

}  // namespace

extern const experiment infini_growth{"infini-growth", "InfiniFilter, figure 13 (and 1)",
                                      "Geometric chaining queries get slower with every filter, sacrifice doubles its rate "
                                      "until no bit is left, InfiniFilter keeps "
                                      "rate, memory and query time nearly stable.",
                                      "infini's queries are faster than the chain's from the fifth phase on, its rate follows "
                                      "equation 5 and the others' section 3 "
                                      "within 15 %, and sacrifice ends after F doublings",
                                      run};

}  // namespace tamis::lab
