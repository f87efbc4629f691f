// The short version: some operations of a run in every way, damaged and foreign files, and every step of the protocol left out
// once to see that all this notices. tests/crash/run_long.cpp takes every operation.

#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>

#include "harness.hpp"
#include "random_lives.hpp"
#include "tamis/guard/guarded_store.hpp"
#include "tamis/guard/rocksdb_store.hpp"

namespace tamis::crash {

using namespace detail;

namespace {

namespace files = std::filesystem;

constexpr std::size_t steps = 120;
constexpr long operations = 250;       // about as many as a run of so many steps has,
constexpr long load_operations = 420;  // and as many with bulk loads

std::uint32_t without(std::initializer_list<protocol_step> left_out) {
  std::uint32_t sum = 0;
  for (const protocol_step step : left_out) sum |= static_cast<std::uint32_t>(step);
  return sum;
}

class crash : public ::testing::Test {
 protected:
  // A store with a history and two snapshots, with changes between them and after them: not every seed gives that.
  site aged(const settings& given, const std::string& name = "store", std::uint64_t seed = 2003) {
    site made(place / name, given);
    EXPECT_TRUE(made.run(seed, 300).snapshot);
    EXPECT_EQ(made.verify(), "");
    return made;
  }
  // Problems found in `runs` disturbed runs, at operations spread over the whole run.
  std::vector<std::string> disturb(const site& base, disturbance how, int runs, std::size_t enough = 10) {
    std::vector<std::string> problems;
    for (int i = 0; i < runs && problems.size() < enough; ++i) {
      how.oplog_operation = 1 + (base.given().loads ? load_operations : operations) * i / runs + i % 3;
      site victim = base.copy_to(place / "victim");
      victim.run(3000 + static_cast<std::uint64_t>(i), steps, how);
      const std::string problem = victim.verify();
      if (!problem.empty()) problems.push_back("operation " + std::to_string(how.oplog_operation) + ": " + problem);
    }
    return problems;
  }
  void expect_nothing_wrong(const disturbance& how, int runs) {
    for (const char* filter : {"counting-bloom", "bloom1", "toy-everything"}) {
      const site base = aged({.filter = filter, .sync = std::string(filter) == "bloom1"}, filter);
      for (const std::string& problem : disturb(base, how, runs)) ADD_FAILURE() << filter << ", " << how.how << ": " << problem;
    }
  }
  void expect_loads_covered(const disturbance& how, int runs) {
    const site base = aged({.loads = true});
    for (const std::string& problem : disturb(base, how, runs)) ADD_FAILURE() << how.how << ": " << problem;
  }
  bool noticed(std::initializer_list<protocol_step> left_out, const disturbance& how, int runs, bool loads = false) {
    site base = aged({.loads = loads});
    base.given().skipped_steps = without(left_out);
    return !disturb(base, how, runs, 1).empty();
  }

