// The load that cuckoo filters reach: keys go in until the first one is refused.

#include <algorithm>

#include "lab/experiments/ascf_common.hpp"

namespace tamis::lab {
namespace {

// Loads at the first refusal, of tables for `keys` keys at 0.95 with fingerprints of `width` bits.
result<std::vector<double>> loads(const std::string& id, std::uint64_t keys, const std::string& width,
                                  const experiment_options& options) {
  std::vector<double> reached;
  random_source random(options.seed);
  for (unsigned run = 0; run < options.runs; ++run) {
    const hasher hash = hasher::fast(random());
    TAMIS_TRY(any_filter f,
              any_filter::create(id, {.capacity = keys, .fpr = 0.999, .options = {{"fingerprint", width}}}, hash));
    for (std::uint64_t i = 0; f.insert(i) == insert_result::inserted; ++i) continue;
    const double slots = static_cast<double>(f.bits().fast) / std::stod(width);
    reached.push_back(static_cast<double>(f.keys()) / slots);
  }
  std::sort(reached.begin(), reached.end());
  return reached;
}

status run(const experiment_options& options, std::ostream& csv) {
  csv << "filter,keys,width,runs,least,median,runs_below_0.95\n";
  for (const std::uint64_t keys : {62259u, 996147u, 1000003u, 15938355u}) {  // 0.95 * 2^16, 2^20, an odd number, 0.95 * 2^24
    for (const char* id : {"ascf", "cuckoo", "vacuum"}) {
      for (const char* width : {"12", "8", "16"}) {
        if (keys > 100000 && width != std::string("12")) continue;  // the width hardly matters, and time does
        TAMIS_TRY(const std::vector<double> reached, loads(id, keys, width, options));
        const auto below = std::lower_bound(reached.begin(), reached.end(), 0.95) - reached.begin();
        csv << id << ',' << keys << ',' << width << ',' << reached.size() << ',' << reached.front() << ','
            << reached[reached.size() / 2] << ',' << below << std::endl;
      }
    }
  }
  return {};
}

}  // namespace

extern const experiment ascf_load{"ascf-load", "Additive and subtractive cuckoo filters, sigma of table I",
                                  "A full filter holds 0.95 of its slots.",
                                  "at most one run in a hundred refuses a key below a load of 0.95", run};

}  // namespace tamis::lab
