#include "lab/experiment.hpp"

namespace tamis::lab {

extern const experiment abf_decimation;
extern const experiment abf_synthetic;
extern const experiment abf_traces;
extern const experiment abf_variants;
extern const experiment acf_adversaries;
extern const experiment acf_omega;
extern const experiment acf_support;
extern const experiment acf_traces;
extern const experiment ascf_fixed;
extern const experiment ascf_load;
extern const experiment ascf_load_24;
extern const experiment ascf_sizes;
extern const experiment ascf_space;
extern const experiment ascf_speed_20;
extern const experiment ascf_speed_22;
extern const experiment ascf_speed_24;
extern const experiment evergreen_both_20;
extern const experiment evergreen_both_22;
extern const experiment evergreen_churn;
extern const experiment evergreen_growth_20;
extern const experiment evergreen_growth_22;
extern const experiment evergreen_growth_24;
extern const experiment evergreen_growth_26;
extern const experiment evergreen_pauses_22;
extern const experiment evergreen_pauses_24;
extern const experiment evergreen_replay;
extern const experiment evergreen_static;
extern const experiment infini_growth;
extern const experiment infini_memory;
extern const experiment infini_rejuvenation;
extern const experiment infini_static;
extern const experiment taf_active_set;
extern const experiment taf_adversary;
extern const experiment taf_power_law;
extern const experiment taf_selectors;
extern const experiment taf_throughput;
extern const experiment taf_traces;

std::span<const experiment* const> experiments() {
  static constexpr const experiment* all[] = {
      &abf_decimation,      &abf_synthetic,       &abf_traces,          &abf_variants,        &acf_adversaries,
      &acf_omega,           &acf_support,         &acf_traces,          &ascf_fixed,          &ascf_load,
      &ascf_load_24,        &ascf_sizes,          &ascf_space,          &ascf_speed_20,       &ascf_speed_22,
      &ascf_speed_24,       &evergreen_both_20,   &evergreen_both_22,   &evergreen_churn,     &evergreen_growth_20,
      &evergreen_growth_22, &evergreen_growth_24, &evergreen_growth_26, &evergreen_pauses_22, &evergreen_pauses_24,
      &evergreen_replay,    &evergreen_static,    &infini_growth,       &infini_memory,       &infini_rejuvenation,
      &infini_static,       &taf_active_set,      &taf_adversary,       &taf_power_law,       &taf_selectors,
      &taf_throughput,      &taf_traces};
  return all;
}

}  // namespace tamis::lab
