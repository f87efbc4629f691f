// TAF paper, Corollary 3 and appendix C: how hash selectors are distributed after c unique queries per key, what that
// distribution's entropy is, and how many bits the codes take for the selectors of a real table.

#include <cmath>
#include <span>

#include "lab/experiments/taf_common.hpp"
#include "tamis/bits/coder_selector.hpp"
#include "tamis/math/quotient.hpp"

namespace tamis::lab {
namespace {

constexpr std::uint64_t stored_keys = 124518;  // 0.95 of 2^17

// What a code spends on the selectors of a table: the logarithms of their parts of the whole range. And how many blocks of 64
// do not fit its 56 bits.
struct coder_space {
  double bits = 0.0;
  std::uint64_t blocks = 0;
  std::uint64_t overflows = 0;

  template <class Model>
  void add(const Model& model, std::span<const std::uint8_t> selectors) {
    ++blocks;
    overflows += !interval_of(model, selectors).has_value();
    for (const std::uint8_t selector : selectors) {
      bits += 56.0 - std::log2(static_cast<double>(model.part(code_range, selector).size));
    }
  }
  double per_selector() const { return bits / static_cast<double>(blocks * coded_letters); }
  double overflow_share() const { return static_cast<double>(overflows) / static_cast<double>(blocks); }
};

status run(const experiment_options& options, std::ostream& csv) {
  csv << "c,s0,s1,s2,s3,corollary0,corollary1,corollary2,corollary3,entropy,tuned_bits,general_bits,tuned_overflows,"
         "general_overflows\n";
  constexpr double rate = 1.0 / 256;
  for (const double c : {4.0, 8.0, 16.0, 32.0, 48.0, 64.0, 96.0}) {
    std::vector<double> having(256);
    double keys = 0;
    coder_space tuned;
    coder_space general;
    random_source random(options.seed);
    for (unsigned i = 0; i < options.runs; ++i) {
      utaf filter = utaf::create({.capacity = stored_keys, .fpr = 0.4, .options = {{"remainder", "8"}}}).value();
      memory_remote stored;
      for (std::uint64_t k = 0; k < stored_keys; ++k) {
        const digest d = random_digest(random);
        stored.insert(d);
        filter.insert(d);
      }
      // Corollary 3 counts queries per quotient: c n of them meet a key with probability c · rate.
      const auto queries = static_cast<std::uint64_t>(c * static_cast<double>(stored_keys) / 0.95);
      for (std::uint64_t q = 0; q < queries; ++q) {
        const digest d = random_digest(random);
        if (filter.contains(d)) filter.adapt(d, stored);
      }
      std::vector<std::uint8_t> block;
      filter.for_each_letter([&](std::uint8_t selector) {
        ++having[selector];
        ++keys;
        block.push_back(selector);
        if (block.size() != coded_letters) return;
        tuned.add(tuned_selector_model(), block);
        general.add(general_selector_model::for_remainder(8), block);
        block.clear();
      });
    }
    csv << c;
    for (unsigned k = 0; k < 4; ++k) csv << ',' << having[k] / keys;
    for (unsigned k = 0; k < 4; ++k) csv << ',' << selector_probability(c, rate, k);
    csv << ',' << selector_entropy(c, rate) << ',' << tuned.per_selector() << ',' << general.per_selector() << ','
        << tuned.overflow_share() << ',' << general.overflow_share() << std::endl;
  }
  return {};
}

}  // namespace

extern const experiment taf_selectors{
    "taf-selectors", "Telescoping filter, Corollary 3 and appendix C",
    "After c unique queries per key a selector is 0 with the probability of Corollary 3, and larger ones are at most as "
    "likely.",
    "selector 0 within three standard deviations, the others not above the bound; codes within 3 % of the entropy at c = 64",
    run};

}  // namespace tamis::lab
