#include <gtest/gtest.h>

#include <cmath>

#include "lab/reproduce/csv.hpp"
#include "lab/reproduce/table.hpp"

namespace tamis::lab {
namespace {

table one_run(double a, double b) {
  table t({"filter", "load"}, {"rate"});
  t.add({"taf", 0.5}, {a});
  t.add({"taf", 0.95}, {b});
  return t;
}

TEST(ReproduceTable, JoinsRunsIntoMeansAndErrors) {
  table t = one_run(1, 10);
  ASSERT_TRUE(t.join(one_run(2, 10)));
  ASSERT_TRUE(t.join(one_run(3, 10)));
  EXPECT_EQ(t.runs(), 3u);
  const row_list rows = t.rows();
  EXPECT_DOUBLE_EQ(rows[0].value("rate"), 2);
  EXPECT_NEAR(rows[0].error("rate"), 1 / std::sqrt(3.0), 1e-12);  // standard deviation 1, three runs
  EXPECT_DOUBLE_EQ(rows[1].error("rate"), 0);
  EXPECT_DOUBLE_EQ(rows[1].number("load"), 0.95);
}

TEST(ReproduceTable, ShowsMediansWhereTheyAreAskedFor) {
  table t({"filter"}, {"mops"}, summary::median);
  t.add({"taf"}, {1});
  for (const double more : {100.0, 3.0}) {
    table run({"filter"}, {"mops"}, summary::median);
    run.add({"taf"}, {more});
    ASSERT_TRUE(t.join(run));
  }
  EXPECT_DOUBLE_EQ(t.rows()[0].value("mops"), 3);
}

TEST(ReproduceTable, RefusesRunsWithOtherRowsAndStaysAsItWas) {
  table t = one_run(1, 10);
  table fewer({"filter", "load"}, {"rate"});
  fewer.add({"taf", 0.5}, {1});
  EXPECT_FALSE(t.join(fewer));
  table other = one_run(1, 10);
  table renamed({"filter", "load"}, {"fpr"});
  EXPECT_FALSE(t.join(renamed));
  table moved({"filter", "load"}, {"rate"});
  moved.add({"taf", 0.5}, {1});
  moved.add({"taf", 0.9}, {1});
  EXPECT_FALSE(t.join(moved));
  EXPECT_EQ(t.runs(), 1u);
  EXPECT_THROW(t.add({"taf"}, {1}), std::logic_error);
  EXPECT_THROW(static_cast<void>(t.rows()[0].value("no such column")), std::logic_error);
}

TEST(ReproduceTable, WritesCsvWithErrorsOfWhatDiffered) {
  table t = one_run(1, 10);
  EXPECT_EQ(t.csv(), "filter,load,rate\ntaf,0.5,1\ntaf,0.95,10\n");
  ASSERT_TRUE(t.join(one_run(3, 10)));
  EXPECT_EQ(t.csv(), "filter,load,rate,rate_error\ntaf,0.5,2,1\ntaf,0.95,10,0\n");
}

TEST(ReproduceTable, WritesNumbersAsPeopleDo) {
  EXPECT_EQ(setting(1048576).text(), "1048576");
  EXPECT_EQ(setting(1e-5).text(), "1e-05");
  EXPECT_EQ(setting(0.0312345678).text(), "0.0312346");
  EXPECT_EQ(setting("pareto-1.2").text(), "pareto-1.2");
}

TEST(ReproduceTable, FindsRows) {
  const table t = one_run(1, 10);
  EXPECT_EQ(where(t.rows(), "load", "0.95").size(), 1u);
  EXPECT_EQ(distinct(t.rows(), "filter"), std::vector<std::string>{"taf"});
  EXPECT_DOUBLE_EQ(row_of(t.rows(), "load", "0.95").value("rate"), 10);
  EXPECT_THROW(row_of(t.rows(), "load", "0.7"), std::logic_error);
}

TEST(ReproduceTable, ReadsWhatAnExperimentWrote) {
  const result<table> read = table_of_csv("filter,load,rate\ntaf,0.5,1\ntaf,0.95,2.5e-3\n", 2);
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(read->settings(), (std::vector<std::string>{"filter", "load"}));
  EXPECT_DOUBLE_EQ(row_of(read->rows(), "load", "0.95").value("rate"), 2.5e-3);
  EXPECT_FALSE(table_of_csv("filter,load\n", 2));
  EXPECT_FALSE(table_of_csv("filter,rate\ntaf\n", 1));
  EXPECT_FALSE(table_of_csv("filter,rate\ntaf,much\n", 1));
}

}  // namespace
}  // namespace tamis::lab
