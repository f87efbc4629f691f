// Linearizability, from recorded histories. Threads insert, erase and ask for a few keys and note when each call began and
// ended; then an order of the calls is looked for that explains all answers and keeps to these times. Keys are independent of
// each other (none is a false positive of the others), so each has a history of its own.

#include <algorithm>
#include <barrier>
#include <chrono>
#include <map>
#include <thread>

#include "support.hpp"

namespace tamis::test {

using namespace detail;

namespace {

constexpr unsigned threads = 4;

struct call {
  enum { insert, erase, look } what;
  bool answer;  // of a look
  std::int64_t begin, end;
};
using history = std::array<std::vector<call>, threads>;  // of one key; each thread's in order

// Is there an order? What is in depends only on which calls are done, so places that were reached once need no second visit.
class linearization {
 public:
  explicit linearization(const history& calls) : calls_(calls) {}
  bool exists() { return goes_on({}, 0); }

 private:
  using place = std::array<std::size_t, threads>;

  bool goes_on(const place& at, int copies) {
    std::int64_t first_end = std::numeric_limits<std::int64_t>::max();
    bool is_done = true;
    for (unsigned t = 0; t < threads; ++t) {
      if (at[t] == calls_[t].size()) continue;
      is_done = false;
      first_end = std::min(first_end, calls_[t][at[t]].end);
    }
    if (is_done) return true;
    if (!seen_.insert(at).second) return false;
    for (unsigned t = 0; t < threads; ++t) {
      if (at[t] == calls_[t].size()) continue;
      const call& next = calls_[t][at[t]];
      if (next.begin > first_end) continue;  // another one ended before this began
      if (next.what == call::look && next.answer != (copies > 0)) continue;
      if (next.what == call::erase && copies == 0) continue;
      place then = at;
      ++then[t];
      if (goes_on(then, copies + (next.what == call::insert) - (next.what == call::erase))) return true;
    }
    return false;
  }

  const history& calls_;
  std::set<place> seen_;
};

std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

// Each thread erases only what it has inserted, as the contract wants.
std::vector<history> record(concurrent_filter& shared, std::span<const digest> keys, unsigned calls, std::uint64_t seed) {
  std::vector<history> of_keys(keys.size());
  std::barrier start(threads);
  std::vector<std::thread> running;
  for (unsigned t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      random_source random(seed * threads + t);
      std::vector<int> mine(keys.size());
      start.arrive_and_wait();
      for (unsigned i = 0; i < calls; ++i) {
        const std::size_t k = random.below(keys.size());
        call made{call::look, false, 0, 0};
        if (random.chance(0.5)) made.what = mine[k] > 0 && shared.can().erase ? call::erase : call::insert;
        if (made.what == call::insert && !shared.can().erase && mine[k] > 0) made.what = call::look;
        made.begin = now();
        switch (made.what) {
          case call::insert: static_cast<void>(shared.insert(keys[k])); break;
          case call::erase: shared.erase(keys[k]); break;
          case call::look: made.answer = shared.may_contain(keys[k]); break;
        }
        made.end = now();
        mine[k] += (made.what == call::insert) - (made.what == call::erase);
        of_keys[k][t].push_back(made);
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  return of_keys;
}

class histories : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(all, histories, ::testing::ValuesIn(all_kinds()), test_name);

TEST_P(histories, are_linearizable) {
  constexpr int rounds = 25;
  constexpr unsigned calls = 40;
  const std::vector<digest> tested = keys(3);
  // Of two stripes, so that changes of one stripe meet those of the other.
  for (int round = 0; round < rounds; ++round) {
    concurrent_filter shared = make_concurrent(GetParam(), 500, 2, 1e-4);
    for (std::size_t k = 0; k < tested.size(); ++k) ASSERT_FALSE(shared.may_contain(tested[k]));
    const std::vector<history> made = record(shared, tested, calls, static_cast<std::uint64_t>(round));
    for (const history& of_key : made) ASSERT_TRUE(linearization(of_key).exists()) << "round " << round;
  }
}

TEST(linearization, is_not_found_where_there_is_none) {
  using all = std::vector<call>;
  EXPECT_TRUE(
      linearization({all{{call::insert, false, 0, 10}}, all{{call::look, false, 5, 6}, {call::look, true, 7, 8}}}).exists());
  // A key that was in is not found.
  EXPECT_FALSE(linearization({all{{call::insert, false, 0, 4}}, all{{call::look, false, 5, 6}}}).exists());
  // It is seen, and then no more, though nobody erases it.
  EXPECT_FALSE(
      linearization({all{{call::insert, false, 0, 10}}, all{{call::look, true, 5, 6}, {call::look, false, 7, 8}}}).exists());
  // It is seen after it was erased.
  EXPECT_FALSE(
      linearization({all{{call::insert, false, 0, 1}, {call::erase, false, 2, 3}}, all{{call::look, true, 4, 5}}}).exists());
  // Two readers see two changes in different orders.
  EXPECT_FALSE(
      linearization({all{{call::insert, false, 0, 100}}, all{{call::look, true, 10, 20}}, all{{call::look, false, 30, 40}}})
          .exists());
}

}  // namespace
}  // namespace tamis::test
