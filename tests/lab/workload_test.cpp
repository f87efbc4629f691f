#include "lab/workload.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lab/workload/portable_math.hpp"
#include "lab/workload/samplers.hpp"
#include "tamis/detail/base/random.hpp"

// Statistical bounds are derived, with a fail chance below 1e-9 for a fresh seed; the seed is fixed and printed with every
// failure.

namespace {

using namespace tamis;
using namespace tamis::detail;
using namespace tamis::lab;

constexpr std::uint64_t seed = 20240613;
const double log_chance = std::log(1e10);  // one power of ten in hand for what the bounds approximate

using options = std::vector<std::pair<std::string, std::string>>;

std::unique_ptr<workload> make(std::string_view name, const options& given = {}, std::uint64_t from = seed) {
  auto made = make_workload(name, given, from);
  return std::move(made).value();
}

std::vector<std::uint64_t> draw(workload& stream, std::size_t count) {
  std::vector<std::uint64_t> ids(count);
  ids.resize(stream.next(ids));
  return ids;
}

std::string failure(std::string_view name, const options& given) { return make_workload(name, given, seed).message(); }

std::size_t distinct(const std::vector<std::uint64_t>& ids) {
  return std::unordered_set<std::uint64_t>(ids.begin(), ids.end()).size();
}

// Bernstein: a sum of independent (or negatively associated) 0/1 variables with this variance strays further with chance e^-10
// ln 10.
double bernstein(double variance) {
  const double a = (log_chance + std::log(2.0)) / 3;
  return a + std::sqrt(a * a + 6 * a * variance);
}

// Compares how often 1, 2, ... were drawn with chance[0], chance[1], ...; neighbours are pooled until 100 draws are expected.
// The bound is Laurent and Massart's tail of the chi-squared distribution.
template <class Draw>
void expect_distribution(const std::vector<double>& chance, std::size_t draws, Draw&& draw_one) {
  std::vector<std::size_t> seen(chance.size());
  for (std::size_t i = 0; i < draws; ++i) {
    const std::uint64_t k = draw_one();
    ASSERT_TRUE(1 <= k && k <= chance.size()) << k;
    ++seen[k - 1];
  }
  double chi_squared = 0, freedom = -1, expected = 0, observed = 0, left = static_cast<double>(draws);
  for (std::size_t k = 0; k < chance.size(); ++k) {
    expected += chance[k] * static_cast<double>(draws);
    observed += static_cast<double>(seen[k]);
    left -= chance[k] * static_cast<double>(draws);
    if ((expected < 100 || left < 100) && k + 1 < chance.size()) continue;
    chi_squared += (observed - expected) * (observed - expected) / expected;
    freedom += 1;
    expected = observed = 0;
  }
  EXPECT_LT(chi_squared, freedom + 2 * std::sqrt(freedom * log_chance) + 2 * log_chance) << freedom << " dof, seed " << seed;
}

template <class Weight>
std::vector<double> normalised(std::size_t keys, Weight&& weight) {
  std::vector<double> chance(keys);
  double sum = 0;
  for (std::size_t k = 0; k < keys; ++k) sum += chance[k] = weight(static_cast<double>(k + 1));
  for (double& c : chance) c /= sum;
  return chance;
}

double yule_simon(double k, double rho) {
  return rho * std::exp(std::lgamma(k) + std::lgamma(rho + 1) - std::lgamma(k + rho + 1));
}

TEST(workload, the_first_ids_of_a_seed_never_change) {
  const std::vector<std::pair<std::string, std::uint64_t>> pinned = {{"firehose-activeset", 0x3e31b5693fc4db0fu},
                                                                     {"firehose-powerlaw", 0x1b74feb64d2ccc98u},
                                                                     {"packets", 0xafb9367580a761cfu},
                                                                     {"uniform", 0x1cece51fa764ec54u},
                                                                     {"uniform-repeats", 0xe1e189220662873bu},
                                                                     {"zipf", 0xbbb72b1ea947334eu}};
  ASSERT_EQ(workloads().size(), pinned.size());
  for (std::size_t i = 0; i < pinned.size(); ++i) {
    EXPECT_EQ(workloads()[i].name, pinned[i].first);
    std::uint64_t folded = 0;
    for (const std::uint64_t id : draw(*make(pinned[i].first), 100'000)) folded = mix64(folded ^ id) + 1;
    EXPECT_EQ(folded, pinned[i].second) << pinned[i].first << ": " << std::hex << "0x" << folded << "u";
  }
}

TEST(workload, seeds_give_different_streams_and_batches_do_not_matter) {
  for (const workload_info& info : workloads()) {
    const auto whole = draw(*make(info.name), 5000);
    EXPECT_NE(whole, draw(*make(info.name, {}, seed + 1), 5000)) << info.name;
    const auto stream = make(info.name);
    std::vector<std::uint64_t> pieces;
    for (std::size_t size = 0; pieces.size() < whole.size(); size = (size + 1) % 97) {
      for (const std::uint64_t id : draw(*stream, std::min(size, whole.size() - pieces.size()))) pieces.push_back(id);
    }
    EXPECT_EQ(pieces, whole) << info.name;
  }
}

TEST(workload, documented_defaults_are_the_defaults) {
  for (const workload_info& info : workloads()) {
    options given;
    for (const option_info& option : info.options) given.emplace_back(option.name, option.default_text());
    EXPECT_EQ(draw(*make(info.name, given), 1000), draw(*make(info.name), 1000)) << info.name;
  }
}

TEST(workload, outsiders_are_never_sent) {
  for (const workload_info& info : workloads()) {
    const auto stream = make(info.name);
    const auto ids = draw(*stream, 200'000);
    const std::unordered_set<std::uint64_t> sent(ids.begin(), ids.end());
    std::set<std::string> outsiders;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      EXPECT_FALSE(sent.contains(stream->outsider(i))) << info.name;
      outsiders.insert(stream->text(stream->outsider(i)));
    }
    EXPECT_EQ(outsiders.size(), 20'000u) << info.name;
  }
}

TEST(workload, says_what_is_wrong_with_a_name_an_option_or_a_value) {
  EXPECT_EQ(failure("zipfian", {}),
            "workload 'zipfian': not known; the workloads are firehose-activeset, firehose-powerlaw, packets, uniform, "
            "uniform-repeats, zipf");
  EXPECT_EQ(failure("zipf", {{"size", "3"}}), "zipf: no option 'size'; the options are keys, s");
  EXPECT_EQ(failure("uniform", {{"keys", "3"}}), "uniform: no option 'keys'; it has none");
  EXPECT_EQ(failure("zipf", {{"s", "1"}, {"s", "2"}}), "zipf: option 's': given twice");
  EXPECT_EQ(failure("zipf", {{"s", "0"}}), "zipf: option 's': '0' is not a number above 0 and at most 64");
  for (const char* bad : {"", "0", "-1", "2.5", "1e6x", " 5", "nan", "inf", "1e16", "1e999"}) {
    EXPECT_EQ(failure("zipf", {{"keys", bad}}),
              "zipf: option 'keys': '" + std::string(bad) + "' is not a whole number from 1 to 1000000000000000");
  }
  EXPECT_EQ(failure("packets", {{"alpha", "1.5"}}), "packets: option 'alpha': '1.5' is not a number from 1 to 1.2");
  EXPECT_EQ(failure("packets", {{"smallest", "11"}, {"cut", "10"}}), "packets: option 'smallest': 11 is above the cut of 10");
  EXPECT_TRUE(make_workload("zipf", options{{"keys", "1e6"}, {"s", "1e-9"}}, seed).ok());
}

TEST(workload, extreme_options_work) {
  for (const char* s : {"1e-300", "0.999999999", "1", "1.000000001", "64"}) {
    for (const char* keys : {"1", "2", "1e15"}) {
      for (const std::uint64_t id : draw(*make("zipf", {{"keys", keys}, {"s", s}}), 1000))
        ASSERT_TRUE(1 <= id && id <= 1'000'000'000'000'000);
    }
  }
  for (const char* rho : {"0.05", "64"}) draw(*make("firehose-powerlaw", {{"keys", "1"}, {"rho", rho}, {"offset", "0"}}), 1000);
  for (const char* p : {"-4", "0", "4"}) {
    draw(*make("firehose-activeset", {{"active", "1"}, {"queues", "2"}, {"exponent", p}, {"trend", "1"}}), 1000);
  }
  EXPECT_EQ(draw(*make("packets", {{"flows", "1"}, {"smallest", "7"}, {"cut", "7"}}), 100), std::vector<std::uint64_t>(7, 0));
}

TEST(portable_math, is_as_good_as_the_library) {
  random_source random(seed);
  for (int i = 0; i < 100'000; ++i) {
    const double x = std::ldexp(random.unit() + 0.5, static_cast<int>(random.below(200)) - 100);
    const double y = (random.unit() - 0.5) * 1400;
    const double small = std::ldexp(random.unit() - 0.5, -static_cast<int>(random.below(60)));
    EXPECT_NEAR(portable::log(x), std::log(x), 1e-15 * std::abs(std::log(x)));
    EXPECT_NEAR(portable::exp(y), std::exp(y), 1e-15 * std::exp(y));
    EXPECT_NEAR(portable::log1p(small), std::log1p(small), 1e-15 * std::abs(std::log1p(small)));
    EXPECT_NEAR(portable::expm1(small), std::expm1(small), 1e-15 * std::abs(std::expm1(small)));
  }
}

TEST(zipf, draws_every_rank_in_proportion) {
  for (const double s : {0.2, 0.99, 1.0, 1.0001, 1.5, 3.0}) {
    const zipf_sampler sampler(1000, s);
    random_source random(seed);
    expect_distribution(normalised(1000, [s](double k) { return std::pow(k, -s); }), 300'000, [&] { return sampler(random); });
  }
}

TEST(zipf, needs_no_table_of_its_keys) {
  const auto ids = draw(*make("zipf", {{"keys", "1e15"}, {"s", "1"}}), 1'000'000);
  const double harmonic = std::log(1e15) + 0.5772156649015329;  // H(N) - log N - gamma < 1/(2N)
  for (const std::uint64_t rank : {1u, 2u, 3u, 10u}) {
    const double chance = 1 / (static_cast<double>(rank) * harmonic);
    const auto seen = static_cast<double>(std::count(ids.begin(), ids.end(), rank));
    EXPECT_NEAR(seen, 1e6 * chance, bernstein(1e6 * chance * (1 - chance))) << "rank " << rank << ", seed " << seed;
  }
}

TEST(firehose_powerlaw, draws_are_yule_simon) {
  for (const double rho : {0.5, 2.0}) {
    const yule_simon_sampler sampler(1000, rho);
    random_source random(seed);
    expect_distribution(normalised(1000, [rho](double k) { return yule_simon(k, rho); }), 300'000,
                        [&] { return sampler(random); });
  }
  EXPECT_NEAR(yule_simon(1, 0.5), 1.0 / 3, 1e-12);
}

// 50 M ids are expected to show 609 repeats per key by the same sum (published: about 584); 1 M show the same in less time.
TEST(firehose_powerlaw, shows_as_many_keys_as_the_distribution_says) {
  const auto chance = normalised(100'000, [](double k) { return yule_simon(k, 0.5); });
  const auto ids = draw(*make("firehose-powerlaw"), 1'000'000);
  double expected = 0, variance = 0;  // of the number of different keys: indicators of urns are negatively associated
  for (const double c : chance) {
    const double missing = std::exp(1e6 * std::log1p(-c));
    expected += 1 - missing;
    variance += missing * (1 - missing);
  }
  EXPECT_NEAR(static_cast<double>(distinct(ids)), expected, bernstein(variance)) << "seed " << seed;
  const auto first = static_cast<double>(std::count(ids.begin(), ids.end(), 1'000'000'000u));
  EXPECT_NEAR(first, 1e6 * chance[0], bernstein(1e6 * chance[0] * (1 - chance[0]))) << "seed " << seed;
  EXPECT_EQ(*std::min_element(ids.begin(), ids.end()), 1'000'000'000u);
  EXPECT_LT(*std::max_element(ids.begin(), ids.end()), 1'000'100'000u);
}

TEST(uniform, keys_are_all_different) { EXPECT_EQ(distinct(draw(*make("uniform"), 300'000)), 300'000u); }

TEST(uniform_repeats, draws_every_key_equally_often) {
  const auto stream = make("uniform-repeats", {{"keys", "500"}});
  std::unordered_map<std::uint64_t, std::uint64_t> number;  // of a key, by first appearance
  expect_distribution(std::vector<double>(500, 1.0 / 500), 300'000,
                      [&] { return number.try_emplace(draw(*stream, 1)[0], number.size() + 1).first->second; });
}

// Whole Pareto sizes cut at `largest`: P(k) is proportional to k^-alpha - (k + 1)^-alpha.
std::vector<double> pareto(std::size_t largest, double alpha) {
  return normalised(largest, [alpha](double k) { return std::pow(k, -alpha) - std::pow(k + 1, -alpha); });
}

std::vector<std::uint64_t> sizes_of(const std::vector<std::uint64_t>& ids, std::size_t flows) {
  std::vector<std::uint64_t> sizes(flows);
  for (const std::uint64_t id : ids) ++sizes.at(id);
  return sizes;
}

TEST(packets, flow_sizes_are_pareto_up_to_the_cut) {
  for (const std::size_t cut : {3u, 1000u}) {
    for (const double alpha : {1.0, 1.1, 1.2}) {
      const auto stream = make("packets", {{"flows", "50000"}, {"alpha", std::to_string(alpha)}, {"cut", std::to_string(cut)}});
      const auto sizes = sizes_of(draw(*stream, *stream->length() + 1), 50'000);
      std::size_t flow = 0;
      expect_distribution(pareto(cut, alpha), sizes.size(), [&] { return sizes[flow++]; });
    }
  }
}

TEST(packets, every_flow_is_sent_exactly_as_often_as_it_is_large) {
  const auto stream = make("packets", {{"flows", "20000"}});
  const auto ids = draw(*stream, 10'000'000);
  EXPECT_EQ(ids.size(), *stream->length());
  EXPECT_EQ(draw(*stream, 1).size(), 0u);
  const auto sizes = sizes_of(ids, 20'000);
  EXPECT_EQ(std::count(sizes.begin(), sizes.end(), 0u), 0);
  // The order of the packets depends on the burst, the size of a flow does not.
  EXPECT_EQ(sizes_of(draw(*make("packets", {{"flows", "20000"}, {"burst", "50"}}), 10'000'000), 20'000), sizes);
}

// The share of packets whose flow was among the 16 packets before.
double closeness(const std::vector<std::uint64_t>& ids) {
  std::size_t close = 0;
  for (std::size_t i = 16; i < ids.size(); ++i) close += std::find(&ids[i - 16], &ids[i], ids[i]) != &ids[i];
  return static_cast<double>(close) / static_cast<double>(ids.size());
}

TEST(packets, come_in_bursts_that_are_mixed_with_each_other) {
  auto ids = draw(*make("packets", {{"flows", "50000"}}), 10'000'000);
  std::size_t same_as_before = 0;
  for (std::size_t i = 1; i < ids.size(); ++i) same_as_before += ids[i] == ids[i - 1];
  EXPECT_LT(same_as_before, ids.size() / 5);
  const double bursty = closeness(ids);
  random_source random(seed);
  for (std::size_t i = ids.size(); i > 1; --i) std::swap(ids[i - 1], ids[random.below(i)]);
  EXPECT_GT(bursty, 3 * closeness(ids));
}

TEST(packets, five_tuples_have_a_line_and_thirteen_bytes) {
  const auto stream = make("packets");
  EXPECT_EQ(stream->text(0), "77.210.218.106:49859 > 239.102.229.98:123 udp");
  const std::string raw = stream->bytes(0);
  ASSERT_EQ(raw.size(), 13u);
  const auto byte = [&](std::size_t i) { return std::to_string(static_cast<unsigned char>(raw[i])); };
  const auto port = [&](std::size_t i) {
    return std::to_string(static_cast<unsigned char>(raw[i]) * 256 + static_cast<unsigned char>(raw[i + 1]));
  };
  const std::string source = byte(0) + "." + byte(1) + "." + byte(2) + "." + byte(3) + ":" + port(8);
  const std::string destination = byte(4) + "." + byte(5) + "." + byte(6) + "." + byte(7) + ":" + port(10);
  EXPECT_EQ(stream->text(0), source + " > " + destination + (raw[12] == 6 ? " tcp" : " udp"));
  std::unordered_set<std::string> all;
  for (std::uint64_t flow = 0; flow < 100'000; ++flow) all.insert(stream->bytes(flow));
  EXPECT_EQ(all.size(), 100'000u);
  EXPECT_EQ(make("zipf")->text(12345), "12345");
  EXPECT_EQ(make("zipf")->bytes(0x0102), std::string("\2\1\0\0\0\0\0\0", 8));
}

TEST(firehose_activeset, totals_follow_the_formula) {
  EXPECT_EQ(active_key_total(1, -0.5), 65537u);
  EXPECT_EQ(active_key_total(4096, -0.5), 772u);   // 65536 * 3/255 = 771.01
  EXPECT_EQ(active_key_total(16384, -0.5), 258u);  // 65536 / 255 = 257.004
  EXPECT_EQ(active_key_total(65536, -0.5), 1u);
  EXPECT_EQ(active_key_total(1, 0.5), 65537u);
  EXPECT_EQ(active_key_total(65536, 0.5), 1u);
}

TEST(firehose_activeset, every_key_is_sent_its_total) {
  for (const double p : {-0.5, -1.0}) {
    std::vector<double> chance(65537);
    for (std::uint32_t i = 1; i <= 65536; ++i) chance[active_key_total(i, p) - 1] += 1.0 / 65536;
    // With one key active at a time the stream is one run per key.
    const auto stream = make("firehose-activeset", {{"active", "1"}, {"queues", "2"}, {"exponent", std::to_string(p)}});
    std::uint64_t key = draw(*stream, 1)[0];
    expect_distribution(chance, 10'000, [&] {
      for (std::uint64_t total = 1;; ++total) {
        if (const std::uint64_t id = draw(*stream, 1)[0]; id != key) return key = id, total;
      }
    });
  }
}

// A recorded calibration, not a derived bound: seeds 1 to 4 show 54.9 to 55.0, the papers' streams 54 to 57.
TEST(firehose_activeset, shows_the_published_repeats_per_key) {
  const double repeats = 1e7 / static_cast<double>(distinct(draw(*make("firehose-activeset"), 10'000'000)));
  EXPECT_GT(repeats, 54) << "seed " << seed;
  EXPECT_LT(repeats, 57) << "seed " << seed;
}

// Where in the stream each key was sent.
std::unordered_map<std::uint64_t, std::vector<std::size_t>> lives_of(const std::vector<std::uint64_t>& ids) {
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> lives;
  for (std::size_t i = 0; i < ids.size(); ++i) lives[ids[i]].push_back(i);
  return lives;
}

TEST(firehose_activeset, never_has_more_keys_under_way_than_are_active) {
  const auto ids = draw(*make("firehose-activeset", {{"active", "50"}, {"queues", "8"}}), 300'000);
  std::vector<int> change(ids.size() + 1);
  for (const auto& [id, at] : lives_of(ids)) {
    ++change[at.front()];
    --change[at.back() + 1];
  }
  int under_way = 0, most = 0;
  for (const int c : change) most = std::max(most, under_way += c);
  EXPECT_EQ(most, 50);
}

TEST(firehose_activeset, a_key_trends_in_the_middle_of_its_life) {
  const auto ids = draw(*make("firehose-activeset", {{"active", "1000"}, {"queues", "1000"}}), 2'000'000);
  double early = 0, middle = 0, late = 0;
  for (const auto& [id, at] : lives_of(ids)) {
    if (at.size() < 300 || at.back() > ids.size() / 2) continue;  // over in the first half: surely complete
    const std::size_t tenth = at.size() / 10;
    early += static_cast<double>(at[tenth] - at[0]);
    middle += static_cast<double>(at[6 * tenth] - at[5 * tenth]);
    late += static_cast<double>(at[at.size() - 1] - at[at.size() - 1 - tenth]);
  }
  EXPECT_GT(middle, 0);
  EXPECT_GT(early, 3 * middle);
  EXPECT_GT(late, 3 * middle);
}

TEST(split_members, takes_the_first_distinct_keys_and_leaves_the_rest_as_queries) {
  const auto ids = draw(*make("zipf"), 20'000);
  const auto stream = make("zipf");
  const member_split split = split_members(*stream, 1000).value();
  std::vector<std::uint64_t> members, queries;
  for (const std::uint64_t id : ids) {
    if (std::find(members.begin(), members.end(), id) != members.end()) continue;
    if (members.size() < 1000)
      members.push_back(id);
    else
      queries.push_back(id);
  }
  EXPECT_TRUE(std::ranges::equal(split.members(), members));
  std::vector<std::uint64_t> got(queries.size());
  EXPECT_EQ(split.next_queries(*stream, got), got.size());
  EXPECT_EQ(got, queries);
}

TEST(split_members, says_when_there_are_not_enough_keys) {
  EXPECT_EQ(split_members(*make("zipf", {{"keys", "10"}}), 10).message(),
            "members: 10 wanted, but the workload has 10 keys, and at least one must be left for the queries");
  EXPECT_EQ(split_members(*make("zipf", {{"keys", "1000"}, {"s", "64"}}), 500, 2000).message(),
            "members: 500 wanted, but the workload showed only 1 different keys in 2000 draws");
  const auto used = make("packets", {{"flows", "100"}});
  draw(*used, *used->length() - 3);
  EXPECT_TRUE(split_members(*used, 50).message().starts_with("members: 50 wanted, but the workload ended after "));
}

}  // namespace
