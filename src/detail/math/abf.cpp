#include "tamis/detail/math/abf.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "tamis/detail/base/shown.hpp"
#include "tamis/detail/math/binomial.hpp"
#include "word_fill.hpp"

namespace tamis::detail {
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

// The mean number of changes that a word makes until time t, if lookups come at random times, a in a unit of time: a stay in
// set c ends at the rate Z_c. With psi_c = Z_c / (Z_c + s), the transform of one stay, the transform of the mean is the sum
// over all changes of the product of the stays before them. Change number r S + i has had r + 1 stays in the first i sets and r
// in the others, and the sets are independent, so with mu_r = E[psi^r]
//
//   s F(s) = G(s) = sum over r >= 0, i = 1 … S of mu_(r+1)^i mu_r^(S-i)
//
// which Stehfest's formula turns back: f(t) = sum of V_j / j G(j ln 2 / t). The sum over r is taken term by term at first and
// as an integral afterwards (Gauss's eight points on stretches that double).
class changes_until {
 public:
  // Requires: no Z is above `largest`.
  changes_until(double time, unsigned sets, std::size_t largest) : time_(time), sets_(sets), powers_(largest + 1) {
    const double last = 32.0 * static_cast<double>(largest) * time / std::numbers::ln2;
    for (std::size_t r = 0; r <= exact_terms + 1; ++r) exponents_.push_back(static_cast<double>(r));
    double from = exact_terms - 0.5;
    while (from < last) {
      for (std::size_t i = 0; i < std::size(gauss_points); ++i) {
        const double r = from * (1.5 + gauss_points[i] / 2);
        exponents_.insert(exponents_.end(), {r, r + 1});
        weights_.push_back(gauss_weights[i] * from / 2);
      }
      from *= 2;
    }
  }

  double operator()(const std::vector<double>& z) {
    moments_.assign(stehfest.size() * exponents_.size(), 0.0);
    for (std::size_t value = 1; value < z.size(); ++value) {
      const std::vector<double>& powers = powers_of(value);
      for (std::size_t i = 0; i < powers.size(); ++i) moments_[i] += z[value] * powers[i];
    }
    double sum = 0.0;
    for (std::size_t j = 0; j < stehfest.size(); ++j) {
      double* mu = moments_.data() + j * exponents_.size();
      mu[0] = 1.0;
      sum += stehfest[j] / static_cast<double>(j + 1) * transform(mu);
    }
    return sum;
  }

 private:
  static constexpr std::size_t exact_terms = 32;
  static constexpr double gauss_points[] = {-0.9602898564975363, -0.7966664774136267, -0.5255324099163290, -0.1834346424956498,
                                            0.1834346424956498,  0.5255324099163290,  0.7966664774136267,  0.9602898564975363};
  static constexpr double gauss_weights[] = {0.1012285362903763, 0.2223810344533745, 0.3137066458778873, 0.3626837833783620,
                                             0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};
  // V_1 … V_12.
  static constexpr auto stehfest = [] {
    constexpr int n = 12;
    const auto factorial = [](int x) {
      double product = 1.0;
      for (int i = 2; i <= x; ++i) product *= i;
      return product;
    };
    std::array<double, n> made{};
    for (int j = 1; j <= n; ++j) {
      for (int i = (j + 1) / 2; i <= std::min(j, n / 2); ++i) {
        double power = 1.0;
        for (int x = 0; x < n / 2; ++x) power *= i;
        made[static_cast<std::size_t>(j - 1)] +=
            ((j + n / 2) % 2 == 0 ? 1 : -1) * power * factorial(2 * i) /
            (factorial(n / 2 - i) * factorial(i) * factorial(i - 1) * factorial(j - i) * factorial(2 * i - j));
      }
    }
    return made;
  }();

  // psi^r of one Z for every s and every r.
  const std::vector<double>& powers_of(std::size_t value) {
    std::vector<double>& powers = powers_[value];
    if (!powers.empty()) return powers;
    for (std::size_t j = 1; j <= stehfest.size(); ++j) {
      const double s = static_cast<double>(j) * std::numbers::ln2 / time_;
      const double log_psi = -std::log1p(s / static_cast<double>(value));
      for (const double r : exponents_) powers.push_back(std::max(std::exp(r * log_psi), 1e-200));
    }
    return powers;
  }

  // One round: the sum over i.
  double round(double before, double after) const {
    double sum = 0.0;
    double product = 1.0;  // after^i before^(S-i) is built from both ends: Horner's scheme in before, with powers of after
    for (unsigned i = 0; i < sets_; ++i) {
      product *= after;
      sum = sum * before + product;
    }
    return sum;
  }

  double transform(const double* mu) const {
    double sum = 0.0;
    for (std::size_t r = 0; r < exact_terms; ++r) sum += round(mu[r], mu[r + 1]);
    // From the sum to the integral: the terms of Euler and Maclaurin up to the first derivative.
    const double last = round(mu[exact_terms - 1], mu[exact_terms]);
    sum += (round(mu[exact_terms], mu[exact_terms + 1]) - last) / 24;
    const double* pairs = mu + exact_terms + 2;
    for (std::size_t i = 0; i < weights_.size(); ++i) sum += weights_[i] * round(pairs[2 * i], pairs[2 * i + 1]);
    return sum;
  }

  double time_;
  unsigned sets_;
  std::vector<double> exponents_;            // r: the exact ones, then r and r + 1 for every point of the integral
  std::vector<double> weights_;              // of the integral
  std::vector<std::vector<double>> powers_;  // by Z, made when first needed
  std::vector<double> moments_;
};

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

}  // namespace

double abf_word_rate(unsigned payload_bits, std::uint64_t keys, unsigned k) {
  word_fill fill(payload_bits, k);
  for (std::uint64_t n = 0; n < keys; ++n) fill.add_key();
  return fill.mean_rate();
}

double abf_printed_rate(const abf_setting& setting) {
  round_trips trips(setting.sets);
  return over_all_words(
      setting, false, [&](const std::vector<double>& z) { return before_standstill(z, setting) + setting.repeats * trips(z); });
}

// With decimation a false positive changes the set with probability 1/d: time runs d times slower, and d false positives stand
// behind a change.
double abf_rate(const abf_setting& setting) {
  const distribution negatives = in_one_word(setting.negatives, setting.words);
  const double d = setting.decimation;
  changes_until changes(setting.repeats / d, setting.sets, negatives.first + negatives.chance.size());
  return over_all_words(setting, true, [&](const std::vector<double>& z) { return d * changes(z); });
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
  return failure{"fpr " + shown(*wish.fpr) + " cannot be reached with words of " + std::to_string(wish.word_bits) + " bits, " +
                     std::to_string(selector_bits) + " of them a selector: take a longer word or another filter",
                 error_code::out_of_range};
}

}  // namespace tamis::detail
