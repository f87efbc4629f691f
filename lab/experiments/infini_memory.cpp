// InfiniFilter paper, figure 15: growing fingerprints keep the false-positive rate constant. 8-bit slots from 2^10 slots on, no
// positive queries: the chained InfiniFilter with slots of fixed width, the same with growing fingerprints (section 4.3), and
// geometric chaining with growing memory, which is decreasing rates. Models: equations 5 and 10, section 3.

#include "lab/experiments/infini_common.hpp"
#include "tamis/math/chain.hpp"
#include "tamis/math/growth.hpp"

namespace tamis::lab {
namespace {

constexpr std::uint64_t first_slots = 1 << 10;
constexpr unsigned phases = 15;  // to 2^24 slots
constexpr unsigned slot_bits = 8;

struct models {
  double fpr;
  double bits;
};

models models_of(const contender& c, unsigned expansions) {
  if (c.id == "chain-geometric") {
    return {decreasing_chaining_rate(c.fingerprint, infini_alpha, expansions + 1),
            decreasing_chaining_space(c.fingerprint, infini_alpha, std::exp2(expansions))};
  }
  if (c.name == "infini") {
    return {infini_rate(c.fingerprint, infini_alpha, expansions), infini_bits(c.fingerprint, infini_alpha, 3.0)};
  }
  return {growing_rate(c.fingerprint, infini_alpha, expansions), growing_bits(c.fingerprint, infini_alpha, expansions, 3.0)};
}

status add_run(const contender& c, std::uint64_t seed, std::vector<phase_samples>& seen) {
  TAMIS_TRY(any_filter f, make_contender(c, first_slots));
  for (unsigned phase = 0; phase < phases; ++phase) {
    const std::uint64_t keys = phase_keys(first_slots, phase);
    const std::uint64_t last = c.id == "chain-geometric" ? 2 * keys - phase_keys(first_slots, 0) : keys;
    phase_figures figures;
    if (!insert_phase(f, f.keys(), last, seed, figures)) return error{c.name + " refused a key"};
    ask_strangers(f, infini_queries, seed, figures);
    seen[phase].add(figures);
  }
  return {};
}

status run(const experiment_options& options, std::ostream& csv) {
  const contender contenders[] = {
      {"infini", "infini", {}, slot_bits - 4},
      {"infini growing", "infini", {{"mode", "growing"}}, slot_bits - 4},
      {"chain-geometric decreasing", "chain-geometric", {{"rates", "decreasing"}}, slot_bits - 3},
  };
  csv << "filter,expansions,keys,fpr,model_fpr,printed_model_fpr,stated_fpr,bits_per_key,model_bits,insert_ns,query_ns\n";
  std::vector<std::vector<phase_samples>> seen(std::size(contenders), std::vector<phase_samples>(phases));
  random_source random(options.seed);
  for (unsigned i = 0; i < options.runs; ++i) {
    const std::uint64_t seed = random();
    for (std::size_t c = 0; c < std::size(contenders); ++c) TAMIS_CHECK(add_run(contenders[c], seed, seen[c]));
  }
  for (std::size_t c = 0; c < std::size(contenders); ++c) {
    for (unsigned phase = 0; phase < phases; ++phase) {
      const contender& who = contenders[c];
      const phase_figures f = seen[c][phase].summary();
      const models model = models_of(who, phase);
      const bool grows = who.name == "infini growing";
      const double printed = grows ? growing_rate_printed(who.fingerprint, infini_alpha, phase) : model.fpr;
      csv << who.name << ',' << phase << ',' << f.keys << ',' << f.fpr << ',' << model.fpr << ',' << printed << ','
          << f.stated_fpr << ',' << f.bits_per_key << ',' << model.bits << ',' << f.insert_ns << ',' << f.query_ns << '\n';
    }
  }
  return {};
}

}  // namespace

extern const experiment infini_memory{"infini-memory", "InfiniFilter, figure 15",
                                      "Growing fingerprints make the false-positive rate constant, for a slowly rising memory; "
                                      "geometric chaining with growing memory "
                                      "is as good in both but asks ever more filters.",
                                      "the rate of infini growing changes by less than a quarter from the fifth phase on while "
                                      "infini's rises; its queries are faster "
                                      "than the chain's",
                                      run};

}  // namespace tamis::lab
