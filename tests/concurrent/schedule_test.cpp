// All orders of the steps of two threads, on tiny filters; and the same with each lock and each validation left out once, which
// must show.

#include "schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "tests/support/keys.hpp"
#include "tests/support/remote.hpp"

namespace tamis::test {

using namespace detail;

namespace {

using tested_filter = concurrent_parts<scheduled_steps>;

// Digests of one stripe; those with the same `print` are mistaken for each other.
constexpr digest a{0, std::uint64_t{1} << 56}, a_mistaken{1, std::uint64_t{1} << 56}, b{2, std::uint64_t{2} << 56};

class schedules : public ::testing::Test {
 protected:
  // What is wrong in any of the runs.
  struct verdict {
    std::uint64_t runs = 0;
    std::uint64_t overlaps = 0;  // a change beside a change or a lookup
    std::uint64_t wrong = 0;     // answers or contents that no order of the calls explains
    bool was_stuck = false;
    bool fine() const { return overlaps == 0 && wrong == 0 && !was_stuck; }
  };

  ~schedules() override { leave_out(); }
  static void leave_out(int gate = -1, int filter = -1) {
    scheduled_steps::skipped_gate_step = gate;
    scheduled_steps::skipped_filter_step = filter;
  }
  static void leave_out(gate_step s) { leave_out(static_cast<int>(s), -1); }
  static void leave_out(filter_step s) { leave_out(-1, static_cast<int>(s)); }

  // Every run begins with a filter of these keys.
  template <class First, class Second, class Holds>
  verdict try_all(unsigned most_switches, std::vector<digest> before, First first, Second second, Holds holds) {
    verdict all;
    fragile::overlaps = 0;
    const auto prepare = [&]() -> schedule::two {
      f_ = tested_filter::create("fragile", {.capacity = 2, .fpr = 0.5}, {}, {.stripes = 1, .known = &registry_with_fragile()})
               .value();
      stored_ = multiset_remote(before);
      for (const digest d : before) static_cast<void>(f_->insert(d));
      scheduled_steps::marks[0] = scheduled_steps::marks[1] = 0;
      return {[&] { first(*f_); }, [&] { second(*f_); }};
    };
    const schedule::outcome done = schedule::try_all(most_switches, prepare, [&] {
      all.wrong += !holds(*f_);
      all.overlaps = fragile::overlaps;
      return all.fine();
    });
    all.runs = done.runs;
    all.was_stuck = done.was_stuck;
    return all;
  }

  static constexpr unsigned all_switches = 1000;

  verdict insert_beside_lookups() {
    return try_all(
        all_switches, {}, [](tested_filter& f) { static_cast<void>(f.insert(a)); },
        [this](tested_filter& f) {
          said_ = {f.may_contain(a), f.may_contain(a)};
        },
        [this](tested_filter& f) { return (!said_[0] || said_[1]) && f.may_contain(a); });
  }
  verdict erase_beside_lookups() {
    return try_all(
        all_switches, {a}, [](tested_filter& f) { f.erase(a); },
        [this](tested_filter& f) {
          said_ = {f.may_contain(a), f.may_contain(a)};
        },
        [this](tested_filter& f) { return (said_[0] || !said_[1]) && !f.may_contain(a); });
  }
  verdict insert_beside_insert() {
    return try_all(
        all_switches, {}, [](tested_filter& f) { static_cast<void>(f.insert(a)); },
        [](tested_filter& f) { static_cast<void>(f.insert(b)); },
        [](tested_filter& f) { return f.may_contain(a) && f.may_contain(b); });
  }
  verdict insert_beside_erase() {
    return try_all(
        all_switches, {a}, [](tested_filter& f) { static_cast<void>(f.insert(b)); },
        [this](tested_filter& f) { erased_ = f.erase(a); },
        [this](tested_filter& f) { return erased_ == erase_result::erased && !f.may_contain(a) && f.may_contain(b); });
  }
  // The filter is full: it grows as a copy, while the other thread asks.
  verdict growth_beside_lookups() {
    return try_all(
        3, {a, b}, [](tested_filter& f) { static_cast<void>(f.insert(a)); },
        [this](tested_filter& f) {
          said_ = {f.may_contain(a), f.may_contain(b)};
        },
        [this](tested_filter& f) {
          const auto keys = f.sum([](const any_filter& filter) { return filter.size(); });
          return said_[0] && said_[1] && keys == 3 && f.stats().growths == 1;
        });
  }
  // One thread fixes a mistake while the other puts the very key, store and filter in one turn.
  verdict adapt_beside_put() {
    return try_all(
        4, {a}, [this](tested_filter& f) { how_ = f.adapt(a_mistaken, remote_ref(stored_)); },
        [this](tested_filter& f) {
          const auto turn = f.take_turn(a_mistaken);
          turn->touch();
          stored_.insert(a_mistaken);
          schedule::step();
          static_cast<void>(f.insert(turn, a_mistaken));
        },
        [this](tested_filter& f) { return f.may_contain(a_mistaken) && f.may_contain(a); });
  }
  verdict adapt_beside_lookups() {
    return try_all(
        3, {a}, [this](tested_filter& f) { how_ = f.adapt(a_mistaken, remote_ref(stored_)); },
        [this](tested_filter& f) {
          said_ = {f.may_contain(a_mistaken), f.may_contain(a_mistaken)};
        },
        [this](tested_filter& f) {
          return how_ == adapt_result::fixed && (said_[0] || !said_[1]) && !f.may_contain(a_mistaken) && f.may_contain(a);
        });
  }
  // How often does a reader try to pass while another thread changes the filter again and again?
  static constexpr unsigned most_tries = 3;  // it comes, waits for a closer, and perhaps for one that did not see it waiting
  unsigned tries() {
    unsigned most = 0;
    try_all(
        6, {a},
        [](tested_filter& f) {
          for (int i = 0; i < 3; ++i) static_cast<void>(f.insert(b));
        },
        [](tested_filter& f) { static_cast<void>(f.may_contain(a)); },
        [&](tested_filter&) {
          most = std::max(most, scheduled_steps::marks[1]);
          return most <= most_tries;
        });
    return most;
  }

