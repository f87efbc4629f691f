#include "tamis/detail/math/quotient.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "tamis/detail/base/checked.hpp"
#include "tamis/detail/base/shown.hpp"

namespace tamis::detail {
namespace {

result<quotient_shape> shape_of(std::uint64_t capacity, unsigned remainder, double load) {
  const auto quotients = checked_ceil(static_cast<double>(capacity) / load);
  if (!quotients)
    return failure{"a table for " + std::to_string(capacity) + " keys cannot be addressed", error_code::out_of_range};
  return quotient_shape{*quotients, quotient_spare(*quotients), remainder};
}

}  // namespace

double quotient_rate(std::uint64_t quotients, std::uint64_t keys, unsigned remainder) {
  const double told_apart = std::ldexp(1.0, -64);
  const double one = std::max(told_apart, std::ldexp(1.0 / static_cast<double>(quotients), -static_cast<int>(remainder)));
  return -std::expm1(static_cast<double>(keys) * std::log1p(-one));
}

std::uint64_t quotient_spare(std::uint64_t quotients) {
  constexpr double long_queue = 256.0;
  return static_cast<std::uint64_t>(std::min(long_queue, 8.0 + 4.0 * std::sqrt(static_cast<double>(quotients))));
}

result<quotient_shape> quotient_shape_for_rate(std::uint64_t capacity, double fpr, unsigned remainder, double load) {
  TAMIS_TRY(quotient_shape shape, shape_of(capacity, remainder, load));
  if (remainder != 0) return shape;
  for (shape.remainder = 1; shape.remainder <= longest_remainder; ++shape.remainder) {
    if (quotient_rate(shape.quotients, capacity, shape.remainder) <= fpr) return shape;
  }
  return failure{"fpr " + shown(fpr) + " would need remainders of more than " + std::to_string(longest_remainder) +
                     " bits, or more than 2^64 fingerprints",
                 error_code::out_of_range};
}

result<quotient_shape> quotient_shape_for_bits(std::uint64_t capacity, double bits_per_key, double metadata, unsigned remainder,
                                               double load) {
  TAMIS_TRY(quotient_shape shape, shape_of(capacity, remainder, load));
  const double bits = static_cast<double>(capacity) * bits_per_key;
  const double least_slots = static_cast<double>(divide_up(shape.quotients + shape.spare, 64) * 64);
  const double fits = std::floor(bits / least_slots - metadata);
  if (remainder == 0) {
    if (fits < 1.0) {
      return failure{"bits per key " + std::to_string(bits_per_key) + ": " + std::to_string(capacity) + " keys need at least " +
                         std::to_string(least_slots * (metadata + 1.0) / static_cast<double>(capacity)),
                     error_code::out_of_range};
    }
    shape.remainder = static_cast<unsigned>(std::min(fits, static_cast<double>(longest_remainder)));
  }
  const double slots = std::floor(bits / (shape.remainder + metadata) / 64.0) * 64.0;
  const double quotients = slots - static_cast<double>(shape.spare);
  const double most = 2.0 * static_cast<double>(shape.quotients);
  shape.quotients = std::max(shape.quotients, static_cast<std::uint64_t>(std::clamp(quotients, 0.0, most)));
  return shape;
}

double selector_probability(double c, double rate, unsigned k) {
  if (k == 0) return std::exp(-c * rate);
  double sum = 0.0;
  double term = 1.0;
  for (unsigned i = 1; i <= k; ++i) sum += term *= c / i;
  return std::min(1.0, std::pow(rate, k) * sum);
}

std::vector<double> selector_distribution(double c, double rate) {
  std::vector<double> chances = {selector_probability(c, rate, 0)};
  double sum = 0.0;
  for (unsigned k = 1; k < 64; ++k) sum += chances.emplace_back(selector_probability(c, rate, k));
  for (unsigned k = 1; k < 64 && sum > 0.0; ++k) chances[k] *= (1.0 - chances[0]) / sum;
  return chances;
}

double selector_entropy(double c, double rate) {
  double entropy = 0.0;
  for (const double p : selector_distribution(c, rate)) {
    if (p > 0.0) entropy -= p * std::log2(p);
  }
  return entropy;
}

double selector_space(double b) { return std::exp(-1.0) + b / ((b - 1.0) * (b - 1.0)); }

}  // namespace tamis::detail
