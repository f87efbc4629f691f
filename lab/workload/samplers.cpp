#include "lab/workload/samplers.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "lab/workload/portable_math.hpp"

namespace tamis::lab {

using namespace detail;

using portable::open_unit;
using portable::product;

namespace {

// expm1(x) / x and log1p(x) / x, which go to 1 as x goes to 0: with them one formula serves every s, also s = 1.
double expm1_ratio(double x) { return x == 0 ? 1 : portable::expm1(x) / x; }
double log1p_ratio(double x) { return x == 0 ? 1 : portable::log1p(x) / x; }

}  // namespace

zipf_sampler::zipf_sampler(std::uint64_t keys, double s)
    : s_(s),
      keys_(static_cast<double>(keys)),
      first_area_(integral(1.5) - 1),  // the hat is taken as 1 over all of k = 1, so nothing there is rejected
      last_area_(integral(keys_ + 0.5)),
      always_kept_(2 - inverse(integral(2.5) - hat(2))) {
  assert(keys >= 1 && s > 0);
}

double zipf_sampler::hat(double x) const { return portable::exp(product(-s_, portable::log(x))); }

// (x^(1-s) - 1) / (1 - s), or log x for s = 1.
double zipf_sampler::integral(double x) const {
  const double log_x = portable::log(x);
  return product(expm1_ratio(product(1 - s_, log_x)), log_x);
}

double zipf_sampler::inverse(double area) const {
  const double scaled =
      std::max(product(1 - s_, area), -1 + 0x1p-53);  // rounding must not take it out of the logarithm's domain
  return portable::exp(product(log1p_ratio(scaled), area));
}

std::uint64_t zipf_sampler::operator()(random_source& random) const {
  for (;;) {
    const double area = last_area_ + product(open_unit(random), first_area_ - last_area_);
    const double x = inverse(area);
    const double k = std::clamp(std::floor(x + 0.5), 1.0, keys_);
    if (k - x <= always_kept_ || area >= integral(k + 0.5) - hat(k)) return static_cast<std::uint64_t>(k);
  }
}

std::uint64_t yule_simon_sampler::operator()(random_source& random) const {
  for (;;) {
    const double success = portable::exp(portable::log(open_unit(random)) / rho_);  // e^-W
    const double log_v = portable::log(open_unit(random));
    if (success >= 1) return 1;
    if (success <= 0) continue;  // a success chance that small means a k beyond any cut
    const double failures = std::floor(log_v / portable::log1p(-success));
    if (failures < keys_) return static_cast<std::uint64_t>(failures) + 1;
  }
}

pareto_sampler::pareto_sampler(std::uint64_t smallest, std::uint64_t largest, double alpha)
    : smallest_(static_cast<double>(smallest)),
      largest_(static_cast<double>(largest)),
      alpha_(alpha),
      share_(1 - portable::pow((largest_ + 1) / smallest_, -alpha)) {
  assert(1 <= smallest && smallest <= largest);
}

std::uint64_t pareto_sampler::operator()(random_source& random) const {
  const double survival = 1 - product(open_unit(random), share_);
  const double size = product(smallest_, portable::pow(survival, -1 / alpha_));
  return static_cast<std::uint64_t>(std::clamp(std::floor(size), smallest_, largest_));
}

std::uint32_t active_key_total(std::uint32_t i, double p) {
  constexpr double most = 65536;
  assert(1 <= i && i <= 65536);
  double share = 0;  // in 0..1
  if (p == 0) {      // the limit of the formula
    share = 1 - portable::log(i) / portable::log(most);
  } else {
    const double floor = portable::pow(most, p);
    share = (portable::pow(i, p) - floor) / (1 - floor);
  }
  return static_cast<std::uint32_t>(product(most, share)) + 1;
}

}  // namespace tamis::lab
