// Growing from 2^10 keys: rate, space and time per insert, with and without a store that can be asked.

#include <chrono>

#include "lab/experiments/evergreen_common.hpp"

namespace tamis::lab {
namespace {

constexpr std::uint64_t first_keys = 1024;

const std::vector<contestant>& contestants() {
  static const std::vector<contestant> all = {
      {"evergreen_store", "evergreen", {{"fingerprint", "8"}}},
      {"evergreen_growing", "evergreen", {{"fingerprint", "8"}, {"fingerprints", "growing"}}, false},
      {"evergreen_fixed", "evergreen", {{"fingerprint", "8"}, {"fingerprints", "fixed"}}, false},
      {"evergreen_flat", "evergreen", {{"fingerprint", "8"}, {"growth", "flat"}}},
      {"infini_growing", "infini", {{"fingerprint", "8"}, {"mode", "growing"}}, false},
      {"infini_chained", "infini", {{"fingerprint", "8"}, {"mode", "chained"}}, false}};
  return all;
}

// Four points per doubling. Times are of the inserts alone, the store's own are left out; they are only worth something on a
// quiet machine.
status grow(contest_filter& f, unsigned log_keys, const experiment_options& options, std::ostream& csv) {
  constexpr std::uint64_t batch = 64;
  random_source random(options.seed);
  random_source strangers(options.seed + 1);
  memory_remote stored;
  std::vector<digest> next(batch);
  double ns = 0;
  std::uint64_t since = 0;
  std::uint64_t keys = 0;
  for (std::uint64_t until = first_keys; until <= std::uint64_t{1} << log_keys; until += std::bit_floor(until) / 4) {
    while (keys < until) {
      for (digest& d : next) d = any_digest(random);
      for (const digest d : next) stored.insert(d);
      const auto start = std::chrono::steady_clock::now();
      for (const digest d : next) {
        if (!f.insert(d, stored)) return error{f.name() + " refused a key"};
      }
      ns += std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
      keys += batch, since += batch;
    }
    constexpr unsigned questions = 400'000;
    std::uint64_t wrong = 0;
    for (unsigned i = 0; i < questions; ++i) wrong += f.filter().contains(any_digest(strangers));
    csv << f.name() << ',' << keys << ',' << static_cast<double>(wrong) / questions << ',' << f.filter().expected_fpr() << ','
        << f.bits_per_key() << ',' << ns / static_cast<double>(since) << std::endl;
    ns = 0, since = 0;
  }
  return {};
}

template <unsigned LogKeys>
status run(const experiment_options& options, std::ostream& csv) {
  csv << "filter,keys,rate,expected_rate,bits_per_key,ns_per_insert\n";
  for (const contestant& who : contestants()) {
    if (!registry::builtin().find(who.id)) continue;
    TAMIS_TRY(contest_filter f, beginner(who, first_keys));
    TAMIS_CHECK(grow(f, LogKeys, options, csv));
  }
  return {};
}

constexpr std::string_view claim =
    "With a store, the rate of a growing evergreen stays where it was; without one it doubles at most, if fingerprints grow.";
constexpr std::string_view agrees = "with a store below 3/2 of 2^-F times 2 at the end, and never above 26 bits per key";

}  // namespace

extern const experiment evergreen_growth_20{"evergreen-growth-20", "evergreen, growth to 2^20 keys", claim, agrees, run<20>};
extern const experiment evergreen_growth_22{"evergreen-growth-22", "evergreen, growth to 2^22 keys", claim, agrees, run<22>};
extern const experiment evergreen_growth_24{"evergreen-growth-24", "evergreen, growth to 2^24 keys", claim, agrees, run<24>};
extern const experiment evergreen_growth_26{"evergreen-growth-26", "evergreen, growth to 2^26 keys", claim, agrees, run<26>};

}  // namespace tamis::lab
