#include "tamis/detail/math/bloom.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tamis/detail/base/checked.hpp"
#include "tamis/detail/base/shown.hpp"
#include "tamis/detail/math/binomial.hpp"
#include "tamis/params.hpp"
#include "word_fill.hpp"

namespace tamis::detail {
namespace {

// Rates in closed form. A place of a word stays empty through all keys of the word with the chance
//
//   E[z^N] = (1 - (1 - z) / M)^n,   N = Binomial(n, 1 / M) keys, each of which leaves it alone with the chance z,
//
// and by inclusion and exclusion the chance that a set of places is full is an alternating sum of such terms. It needs no sum
// over N, but loses digits where the rate is small: then there is no value, and the sum over N has to be taken.
class closed_rate {
 public:
  // Every key sets k of w bits, drawn with replacement; so the query's k places are d distinct bits with some chance.
  static closed_rate drawn(unsigned w, unsigned k) {
    std::vector<long double> distinct(k + 1, 0.0L);  // chance of d distinct bits
    distinct[0] = 1.0L;
    for (unsigned i = 0; i < k; ++i) {
      for (unsigned d = k; d > 0; --d) distinct[d] = (distinct[d] * d + distinct[d - 1] * (w - d + 1)) / w;
      distinct[0] = 0.0L;
    }
    closed_rate made;
    for (unsigned i = 0; i <= k; ++i) {
      long double weight = 0.0L;
      long double choose = 1.0L;  // d over i
      for (unsigned d = i; d <= k; ++d) {
        weight += distinct[d] * choose;
        choose *= static_cast<long double>(d + 1) / (d + 1 - i);
      }
      made.add(weight, static_cast<long double>(i) / w, k);
    }
    return made;
  }
  // Every key sets one bit in each eighth of w bits; eighths are independent, given N.
  static closed_rate split(unsigned w) {
    closed_rate made;
    long double choose = 1.0L;
    for (unsigned i = 0; i <= split_bloom1_places; ++i) {
      made.add(choose, static_cast<long double>(split_bloom1_places) / w, i);
      choose *= static_cast<long double>(split_bloom1_places - i) / (i + 1);
    }
    return made;
  }

  std::optional<double> mean(std::uint64_t words, std::uint64_t keys) const {
    long double sum = 0.0L;
    long double size = 0.0L;
    for (const term& t : terms_) {
      const long double value = t.weight * stays_empty(t.touched, words, keys);
      sum += value;
      size += std::abs(value);
    }
    if (sum < size * 1e7L * std::numeric_limits<long double>::epsilon()) return std::nullopt;
    return static_cast<double>(sum);
  }

 private:
  struct term {
    long double weight;
    long double touched;  // the chance that one key sets one of these places: 1 - z
  };

  // A term in which each of `times` throws hits with the chance `share`; terms have alternating signs.
  void add(long double weight, long double share, unsigned times) {
    const long double touched = share >= 1.0L ? 1.0L : -std::expm1(times * std::log1p(-share));
    terms_.push_back({terms_.size() % 2 == 0 ? weight : -weight, touched});
  }
  static long double stays_empty(long double touched, std::uint64_t words, std::uint64_t keys) {
    if (touched == 0.0L || keys == 0) return 1.0L;
    const long double hit = touched / static_cast<long double>(words);
    return hit >= 1.0L ? 0.0L : std::exp(static_cast<long double>(keys) * std::log1p(-hit));
  }

