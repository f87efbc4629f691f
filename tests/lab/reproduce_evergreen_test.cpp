// The verdicts of the evergreen experiments: each is fed tables that agree with its claim and tables that do not.

#include <gtest/gtest.h>

#include "lab/experiment.hpp"

namespace tamis::lab {
namespace {

std::vector<outcome> of(std::string_view name, const table& t) {
  const experiment* e = find_experiment(name);
  if (e == nullptr) throw std::logic_error("no experiment " + std::string(name));
  EXPECT_FALSE(e->draw(t).empty());
  std::vector<outcome> all;
  for (const verdict& v : e->judge(t)) all.push_back(v.is);
  return all;
}
using outcomes = std::vector<outcome>;
constexpr outcome yes = outcome::agrees;
constexpr outcome no = outcome::differs;

// Before the last point evergreen is behind, which does not count.
table both(double evergreen, double taf, double infini) {
  table t({"stream", "filter", "keys"}, {"rate", "bits_per_key"});
  for (const char* stream : {"skewed", "hostile"}) {
    for (const auto& [filter, rate] : {std::pair{"evergreen", evergreen}, {"taf", taf}, {"infini_growing", infini}}) {
      t.add({stream, filter, 4096}, {filter == std::string_view("evergreen") ? 0.1 : 0.0, 20});
      t.add({stream, filter, 8192}, {rate, 20});
    }
  }
  return t;
}
TEST(EvergreenVerdicts, Both) {
  EXPECT_EQ(of("evergreen-both", both(0.001, 0.002, 0.5)), (outcomes{yes, yes}));
  EXPECT_EQ(of("evergreen-both", both(0.001, 0.0009, 0.5)), (outcomes{yes, no}));
  EXPECT_EQ(of("evergreen-both", both(0.001, 0.002, 0.0009)), (outcomes{no, yes}));
}

// F = 8: 2^-F is 0.0039. The first point is beyond every bound on rates, which hold in the last doubling only. The rate with a
// store is 1.1 times as high in the end as at 2^14 keys, and it has 20 bits per key.
table growth(double store, double growing, double bits, double infini_rise = 1.2, double infini_bits = 21) {
  table t({"filter", "keys"}, {"rate", "expected_rate", "bits_per_key", "questions"});
  const auto add = [&t](const char* filter, std::uint64_t keys, double rate, double its_bits) {
    t.add({filter, keys}, {rate, rate, its_bits, 400'000});
  };
  add("evergreen_store", 1024, 0.9, bits);
  add("evergreen_store", 1 << 14, store / 1.1, 20);
  add("evergreen_store", 1 << 16, store, 20);
  add("evergreen_growing", 1024, 0.9, 20);
  add("evergreen_growing", 1 << 16, growing, 20);
  add("infini_growing", 1024, 1e-5, 1);
  add("infini_growing", 1 << 14, 0.003, infini_bits);
  add("infini_growing", 1 << 16, 0.003 * infini_rise, infini_bits);
  return t;
}
TEST(EvergreenVerdicts, Growth) {
  EXPECT_EQ(of("evergreen-growth", growth(0.004, 0.005, 25)), (outcomes{yes, yes, yes, yes, yes, yes}));
  EXPECT_EQ(of("evergreen-growth", growth(0.006, 0.005, 25)), (outcomes{yes, yes, no, yes, yes, yes}));
  EXPECT_EQ(of("evergreen-growth", growth(0.008, 0.005, 25)), (outcomes{yes, yes, no, no, yes, yes}));
  EXPECT_EQ(of("evergreen-growth", growth(0.004, 0.009, 25)), (outcomes{yes, yes, yes, yes, no, yes}));
  EXPECT_EQ(of("evergreen-growth", growth(0.004, 0.005, 27)), (outcomes{yes, yes, yes, yes, yes, no}));
  EXPECT_EQ(of("evergreen-growth", growth(0.004, 0.005, 25, 1.05)), (outcomes{no, yes, yes, yes, yes, yes}));
  EXPECT_EQ(of("evergreen-growth", growth(0.004, 0.005, 25, 1.2, 19)), (outcomes{yes, no, yes, yes, yes, yes}));
}

table skewed(double at_20, double at_80) {
  table t({"stream", "a_over_s", "filter"}, {"stored", "bits_before", "bits_after", "rate"});
  for (const auto& [ratio, evergreen] : {std::pair{20, at_20}, {80, at_80}}) {
    t.add({"s", ratio, "evergreen"}, {5000, 13, 20, evergreen});
    t.add({"s", ratio, "taf"}, {5000, 13, 13, 0.002});
    t.add({"s", ratio, "acf_cuckooing"}, {5000, 13, 13, 0.001});
  }
  return t;
}
TEST(EvergreenVerdicts, Static) {
  EXPECT_EQ(of("evergreen-static", skewed(0.0019, 0.0019)), (outcomes{yes, yes}));
  EXPECT_EQ(of("evergreen-static", skewed(0.0021, 0.0019)), (outcomes{no, yes}));  // the best is not taf
  EXPECT_EQ(of("evergreen-static", skewed(0.0019, 0.0021)), (outcomes{yes, no}));
}

// What other filters do does not count, nor does the first turnover.
table churn(double late_rate, double late_bits) {
  table t({"filter", "turnover"}, {"rate", "bits_per_key"});
  for (int halves = 1; halves <= 20; ++halves) {
    t.add({"evergreen", halves / 2.0}, {halves <= 2 ? 0.1 : halves > 16 ? late_rate : 0.001, halves > 16 ? late_bits : 13});
    t.add({"rsqf", halves / 2.0}, {halves / 100.0, 13});
  }
  return t;
}
TEST(EvergreenVerdicts, Churn) {
  EXPECT_EQ(of("evergreen-churn", churn(0.0012, 13)), (outcomes{yes, yes}));
  EXPECT_EQ(of("evergreen-churn", churn(0.0014, 13)), (outcomes{no, yes}));
  EXPECT_EQ(of("evergreen-churn", churn(0.0012, 18)), (outcomes{yes, no}));
}

table replay(double worst) {
  table t({"filter", "replays"}, {"known", "fresh_rate", "replayed_rate"});
  t.add({"abf", 1000}, {80, 0.001, 0.02});
  t.add({"evergreen", 1000}, {300, 0.003, 0});
  t.add({"evergreen", 2000}, {300, 0.003, worst});
  return t;
}
TEST(EvergreenVerdicts, Replay) {
  EXPECT_EQ(of("evergreen-replay", replay(0.0029)), (outcomes{yes}));
  EXPECT_EQ(of("evergreen-replay", replay(0.0031)), (outcomes{no}));
}

// A pause in the first of the times alone is the machine's.
table pauses(double longest) {
  table t({"filter", "share"}, {"first_wall_us", "first_cpu_us", "least_cpu_us", "first_page_faults"}, summary::median);
  for (const auto& [filter, least] :
       {std::pair{"evergreen_store", 900.0}, {"evergreen_growing", longest}, {"infini_growing", 9e4}}) {
    t.add({filter, 0.5}, {1, 1, 1, 0});
    t.add({filter, 1.0}, {9000, 9000, least, 0});
  }
  return t;
}
TEST(EvergreenVerdicts, Pauses) {
  EXPECT_EQ(of("evergreen-pauses", pauses(999)), (outcomes{yes}));
  EXPECT_EQ(of("evergreen-pauses", pauses(1001)), (outcomes{no}));
}

}  // namespace
}  // namespace tamis::lab
