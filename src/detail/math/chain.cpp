#include "tamis/detail/math/chain.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tamis/detail/math/quotient.hpp"

namespace tamis::detail {
namespace {

double one_filter(double fingerprint, double alpha) { return std::exp2(-fingerprint) * alpha; }

}  // namespace

double linear_chaining_rate(double fingerprint, double alpha, double n) { return one_filter(fingerprint, alpha) * n; }

double geometric_chaining_rate(double fingerprint, double alpha, double n) {
  return one_filter(fingerprint, alpha) * (std::log2(n) + 1.0);
}

double decreasing_chaining_rate(double fingerprint, double alpha, unsigned filters) {
  double sum = 0.0;
  for (unsigned i = 1; i <= filters; ++i) sum += 1.0 / (static_cast<double>(i) * i);
  return one_filter(fingerprint, alpha) * sum;
}

double sacrificing_rate(double fingerprint, double alpha, double n) { return one_filter(fingerprint, alpha) * n; }

double chaining_space(double fingerprint, double alpha) { return (fingerprint + three_bit_metadata) / alpha; }

double decreasing_chaining_space(double fingerprint, double alpha, double n) {
  return (fingerprint + three_bit_metadata + 2.0 * std::log2(std::log2(n) + 1.0)) / alpha;
}

double sacrificing_space(double fingerprint, double alpha, double n) {
  return (fingerprint + three_bit_metadata - std::ceil(std::log2(n))) / alpha;
}

unsigned decreasing_fingerprint(unsigned fingerprint, unsigned i) {
  // ceil(2 log2 i) is the number of bits that i² - 1 takes.
  unsigned more = 0;
  while ((std::uint64_t{1} << more) < std::uint64_t{i} * i) ++more;
  return std::min(fingerprint + more, longest_remainder);
}

void chain_rate::add(double rate) { log_no_ += std::log1p(-rate); }
double chain_rate::value() const { return -std::expm1(log_no_); }

}  // namespace tamis::detail
