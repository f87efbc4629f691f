// ASCF paper, tables III to VI: fingerprint widths and bits per key for the paper's rates, and how many keys fit 8 MB.

#include "lab/experiments/ascf_common.hpp"

namespace tamis::lab {
namespace {

constexpr std::uint64_t fixed_bits = std::uint64_t{8} << 23;  // 8 MB
constexpr std::uint64_t spare_bits = 4096;                    // spare words that make loads safe

std::string width_of(const any_filter& f) {
  for (const auto& [name, value] : f.settings()) {
    if (name == "fingerprint" || name == "remainder" || name == "k") return value;
  }
  return "";
}

// Tables V and VI: the largest capacity at 16-bit fingerprints (counting Bloom: at the rate) whose table fits.
std::uint64_t most_keys(const std::string& id, double fpr) {
  const bool by_rate = id == "bloom" || id == "counting-bloom";
  const option_list options = by_rate ? option_list{} : option_list{{id == "cqf" ? "remainder" : "fingerprint", "16"}};
  std::uint64_t low = 1;
  std::uint64_t high = fixed_bits;
  while (low + 1 < high) {
    const std::uint64_t middle = (low + high) / 2;
    const auto f = any_filter::create(id, {.capacity = middle, .fpr = by_rate ? fpr : 0.5, .options = options});
    (f && f->bits().fast <= fixed_bits + spare_bits ? low : high) = middle;
  }
  return low;
}

status run(const experiment_options&, std::ostream& csv) {
  csv << "table,filter,keys,fpr,width,bits_per_key\n";
  for (const std::string& id : ascf_filters()) {
    for (const unsigned log : {20u, 22u, 24u}) {
      for (const double fpr : ascf_rates) {
        const std::uint64_t keys = std::uint64_t{1} << log;
        TAMIS_TRY(const any_filter f, any_filter::create(id, {.capacity = keys, .fpr = fpr}));
        csv << "III-IV," << id << ',' << keys << ',' << fpr << ',' << width_of(f) << ',' << bits_per_key(f, keys) << '\n';
      }
    }
    for (const double fpr : {1e-2, 1e-4, 1e-6}) {
      const std::uint64_t keys = most_keys(id, fpr);
      csv << "V-VI," << id << ',' << keys << ',' << fpr << ",16," << static_cast<double>(fixed_bits) / static_cast<double>(keys)
          << std::endl;
    }
  }
  return {};
}

}  // namespace

extern const experiment ascf_space{
    "ascf-space", "Additive and subtractive cuckoo filters, tables III to VI",
    "At n = 2^k and rates of 1e-3 and below ascf takes fewer bits per key than every other filter.",
    "ascf takes log2(8/eps)/0.95 bits with eps rounded to whole bits, cuckoo up to 1.9 times that", run};

}  // namespace tamis::lab
