#include "tamis/detail/math/growth.hpp"

#include <bit>
#include <cmath>

namespace tamis::detail {
namespace {

double one_in(unsigned bits) { return std::ldexp(1.0, -static_cast<int>(bits)); }

double sum_of_inverse_squares(unsigned last) {
  double sum = 0.0;
  for (unsigned i = last; i != 0; --i) sum += 1.0 / (static_cast<double>(i) * i);
  return sum;
}

// How many filters hold the generations of a filter after X expansions, where entries of generation t run out of bits at
// expansion t + length(t). A filter made for generation t has slots of length(t) bits and takes what runs out as long as its
// own oldest entries have a bit left.
template <class Length>
unsigned filters_of(unsigned expansions, Length length) {
  unsigned filters = 1;
  unsigned taken_up_to = 0;  // the last expansion whose voids go into the newest filter beside the active one
  for (unsigned t = 0; t + length(t) < expansions; ++t) {
    const unsigned runs_out = t + length(t);
    if (filters == 1 || runs_out > taken_up_to) {
      ++filters;
      taken_up_to = runs_out + length(t);
    }
  }
  return filters;
}

}  // namespace

unsigned growing_length(unsigned fingerprint, unsigned expansions) {
  const std::uint64_t generation = std::uint64_t{expansions} + 1;
  return fingerprint + static_cast<unsigned>(std::bit_width(generation * generation - 1));
}

double age_share(unsigned age, unsigned expansions) {
  if (age > expansions) return 0.0;
  return one_in(age == expansions ? age : age + 1);
}

double infini_rate(unsigned fingerprint, double alpha, double expansions) {
  return (expansions + 2.0) * one_in(fingerprint + 1) * alpha;
}

double growing_rate_printed(unsigned fingerprint, double alpha, unsigned expansions) {
  return one_in(fingerprint + 1) * alpha * sum_of_inverse_squares(expansions + 1);
}

double growing_rate(unsigned fingerprint, double alpha, unsigned expansions) {
  double sum = one_in(fingerprint);
  for (unsigned x = 1; x <= expansions; ++x) sum += one_in(growing_length(fingerprint, x) + 1);
  return sum * alpha;
}

double infini_bits(unsigned fingerprint, double alpha, double metadata) { return (fingerprint + 1 + metadata) / alpha; }

double growing_bits(unsigned fingerprint, double alpha, unsigned expansions, double metadata) {
  return infini_bits(growing_length(fingerprint, expansions), alpha, metadata);
}

unsigned infini_filters(unsigned fingerprint, unsigned expansions) {
  return filters_of(expansions, [=](unsigned) { return fingerprint; });
}

unsigned growing_filters(unsigned fingerprint, unsigned expansions) {
  return filters_of(expansions, [=](unsigned t) { return growing_length(fingerprint, t); });
}

}  // namespace tamis::detail