  std::vector<term> terms_;
};

// The rate of a word with 0, 1, 2, … keys, made as they are needed.
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

// The mean over words as a sum: a word has Binomial(keys, 1 / words) keys.
template <class Rates>
double summed_rate(Rates& rates, std::uint64_t words, std::uint64_t keys) {
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

// The rate of filters with one kind of word.
template <class Rates>
class mean_rate {
 public:
  mean_rate(closed_rate closed, Rates rates) : closed_(std::move(closed)), rates_(std::move(rates)) {}

  double operator()(std::uint64_t words, std::uint64_t keys) {
    const std::optional<double> closed = closed_.mean(words, keys);
    return closed ? *closed : summed_rate(rates_, words, keys);
  }

 private:
  closed_rate closed_;
  Rates rates_;
};

mean_rate<word_rates> rate_of_drawn(unsigned word_bits, unsigned k) {
  return {closed_rate::drawn(word_bits, k), word_rates(word_bits, k)};
}
mean_rate<split_rates> rate_of_split(unsigned word_bits) { return {closed_rate::split(word_bits), split_rates(word_bits)}; }

// The fewest words that keep the rate, by bisection: more words never make it worse. Most wishes are near `guess`.
template <class Rates>
std::optional<std::uint64_t> fewest_words(mean_rate<Rates>& rate, std::uint64_t capacity, double fpr, std::uint64_t guess,
                                          std::uint64_t most) {
  std::uint64_t low = 1;
  std::uint64_t high = most;
  guess = std::clamp<std::uint64_t>(guess, 1, most);
  if (rate(guess, capacity) > fpr) {
    low = guess + 1;
    while (low <= most && (guess = std::min(most, guess + guess / 8 + 1), rate(guess, capacity) > fpr)) low = guess + 1;
    if (low > most) return std::nullopt;
    high = guess;
  } else {
    high = guess;
    while (low < high && (guess -= std::min(guess - 1, guess / 8 + 1), rate(guess, capacity) <= fpr)) high = guess;
    if (guess < high) low = guess + 1;
  }
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (rate(middle, capacity) > fpr)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

constexpr double most_bloom1_bits_per_key = 512.0;

failure rate_out_of_reach(double fpr, unsigned word_bits) {
  return failure{"fpr " + shown(fpr) + " cannot be reached with words of " + std::to_string(word_bits) +
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

// Solves bloom_rate = fpr for the number of bits: 1 - 1/m = (1 - fpr^(1/k))^(1/(kn)).
double bloom_bits(std::uint64_t capacity, double fpr, unsigned k) {
  const double zero_share = std::log1p(-std::pow(fpr, 1.0 / k));
  return -1.0 / std::expm1(zero_share / (static_cast<double>(k) * static_cast<double>(capacity)));
}

// Words that a plain Bloom filter would need: Bloom-1 needs a little more.
std::uint64_t words_of_bloom(std::uint64_t capacity, double fpr, unsigned k, unsigned word_bits) {
  return checked_ceil(bloom_bits(capacity, fpr, k) / word_bits).value_or(std::numeric_limits<std::uint64_t>::max());
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
  return rate_of_drawn(word_bits, k)(words, keys);
}

double split_bloom1_rate(std::uint64_t words, unsigned word_bits, std::uint64_t keys) {
  return rate_of_split(word_bits)(words, keys);
}

result<bloom_shape> bloom_shape_for_rate(std::uint64_t capacity, double fpr, unsigned cell_bits, unsigned k) {
  TAMIS_TRY(const std::uint64_t most, cells_for(capacity, most_bits_per_key, cell_bits));
  std::optional<bloom_shape> best;
  for (unsigned tried = k == 0 ? 1 : k; tried <= (k == 0 ? most_bloom_places : k); ++tried) {
    const auto cells = checked_ceil(bloom_bits(capacity, fpr, tried));
    if (cells && *cells <= (best ? best->cells - 1 : most)) best = bloom_shape{*cells, tried};
  }
  if (best) return *best;
  return failure{"fpr " + shown(fpr) + ": needs more than " + shown(most_bits_per_key) +
                     " bits per key with k=" + (k == 0 ? "1 to " + std::to_string(most_bloom_places) : std::to_string(k)),
                 error_code::out_of_range};
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
    const std::uint64_t guess = words_of_bloom(capacity, fpr, tried, word_bits);
    auto rate = rate_of_drawn(word_bits, tried);
    const auto words =
        fewest_words(rate, capacity, fpr, best ? std::min(guess, best->cells) : guess, best ? best->cells : most);
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
  auto rate = rate_of_split(word_bits);
  const auto words = fewest_words(rate, capacity, fpr, words_of_bloom(capacity, fpr, split_bloom1_places, word_bits), most);
  if (!words) return rate_out_of_reach(fpr, word_bits);
  return bloom_shape{*words, split_bloom1_places};
}

result<bloom_shape> split_bloom1_shape_for_bits(std::uint64_t capacity, double bits_per_key, unsigned word_bits) {
  TAMIS_TRY(const std::uint64_t words, cells_for(capacity, bits_per_key, word_bits));
  return bloom_shape{words, split_bloom1_places};
}

}  // namespace tamis::detail
