// An adversary that asks every false positive it has ever seen again and again, a million times, while keys come in.

#include "lab/experiments/evergreen_common.hpp"

namespace tamis::lab {
namespace {

constexpr std::uint64_t first_keys = 100'000;
constexpr std::uint64_t last_keys = 200'000;
constexpr std::uint64_t fresh_questions = 1'000'000;  // from which the first false positives come
constexpr std::uint64_t replays = 1'000'000;
constexpr std::uint64_t step = 50'000;

const std::vector<contestant>& contestants() {
  static const std::vector<contestant> all = {{"evergreen", "evergreen", {{"fingerprint", "8"}}},
                                              {"taf", "taf"},
                                              {"exaf", "exaf"},
                                              {"abf", "abf"},
                                              {"acf_cuckooing", "acf-cuckooing"},
                                              {"acf_cyclic", "acf-cyclic"},
                                              {"acf_swapping", "acf-swapping"}};
  return all;
}

status attack(contest_filter& f, const experiment_options& options, std::ostream& csv) {
  random_source random(options.seed);
  memory_remote stored;
  const auto insert = [&]() -> status {
    const digest d = any_digest(random);
    stored.insert(d);
    if (!f.insert(d, stored)) return error{f.name() + " refused a key"};
    return {};
  };
  for (std::uint64_t i = 0; i < first_keys; ++i) TAMIS_CHECK(insert());
  std::vector<digest> wrong;
  for (std::uint64_t i = 0; i < fresh_questions; ++i) {
    const digest d = any_digest(random);
    if (f.ask(d, stored)) wrong.push_back(d);
  }
  const double fresh_rate = f.take_rate();
  for (std::uint64_t i = 0; i < replays; ++i) {
    if (i % (replays / (last_keys - first_keys)) == 0) TAMIS_CHECK(insert());
    f.ask(wrong[i % wrong.size()], stored);
    if ((i + 1) % step == 0) {
      csv << f.name() << ',' << i + 1 << ',' << wrong.size() << ',' << fresh_rate << ',' << f.take_rate() << std::endl;
    }
  }
  return {};
}

status run(const experiment_options& options, std::ostream& csv) {
  csv << "filter,replays,known,fresh_rate,replayed_rate\n";
  TAMIS_TRY(std::vector<contest_filter> all, contest(contestants(), last_keys));
  for (contest_filter& f : all) TAMIS_CHECK(attack(f, options, csv));
  return {};
}

}  // namespace

extern const experiment evergreen_replay{"evergreen-replay", "evergreen, an adversary that replays its finds",
                                         "Replaying all false positives ever seen while keys come in, an adversary gets no "
                                         "higher rate out of evergreen than by asking anew.",
                                         "evergreen's replayed rate is at most its fresh rate in every step", run};

}  // namespace tamis::lab
