// Verdicts have to be able to fail: every kind is fed a table that agrees with its paper and one that does not.

#include <gtest/gtest.h>

#include <limits>

#include "lab/experiment.hpp"

namespace tamis::lab {
namespace {

table single(double value) {
  table t({"x"}, {"y"});
  t.add({1}, {value});
  return t;
}

const experiment& named(std::string_view name) {
  const experiment* e = find_experiment(name);
  if (e == nullptr) throw std::logic_error("no experiment " + std::string(name));
  return *e;
}

outcome of(std::string_view name, const table& t) { return overall(named(name).judge(t)); }

TEST(ReproduceVerdict, TallyHoldsWithinTheBoundAndChance) {
  const table t = single(1);
  const table::row r = t.rows()[0];
  tally fine("claim");
  fine.at_most(r, 1.0, 2.0);
  fine.at_most(r, 2.2, 2.0, 0.1);  // two standard errors above: chance
  fine.at_least(r, 3.0, 2.0);
  EXPECT_EQ(fine.judge().is, outcome::agrees);
  tally wrong("claim");
  wrong.at_most(r, 1.0, 2.0);
  wrong.at_most(r, 2.4, 2.0, 0.1);
  const verdict v = wrong.judge("Because.");
  EXPECT_EQ(v.is, outcome::differs);
  EXPECT_NE(v.found.find("1 of 2"), std::string::npos) << v.found;
  EXPECT_NE(v.found.find("1.2 times the bound at x = 1"), std::string::npos) << v.found;
  EXPECT_NE(v.found.find("Because."), std::string::npos) << v.found;
}

TEST(ReproduceVerdict, TallyDoesNotAgreeOnNothing) {
  EXPECT_EQ(tally("claim").judge().is, outcome::untested);
  const table t = single(1);
  tally undefined("claim");
  undefined.at_most(t.rows()[0], std::numeric_limits<double>::quiet_NaN(), 1);
  EXPECT_EQ(undefined.judge().is, outcome::differs);
}

TEST(ReproduceVerdict, TheWorstCounts) {
  const verdict yes = decide(true, "a", "b");
  const verdict no = decide(false, "a", "b");
  EXPECT_EQ(overall({yes, yes}), outcome::agrees);
  EXPECT_EQ(overall({yes, untested("a", "b")}), outcome::untested);
  EXPECT_EQ(overall({yes, untested("a", "b"), no}), outcome::differs);
}

TEST(ReproduceVerdict, NumbersAreBrief) {
  EXPECT_EQ(brief(3.14159), "3.14");
  EXPECT_EQ(brief(0.000312), "0.000312");
  EXPECT_EQ(brief(1234567), "1,234,567");
  EXPECT_EQ(brief(-1234), "-1,234");
  EXPECT_EQ(brief(999), "999");
}

TEST(Experiments, AreCompleteAndInOrder) {
  std::string before;
  for (const experiment& e : experiments()) {
    SCOPED_TRACE(e.name);
    EXPECT_LT(before, e.name);
    before = e.name;
    for (const std::string* text : {&e.paper, &e.figures, &e.claim, &e.parameters, &e.agrees}) EXPECT_FALSE(text->empty());
    EXPECT_TRUE(e.run != nullptr && e.judge != nullptr && e.draw != nullptr);
    EXPECT_GE(e.runs.paper, e.runs.quick);
    EXPECT_GE(e.runs.quick, 1u);
    EXPECT_GE(e.seconds.paper, e.seconds.quick);
  }
  EXPECT_GE(experiments().size(), 33u);
  EXPECT_EQ(find_experiment("no-such"), nullptr);
}

table decimation(double d1, double d5) {
  table t({"keys_per_word", "k"}, {"bloom1", "S2_d1", "S2_d5", "S4_d1", "S4_d5", "S8_d1", "S8_d5"});
  t.add({8, 4}, {0.03, d1, d5, d1, d5, d1, d5});
  return t;
}
TEST(Experiments, AbfDecimation) {
  EXPECT_EQ(of("abf-decimation", decimation(0.009, 0.014)), outcome::agrees);
  EXPECT_EQ(of("abf-decimation", decimation(0.009, 0.029)), outcome::differs);  // hardly below bloom1
  EXPECT_EQ(of("abf-decimation", decimation(0.015, 0.009)), outcome::differs);  // d = 5 better than d = 1
}

table load(double least) {
  table t({"filter", "keys", "width"}, {"load"});
  t.add({"ascf", 62259, 12}, {0.975});
  t.add({"cuckoo", 62259, 12}, {least});
  return t;
}
TEST(Experiments, AscfLoad) {
  EXPECT_EQ(of("ascf-load", load(0.951)), outcome::agrees);
  EXPECT_EQ(of("ascf-load", load(0.949)), outcome::differs);
}

table sizes(double ascf, double cuckoo) {
  table t({"keys"}, {"cuckoo", "vacuum", "ascf", "ideal"});
  t.add({1000}, {12.7, 13, ascf, 12.63});
  t.add({1100}, {cuckoo, 13, ascf, 12.63});
  return t;
}
TEST(Experiments, AscfSizes) {
  EXPECT_EQ(of("ascf-sizes", sizes(12.7, 25)), outcome::agrees);
  EXPECT_EQ(of("ascf-sizes", sizes(13.5, 25)), outcome::differs);
  EXPECT_EQ(of("ascf-sizes", sizes(12.7, 14)), outcome::differs);  // no saw
}

table omega(double cyclic, double cuckooing) {
  table t({"keys", "support"}, {"plain", "cuckooing", "cuckooing_paper", "cyclic_1", "swapping_2"});
  for (unsigned log = 10; log <= 16; ++log) {
    const bool last = log == 16;
    t.add({1 << log, 256}, {1000, 60, last ? cuckooing : 60, last ? cyclic : 200, last ? 4000.0 : 1000.0});
  }
  return t;
}
TEST(Experiments, AcfOmega) {
  EXPECT_EQ(of("acf-omega", omega(800, 62)), outcome::agrees);
  EXPECT_EQ(of("acf-omega", omega(210, 62)), outcome::differs);   // Cyclic does not grow
  EXPECT_EQ(of("acf-omega", omega(800, 240)), outcome::differs);  // Cuckooing does
}

table adversary(double taf_at_10, double taf_at_40) {
  table t({"q_over_s"}, {"taf", "acf_cyclic_3"});
  t.add({10}, {taf_at_10, 0.001});
  t.add({40}, {taf_at_40, 0.001});
  return t;
}
TEST(Experiments, TafAdversary) {
  EXPECT_EQ(of("taf-adversary", adversary(0.0, 0.9)), outcome::agrees);
  EXPECT_EQ(of("taf-adversary", adversary(0.05, 0.9)), outcome::differs);
  EXPECT_EQ(of("taf-adversary", adversary(0.0, 0.001)), outcome::differs);
}

table throughput(double taf, double exaf) {
  table t({"filter", "load"}, {"insert_mops", "query_mops"}, summary::median);
  t.add({"rsqf", 0.5}, {10, 20});
  t.add({"taf", 0.5}, {9, taf});
  t.add({"exaf", 0.5}, {9, exaf});
  t.add({"utaf", 0.5}, {9, 19});
  return t;
}
TEST(Experiments, TafThroughput) {
  EXPECT_EQ(of("taf-throughput", throughput(15, 18)), outcome::agrees);
  EXPECT_EQ(of("taf-throughput", throughput(8, 18)), outcome::differs);
  EXPECT_EQ(of("taf-throughput", throughput(15, 12)), outcome::differs);
}

table support(double cuckooing, double cyclic) {
  table t({"keys", "support", "slot_bits"}, {"eps_q", "cuckooing_paper", "cyclic_1"});
  t.add({65536, 1024, 8}, {15, cuckooing, cyclic});
  return t;
}
TEST(Experiments, AcfSupport) {
  EXPECT_EQ(of("acf-support", support(16, 900)), outcome::agrees);
  EXPECT_EQ(of("acf-support", support(40, 900)), outcome::differs);
  EXPECT_EQ(of("acf-support", support(16, 30)), outcome::untested);
}

}  // namespace
}  // namespace tamis::lab
