#include "tamis/detail/growing/insert_queue.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "tamis/detail/base/random.hpp"

namespace tamis::test {

using namespace detail;

namespace {

constexpr std::uint64_t seed = 20261116;

// Beside a queue: what comes out, in which order, and what is said about the rest.
TEST(insert_queue, are_a_queue_that_can_be_asked) {
  random_source random(seed);
  insert_queue a;
  std::deque<insert_queue::key> queue;
  for (int i = 0; i < 5000; ++i) {
    if (random.below(50) == 0) a = {}, queue.clear();
    const insert_queue::key k{random.below(20) << random.below(62), random() << 60};
    const insert_queue::key due = a.exchange(k.cell, k.following);
    queue.push_back(k);
    if (queue.size() > insert_queue::most) {
      ASSERT_EQ(due.cell, queue.front().cell);
      ASSERT_EQ(due.following, queue.front().following);
      queue.pop_front();
    } else {
      ASSERT_EQ(due.cell, insert_queue::nowhere);
    }
    ASSERT_EQ(a.size(), queue.size());
    ASSERT_EQ(a.empty(), queue.empty());
    std::size_t seen = 0;
    a.for_each([&](const insert_queue::key& one) {
      ASSERT_EQ(one.cell, queue[seen].cell);
      ASSERT_EQ(one.following, queue[seen].following);
      ++seen;
    });
    ASSERT_EQ(seen, queue.size());
    for (const insert_queue::key& one : queue) ASSERT_TRUE(a.may_have(one.cell));
    const std::uint64_t asked = random.below(20) << random.below(62);
    const std::uint64_t following = random();
    for (const unsigned length : {1u, 2u, 4u, 64u}) {
      std::uint64_t matches = 0;
      for (const insert_queue::key& one : queue) {
        matches +=
            static_cast<std::uint64_t>(one.cell == asked && one.following >> (64 - length) == following >> (64 - length));
      }
      ASSERT_EQ(a.count(asked, following, length), matches);
      ASSERT_TRUE(matches == 0 || a.may_have(asked));
    }
    ASSERT_FALSE(a.may_have(0xabcdef12));  // a cell that is none of the above
  }
}

}  // namespace
}  // namespace tamis::test
