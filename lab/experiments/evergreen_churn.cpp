// Keys come and go: a random key is erased and a new one inserted, many times over, under skewed queries.

#include <chrono>

#include "lab/experiments/evergreen_common.hpp"
#include "lab/workload.hpp"
#include "tamis/hash/hasher.hpp"

namespace tamis::lab {
namespace {

constexpr std::uint64_t keys = 200'000;
constexpr unsigned turnovers = 10;  // as many keys are replaced in all as this times those that are in
constexpr unsigned questions_per_change = 4;

const std::vector<contestant>& contestants() {
  static const std::vector<contestant> all = {{"evergreen", "evergreen", {{"fingerprint", "8"}}},
                                              {"evergreen_untold", "evergreen", {{"fingerprint", "8"}}, false},
                                              {"taf", "taf"},
                                              {"exaf", "exaf"},
                                              {"acf_cyclic", "acf-cyclic"},
                                              {"rsqf", "rsqf"},
                                              {"infini_growing", "infini", {{"mode", "growing"}}, false}};
  return all;
}

status churn(contest_filter& f, const experiment_options& options, std::ostream& csv) {
  const hasher hash;
  random_source random(options.seed);
  const std::pair<std::string, std::string> skew[] = {{"keys", "1000000"}, {"s", "1.0"}};
  TAMIS_TRY(const auto source, make_workload("zipf", skew, options.seed + 1));
  std::vector<std::uint64_t> ids(questions_per_change);
  memory_remote stored;
  std::vector<digest> in(keys);
  for (digest& d : in) {
    d = any_digest(random);
    stored.insert(d);
    if (!f.insert(d, stored)) return error{f.name() + " was full before its capacity"};
  }
  for (unsigned tenths = 1; tenths <= 10 * turnovers; ++tenths) {
    double ns = 0;
    std::uint64_t refused = 0;
    for (std::uint64_t i = 0; i < keys / 10; ++i) {
      digest& gone = in[random.below(keys)];
      const digest fresh = any_digest(random);
      const auto start = std::chrono::steady_clock::now();
      f.erase(gone, stored);
      ns += std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
      stored.erase(gone);
      stored.insert(fresh);
      refused += !f.insert(fresh, stored);
      gone = fresh;
      source->next(ids);
      for (const std::uint64_t id : ids) f.ask(hash(id), stored);
    }
    if (refused != 0) return error{f.name() + " refused " + std::to_string(refused) + " keys"};
    if (tenths % 5 != 0) continue;
    csv << f.name() << ',' << tenths / 10.0 << ',' << f.take_rate() << ',' << f.bits_per_key() << ','
        << ns / (static_cast<double>(keys) / 10) << std::endl;
  }
  std::uint64_t lost = 0;
  for (const digest d : in) lost += !f.filter().contains(d);
  if (lost != 0) return error{f.name() + " lost " + std::to_string(lost) + " keys"};
  return {};
}

status run(const experiment_options& options, std::ostream& csv) {
  csv << "filter,turnover,rate,bits_per_key,ns_per_erase\n";
  TAMIS_TRY(std::vector<contest_filter> all, contest(contestants(), keys));
  for (contest_filter& f : all) TAMIS_CHECK(churn(f, options, csv));
  return {};
}

}  // namespace

extern const experiment evergreen_churn{
    "evergreen-churn", "evergreen, deletes",
    "After every key has been replaced ten times, evergreen's rate under skewed queries, its space and its speed are what they "
    "were.",
    "rate and bits per key of the last turnover are within 1.3 times of those of the second", run};

}  // namespace tamis::lab