  scratch place;
};

TEST_F(crash, kill) { expect_nothing_wrong({.how = "kill"}, 9); }
TEST_F(crash, half_a_write_then_kill) { expect_nothing_wrong({.how = "torn"}, 9); }
TEST_F(crash, power_cut) { expect_nothing_wrong({.how = "kill", .current = power::strict}, 9); }
TEST_F(crash, ragged_power_cut) { expect_nothing_wrong({.how = "torn", .current = power::ragged}, 9); }
TEST_F(crash, input_output_error) { expect_nothing_wrong({.how = "eio"}, 9); }
TEST_F(crash, full_disk) { expect_nothing_wrong({.how = "enospc"}, 9); }
TEST_F(crash, short_write) { expect_nothing_wrong({.how = "short"}, 6); }

TEST_F(crash, kill_among_bulk_loads) { expect_loads_covered({.how = "kill"}, 25); }
TEST_F(crash, power_cut_among_bulk_loads) { expect_loads_covered({.how = "kill", .current = power::strict}, 25); }
TEST_F(crash, input_output_error_among_bulk_loads) { expect_loads_covered({.how = "eio"}, 15); }
TEST_F(crash, full_disk_among_bulk_loads) { expect_loads_covered({.how = "enospc"}, 15); }

// Filters whose tables are large enough to stay in the file of their snapshot: mapping it is an operation like any other.
TEST_F(crash, while_filters_stay_in_their_snapshots) {
  for (const char* filter : {"bloom1", "rsqf"}) {
    const site base = aged({.filter = filter, .capacity = 400'000}, filter);
    for (const disturbance& how :
         {disturbance{.how = "kill"}, disturbance{.how = "torn"}, disturbance{.how = "kill", .current = power::strict},
          disturbance{.how = "torn", .current = power::ragged}, disturbance{.how = "eio"}, disturbance{.how = "enospc"}}) {
      for (const std::string& problem : disturb(base, how, 5)) ADD_FAILURE() << filter << ", " << how.how << ": " << problem;
    }
    // Opening alone: the newest snapshot cannot be mapped, and the older one is.
    const auto opens_in_spite = [&](long at) {
      site victim = base.copy_to(place / "victim");
      const child_report report = victim.run(1, 1, {.oplog_operation = at, .how = "eio"});
      EXPECT_EQ(victim.verify(), "") << filter << ", operation " << at;
      return report.way == "older snapshot";
    };
    int older = 0;
    for (long at = 1; at < 60 && older == 0; ++at) older += opens_in_spite(at);
    EXPECT_GT(older, 0) << filter;
  }
}

// A checkpoint is whole, if it has its name at all, and a store that could not make one goes on.
TEST_F(crash, while_checkpoints_are_made) {
  const site base = aged({.filter = "bloom1", .checkpoints = true});
  int whole = 0;
  int missing = 0;
  for (const char* how : {"kill", "torn", "eio", "enospc", "short"}) {
    for (long at = 1; at < 2 * operations; at += 29) {
      site victim = base.copy_to(place / "victim");
      files::remove_all(victim.root() + ".copy");
      victim.run(4000 + static_cast<std::uint64_t>(at), steps, {.oplog_operation = at, .how = how});
      site copy = victim.checkpoint();
      if (files::exists(copy.root())) {
        ++whole;
        EXPECT_EQ(copy.verify(recovery_way::snapshot), "") << how << " at operation " << at << ", of the copy";
      } else {
        ++missing;
      }
      EXPECT_EQ(victim.verify(), "") << how << " at operation " << at;
    }
  }
  EXPECT_GT(whole, 10);
  EXPECT_GT(missing, 5);
}

// A store that is being made draws the secret of its hash. Whatever was acknowledged was put through the secret that is kept.
TEST_F(crash, a_store_that_is_being_made) {
  const settings drawing{.hash_secret = 0};
  site undisturbed(place / "undisturbed", drawing);
  const long last = undisturbed.run(1, 8).operations;
  ASSERT_EQ(undisturbed.verify(), "");
  ASSERT_GT(last, 20);
  for (const disturbance& how : {disturbance{.how = "kill"}, disturbance{.how = "kill", .current = power::strict},
                                 disturbance{.how = "torn", .current = power::ragged}, disturbance{.how = "eio"}}) {
    disturbance at = how;
    for (at.oplog_operation = 1; at.oplog_operation <= last; at.oplog_operation += 3) {
      site victim(place / "victim", drawing);
      files::remove_all(victim.root());
      files::create_directories(victim.root());
      victim.run(1, 8, at);
      EXPECT_EQ(victim.verify(), "") << at.how << " at operation " << at.oplog_operation << " of " << last;
      // And it can be used from then on.
      victim.run(2, 8);
      EXPECT_EQ(victim.verify(), "") << "after " << at.how << " at operation " << at.oplog_operation << " of " << last;
    }
  }
}

TEST_F(crash, many_lives_of_one_store) {
  site lived = aged({.loads = true});
  random_source random(5);
  for (std::uint64_t life = 0; life < 30; ++life) {
    lived.run(100 + life, steps, {.microseconds = 1 + static_cast<long>(random.below(60'000))});
    ASSERT_EQ(lived.verify(), "") << "life " << life;
  }
}

// Restarts with other options: filter, rate, capacity, list, sync, bulk loads.
TEST_F(crash, many_lives_with_random_options) {
  std::uint64_t disturbed = 0;
  for (const std::uint64_t seed : {1u, 2u}) {
    lived_store lived(place / "store", seed);
    for (int i = 0; i < 25; ++i) {
      const lived_store::life life = lived.next();
      ASSERT_EQ(life.problem, "") << life.about;
      disturbed += life.count.disturbed;
    }
  }
  EXPECT_GT(disturbed, 25u);
}

TEST_F(crash, totals_are_kept) {
  const std::string file = place / "totals";
  life_totals totals = life_totals::from(file);
  EXPECT_EQ(totals.all().disturbed, 0u);
  totals.of[2] += {.disturbed = 7, .undisturbed = 3, .wrong = 1};
  totals.stores = 5;
  totals.keep(file);
  const life_totals again = life_totals::from(file);
  EXPECT_EQ(again.text(), totals.text());
  EXPECT_EQ(again.of[2].disturbed, 7u);
  std::ofstream(file) << "what is this";
  EXPECT_THROW(life_totals::from(file), std::runtime_error);
}

// ---- lists of known mistakes

// A list that is full of mistakes when the process ends: keys that are on it come into the store before and after the snapshot.
TEST_F(crash, known_mistakes) {
  const std::vector<disturbance> ways = {
      {.how = "kill"}, {.how = "torn"},  {.how = "kill", .current = power::strict}, {.how = "torn", .current = power::ragged},
      {.how = "eio"},  {.how = "enospc"}};
  for (const char* filter : {"bloom1", "counting-bloom", "cuckoo", "rsqf"}) {
    const site base = aged({.filter = filter, .asks = true, .mistakes = 64, .capacity = 400, .fpr = 0.3}, filter, 2005);
    EXPECT_GT(base.known_mistakes(), 4) << filter << ": nothing is known to begin with";
    int with_entries = 0;
    int came_back = 0;
    for (std::size_t i = 0; i < 2 * ways.size(); ++i) {
      disturbance how = ways[i % ways.size()];
      how.oplog_operation = 1 + static_cast<long>(i) * operations / static_cast<long>(2 * ways.size());
      site victim = base.copy_to(place / "victim");
      with_entries += victim.run(5000 + i, steps, how).known_mistakes > 0;
      EXPECT_EQ(victim.verify(), "") << filter << ", " << how.how << " at operation " << how.oplog_operation;
      came_back += victim.known_mistakes() > 0;
      // And it learns on from there.
      EXPECT_GT(victim.run(6000 + i, steps).known_mistakes, 0) << filter;
      EXPECT_EQ(victim.verify(), "") << filter << ", after " << how.how << " at operation " << how.oplog_operation;
    }
    EXPECT_GT(with_entries, 6) << filter << ": most lists were empty when the process ended";
    EXPECT_GT(came_back, 6) << filter << ": most lists came back empty";
  }
}

TEST_F(crash, a_list_that_lives_many_lives) {
  site lived = aged({.filter = "counting-bloom", .asks = true, .mistakes = 64, .capacity = 400, .fpr = 0.3}, "store", 2005);
  random_source random(6);
  int with_entries = 0;
  for (std::uint64_t life = 0; life < 20; ++life) {
    lived.run(200 + life, steps, {.oplog_operation = 1 + static_cast<long>(random.below(operations))});
    ASSERT_EQ(lived.verify(), "") << "life " << life;
    with_entries += lived.known_mistakes() > 0;
  }
  EXPECT_GT(with_entries, 10);
}

// ---- files that are not what they should be

TEST_F(crash, damaged_and_truncated_snapshots) {
  const site base = aged({});
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    site victim = base.copy_to(place / "victim");
    (seed % 2 == 0 ? flip_bytes : truncate_file)(snapshot_file(victim.root(), 0), seed);
    EXPECT_EQ(victim.verify(recovery_way::older_snapshot), "");
    (seed % 2 == 0 ? truncate_file : flip_bytes)(snapshot_file(victim.root(), 1), seed);
    EXPECT_EQ(victim.verify(recovery_way::rebuilt), "");
  }
}

TEST_F(crash, swapped_snapshots) {
  site victim = aged({});
  const auto newest = snapshot_file(victim.root(), 0);
  const auto older = snapshot_file(victim.root(), 1);
  files::rename(newest, place / "between");
  files::rename(older, newest);
  files::rename(place / "between", older);
  EXPECT_EQ(victim.verify(recovery_way::rebuilt), "");
}

TEST_F(crash, stale_snapshot) {
  site victim = aged({});
  files::copy_file(snapshot_file(victim.root(), 0), place / "stale");
  victim.run(17, 300);
  ASSERT_EQ(victim.verify(), "");
  files::copy_file(place / "stale", snapshot_file(victim.root(), 0), files::copy_options::overwrite_existing);
  EXPECT_EQ(victim.verify(recovery_way::older_snapshot), "");
}

void put_foreign_snapshots(const site& victim, const site& other) {
  for (const std::size_t n : {0, 1}) {
    files::copy_file(snapshot_file(other.root(), n), snapshot_file(victim.root(), n), files::copy_options::overwrite_existing);
  }
}

TEST_F(crash, snapshots_of_another_store) {
  site victim = aged({});
  put_foreign_snapshots(victim, aged({}, "other", 2004));
  EXPECT_EQ(victim.verify(recovery_way::rebuilt), "");
}

TEST_F(crash, an_older_database_under_newer_snapshots) {
  site victim = aged({});
  const site earlier = victim.copy_to(place / "earlier");
  victim.run(18, 300);
  ASSERT_EQ(victim.verify(), "");
  const auto names = {snapshot_file(earlier.root(), 1).filename(), snapshot_file(earlier.root(), 0).filename()};
  std::size_t n = 2;
  for (const auto& name : names) files::copy_file(snapshot_file(victim.root(), --n), place / name.string());
  copy_directory(earlier.root() + "/db", victim.root() + "/db");
  victim.forget();
  site renamed = victim.copy_to(place / "renamed");
  EXPECT_EQ(victim.verify(recovery_way::rebuilt), "");  // the manifest names files that are no longer there
  for (const auto& name : names) files::copy_file(place / name.string(), renamed.root() + "/filter/" + name.string());
  EXPECT_EQ(renamed.verify(recovery_way::rebuilt), "");  // and now files that are newer than the database
}

TEST_F(crash, a_wrong_hash_key_is_refused) {
  site victim = aged({});
  victim.given().hash_secret = 99;
  EXPECT_NE(victim.verify().find("another seed"), std::string::npos);
  victim.given().hash_secret = 1;
  EXPECT_EQ(victim.verify(), "");
}

// ---- each step of the protocol left out once: the harness must notice

TEST_F(crash, notices_data_and_record_in_two_writes) { EXPECT_TRUE(noticed({protocol_step::one_write}, {.how = "kill"}, 60)); }

TEST_F(crash, notices_two_writes_in_random_lives) {
  bool noticed = false;
  for (std::uint64_t seed = 0; seed < 6 && !noticed; ++seed) {
    lived_store lived(place / "store", seed, without({protocol_step::one_write}));
    for (int i = 0; i < 25 && !noticed; ++i) noticed = !lived.next().problem.empty();
  }
  EXPECT_TRUE(noticed);
}

TEST_F(crash, notices_a_filter_that_erases_before_the_store) {
  EXPECT_TRUE(noticed({protocol_step::late_filter_erase}, {.how = "eio"}, 40));
}

TEST_F(crash, notices_records_that_are_replayed_twice) {
  EXPECT_TRUE(noticed({protocol_step::own_numbers}, {.how = "kill"}, 30));
}

TEST_F(crash, notices_a_snapshot_that_is_not_synced) {
  EXPECT_TRUE(noticed({protocol_step::file_sync}, {.how = "kill", .current = power::strict}, 40));
}

TEST_F(crash, notices_a_manifest_that_is_written_before_the_file) {
  EXPECT_TRUE(noticed({protocol_step::file_first}, {.how = "kill"}, 80));
}

TEST_F(crash, notices_a_bulk_load_without_a_marker) {
  EXPECT_TRUE(noticed({protocol_step::load_marker}, {.how = "kill"}, 140, true));
}

TEST_F(crash, notices_a_bulk_load_without_a_gap_in_the_records) {
  site victim = aged({.loads = true, .skipped_steps = without({protocol_step::load_gap})});
  flip_bytes(snapshot_file(victim.root(), 0), 1);
  EXPECT_NE(victim.verify(recovery_way::rebuilt), "");
}

TEST_F(crash, notices_records_that_are_trimmed_to_the_newest_snapshot) {
  site victim = aged({.skipped_steps = without({protocol_step::older_trim})});
  flip_bytes(snapshot_file(victim.root(), 0), 1);
  EXPECT_NE(victim.verify(recovery_way::older_snapshot), "");
}

TEST_F(crash, notices_missing_records_that_nobody_looks_for) {
  site victim = aged({.skipped_steps = without({protocol_step::older_trim, protocol_step::gap_check})});
  flip_bytes(snapshot_file(victim.root(), 0), 1);
  EXPECT_NE(victim.verify(recovery_way::older_snapshot).find("lost"), std::string::npos);
}

TEST_F(crash, notices_a_snapshot_that_nobody_checks) {
  const settings careless{.skipped_steps = without({protocol_step::file_checks, protocol_step::gap_check})};
  site victim = aged(careless);
  put_foreign_snapshots(victim, aged(careless, "other", 2004));
  EXPECT_NE(victim.verify(recovery_way::rebuilt).find("lost"), std::string::npos);
}

TEST_F(crash, notices_a_hash_that_nobody_checks) {
  site victim = aged({});
  victim.given().hash_secret = 99;
  victim.given().skipped_steps = without({protocol_step::hash_check});
  EXPECT_EQ(victim.verify().find("another seed"), std::string::npos);
}

}  // namespace
}  // namespace tamis::crash
