// TAF paper, figure 2: false-positive rate on the FireHose streams. The queries A are the same for every point; the size of the
// stored set S varies, and S holds keys that the stream never sends.

#include <unordered_set>

#include "lab/experiments/taf_common.hpp"
#include "lab/workload.hpp"
#include "tamis/hash/hasher.hpp"

namespace tamis::lab {
namespace {

constexpr double ratios[] = {1, 2, 5, 10, 20, 40, 80};  // |A| / |S|

status run_stream(std::string_view stream, std::uint64_t queries, const experiment_options& options, std::ostream& csv) {
  csv << "a_over_s,unique_queries,stored," << taf_contenders::names << '\n';
  const hasher hash;
  std::unordered_set<std::uint64_t> distinct;
  std::vector<std::uint64_t> ids(4096);
  // The contenders of all ratios see one pass of the stream.
  const auto pass = [&](auto use) -> status {
    TAMIS_TRY(const auto source, make_workload(stream, {}, options.seed));
    for (std::uint64_t left = queries; left != 0;) {
      const std::size_t got = source->next(std::span(ids).first(static_cast<std::size_t>(std::min<std::uint64_t>(left, 4096))));
      for (std::size_t i = 0; i < got; ++i) use(ids[i]);
      left -= got;
    }
    return {};
  };
  TAMIS_CHECK(pass([&](std::uint64_t id) { distinct.insert(id); }));
  TAMIS_TRY(const auto source, make_workload(stream, {}, options.seed));
  taf_rates sums[std::size(ratios)];
  for (unsigned run = 0; run < options.runs; ++run) {
    std::vector<taf_contenders> worlds;
    for (const double ratio : ratios) {
      std::vector<digest> members(static_cast<std::size_t>(static_cast<double>(distinct.size()) / ratio));
      for (std::size_t i = 0; i < members.size(); ++i) members[i] = hash(source->outsider((std::uint64_t{run} << 32) + i));
      worlds.emplace_back(members);
      if (worlds.back().refused != 0) return error{"a filter was full before its capacity"};
    }
    TAMIS_CHECK(pass([&](std::uint64_t id) {
      const digest d = hash(id);
      for (taf_contenders& world : worlds) world.ask(d);
    }));
    for (std::size_t i = 0; i < worlds.size(); ++i) sums[i].add(worlds[i]);
  }
  for (std::size_t i = 0; i < std::size(ratios); ++i) {
    csv << ratios[i] << ',' << distinct.size() << ','
        << static_cast<std::uint64_t>(static_cast<double>(distinct.size()) / ratios[i]);
    sums[i].write(csv, options.runs);
  }
  return {};
}

}  // namespace

extern const experiment taf_active_set{
    "taf-active-set", "Telescoping filter, figure 2 left",
    "On the active set the TAF is the best filter for moderate A/S, degrades above about 20, and exAF is substantially worse.",
    "taf is below every other filter of its space up to A/S = 10, and exaf above taf",
    [](const experiment_options& o, std::ostream& csv) { return run_stream("firehose-activeset", 10'000'000, o, csv); }};
extern const experiment taf_power_law{
    "taf-power-law", "Telescoping filter, figure 2 right",
    "On the power law the TAF is competitive for most A/S, best for moderate ones.",
    "taf is at or below the filters that do not adapt, and below exaf, up to A/S = 20",
    [](const experiment_options& o, std::ostream& csv) { return run_stream("firehose-powerlaw", 50'000'000, o, csv); }};

}  // namespace tamis::lab
