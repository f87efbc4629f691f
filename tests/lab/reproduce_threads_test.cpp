// The verdicts of the experiments on threads: each is fed tables that agree with its claim and tables that do not.

#include <gtest/gtest.h>

#include "lab/experiment.hpp"
#include "lab/thread_measure.hpp"

namespace tamis::lab {
namespace {

const experiment& named(std::string_view name) {
  const experiment* e = find_experiment(name);
  if (e == nullptr) throw std::logic_error("no experiment " + std::string(name));
  return *e;
}
std::vector<outcome> of(std::string_view name, const table& t) {
  EXPECT_FALSE(named(name).draw(t).empty());
  EXPECT_FALSE(named(name).tabulate(t).empty());
  std::vector<outcome> all;
  for (const verdict& v : named(name).judge(t)) all.push_back(v.is);
  return all;
}
using outcomes = std::vector<outcome>;
constexpr outcome yes = outcome::agrees;
constexpr outcome no = outcome::differs;
constexpr outcome open = outcome::untested;

// What two readers do, of one; what four do beside a writer; cores that two readers had. Behind the lock four do 3 of one.
table throughput(double two, double four, double beside, double cores) {
  table t({"filter", "shared_by", "threads"},
          {"lookups", "lookups_many", "inserts", "lookups_beside", "inserts_beside", "cores"});
  for (const char* filter : {"bloom1", "taf"}) {
    for (const auto& [threads, rate] : {std::pair{1, 1.0}, {2, 2.0}, {4, 2.0}})
      t.add({filter, "nothing", threads}, {rate, rate, threads == 1 ? 1.0 : 0.0, 0, 0, 2});
    for (const auto& [threads, rate] : {std::pair{1, 1.0}, {2, 0.5}, {4, 0.3}})
      t.add({filter, "shared_mutex", threads}, {rate, rate, 1, threads == 1 ? 0 : 0.2, threads == 1 ? 0 : 0.2, 2});
    for (const auto& [threads, rate] : {std::pair{1, 1.0}, {2, two}, {4, four}})
      t.add({filter, "concurrent_filter", threads}, {rate, rate, 1, threads == 1 ? 0 : beside, 1, cores});
  }
  return t;
}
TEST(thread_verdicts, throughput) {
  EXPECT_EQ(of("threads", throughput(1.95, 1.9, 1, 2)), (outcomes{yes, yes, yes}));
  EXPECT_EQ(of("threads", throughput(1.8, 1.9, 1, 2)), (outcomes{no, yes, yes}));
  EXPECT_EQ(of("threads", throughput(1.8, 1.9, 1, 1.5)), (outcomes{open, yes, yes}));
  EXPECT_EQ(of("threads", throughput(1.95, 0.2, 1, 2)), (outcomes{yes, no, yes}));
  EXPECT_EQ(of("threads", throughput(1.95, 1.9, 0.1, 2)), (outcomes{yes, yes, no}));
}

table tails(double lookup, double clock, double lookups = 50'000) {
  table t({"filter", "shared_by", "what"}, {"median", "percent_99", "percent_99_9", "percent_99_99", "longest", "lookups"});
  for (const char* how : {"shared_mutex", "concurrent_filter"}) {
    t.add({"evergreen", how, "lookup"}, {50, 100, 1000, how[0] == 's' ? 1e6 : lookup, 1e6, lookups});
    t.add({"evergreen", how, "clock"}, {20, 30, 40, clock, 1e6, lookups});
  }
  return t;
}
TEST(thread_verdicts, tails) {
  EXPECT_EQ(of("threads-tails", tails(800, 40)), (outcomes{yes}));
  EXPECT_EQ(of("threads-tails", tails(60'000, 40)), (outcomes{no}));
  EXPECT_EQ(of("threads-tails", tails(60'000, 60'000)), (outcomes{open}));
  EXPECT_EQ(of("threads-tails", tails(800, 40, 100)), (outcomes{open}));
}

// At the quick scale, with what comes out of it in the form that the verdicts take.
TEST(thread_experiments, run) {
  for (const char* name : {"threads", "threads-tails"}) {
    const auto seen = named(name).run({});
    ASSERT_TRUE(seen) << seen.message();
    EXPECT_FALSE(named(name).judge(*seen).empty());
    EXPECT_FALSE(named(name).draw(*seen).empty());
  }
}

}  // namespace
}  // namespace tamis::lab
