// InfiniFilter paper, figure 14: positive queries rejuvenate fingerprints. Uniformly random queries of stored keys are mixed
// with inserts, 0, 0.2, 1 or 2 of them per insert, each followed by a rejuvenation; slots of 16 and of 8 bits from 2^10 slots
// on. The filter is used as a type, compiled for any CPU: times compare with each other only.

#include "lab/experiments/infini_common.hpp"
#include "tamis/filter/infini.hpp"
#include "tamis/math/growth.hpp"

namespace tamis::lab {
namespace {

constexpr std::uint64_t first_slots = 1 << 10;
constexpr unsigned phases = 14;  // to 2^23 slots
constexpr double ratios[] = {0.0, 0.2, 1.0, 2.0};

struct figures {
  double fpr = 0.0;
  double stated = 0.0;
  std::vector<double> query_ns;
};

status add_run(unsigned fingerprint, double ratio, std::uint64_t seed, std::vector<figures>& seen) {
  const filter_params params{
      .capacity = phase_keys(first_slots, 0), .fpr = 0.5, .options = {{"fingerprint", std::to_string(fingerprint)}}};
  TAMIS_TRY(infini f, infini::create(params));
  const hasher hash;
  random_source random(seed);
  double due = 0.0;
  std::vector<digest> asked(infini_queries);
  for (std::uint64_t i = 0; i < infini_queries; ++i) asked[i] = hash(growth_key(growth_absent, i, seed));
  std::uint64_t in = 0;
  for (unsigned phase = 0; phase < phases; ++phase) {
    for (const std::uint64_t last = phase_keys(first_slots, phase); in < last; ++in) {
      if (f.insert(hash(growth_key(growth_stored, in, seed))) == insert_result::full) return error{"infini refused a key"};
      for (due += ratio; due >= 1.0; due -= 1.0) {
        const digest d = hash(growth_key(growth_stored, random.below(in + 1), seed));
        if (!f.contains(d)) return error{"infini lost a key"};
        f.rejuvenate(d);
      }
    }
    std::uint64_t positives = 0;
    seen[phase].query_ns.push_back(ns_per_operation(infini_queries, [&] {
      for (const digest d : asked) {
        const bool answer = f.contains(d);
        use_alone(answer);
        positives += answer;
      }
    }));
    seen[phase].fpr += static_cast<double>(positives) / static_cast<double>(infini_queries);
    seen[phase].stated += f.expected_fpr();
  }
  return {};
}

status run(const experiment_options& options, std::ostream& csv) {
  csv << "slot_bits,ratio,expansions,keys,fpr,stated_fpr,model_without,query_ns\n";
  for (const unsigned slot_bits : {16u, 8u}) {
    const unsigned fingerprint = slot_bits - 4;
    std::vector<std::vector<figures>> seen(std::size(ratios), std::vector<figures>(phases));
    random_source random(options.seed);
    for (unsigned i = 0; i < options.runs; ++i) {
      const std::uint64_t seed = random();
      for (std::size_t r = 0; r < std::size(ratios); ++r) TAMIS_CHECK(add_run(fingerprint, ratios[r], seed, seen[r]));
    }
    for (std::size_t r = 0; r < std::size(ratios); ++r) {
      for (unsigned phase = 0; phase < phases; ++phase) {
        const figures& f = seen[r][phase];
        csv << slot_bits << ',' << ratios[r] << ',' << phase << ',' << phase_keys(first_slots, phase) << ','
            << f.fpr / options.runs << ',' << f.stated / options.runs << ',' << infini_rate(fingerprint, infini_alpha, phase)
            << ',' << summarize(f.query_ns).median << '\n';
      }
    }
  }
  return {};
}

}  // namespace

extern const experiment infini_rejuvenation{
    "infini-rejuvenation", "InfiniFilter, figure 14",
    "The more positive queries there are, the lower and the stabler are the false-positive rate and the query time.",
    "at every phase from the third on a higher ratio has a lower rate, and a ratio of 2 keeps it within a third of the first "
    "phase's",
    run};

}  // namespace tamis::lab
