// What `tamis advise` says about the demo's keys and questions: the same code, with some of the filters that tamis comes with.

#include "tools/site/demo/advice.hpp"

#include <algorithm>
#include <cstdio>

#include "lab/advise.hpp"
#include "tamis/detail/base/random.hpp"

namespace {

constexpr std::uint64_t most_keys = 8'192;  // of what is tried: a visitor should not wait
constexpr std::uint64_t least_keys = 64;

double kibibytes(double bits) { return bits / (8 * 1024); }

std::string line(const tamis::lab::estimate& e, double scale) {
  char text[160];
  std::snprintf(text, sizeof text, "%s|%.3g|%.3g|%.3g|%.3g", e.name().c_str(), kibibytes(e.mean_fast_bits) * scale,
                kibibytes(static_cast<double>(e.at_end.fast)) * scale, 100 * e.first_rate, 100 * e.rate);
  return text;
}

}  // namespace

std::string demo_advice(const advice_case& asked) {
  // As `tamis advise` does with a log of 2^j times as many keys: a 2^j-th of the members, and all questions for a 2^j-th of the
  // absent keys.
  unsigned j = 0;
  while (asked.last_keys >> j > most_keys) ++j;
  const std::uint64_t last_keys = asked.last_keys >> j;
  tamis::lab::query_sample log(last_keys);
  for (const tamis::digest d : asked.questions) {
    if ((tamis::detail::mix64(d.low) & ((std::uint64_t{1} << j) - 1)) == 0) log.add_absent_query(d);
  }
  tamis::lab::advice_wish wish;
  wish.capacity = std::max(asked.first_keys >> j, least_keys);
  wish.growth = static_cast<double>(last_keys) / static_cast<double>(wish.capacity);
  wish.fpr = asked.rate;
  wish.trust_log = true;
  const tamis::lab::advice found = tamis::lab::advise(wish, asked.members.first(last_keys), &log);
  std::string all;
  for (const tamis::lab::estimate& e : found.ranked) {
    all += (all.empty() ? "" : "\n") + line(e, static_cast<double>(std::uint64_t{1} << j));
  }
  return all;
}
