// The verdicts of the comparisons: each is fed tables that agree with its claim and tables that do not.

#include <gtest/gtest.h>

#include "lab/experiment.hpp"

namespace tamis::lab {
namespace {

std::vector<outcome> of(std::string_view name, const table& t) {
  const experiment* e = find_experiment(name);
  if (e == nullptr) throw std::logic_error("no experiment " + std::string(name));
  EXPECT_FALSE(e->draw(t).empty());
  EXPECT_FALSE(e->tabulate(t).empty());
  std::vector<outcome> all;
  for (const verdict& v : e->judge(t)) all.push_back(v.is);
  return all;
}
using outcomes = std::vector<outcome>;
constexpr outcome yes = outcome::agrees;
constexpr outcome no = outcome::differs;
constexpr outcome open = outcome::untested;

// Everybody keeps 1 % but chain-linear.
table growth(double evergreen_rate, double evergreen_bits, double evergreen_peak, double evergreen_repeated) {
  table t({"filter", "keys"}, {"rate", "repeated_rate", "bits_per_key", "peak_bits_per_key", "reread_per_key", "questions"});
  for (const std::uint64_t keys : {8192u, 16384u}) {
    t.add({"evergreen", keys}, {evergreen_rate, evergreen_repeated, evergreen_bits, evergreen_peak, 0, 1e6});
    for (const char* chain : {"infini", "chain-geometric", "scalable Bloom"}) {
      t.add({chain, keys}, {0.009, 0.009, 25, 30, 0, 1e6});
    }
    t.add({"chain-linear", keys}, {0.3, 0.3, 16, 16, 0, 1e6});
    for (const char* rebuilt : {"bloom, rebuilt", "rsqf, rebuilt"}) t.add({rebuilt, keys}, {0.009, 0.009, 12, 23, 1, 1e6});
  }
  return t;
}
TEST(ComparisonVerdicts, Growth) {
  // Rates of evergreen, infini, chain-geometric, scalable Bloom, chain-linear and the two that are rebuilt; less memory than
  // infini, chain-geometric, chain-linear, scalable Bloom and the two that are rebuilt; less at its peak; half of the repeated
  // mistakes.
  EXPECT_EQ(of("growth-contest", growth(0.01, 11, 20, 0.001)),
            (outcomes{yes, yes, yes, yes, no, yes, yes, yes, yes, yes, yes, yes, yes, yes, yes}));
  EXPECT_EQ(of("growth-contest", growth(0.01, 15, 20, 0.001)),
            (outcomes{yes, yes, yes, yes, no, yes, yes, yes, yes, yes, yes, no, no, yes, yes}));
  EXPECT_EQ(of("growth-contest", growth(0.012, 26, 31, 0.008)),
            (outcomes{no, yes, yes, yes, no, yes, yes, no, no, no, no, no, no, no, no}));
}

// At 8 bits a mistake of the cache costs `short_of`, at others `cached`, in those of who adapts; the mirror makes `mirrored`.
table adapt_or_cache(double short_of, double cached, double mirrored, double fixed) {
  table t({"log", "bits", "ratio", "filter"}, {"mistakes", "work", "slow_bits", "queries"});
  constexpr double many = 10'000;
  for (const char* log : {"flat", "Zipf"}) {
    for (const double bits : {8, 12}) {
      for (const double ratio : {1, 3}) {
        const auto add = [&](const char* name, double work) { t.add({log, bits, ratio, name}, {work, work, 0, 1e6}); };
        add("taf", many);
        add("acf-cuckooing", mirrored * many);
        add("bloom", 5 * many);
        add("bloom+cache", (bits == 8 ? short_of : cached) * many);
        add("bloom+mistakes", 4 * many);
        add("static-set+cache", fixed * many);
      }
    }
  }
  return t;
}
TEST(ComparisonVerdicts, AdaptOrCache) {
  EXPECT_EQ(of("adapt-or-cache", adapt_or_cache(0.5, 2, 0.4, 0.1)), (outcomes{yes, yes, yes, yes, yes}));
  EXPECT_EQ(of("adapt-or-cache", adapt_or_cache(2, 0.5, 3, 0.7)), (outcomes{no, no, no, yes, no}));
  EXPECT_EQ(of("adapt-or-cache", adapt_or_cache(0.5, 6, 0.4, 0.1)), (outcomes{yes, yes, yes, no, yes}));
  const table nothing({"log", "bits", "ratio", "filter"}, {"mistakes", "work", "slow_bits", "queries"});
  EXPECT_EQ(find_experiment("adapt-or-cache")->judge(nothing).front().is, open);
}

table luck(double deviation, double adaptive, double unluckiest) {
  table t({"s", "filter"}, {"least", "median", "most", "mean", "deviation", "foretold", "foretold_chance", "seeds", "queries"});
  for (const double s : {0.6, 1.0, 1.4}) {
    for (const char* plain : {"bloom", "bloom1", "rsqf"}) {
      t.add({s, plain}, {100, 200, unluckiest, 200, deviation, 100, 5, 40, 1e5});
    }
    for (const char* other : {"rsqf+mistakes", "acf-cuckooing", "taf", "evergreen-fixed"}) {
      t.add({s, other}, {100, 100, 110, 100, adaptive, 100, 5, 40, 1e5});
    }
  }
  return t;
}
TEST(ComparisonVerdicts, Luck) {
  EXPECT_EQ(of("luck", luck(101, 10, 500)), (outcomes{yes, yes, yes}));
  EXPECT_EQ(of("luck", luck(120, 30, 500)), (outcomes{no, no, yes}));
  EXPECT_EQ(of("luck", luck(80, 10, 250)), (outcomes{no, yes, no}));
}

}  // namespace
}  // namespace tamis::lab
