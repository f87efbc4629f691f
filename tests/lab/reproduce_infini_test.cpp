// The verdicts of the InfiniFilter experiments: tables that agree with the paper, and tables that do not.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "lab/experiment.hpp"

namespace tamis::lab {
namespace {

std::vector<verdict> judged(std::string_view name, const table& t) {
  const experiment* e = find_experiment(name);
  if (e == nullptr) throw std::logic_error("no experiment " + std::string(name));
  return e->judge(t);
}

// Claims that differ, one per line.
std::string differing(std::string_view name, const table& t) {
  std::string claims;
  for (const verdict& v : judged(name, t)) {
    if (v.is == outcome::differs) claims += v.claim + ": " + v.found + "\n";
  }
  return claims;
}
// Exactly one claim differs, and it is about this.
void expect_only(std::string_view about, std::string_view name, const table& t) {
  const std::string claims = differing(name, t);
  EXPECT_NE(claims.find(about), std::string::npos) << claims;
  EXPECT_EQ(std::count(claims.begin(), claims.end(), '\n'), 1) << claims;
}

// Changes of what agrees: the factor of a value in the rows of a filter.
using changes = std::map<std::pair<std::string, std::string>, double>;
double factor(const changes& c, const std::string& filter, const std::string& column) {
  const auto found = c.find({filter, column});
  return found == c.end() ? 1.0 : found->second;
}

constexpr double million = 1e6;

table growth(const changes& c, unsigned sacrifice_ends = 5, unsigned last = 15, double last_bits = 10) {
  table t({"slot_bits", "filter", "expansions", "keys"},
          {"fpr", "model_fpr", "bits_per_key", "model_bits", "insert_ns", "query_ns", "queries"});
  const auto add = [&](const char* filter, unsigned x, double fpr, double model, double bits, double insert, double query) {
    t.add({8, filter, x, 3276u << x}, {fpr * factor(c, filter, "fpr"), model, bits * factor(c, filter, "bits"), bits,
                                       insert * factor(c, filter, "insert"), query * factor(c, filter, "query"), million});
  };
  for (unsigned x = 0; x <= last; ++x) {
    const double chain = 0.025 * (x + 1);
    const double infini = 0.025 * (x + 2);
    add("chain-geometric", x, 1 - std::exp(-chain), chain, 10, 50, 20.0 * (x + 1));
    add("infini", x, 1 - std::exp(-infini), infini, x == last ? last_bits : 10, 100, 20);
    const double sacrifice = 0.025 * std::exp2(x);
    if (x <= sacrifice_ends) add("sacrifice", x, 1 - std::exp(-sacrifice), sacrifice, 10.0 - x, 100, 20);
  }
  return t;
}
TEST(InfiniExperiments, Growth) {
  EXPECT_EQ(overall(judged("infini-growth", growth({}))), outcome::agrees) << differing("infini-growth", growth({}));
  expect_only("within 15 %", "infini-growth", growth({{{"infini", "fpr"}, 0.8}}));
  expect_only("need no more memory", "infini-growth", growth({{{"infini", "bits"}, 1.2}}));
  expect_only("twice the chain's time", "infini-growth", growth({{{"infini", "insert"}, 1.5}}));
  expect_only("10 times as fast", "infini-growth", growth({{{"infini", "query"}, 2.0}}));
  EXPECT_NE(differing("infini-growth", growth({{{"infini", "query"}, 6.0}})).find("fourth expansion"), std::string::npos);
  expect_only("sacrifice ends", "infini-growth", growth({}, 4));
  expect_only("sacrifice ends", "infini-growth", growth({}, 6));
  expect_only("memory is stable", "infini-growth", growth({}, 5, 15, 8));
}
TEST(InfiniExperiments, GrowthBeyondTheModels) {
  const std::string claims = differing("infini-growth", growth({{{"sacrifice", "fpr"}, 2.0}}));
  EXPECT_NE(claims.find("beyond 0.2"), std::string::npos) << claims;
}
TEST(InfiniExperiments, GrowthOfAShortChainDecidesLess) {
  EXPECT_EQ(overall(judged("infini-growth", growth({}, 5, 8))), outcome::untested);
  EXPECT_EQ(overall(judged("infini-growth", growth({}, 4, 4))), outcome::untested);  // sacrifice could have gone on
}

// `last_of_2`: the rate with two queries per insert at the last expansion, 0.05 before; with one it is 0.06.
table rejuvenation(double last_of_2, double query_of_2, double without = 1.0) {
  table t({"slot_bits", "ratio", "expansions", "keys"}, {"fpr", "model_without", "query_ns", "queries"});
  for (const double ratio : {0.0, 0.2, 1.0, 2.0}) {
    for (unsigned x = 0; x <= 9; ++x) {
      const double model = 0.025 * (x + 2);
      double fpr = without * (1 - std::exp(-model));
      if (ratio == 0.2) fpr *= 0.9;
      if (ratio == 1) fpr = 0.06;
      if (ratio == 2) fpr = x == 9 ? last_of_2 : 0.05;
      t.add({8, ratio, x, 819u << x}, {fpr, model, ratio == 2 ? query_of_2 : 50, million});
    }
  }
  return t;
}
TEST(InfiniExperiments, Rejuvenation) {
  const auto name = "infini-rejuvenation";
  EXPECT_EQ(overall(judged(name, rejuvenation(0.05, 40))), outcome::agrees) << differing(name, rejuvenation(0.05, 40));
  expect_only("the lower the rate", name, rejuvenation(0.064, 40));  // above that of 1
  expect_only("stable", name, rejuvenation(0.03, 40));
  expect_only("negative ones faster", name, rejuvenation(0.05, 60));
  expect_only("equation 5", name, rejuvenation(0.05, 40, 0.8));
}

table memory(const changes& c, double printed, double creep = 1.0) {
  table t({"filter", "expansions", "keys"},
          {"fpr", "model_fpr", "printed_model_fpr", "bits_per_key", "model_bits", "insert_ns", "query_ns", "queries"});
  const auto add = [&](const char* filter, unsigned x, double fpr, double printed_fpr, double bits, double insert,
                       double query) {
    t.add({filter, x, 819u << x}, {fpr * factor(c, filter, "fpr"), fpr, printed_fpr, bits * factor(c, filter, "bits"), bits,
                                   insert * factor(c, filter, "insert"), query * factor(c, filter, "query"), million});
  };
  for (unsigned x = 0; x <= 10; ++x) {
    const double grown = 0.06 * std::pow(creep, x);
    add("infini", x, 0.025 * (x + 2), 0, 10, 100, x < 5 ? 30 : 60);
    add("infini growing", x, grown, printed * grown, 12 + x / 2.0, 100, 40);
    add("chain-geometric decreasing", x, 0.04, 0, 12 + x / 2.0, 60, 30.0 * (x + 1));
  }
  return t;
}
TEST(InfiniExperiments, Memory) {
  const auto name = "infini-memory";
  EXPECT_EQ(overall(judged(name, memory({}, 1))), outcome::agrees) << differing(name, memory({}, 1));
  expect_only("as it is printed", name, memory({}, 0.6));
  expect_only("stabilise", name, memory({}, 1, 1.02));
  expect_only("equation 7", name, memory({{{"infini growing", "bits"}, 1.2}}, 1));
  expect_only("within a factor of 2", name, memory({{{"chain-geometric decreasing", "bits"}, 2.2}}, 1));
  expect_only("first term corrected", name, memory({{{"infini", "fpr"}, 0.8}}, 1));
  expect_only("not competitive", name, memory({{{"chain-geometric decreasing", "query"}, 0.2}}, 1));
  expect_only("where those need a chain", name, memory({{{"infini", "query"}, 0.5}}, 1));
  expect_only("slow down inserts", name, memory({{{"infini growing", "insert"}, 1.5}}, 1));
}

table allocated(const changes& c, double creep = 1.0) {
  table t({"filter", "keys"}, {"fpr", "model_fpr", "bytes", "insert_ns", "query_ns", "queries"});
  for (const std::string filter : {"infini", "infini/slots", "quotient", "bloom", "cuckoo"}) {
    const bool grows = filter.starts_with("infini");
    for (unsigned x = 0; x <= 10; ++x) {
      const double share = std::exp2(x - 10.0);
      const double fpr = grows ? 8e-4 * std::pow(creep, x) : filter == "bloom" ? 6e-4 * share * share : 5e-4 * share;
      const double keys = 800.0 * std::exp2(x);
      const double insert = grows ? 120 : filter == "bloom" ? 150 : 100;
      t.add({filter, keys},
            {fpr * factor(c, filter, "fpr"), fpr, (grows ? 60 * keys : 20e6) * factor(c, filter, "bytes"),
             insert * factor(c, filter, "insert"), (grows ? 20 + 8 * x : 90) * factor(c, filter, "query"), million});
    }
  }
  return t;
}
TEST(InfiniExperiments, Static) {
  const auto name = "infini-static";
  EXPECT_EQ(overall(judged(name, allocated({}))), outcome::agrees) << differing(name, allocated({}));
  expect_only("needs less memory", name, allocated({{{"infini", "bytes"}, 3.0}}));
  expect_only("fastest at first", name, allocated({{{"cuckoo", "query"}, 0.2}}));
  expect_only("similar in the end", name, allocated({{{"infini", "query"}, 1.6}, {{"infini/slots", "query"}, 1.6}}));
  expect_only("stable", name, allocated({}, 0.9));
  expect_only("predictable", name, allocated({{{"infini", "fpr"}, 1.3}}));
  expect_only("on a par", name, allocated({{{"bloom", "fpr"}, 0.6}, {{"quotient", "fpr"}, 0.6}, {{"cuckoo", "fpr"}, 0.6}}));
  expect_only("Bloom's rate", name, allocated({{{"cuckoo", "fpr"}, 1.5}}));
  expect_only("slightly slower", name, allocated({{{"infini/slots", "insert"}, 1.3}}));
  expect_only("Bloom's inserts", name, allocated({{{"bloom", "insert"}, 0.6}}));
  // Tables that fit into a cache do not decide what is about misses.
  const changes small{{{"quotient", "bytes"}, 0.7},
                      {{"bloom", "bytes"}, 0.7},
                      {{"cuckoo", "bytes"}, 0.7},
                      {{"infini", "bytes"}, 0.7},
                      {{"infini/slots", "bytes"}, 0.7}};
  EXPECT_EQ(overall(judged(name, allocated(small))), outcome::untested) << differing(name, allocated(small));
}

TEST(InfiniExperiments, Speed) {
  const auto speed = [](double insert, double negative, double positive) {
    table t({"filter", "keys"}, {"bytes", "insert_ns", "negative_ns", "positive_ns"});
    t.add({"infini", 1000}, {1.0, insert, negative, positive});
    t.add({"quotient", 1000}, {1.0, 100.0, 100.0, 100.0});
    return t;
  };
  EXPECT_EQ(overall(judged("infini-speed", speed(210, 125, 125))), outcome::agrees);
  expect_only("not in", "infini-speed", speed(210, 135, 125));
  expect_only("are in", "infini-speed", speed(210, 125, 135));
  expect_only("inserts", "infini-speed", speed(230, 125, 125));
}

}  // namespace
}  // namespace tamis::lab
