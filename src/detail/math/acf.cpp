#include "tamis/detail/math/acf.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "tamis/detail/base/shown.hpp"

namespace tamis::detail {
namespace {

// P(a Poisson variable of this mean is at least `least`), by the series of the tail: no cancellation for small means.
double poisson_tail(double mean, unsigned least) {
  double term = std::exp(-mean);
  for (unsigned j = 1; j <= least; ++j) term *= mean / j;
  double sum = 0.0;
  for (unsigned j = least; j < least + 200; ++j) {
    sum += term;
    term *= mean / (j + 1);
  }
  return sum;
}

// k and b, with what was not given as small as the load allows.
result<acf_shape> with_tables(const acf_wish& wish) {
  acf_shape shape{wish.k.value_or(wish.usual_k), wish.b.value_or(wish.usual_b), 0, wish.selector, 0};
  const auto too_small = [&] { return acf_reachable_percent(shape.k, shape.b) < wish.load_percent; };
  while (!wish.b && too_small() && shape.b < most_acf_slots) ++shape.b;
  while (!wish.k && too_small() && shape.k < most_acf_tables) ++shape.k;
  if (!too_small()) return shape;
  return failure{"load " + std::to_string(wish.load_percent) + " %: " + std::to_string(shape.k) + " tables of bins of " +
                     std::to_string(shape.b) + (shape.b == 1 ? " slot" : " slots") + " can be filled to " +
                     std::to_string(acf_reachable_percent(shape.k, shape.b)) +
                     " % at most; use a lower load, or more of k or b",
                 error_code::out_of_range};
}

// Bins of one table. Small tables get some more than the load asks for: chance moves them farther from the mean.
std::uint64_t bins_for(const acf_wish& wish, const acf_shape& shape) {
  constexpr double small = 1000.0;
  const auto keys = static_cast<double>(wish.capacity);
  const double spare = 4.0 * std::max(0.0, 1.0 - keys / small);
  const double slots = keys * 100.0 / wish.load_percent + spare;
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(slots / (shape.k * shape.b))), 1);
}

double full_rate(const acf_wish& wish, const acf_shape& shape, unsigned fingerprint) {
  return acf_rate(shape.k, shape.b, fingerprint, wish.load_percent / 100.0);
}

result<acf_shape> for_rate(const acf_wish& wish, acf_shape shape) {
  unsigned needed = least_acf_fingerprint;
  while (needed <= most_acf_fingerprint && full_rate(wish, shape, needed) > *wish.fpr) ++needed;
  if (needed > most_acf_fingerprint) {
    return failure{"fpr " + shown(*wish.fpr) + ": below " + shown(full_rate(wish, shape, most_acf_fingerprint)) +
                       ", which fingerprints of " + std::to_string(most_acf_fingerprint) + " bits give",
                   error_code::out_of_range};
  }
  shape.fingerprint = wish.fingerprint.value_or(needed);
  if (shape.fingerprint >= needed) return shape;
  return failure{"fpr " + shown(*wish.fpr) + ": fingerprints of " + std::to_string(shape.fingerprint) + " bits give " +
                     shown(full_rate(wish, shape, shape.fingerprint)) + ", it needs " + std::to_string(needed),
                 error_code::out_of_range};
}

result<acf_shape> for_bits(const acf_wish& wish, acf_shape shape) {
  const double bits = *wish.bits_per_key * static_cast<double>(wish.capacity);
  const double bin_slots = shape.k * shape.b;  // one bin of every table
  const double least_slots = static_cast<double>(shape.bins) * bin_slots;
  const double widest = std::min<double>(std::floor(bits / least_slots) - shape.selector, most_acf_fingerprint);
  shape.fingerprint = wish.fingerprint.value_or(static_cast<unsigned>(std::max<double>(widest, least_acf_fingerprint)));
  const double slot_bits = shape.fingerprint + shape.selector;
  if (shape.fingerprint > widest) {
    return failure{"bits per key " + shown(*wish.bits_per_key) + ": fingerprints of " + std::to_string(shape.fingerprint) +
                       " bits for " + std::to_string(wish.capacity) + " keys need at least " +
                       shown(least_slots * slot_bits / static_cast<double>(wish.capacity)),
                   error_code::out_of_range};
  }
  if (shape.fingerprint < most_acf_fingerprint || wish.fingerprint) {
    shape.bins = std::max(shape.bins, static_cast<std::uint64_t>(bits / (bin_slots * slot_bits)));
  }
  return shape;
}

}  // namespace

double acf_load_threshold(unsigned k, unsigned b) {
  // The core's mean degree xi solves k b = xi Q(xi, b) / Q(xi, b + 1), whose right side grows with xi; Q is the Poisson tail.
  double low = 1e-6;
  double high = 200.0;
  for (int step = 0; step < 100; ++step) {
    const double xi = (low + high) / 2;
    (xi * poisson_tail(xi, b) / poisson_tail(xi, b + 1) < k * b ? low : high) = xi;
  }
  return low / (k * std::pow(poisson_tail(low, b), k - 1)) / b;
}

unsigned acf_reachable_percent(unsigned k, unsigned b) {
  return static_cast<unsigned>(100.0 * std::min(acf_load_threshold(k, b) - 0.012, 0.98));
}

double acf_rate(unsigned k, unsigned b, unsigned fingerprint, double load) {
  return -std::expm1(k * b * std::log1p(-load / (std::exp2(fingerprint) - 1.0)));
}

result<acf_shape> acf_shape_for(const acf_wish& wish) {
  TAMIS_TRY(acf_shape shape, with_tables(wish));
  shape.bins = bins_for(wish, shape);
  return wish.fpr ? for_rate(wish, shape) : for_bits(wish, shape);
}

}  // namespace tamis::detail
