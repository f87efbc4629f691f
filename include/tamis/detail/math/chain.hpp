#pragma once

// Rates and sizes of filters that grow, as the InfiniFilter paper's section 3 models them: linear chaining, geometric chaining
// with equal and with decreasing rates, fingerprint sacrifice. F: bits of a fingerprint in the first filter; alpha: load at
// which a filter is full; N: capacity divided by the first capacity.

namespace tamis::detail {

inline constexpr unsigned chain_threshold = 80;  // alpha in per cent, as in the paper's experiments

// "3. Linear Chaining": N filters of rate 2^-F · alpha each.
double linear_chaining_rate(double fingerprint, double alpha, double n);
// "4. Geometric Chaining", equal rates: log2(N) + 1 filters.
double geometric_chaining_rate(double fingerprint, double alpha, double n);
// The same with decreasing rates: 2^-F · alpha · (1 + 1/4 + … + 1/x²) for x filters, below 2^-F · alpha · pi²/6 for ever.
double decreasing_chaining_rate(double fingerprint, double alpha, unsigned filters);
inline constexpr double decreasing_chaining_limit = 1.6449340668482264;  // pi²/6
// "5. Fingerprint Sacrifice": a bit of every fingerprint goes with each doubling.
double sacrificing_rate(double fingerprint, double alpha, double n);

// Bits per key at the threshold: (F + 3) / alpha for chains of equal rates, …
double chaining_space(double fingerprint, double alpha);
// … at most (F + 3 + 2 log2(log2(N) + 1)) / alpha with decreasing rates, …
double decreasing_chaining_space(double fingerprint, double alpha, double n);
// … and (F + 3 - ceil(log2 N)) / alpha for sacrifice; the paper's formula leaves out the three flags of a slot.
double sacrificing_space(double fingerprint, double alpha, double n);

// Bits of a fingerprint in the i-th filter of a chain with decreasing rates, counted from 1: F + ceil(2 log2 i), so that its
// rate is at most 2^-F / i².
unsigned decreasing_fingerprint(unsigned fingerprint, unsigned i);

// The rate of a chain whose filters have these rates: the chance that one of them says yes.
class chain_rate {
 public:
  void add(double rate);
  double value() const;

 private:
  double log_no_ = 0.0;
};

}  // namespace tamis::detail