  std::unique_ptr<tested_filter> f_;
  multiset_remote stored_;
  std::array<bool, 2> said_{};
  std::optional<erase_result> erased_;
  adapt_result how_{};
};

#define EXPECT_FINE(call)                                                                                                      \
  do {                                                                                                                         \
    const verdict v = call;                                                                                                    \
    EXPECT_TRUE(v.fine()) << v.overlaps << " overlaps, " << v.wrong << " wrong, stuck: " << v.was_stuck << " after " << v.runs \
                          << " runs";                                                                                          \
    EXPECT_GT(v.runs, 100u);                                                                                                   \
    RecordProperty(#call, std::to_string(v.runs));                                                                             \
  } while (false)

TEST_F(schedules, an_insert_and_lookups) { EXPECT_FINE(insert_beside_lookups()); }
TEST_F(schedules, an_erase_and_lookups) { EXPECT_FINE(erase_beside_lookups()); }
TEST_F(schedules, two_inserts) { EXPECT_FINE(insert_beside_insert()); }
TEST_F(schedules, an_insert_and_an_erase) { EXPECT_FINE(insert_beside_erase()); }
TEST_F(schedules, a_growing_filter_and_lookups) { EXPECT_FINE(growth_beside_lookups()); }
TEST_F(schedules, an_adapt_and_a_put_of_the_same_key) { EXPECT_FINE(adapt_beside_put()); }
TEST_F(schedules, an_adapt_and_lookups) { EXPECT_FINE(adapt_beside_lookups()); }
TEST_F(schedules, a_reader_waits_for_two_closers_at_most) { EXPECT_LE(tries(), most_tries); }

TEST_F(schedules, a_reader_without_a_mark_is_noticed) {
  leave_out(gate_step::mark);
  EXPECT_GT(insert_beside_lookups().overlaps, 0u);
}
TEST_F(schedules, a_reader_that_does_not_look_is_noticed) {
  leave_out(gate_step::look);
  EXPECT_GT(insert_beside_lookups().overlaps, 0u);
}
TEST_F(schedules, a_gate_that_is_not_closed_is_noticed) {
  leave_out(gate_step::close);
  EXPECT_GT(erase_beside_lookups().overlaps, 0u);
}
TEST_F(schedules, a_closer_that_does_not_look_for_readers_is_noticed) {
  leave_out(gate_step::look_for_readers);
  EXPECT_GT(insert_beside_lookups().overlaps, 0u);
}
TEST_F(schedules, a_closer_that_lets_nobody_in_is_noticed) {
  leave_out(gate_step::let_readers_in);
  EXPECT_GT(tries(), most_tries);
}
TEST_F(schedules, changes_without_turns_are_noticed) {
  leave_out(filter_step::lock);
  EXPECT_FALSE(insert_beside_insert().fine());
}
TEST_F(schedules, an_adapt_that_does_not_compare_versions_is_noticed) {
  leave_out(filter_step::compare_versions);
  EXPECT_GT(adapt_beside_put().wrong, 0u);
}

}  // namespace
}  // namespace tamis::test
