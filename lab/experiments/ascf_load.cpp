// The load that cuckoo filters reach: keys go in until the first one is refused.

#include <algorithm>
#include <array>

#include "lab/experiments/ascf_common.hpp"

namespace tamis::lab {
namespace {

// The load at which the first key is refused.
double load_reached(any_filter& f, const hasher& hash, double slots) {
  std::array<digest, 1024> keys;
  std::array<bool, keys.size()> in;
  for (std::uint64_t next = 0;;) {
    for (digest& d : keys) d = hash(next++);
    if (f.insert_many(keys, in) == keys.size()) continue;
    const auto first_refused = static_cast<std::uint64_t>(std::find(in.begin(), in.end(), false) - in.begin());
    return static_cast<double>(next - keys.size() + first_refused) / slots;
  }
}

// The loads of `options.runs` tables for `keys` keys at 0.95 with fingerprints of `width` bits, in ascending order.
result<std::vector<double>> loads(const std::string& id, std::uint64_t keys, const std::string& width,
                                  const experiment_options& options) {
  std::vector<double> reached;
  random_source random(options.seed);
  for (unsigned run = 0; run < options.runs; ++run) {
    const hasher hash = hasher::fast(random());
    TAMIS_TRY(any_filter f,
              any_filter::create(id, {.capacity = keys, .fpr = 0.999, .options = {{"fingerprint", width}}}, hash));
    reached.push_back(load_reached(f, hash, static_cast<double>(f.bits().fast) / std::stod(width)));
  }
  std::sort(reached.begin(), reached.end());
  return reached;
}

status add_row(const std::string& id, std::uint64_t keys, const std::string& width, const experiment_options& options,
               std::ostream& csv) {
  TAMIS_TRY(const std::vector<double> reached, loads(id, keys, width, options));
  const auto below = std::lower_bound(reached.begin(), reached.end(), 0.95) - reached.begin();
  csv << id << ',' << keys << ',' << width << ',' << reached.size() << ',' << reached.front() << ','
      << reached[reached.size() / 2] << ',' << below << std::endl;
  return {};
}

status run(const experiment_options& options, std::ostream& csv) {
  csv << "filter,keys,width,runs,least,median,runs_below_0.95\n";
  for (const std::uint64_t keys : {62259u, 996147u, 1000003u}) {  // 0.95 * 2^16, 0.95 * 2^20, an odd number
    for (const char* id : {"ascf", "cuckoo", "vacuum"}) {
      for (const char* width : {"12", "8", "16"}) {
        if (keys > 100000 && width != std::string("12")) continue;  // the width hardly matters, and time does
        TAMIS_CHECK(add_row(id, keys, width, options, csv));
      }
    }
  }
  return {};
}

// One row per table, so that a long experiment can be run in parts, with different seeds.
status run_large(const experiment_options& options, std::ostream& csv) {
  csv << "filter,keys,width,seed,load\n";
  for (const char* id : {"ascf", "cuckoo", "vacuum"}) {
    TAMIS_TRY(const std::vector<double> reached, loads(id, 15938355, "12", options));  // 0.95 * 2^24
    for (const double load : reached) csv << id << ",15938355,12," << options.seed << ',' << load << std::endl;
  }
  return {};
}

constexpr std::string_view figures = "Additive and subtractive cuckoo filters, sigma of table I";
constexpr std::string_view claim = "A full filter holds 0.95 of its slots.";
constexpr std::string_view agrees = "at most one run in a hundred refuses a key below a load of 0.95";

}  // namespace

extern const experiment ascf_load{"ascf-load", figures, claim, agrees, run};
extern const experiment ascf_load_24{"ascf-load-24", figures, claim, agrees, run_large};

}  // namespace tamis::lab
