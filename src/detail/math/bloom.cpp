#include "tamis/detail/math/bloom.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "tamis/detail/base/checked.hpp"
#include "tamis/detail/math/binomial.hpp"
#include "word_fill.hpp"

namespace tamis::detail {
namespace {

// The rate of a word with 0, 1, 2, … keys, made as they are asked for.
class word_rates {
 public:
  word_rates(unsigned word_bits, unsigned k) : fill_(word_bits, k) {}

  double with_keys(std::uint64_t keys) {
    while (rates_.size() <= keys) {
      if (!rates_.empty() && 1.0 - rates_.back() < 1e-12) return 1.0;  // the word is full, and stays so
      if (!rates_.empty()) fill_.add_key();
      rates_.push_back(fill_.mean_rate());
    }
    return rates_[keys];
  }

 private:
  word_fill fill_;
  std::vector<double> rates_;
};

// The same for split words.
class split_rates {
 public:
  explicit split_rates(unsigned word_bits) : log_missed_(std::log1p(-static_cast<double>(split_bloom1_places) / word_bits)) {}

  double with_keys(std::uint64_t keys) const {
    return std::pow(-std::expm1(static_cast<double>(keys) * log_missed_), split_bloom1_places);
  }

 private:
  double log_missed_;  // that a key leaves a given bit of a part alone
};

// The mean over words: a word has Binomial(keys, 1 / words) keys.
template <class Rates>
double mean_rate(Rates& rates, std::uint64_t words, std::uint64_t keys) {
  if (keys == 0) return 0.0;
  if (words == 1) return rates.with_keys(keys);
  const double p = 1.0 / static_cast<double>(words);
  const double mean = static_cast<double>(keys) * p;
  const double reach = 12.0 * std::sqrt(mean) + 40.0;  // the terms beyond are below 1e-20
  const auto first = static_cast<std::uint64_t>(std::max(0.0, mean - reach));
  const std::uint64_t last = std::min(keys, static_cast<std::uint64_t>(mean + reach));
  if (rates.with_keys(first) == 1.0) return 1.0;  // every word is full: nothing to sum over what may be 10^8 terms
  double term = binomial_pmf(keys, p, first);
  double sum = 0.0;
  double total = 0.0;  // not quite 1: the first term is off by a factor where there are more keys than a double has digits for
  for (std::uint64_t i = first; i <= last; ++i) {
    sum += term * rates.with_keys(i);
    total += term;
    term *= static_cast<double>(keys - i) / static_cast<double>(i + 1) * p / (1.0 - p);
  }
  return sum / total;
}

// The fewest words that keep the rate, by bisection: more words never make it worse.
template <class Rates>
std::optional<std::uint64_t> fewest_words(Rates& rates, std::uint64_t capacity, double fpr, std::uint64_t most) {
  if (mean_rate(rates, most, capacity) > fpr) return std::nullopt;
  std::uint64_t low = 1;
  std::uint64_t high = most;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (mean_rate(rates, middle, capacity) > fpr)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

constexpr double most_bloom1_bits_per_key = 512.0;

failure rate_out_of_reach(double fpr, unsigned word_bits) {
  return failure{"fpr " + std::to_string(fpr) + " cannot be reached with words of " + std::to_string(word_bits) +
                     " bits and 512 bits per key: take a longer word or another filter",
                 error_code::out_of_range};
}

result<std::uint64_t> cells_for(std::uint64_t capacity, double bits_per_key, unsigned cell_bits) {
  const auto cells = checked_ceil(static_cast<double>(capacity) * bits_per_key / cell_bits);
  if (!cells) return failure{"a table for " + std::to_string(capacity) + " keys cannot be addressed", error_code::out_of_range};
  return std::max<std::uint64_t>(*cells, 1);
}

// Where the search for the fewest words begins.
result<std::uint64_t> most_words(std::uint64_t capacity, unsigned word_bits) {
  TAMIS_TRY(const std::uint64_t most, cells_for(capacity, most_bloom1_bits_per_key, word_bits));
  return std::max<std::uint64_t>(most, 512);
}

// The k of 1 … most with the lowest rate; rates fall and then rise in k.
template <class Rate>
unsigned best_k(unsigned most, Rate rate) {
  unsigned best = 1;
  double lowest = rate(1u);
  for (unsigned k = 2; k <= most; ++k) {
    const double r = rate(k);
    if (r >= lowest) break;
    lowest = r;
    best = k;
  }
  return best;
}

}  // namespace

double bloom_rate(double bits, double keys, unsigned k) {
  if (keys <= 0.0) return 0.0;
  if (bits <= 1.0) return 1.0;
  return std::pow(-std::expm1(static_cast<double>(k) * keys * std::log1p(-1.0 / bits)), k);
}

double bloom1_rate(std::uint64_t words, unsigned word_bits, std::uint64_t keys, unsigned k) {
  word_rates rates(word_bits, k);
  return mean_rate(rates, words, keys);
}

double split_bloom1_rate(std::uint64_t words, unsigned word_bits, std::uint64_t keys) {
  const split_rates rates(word_bits);
  return mean_rate(rates, words, keys);
}

result<bloom_shape> bloom_shape_for_rate(std::uint64_t capacity, double fpr, unsigned k) {
  std::optional<bloom_shape> best;
  for (unsigned tried = k == 0 ? 1 : k; tried <= (k == 0 ? most_bloom_places : k); ++tried) {
    // Solves bloom_rate = fpr for the number of bits: 1 - 1/m = (1 - fpr^(1/k))^(1/(kn)).
    const double zero_share = std::log1p(-std::pow(fpr, 1.0 / tried));
    const double bits = -1.0 / std::expm1(zero_share / (static_cast<double>(tried) * static_cast<double>(capacity)));
    const auto cells = checked_ceil(bits);
    if (cells && (!best || *cells < best->cells)) best = bloom_shape{*cells, tried};
  }
  if (!best) return failure{"a table for " + std::to_string(capacity) + " keys cannot be addressed", error_code::out_of_range};
  return *best;
}

result<bloom_shape> bloom_shape_for_bits(std::uint64_t capacity, double bits_per_key, unsigned cell_bits, unsigned k) {
  TAMIS_TRY(const std::uint64_t cells, cells_for(capacity, bits_per_key, cell_bits));
  const auto rate = [&](unsigned tried) {
    return bloom_rate(static_cast<double>(cells), static_cast<double>(capacity), tried);
  };
  return bloom_shape{cells, k != 0 ? k : best_k(most_bloom_places, rate)};
}

result<bloom_shape> bloom1_shape_for_rate(std::uint64_t capacity, double fpr, unsigned word_bits, unsigned k) {
  TAMIS_TRY(const std::uint64_t most, most_words(capacity, word_bits));
  std::optional<bloom_shape> best;
  for (unsigned tried = k == 0 ? 1 : k; tried <= (k == 0 ? most_bloom1_places : k); ++tried) {
    word_rates rates(word_bits, tried);
    const auto words = fewest_words(rates, capacity, fpr, best ? best->cells : most);
    if (words && (!best || *words < best->cells)) best = bloom_shape{*words, tried};
    if (best && best->k + 2 < tried) break;  // sizes fall and then rise in k
  }
  if (best) return *best;
  return rate_out_of_reach(fpr, word_bits);
}

result<bloom_shape> bloom1_shape_for_bits(std::uint64_t capacity, double bits_per_key, unsigned word_bits, unsigned k) {
  TAMIS_TRY(const std::uint64_t words, cells_for(capacity, bits_per_key, word_bits));
  const auto rate = [&](unsigned tried) { return bloom1_rate(words, word_bits, capacity, tried); };
  return bloom_shape{words, k != 0 ? k : best_k(most_bloom1_places, rate)};
}

result<bloom_shape> split_bloom1_shape_for_rate(std::uint64_t capacity, double fpr, unsigned word_bits) {
  TAMIS_TRY(const std::uint64_t most, most_words(capacity, word_bits));
  const split_rates rates(word_bits);
  const auto words = fewest_words(rates, capacity, fpr, most);
  if (!words) return rate_out_of_reach(fpr, word_bits);
  return bloom_shape{*words, split_bloom1_places};
}

result<bloom_shape> split_bloom1_shape_for_bits(std::uint64_t capacity, double bits_per_key, unsigned word_bits) {
  TAMIS_TRY(const std::uint64_t words, cells_for(capacity, bits_per_key, word_bits));
  return bloom_shape{words, split_bloom1_places};
}

}  // namespace tamis::detail
