// What a replay counts, with filters whose mistakes are known.

#include "apps/tamis/replay_run.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "tamis/detail/any/model.hpp"

namespace {

using namespace tamis;
using namespace tamis::detail;
using namespace tamis::cli;

// Answers as it is told; a digest that it has adapted to gets a "no" from then on.
template <bool Adaptive>
class toy {
 public:
  static constexpr filter_info info{.id = "toy", .summary = "", .paper = ""};

  explicit toy(std::function<bool(digest)> answer) : answer_(std::move(answer)) {}
  static result<toy> create(const filter_params&) { return failure{"toy: made by hand"}; }

  insert_result insert(digest) { return insert_result::inserted; }
  bool may_contain(digest d) const { return answer_(d) && !adapted_.contains(d); }
  adapt_result adapt(digest d, const remote auto& stored) requires Adaptive {
    bool is_member = false;
    stored.for_each_in({d, d}, [&](digest) { is_member = true; });
    if (is_member) return adapt_result::is_member;
    adapted_.insert(d);
    return adapt_result::fixed;
  }
  std::uint64_t keys() const { return 1; }
  std::uint64_t capacity() const { return 1; }
  double expected_fpr() const { return 0; }
  memory_bits bits() const { return {}; }
  option_list settings() const { return {}; }

  template <class Self, class Archive>
  static void visit(Self&, Archive&) {}

 private:
  std::function<bool(digest)> answer_;
  std::set<digest> adapted_;
};

contestant toy_contestant(std::function<bool(digest)> answer, bool adaptive) {
  std::unique_ptr<any_model> made;
  if (adaptive) {
    made = std::make_unique<model<toy<true>>>(toy<true>(std::move(answer)));
  } else {
    made = std::make_unique<model<toy<false>>>(toy<false>(std::move(answer)));
  }
  return contestant(any_filter(std::move(made), hasher()));
}

digest key(std::uint64_t i) { return hasher()(i); }

struct replayed {
  query_log log;
  contestant filter;
};

// Members 0 to 99. The log asks for 0 to 199 again and again.
replayed replay(std::function<bool(digest)> answer, bool adaptive, std::uint64_t rounds, std::size_t turn = 1000) {
  std::vector<digest> members;
  for (std::uint64_t i = 0; i < 100; ++i) members.push_back(key(i));
  const digest_store store(members);
  replayed all{{}, toy_contestant(std::move(answer), adaptive)};
  std::vector<std::uint64_t> numbers;
  std::vector<digest> queries;
  for (std::uint64_t i = 0; i < 200 * rounds; ++i) {
    queries.push_back(key(i % 200));
    if (queries.size() < turn && i + 1 < 200 * rounds) continue;
    all.log.judge(queries, store, numbers);
    all.filter.ask(queries, numbers, store);
    queries.clear();
  }
  return all;
}

TEST(replay_run, counts_queries_and_negative_keys) {
  const replayed all = replay([](digest) { return true; }, false, 7);
  EXPECT_EQ(all.log.queries(), 1400u);
  EXPECT_EQ(all.log.negatives(), 700u);
  EXPECT_EQ(all.log.distinct_negatives(), 100u);
}

TEST(replay_run, a_filter_that_never_learns_repeats_its_mistakes) {
  const replayed all = replay([](digest) { return true; }, false, 7);
  EXPECT_EQ(all.filter.first_time(), 100u);
  EXPECT_EQ(all.filter.repeated(), 600u);
  EXPECT_EQ(all.filter.store_reads(), 1400u);
  EXPECT_EQ(all.filter.store_reads_avoided(), 0u);
  EXPECT_EQ(all.filter.adaptations(), 0u);
  EXPECT_EQ(all.filter.false_negatives(), 0u);
}

// Also within one turn and one batch: an answer sees all adaptations before it.
TEST(replay_run, a_filter_that_adapts_makes_each_mistake_once) {
  for (const std::size_t turn : {1u, 63u, 1000u, 100000u}) {
    const replayed all = replay([](digest) { return true; }, true, 7, turn);
    EXPECT_EQ(all.filter.first_time(), 100u) << turn;
    EXPECT_EQ(all.filter.repeated(), 0u) << turn;
    EXPECT_EQ(all.filter.adaptations(), 100u) << turn;
    EXPECT_EQ(all.filter.store_reads(), 800u) << turn;
    EXPECT_EQ(all.filter.store_reads_avoided(), 600u) << turn;
    EXPECT_EQ(all.filter.false_negatives(), 0u) << turn;
  }
}

TEST(replay_run, a_repeat_follows_directly_in_the_log) {
  const digest_store store({key(0)});
  contestant c = toy_contestant([](digest) { return true; }, true);
  query_log log;
  std::vector<std::uint64_t> numbers;
  const std::vector<digest> queries(10, key(1));
  log.judge(queries, store, numbers);
  c.ask(queries, numbers, store);
  EXPECT_EQ(c.first_time(), 1u);
  EXPECT_EQ(c.repeated(), 0u);
}

TEST(replay_run, a_lie_about_a_member_is_a_false_negative) {
  const replayed all = replay([](digest d) { return d != key(42); }, false, 7);
  EXPECT_EQ(all.filter.false_negatives(), 7u);
  EXPECT_EQ(all.filter.store_reads(), 1393u);
}

TEST(replay_run, tenths_of_short_and_long_logs_add_up) {
  for (const std::uint64_t queries : {1u, 7u, 10u, 1024u, 1025u, 100000u}) {
    timeline line;
    for (std::uint64_t i = 0; i < queries; ++i) line.add(i);
    std::uint64_t sum = 0;
    for (const std::uint64_t part : line.tenths(queries)) {
      sum += part;
      if (queries >= 1000) {
        EXPECT_NEAR(static_cast<double>(part), static_cast<double>(queries) / 10, static_cast<double>(queries) / 400);
      }
    }
    EXPECT_EQ(sum, queries);
  }
}

TEST(replay_run, the_store_answers_ranges_like_a_sorted_set) {
  std::vector<digest> members;
  for (std::uint64_t i = 0; i < 1000; ++i) members.push_back(key(i % 700));
  const digest_store store(members);
  const std::set<digest> sorted(members.begin(), members.end());
  EXPECT_EQ(store.size(), 700u);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(store.contains(key(i)), sorted.contains(key(i)));
    for (const unsigned width : {0u, 3u, 8u, 40u, 128u}) {
      const digest_range range = prefix_range(key(i), width);
      std::vector<digest> found;
      store.for_each_in(range, [&](digest d) { return found.push_back(d), true; });
      EXPECT_EQ(found, std::vector<digest>(sorted.lower_bound(range.first), sorted.upper_bound(range.last)));
    }
  }
}

