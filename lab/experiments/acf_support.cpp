// Adaptive cuckoo filters, section 3: false positives against the number of different questions |Q|, and the sequence on which
// Cyclic and Swapping make Omega(n) of them.
//
// acf-support: n = 2^16 keys, slots of 8 bits; n questions, each one of |Q| = 1, 2, 4, … n at random. eps_q is eps |Q|, the
// optimum. acf-omega: |Q| = 256 and fingerprints of 4 bits whatever n is, Cyclic with s = 1 and Swapping with k = 3, b = 2, so
// that some question collides under both selectors or in both slots of a bin.

#include "lab/experiment.hpp"
#include "lab/experiments/acf_filters.hpp"
#include "tamis/base/random.hpp"

namespace tamis::lab {
namespace {

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
  std::vector<digest> questions;  // n of them, each one of `support` keys
};

repeated_questions draw(std::uint64_t n, std::uint64_t support, random_source& random) {
  repeated_questions sample{random_digests(n, random), {}};
  const std::vector<digest> distinct = random_digests(support, random);
  for (std::uint64_t i = 0; i < n; ++i) sample.questions.push_back(distinct[random.below(support)]);
  return sample;
}

// Mean false positives of every contender over the runs.
void write_row(std::uint64_t n, std::uint64_t support, unsigned slot_bits, const experiment_options& options,
               std::ostream& csv) {
  std::array<double, acf_contenders> sums{};
  random_source random(options.seed);
  for (unsigned run = 0; run < options.runs; ++run) {
    const repeated_questions sample = draw(n, support, random);
    const auto wrong = race(sample.members, sample.questions, slot_bits);
    for (unsigned c = 0; c < acf_contenders; ++c) sums[c] += static_cast<double>(wrong[c]);
  }
  const double eps = acf_rate(4, 1, slot_bits, 0.95);
  csv << n << ',' << support << ',' << slot_bits << ',' << eps * static_cast<double>(support);
  for (const double sum : sums) csv << ',' << sum / options.runs;
  csv << std::endl;
}

status run_support(const experiment_options& options, std::ostream& csv) {
  csv << "keys,support,slot_bits,eps_q," << acf_names << '\n';
  constexpr std::uint64_t n = 1 << 16;
  for (std::uint64_t support = 1; support <= n; support *= 2) write_row(n, support, 8, options, csv);
  return {};
}

status run_omega(const experiment_options& options, std::ostream& csv) {
  csv << "keys,support,plain,cuckooing,cuckooing_paper,cyclic_1,swapping_2\n";
  constexpr unsigned f = 4;
  constexpr std::uint64_t support = 256;
  for (std::uint64_t n = 1 << 10; n <= 1 << 18; n *= 2) {
    std::array<double, 5> sums{};
    random_source random(options.seed);
    for (unsigned run = 0; run < options.runs; ++run) {
      const repeated_questions sample = draw(n, support, random);
      const auto count = [&](auto filter, bool learns = true) {
        return static_cast<double>(false_positives(std::move(filter), sample.members, sample.questions, learns));
      };
      sums[0] += count(acf_of<acf_cuckooing>(n, f), false);
      sums[1] += count(acf_of<acf_cuckooing>(n, f));
      sums[2] += count(acf_of<acf_cuckooing>(n, f, {{"path", "paper"}}));
      sums[3] += count(acf_of<acf_cyclic>(n, f + 1, {}, 1));
      sums[4] += count(acf_of<acf_swapping>(n, f, {{"k", "3"}, {"b", "2"}}));
    }
    csv << n << ',' << support;
    for (const double sum : sums) csv << ',' << sum / options.runs;
    csv << std::endl;
  }
  return {};
}

}  // namespace

extern const experiment acf_support{
    "acf-support", "Support optimality and adaptive cuckoo filters, theorem 1",
    "Over n questions from a set of |Q| keys the Cuckooing filter makes about eps |Q| false positives, however often each is "
    "repeated.",
    "cuckooing_paper is within 10 % of eps |Q| or a small constant for every |Q|", run_support};
extern const experiment acf_omega{"acf-omega", "Support optimality and adaptive cuckoo filters, section 3",
                                  "For a constant |Q| there are sequences with Omega(n) false positives of the Cyclic and the "
                                  "Swapping filter, and few of the "
                                  "Cuckooing filter.",
                                  "cyclic and swapping grow in proportion to n, cuckooing does not grow", run_omega};

}  // namespace tamis::lab
