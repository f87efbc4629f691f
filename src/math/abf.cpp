#include "tamis/math/abf.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "tamis/math/binomial.hpp"
#include "word_fill.hpp"

namespace tamis {
namespace {

// A number that is at least `first`, with its distribution.
struct distribution {
  std::uint64_t first = 0;
  std::vector<double> chance;
};

// Binomial(trials, 1/words) without its far tails: the keys of a word (equation 8) or its negatives (equation 9).
distribution in_one_word(std::uint64_t trials, std::uint64_t words) {
  const double p = 1.0 / static_cast<double>(words);
  const double mean = static_cast<double>(trials) * p;
  const double reach = 8.0 * std::sqrt(mean) + 16.0;
  distribution made;
  made.first = static_cast<std::uint64_t>(std::max(0.0, mean - reach));
  const std::uint64_t last = std::min(trials, static_cast<std::uint64_t>(mean + reach));
  for (std::uint64_t x = made.first; x <= last; ++x) made.chance.push_back(binomial_pmf(trials, p, x));
  return made;
}

// Adds weight × Binomial(a, p) to `chance`, which has a + 1 elements.
void add_binomial(std::vector<double>& chance, double p, double weight) {
  const auto a = static_cast<std::uint64_t>(chance.size() - 1);
  if (p >= 1.0) {
    chance[a] += weight;
    return;
  }
  double term = weight * std::pow(1.0 - p, static_cast<double>(a));
  for (std::uint64_t z = 0; z <= a && (term > 0.0 || z == 0); ++z) {
    chance[z] += term;
    term *= static_cast<double>(a - z) / static_cast<double>(z + 1) * p / (1.0 - p);
  }
}

// The distribution of Z_c among a negatives: with the mean rate of the word, or with the rate that its content has.
std::vector<double> false_positives(const word_fill& fill, std::uint64_t a, bool with_spread) {
  std::vector<double> chance(a + 1, 0.0);
  if (!with_spread) {
    add_binomial(chance, fill.mean_rate(), 1.0);
  } else {
    for (unsigned x = 0; x <= fill.word_bits(); ++x) {
      if (fill.chance_of(x) > 1e-12) add_binomial(chance, fill.rate_with(x), fill.chance_of(x));
    }
  }
  while (chance.size() > 1 && chance.back() < 1e-13) chance.pop_back();
  return chance;
}

// False positives of a word before it stands still, if one of its sets has none: it leaves c sets for good, each after d false
// positives (equation 4 times a·t·F1; only this term feels the decimation).
double before_standstill(const std::vector<double>& z, const abf_setting& s) {
  double sum = 0.0;
  double reached = 1.0;
  for (unsigned c = 0; c < s.sets; ++c) {
    sum += c * reached * z[0];
    reached *= 1.0 - z[0];
  }
  return sum * s.decimation;
}

// E[S / (1/Z_1 + … + 1/Z_S); all Z_c > 0]: a times the mean of equations 5 and 6. With 1/y = ∫ exp(-x y) dx the sum over S
// independent numbers becomes the S-th power of one sum; x runs over a geometric grid.
class round_trips {
 public:
  explicit round_trips(unsigned sets) : sets_(sets) {}

  double operator()(const std::vector<double>& z) {
    double integral = 0.0;
    for (std::size_t i = 0; i < steps; ++i) {
      double sum = 0.0;
      for (std::size_t value = 1; value < z.size(); ++value) sum += z[value] * decay(i, value);
      integral += at(i) * std::pow(sum, sets_);
    }
    return sets_ * integral * grid;
  }

 private:
  static constexpr std::size_t steps = 380;
  static constexpr double grid = 0.1;  // of log x, which goes from -24 to 14

  static double at(std::size_t i) { return std::exp(-24.0 + grid * static_cast<double>(i)); }
  double decay(std::size_t i, std::size_t value) {
    while (decays_.size() <= value) {
      std::vector<double> column(steps);
      for (std::size_t j = 0; j < steps; ++j)
        column[j] = std::exp(-at(j) / static_cast<double>(std::max<std::size_t>(decays_.size(), 1)));
      decays_.push_back(std::move(column));
    }
    return decays_[value][i];
  }