TEST(replay_run, keys_keep_their_numbers_while_the_table_grows) {
  key_numbers numbers;
  for (std::uint64_t round = 0; round < 2; ++round) {
    for (std::uint64_t i = 0; i < 200000; ++i) ASSERT_EQ(numbers.number(key(i)), i);
  }
  EXPECT_EQ(numbers.size(), 200000u);
}

// Member 0 at first; 1 comes, 0 goes and comes again, 1 goes.
change_log short_log() {
  change_log log;
  log.members = {key(0)};
  log.keys = {key(1), key(0), key(2), key(0), key(1)};
  log.ops = {log_op::insert, log_op::erase, log_op::query, log_op::insert, log_op::erase};
  return log;
}

TEST(replay_run, a_history_knows_every_moment) {
  const store_history history(short_log());
  const std::vector<std::set<int>> states = {{0}, {0, 1}, {1}, {1}, {0, 1}, {0}};
  for (std::uint64_t moment = 0; moment < states.size(); ++moment) {
    EXPECT_EQ(history.keys_at(moment), states[moment].size()) << moment;
    std::set<digest> expected, found;
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(history.contains(key(i), moment), states[moment].contains(i)) << moment << ", " << i;
      if (states[moment].contains(i)) expected.insert(key(i));
    }
    history.at(moment).for_each_in(prefix_range(key(0), 0), [&](digest d) { return found.insert(d), true; });
    EXPECT_EQ(found, expected) << moment;
  }
  EXPECT_TRUE(history.at(2, false).contains(key(0))) << "what was deleted stays in a filter that cannot delete";
  EXPECT_FALSE(history.at(0, false).contains(key(1))) << "and what is to come is not in yet";
}

