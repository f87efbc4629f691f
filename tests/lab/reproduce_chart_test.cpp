#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "lab/reproduce/chart.hpp"
#include "lab/reproduce/scale.hpp"
#include "tamis/registry.hpp"

namespace tamis::lab {
namespace {

std::vector<std::string> labels(const axis_scale& s) {
  std::vector<std::string> found;
  for (const tick& t : s.ticks()) {
    if (!t.label.empty()) found.push_back(t.label);
  }
  return found;
}

TEST(ReproduceChart, LogarithmicAxesHaveDecades) {
  const axis_scale s({.label = "", .log = true}, {1e-5, 1e-2, 0.0, -1});
  EXPECT_EQ(labels(s), (std::vector<std::string>{"1e-5", "1e-4", "0.001", "0.01"}));
  EXPECT_NEAR(s.place(1e-4) - s.place(1e-5), s.place(1e-2) - s.place(1e-3), 1e-9);
  EXPECT_FALSE(s.shows(0));
  EXPECT_EQ(s.place(0), 0);
  EXPECT_GT(s.place(1e-5), 0);
  EXPECT_LT(s.place(1e-2), 1);
}

TEST(ReproduceChart, ShortLogarithmicAxesHaveTwosAndFives) {
  const axis_scale s({.label = "", .log = true}, {1, 80});
  EXPECT_EQ(labels(s), (std::vector<std::string>{"1", "2", "5", "10", "20", "50"}));
}

TEST(ReproduceChart, LinearAxesBeginAtZeroWhereTheyCan) {
  const axis_scale s({.label = ""}, {1, 10});
  EXPECT_EQ(labels(s), (std::vector<std::string>{"0", "2", "4", "6", "8", "10"}));
  EXPECT_EQ(s.place(0), 0);
}

TEST(ReproduceChart, AxesSurviveStrangeValues) {
  for (const bool log : {false, true}) {
    const std::vector<std::vector<double>> strange = {{}, {0.0}, {5.0}, {std::nan("")}, {-3.0, -2.0}};
    for (const std::vector<double>& values : strange) {
      const axis_scale s({.label = "", .log = log}, values);
      EXPECT_TRUE(std::isfinite(s.place(1)));
      EXPECT_LT(s.ticks().size(), 30u);
    }
  }
}

TEST(ReproduceChart, DrawsLinesBarsAndMarks) {
  chart c{.name = "n", .title = "A < B", .x = {.label = "x"}, .y = {.label = "y", .log = true}};
  c.panels.push_back({"p",
                      {{"taf", "taf", mark::line, {{1, 0.01, 0.005}, {2, 0}}},
                       {"the paper's", "taf", mark::paper, {{1, 0.02}}},
                       {"model", "grey", mark::dashed, {{1, 0.02}, {2, 0.03}}}}});
  const std::string text = svg(c);
  EXPECT_NE(text.find("A &lt; B"), std::string::npos);
  EXPECT_NE(text.find("class=\"bar\""), std::string::npos);     // an error bar
  EXPECT_NE(text.find("class=\"hollow\""), std::string::npos);  // the paper's value, and a zero on a logarithmic axis
  EXPECT_NE(text.find("class=\"curve model\""), std::string::npos);
  EXPECT_NE(text.find(colour_of("taf")), std::string::npos);
  EXPECT_NE(text.find("prefers-color-scheme: dark"), std::string::npos);
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_EQ(text.find("http", text.find("viewBox")), std::string::npos);  // loads nothing
}

TEST(ReproduceChart, EveryFilterHasAColourOfItsOwn) {
  std::set<std::string> seen{colour_of("grey")};
  for (const registry_entry& entry : registry::builtin().entries()) {
    if (entry.info->id == "bloom") continue;  // is grey
    EXPECT_TRUE(seen.insert(colour_of(entry.info->id)).second) << entry.info->id;
  }
  EXPECT_NE(colour_of("taf/2"), colour_of("taf"));
  EXPECT_NE(colour_of("taf/2"), colour_of("taf/3"));
}

}  // namespace
}  // namespace tamis::lab
