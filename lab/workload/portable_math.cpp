#include "lab/workload/portable_math.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace tamis::lab::portable {
namespace {

// ln 2 in two parts: the first has 33 bits, so its product with an exponent is exact.
constexpr double ln2_high = 0x1.62e42feep-1;
constexpr double ln2_low = 0x1.a39ef35793c76p-33;

// 1/1, 1/3, 1/5, ...: atanh(t) = t (1 + t^2/3 + t^4/5 + ...). With |t| <= 0.1716 the first term left out is below 2^-57.
constexpr auto odd_reciprocals = [] {
  std::array<double, 12> terms{};
  for (std::size_t j = 0; j < terms.size(); ++j) terms[j] = 1.0 / static_cast<double>(2 * j + 1);
  return terms;
}();

// 1/1!, 1/2!, ...: expm1(r) = r (1 + r/2! + r^2/3! + ...). With |r| <= 0.3466 the first term left out is below 2^-60.
constexpr auto factorial_reciprocals = [] {
  std::array<double, 15> terms{};
  double factorial = 1;
  for (std::size_t j = 0; j < terms.size(); ++j) terms[j] = 1.0 / (factorial *= static_cast<double>(j + 1));
  return terms;
}();

template <std::size_t N>
double polynomial(const std::array<double, N>& coefficients, double x) {
  double sum = coefficients[N - 1];
  for (std::size_t j = N - 1; j-- > 0;) sum = coefficients[j] + product(sum, x);
  return sum;
}

// log((1 + t) / (1 - t)) = 2 atanh(t). Requires: |t| <= 0.1716.
double log_of_ratio(double t) { return product(2 * t, polynomial(odd_reciprocals, product(t, t))); }

struct reduced {
  double minus_one;  // e^r - 1, |r| <= ln 2 / 2
  int power;         // e^x = (1 + minus_one) 2^power
};

reduced reduce(double x) {
  const double power = std::floor(product(x, 1.4426950408889634) + 0.5);
  const double r = (x - product(power, ln2_high)) - product(power, ln2_low);
  return {product(r, polynomial(factorial_reciprocals, r)), static_cast<int>(power)};
}

bool overflows(double x) { return x > 709.7; }
bool underflows(double x) { return x < -745.2; }

}  // namespace

double log(double x) {
  int power = 0;
  double m = std::frexp(x, &power);
  if (m < 0.7071067811865476) {
    m *= 2;
    --power;
  }
  const double small = log_of_ratio((m - 1) / (m + 1)) + product(power, ln2_low);
  return product(power, ln2_high) + small;
}

double log1p(double x) { return -0.29 < x && x < 0.41 ? log_of_ratio(x / (2 + x)) : log(1 + x); }

double exp(double x) {
  if (overflows(x)) return std::numeric_limits<double>::infinity();
  if (underflows(x)) return 0;
  const reduced e = reduce(x);
  return std::ldexp(1 + e.minus_one, e.power);
}

double expm1(double x) {
  if (overflows(x)) return std::numeric_limits<double>::infinity();
  if (underflows(x)) return -1;
  const reduced e = reduce(x);
  return e.power == 0 ? e.minus_one : std::ldexp(1 + e.minus_one, e.power) - 1;
}

double pow(double base, double exponent) { return exp(product(exponent, log(base))); }

}  // namespace tamis::lab::portable