// Takes so many keys, and remembers them exactly; tells of erases.
class small_set {
 public:
  static constexpr filter_info info{.id = "small", .summary = "", .paper = ""};

  explicit small_set(std::size_t most) : most_(most) {}
  static result<small_set> create(const filter_params&) { return failure{"small: made by hand"}; }

  insert_result insert(digest d) {
    if (in_.size() == most_) return insert_result::full;
    in_.insert(d);
    return insert_result::inserted;
  }
  bool may_contain(digest d) const { return in_.contains(d); }
  erase_result erase(digest d) { return in_.erase(d) != 0 ? erase_result::erased : erase_result::absent; }
  std::uint64_t keys() const { return in_.size(); }
  std::uint64_t capacity() const { return most_; }
  double expected_fpr() const { return 0; }
  memory_bits bits() const { return {100 * in_.size()}; }
  option_list settings() const { return {}; }

  template <class Self, class Archive>
  static void visit(Self&, Archive&) {}

 private:
  std::size_t most_;
  std::set<digest> in_;
};

// Twenty keys come, all are asked for, half of them go, all are asked for again.
TEST(replay_run, keys_that_a_full_filter_refuses_are_kept_beside_it) {
  change_log log;
  const auto add = [&log](std::uint64_t k, log_op op) { log.keys.push_back(key(k)), log.ops.push_back(op); };
  for (std::uint64_t k = 0; k < 20; ++k) add(k, log_op::insert);
  for (std::uint64_t k = 0; k < 20; ++k) add(k, log_op::query);
  for (std::uint64_t k = 0; k < 20; k += 2) add(k, log_op::erase);
  for (std::uint64_t k = 0; k < 20; ++k) add(k, log_op::query);
  const store_history history(log);
  query_log judged;
  const std::vector<std::uint64_t> numbers = judged.judge(log, history);
  EXPECT_EQ(judged.queries(), 40u);
  EXPECT_EQ(judged.negatives(), 10u);
  for (const std::uint64_t turn : {1u, 7u, 100u}) {
    contestant c(any_filter(std::make_unique<model<small_set>>(small_set(14)), hasher()));
    for (std::uint64_t first = 0; first < log.size(); first += turn) {
      c.play({log, history, numbers, first, std::min<std::uint64_t>(log.size(), first + turn)});
      c.mark(history.keys_at(std::min<std::uint64_t>(log.size(), first + turn)));
    }
    EXPECT_EQ(c.refused(), 6u);
    EXPECT_EQ(c.false_negatives(), 0u);
    EXPECT_EQ(c.false_positives(), 0u);
    EXPECT_EQ(c.store_reads(), 30u);
    EXPECT_EQ(c.bits().fast, 7 * 100 + 3 * 128u);
    if (turn == 1) {
      EXPECT_EQ(c.peak_bits(), 14 * 100 + 6 * 128u);
    }
    EXPECT_EQ(c.moments().back().keys, 10u);
  }
}

// Deleted keys stay: asking for them is a read in vain each time.
TEST(replay_run, what_cannot_delete_is_wrong_about_deleted_keys) {
  change_log log;
  log.members = {key(0)};
  log.keys = {key(0), key(0), key(0), key(0)};
  log.ops = {log_op::query, log_op::erase, log_op::query, log_op::query};
  const store_history history(log);
  query_log judged;
  const std::vector<std::uint64_t> numbers = judged.judge(log, history);
  contestant c = toy_contestant([](digest d) { return d == key(0); }, false);
  c.play({log, history, numbers, 0, log.size()});
  EXPECT_EQ(c.ignored_erases(), 1u);
  EXPECT_EQ(c.first_time(), 1u);
  EXPECT_EQ(c.repeated(), 1u);
  EXPECT_EQ(c.false_negatives(), 0u);
}

}  // namespace
