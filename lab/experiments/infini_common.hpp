#pragma once

// What the experiments of the InfiniFilter paper share (section 5): filters grow from a first size, phase by phase; a phase is
// one doubling of the keys, to 80 % of the slots. At its end negative queries measure rate and time.

#include <cmath>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "lab/experiment.hpp"
#include "lab/measure/timing.hpp"
#include "tamis/any/registry.hpp"
#include "tamis/base/random.hpp"

namespace tamis::lab {

inline constexpr double infini_alpha = 0.8;
inline constexpr std::uint64_t infini_queries = 1'000'000;

// Key i of a set: distinct for distinct i < 2^56 and sets.
inline std::uint64_t growth_key(std::uint64_t set, std::uint64_t i, std::uint64_t seed) { return mix64(set << 56 | i) ^ seed; }
inline constexpr std::uint64_t growth_stored = 3;
inline constexpr std::uint64_t growth_absent = 4;

// Keys at the end of phase x, if the first phase has `slots` slots.
inline std::uint64_t phase_keys(std::uint64_t slots, unsigned phase) {
  return static_cast<std::uint64_t>(infini_alpha * static_cast<double>(slots)) << phase;
}

struct contender {
  std::string name;     // in the table
  std::string id;       // of the filter
  option_list options;  // beside the fingerprint
  unsigned fingerprint;
};

inline result<any_filter> make_contender(const contender& c, std::uint64_t slots) {
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

// Negative queries, one by one: how many were positives, and the time of each.
inline void ask_strangers(const any_filter& f, std::uint64_t queries, std::uint64_t seed, phase_figures& figures) {
  std::vector<digest> asked(queries);
  for (std::uint64_t i = 0; i < queries; ++i) asked[i] = f.hash()(growth_key(growth_absent, i, seed));
  std::uint64_t positives = 0;
  figures.query_ns = ns_per_operation(queries, [&] {
    for (const digest d : asked) {
      const bool answer = f.contains(d);
      use_alone(answer);
      positives += answer;
    }
  });
  figures.fpr = static_cast<double>(positives) / static_cast<double>(queries);
  figures.stated_fpr = f.expected_fpr();
  figures.bits_per_key = static_cast<double>(f.bits().fast) / static_cast<double>(f.keys());
  figures.keys = f.keys();
}

// Inserts the stored keys [first, last); false if the filter refuses one.
inline bool insert_phase(any_filter& f, std::uint64_t first, std::uint64_t last, std::uint64_t seed, phase_figures& figures) {
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

// Mean of the runs' rates, median of their times.
class phase_samples {
 public:
  void add(const phase_figures& f) {
    all_.push_back(f);
    query_.push_back(f.query_ns);
    insert_.push_back(f.insert_ns);
  }
  bool empty() const { return all_.empty(); }
  phase_figures summary() const {
    phase_figures sum;
    for (const phase_figures& f : all_) {
      sum.fpr += f.fpr / static_cast<double>(all_.size());
      sum.stated_fpr += f.stated_fpr / static_cast<double>(all_.size());
      sum.bits_per_key += f.bits_per_key / static_cast<double>(all_.size());
      sum.keys = f.keys;
    }
    sum.query_ns = summarize(query_).median;
    sum.insert_ns = summarize(insert_).median;
    return sum;
  }

 private:
  std::vector<phase_figures> all_;
  std::vector<double> query_;
  std::vector<double> insert_;
};

}  // namespace tamis::lab
