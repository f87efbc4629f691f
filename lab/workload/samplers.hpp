#pragma once

// The distributions behind the workloads, each by a method that is exact up to the rounding of doubles and needs no table.

#include <cstdint>

#include "tamis/detail/base/random.hpp"

namespace tamis::lab {

// Zipf: P(k) proportional to k^-s for k in 1..keys, any s > 0. Rejection-inversion (Hörmann and Derflinger,
// "Rejection-inversion to generate variates from monotone discrete distributions", 1996): invert the integral of the hat x^-s,
// round to the nearest whole number, and reject what lies above the histogram. About 1.1 tries a draw, whatever keys and s are.
class zipf_sampler {
 public:
  zipf_sampler(std::uint64_t keys, double s);
  std::uint64_t operator()(detail::random_source& random) const;

 private:
  double hat(double x) const;       // x^-s
  double integral(double x) const;  // of the hat from 1 to x
  double inverse(double area) const;

  double s_;
  double keys_;
  double first_area_;   // the area that belongs to k = 1 starts here
  double last_area_;    // and the area of k = keys ends here
  double always_kept_;  // a point at most this far left of its whole number is under the histogram
};

// Yule-Simon: P(k) = rho B(k, rho + 1), P(1) = rho / (rho + 1), cut at `keys` (larger draws are drawn again). A geometric
// variate whose success chance is e^-W, W exponential with rate rho.
class yule_simon_sampler {
 public:
  yule_simon_sampler(std::uint64_t keys, double rho) : keys_(static_cast<double>(keys)), rho_(rho) {}
  std::uint64_t operator()(detail::random_source& random) const;

 private:
  double keys_;
  double rho_;
};

// Whole Pareto sizes in smallest..largest: P(size >= k) proportional to k^-alpha - (largest + 1)^-alpha.
class pareto_sampler {
 public:
  pareto_sampler(std::uint64_t smallest, std::uint64_t largest, double alpha);
  std::uint64_t operator()(detail::random_source& random) const;

 private:
  double smallest_;
  double largest_;
  double alpha_;
  double share_;  // of the uncut distribution that the cut keeps
};

// FireHose: how often an active-set key is sent, floor(65536 (i^p - 65536^p) / (1 - 65536^p)) + 1, from 65537 at i = 1 down to
// 1 at i = 65536. Requires: i in 1..65536.
std::uint32_t active_key_total(std::uint32_t i, double p);

}  // namespace tamis::lab