  unsigned sets_;
  std::vector<std::vector<double>> decays_;
};

// False positives of a word with two sets in t rounds over all negatives. With u = Z_1/a, v = Z_2/a a lookup changes the set
// with u/d or v/d, and d false positives stand behind each change, so that of L lookups
//   L 2uv/(u + v) + d u(u - v)/(u + v)² (1 - r^L),  r = 1 - (u + v)/d
// are false positives. L is Binomial(t·A, a/A), over which r^L has the mean (1 - (Z_1 + Z_2)/(d A))^(t·A).
double with_two_sets(const std::vector<double>& z, const abf_setting& s) {
  const double lookups = s.repeats * static_cast<double>(s.negatives);
  double sum = 0.0;
  for (std::size_t z1 = 1; z1 < z.size(); ++z1) {
    for (std::size_t z2 = 0; z2 < z.size(); ++z2) {
      const auto x = static_cast<double>(z1);
      const auto y = static_cast<double>(z2);
      const double change = std::min(1.0, (x + y) / (s.decimation * static_cast<double>(s.negatives)));
      const double settled = 1.0 - std::pow(1.0 - change, lookups);
      sum += z[z1] * z[z2] * (s.repeats * 2.0 * x * y / (x + y) + s.decimation * x * (x - y) / ((x + y) * (x + y)) * settled);
    }
  }
  return sum;
}

// Equation 10, with `in_word(z)` false positives in a word whose sets have Z_c ~ z.
template <class InWord>
double over_all_words(const abf_setting& s, bool with_spread, InWord in_word) {
  if (s.keys == 0 || s.negatives == 0) return 0.0;
  const distribution keys = in_one_word(s.keys, s.words);
  const distribution negatives = in_one_word(s.negatives, s.words);
  word_fill fill(s.payload_bits, s.k);
  for (std::uint64_t n = 0; n < keys.first; ++n) fill.add_key();
  double sum = 0.0;
  for (const double key_chance : keys.chance) {
    for (std::size_t i = 0; i < negatives.chance.size(); ++i) {
      const double weight = key_chance * negatives.chance[i];
      if (weight > 1e-12) sum += weight * in_word(false_positives(fill, negatives.first + i, with_spread));
    }
    fill.add_key();
  }
  return sum * static_cast<double>(s.words) / (static_cast<double>(s.negatives) * s.repeats);
}

double stationary_rate(const abf_setting& s, bool with_spread) {
  round_trips trips(s.sets);
  return over_all_words(s, with_spread,
                        [&](const std::vector<double>& z) { return before_standstill(z, s) + s.repeats * trips(z); });
}

}  // namespace

double abf_word_rate(unsigned payload_bits, std::uint64_t keys, unsigned k) {
  word_fill fill(payload_bits, k);
  for (std::uint64_t n = 0; n < keys; ++n) fill.add_key();
  return fill.mean_rate();
}

double abf_printed_rate(const abf_setting& setting) { return stationary_rate(setting, false); }

double abf_rate(const abf_setting& setting) {
  if (setting.sets != 2) return stationary_rate(setting, true);
  return over_all_words(setting, true, [&](const std::vector<double>& z) { return with_two_sets(z, setting); });
}

result<bloom_shape> abf_shape(const abf_wish& wish) {
  const auto selector_bits = static_cast<unsigned>(std::countr_zero(wish.sets));
  const unsigned payload = wish.word_bits - selector_bits;
  const unsigned j = wish.words_per_key;
  if (wish.bits_per_key) {
    const double payload_per_key = *wish.bits_per_key * payload / wish.word_bits;
    return bloom1_shape_for_bits(wish.capacity * j, payload_per_key / j, payload, wish.k);
  }
  auto shape = bloom1_shape_for_rate(wish.capacity * j, std::pow(*wish.fpr, 1.0 / j), payload, wish.k);
  if (shape) return shape;
  return error{"fpr " + std::to_string(*wish.fpr) + " cannot be reached with words of " + std::to_string(wish.word_bits) +
               " bits, " + std::to_string(selector_bits) + " of them a selector: take a longer word or another filter"};
}

}  // namespace tamis
