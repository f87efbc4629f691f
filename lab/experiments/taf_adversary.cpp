// TAF paper, figure 4 right: an adversary that whittles its queries down to those that are wrong. A round asks all of Q ten
// times; what was never wrong in it is dropped; the end is |Q| = 0.01 |S| or a bounded number of rounds. Shown is the rate of
// the last round against the first |Q| / |S|.

#include "lab/experiments/taf_common.hpp"

namespace tamis::lab {
namespace {

constexpr double ratios[] = {1, 2, 5, 10, 15, 20, 25, 30, 40, 60, 80};  // |Q| / |S| at first
constexpr std::uint64_t stored_keys = 31130;                            // 0.95 of 2^15
constexpr unsigned most_rounds = 40;                                    // the paper does not say how many
constexpr unsigned subrounds = 10;

// The rate of the last round.
template <class Filter>
double attack(asked_filter<Filter>& f, const memory_remote& stored, std::vector<digest> asked) {
  for (unsigned round = 0;; ++round) {
    f.forget_counts();
    std::vector<bool> was_wrong(asked.size());
    for (unsigned i = 0; i < subrounds; ++i) {
      for (std::size_t q = 0; q < asked.size(); ++q) {
        if (f.ask(asked[q], stored)) was_wrong[q] = true;
      }
    }
    std::vector<digest> left;
    for (std::size_t q = 0; q < asked.size(); ++q) {
      if (was_wrong[q]) left.push_back(asked[q]);
    }
    if (static_cast<double>(left.size()) <= 0.01 * static_cast<double>(stored_keys) || round + 1 == most_rounds) {
      return f.rate();
    }
    asked = std::move(left);
  }
}

status run(const experiment_options& options, std::ostream& csv) {
  csv << "q_over_s," << taf_contenders::names << '\n';
  for (const double ratio : ratios) {
    std::vector<double> sums(taf_contenders::count);
    random_source random(options.seed);
    for (unsigned i = 0; i < options.runs; ++i) {
      std::vector<digest> members(stored_keys);
      for (digest& d : members) d = random_digest(random);
      taf_contenders world(members);
      if (world.refused != 0) return error{"a filter was full before its capacity"};
      std::vector<digest> asked(static_cast<std::size_t>(ratio * static_cast<double>(stored_keys)));
      for (digest& d : asked) d = random_digest(random);
      std::size_t which = 0;
      world.each([&](auto& f) { sums[which++] += attack(f, world.stored, asked); });
    }
    csv << ratio;
    for (const double sum : sums) csv << ',' << sum / options.runs;
    csv << std::endl;
  }
  return {};
}

}  // namespace

extern const experiment taf_adversary{
    "taf-adversary", "Telescoping filter, figure 4 right",
    "Against an adversary that asks its false positives again, the TAF does very well up to |Q|/|S| of about 20.",
    "taf's last rate stays below 2 eps up to |Q|/|S| = 15 and exceeds 10 eps at some point from 20 on", run};

}  // namespace tamis::lab
