#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "tamis/detail/threads/reader_gate.hpp"

namespace tamis::test {

using namespace detail;

namespace {

using gate = reader_gate<>;

// What a gate guards: two numbers that are the same, not atomic, so that the thread sanitizer sees who comes too near.
struct pair_behind_gate {
  gate at;
  std::uint64_t first = 0, second = 0;

  bool reads_the_same() const {
    const gate::passage in(at);
    return first == second;
  }
  void change() {
    const gate::closure alone(at);
    ++first;
    ++second;
  }
};

// More than a gate needs to see that nobody closes it.
void read_quietly(const gate& of) {
  for (int i = 0; i < 4096; ++i) const gate::passage in(of);
}

TEST(reader_gate, readers_never_see_half_a_change) {
  pair_behind_gate tested;
  std::atomic<std::uint64_t> torn = 0;
  std::atomic<bool> ended = false;
  std::vector<std::thread> readers;
  for (int r = 0; r < 4; ++r) {
    readers.emplace_back([&] {
      while (!ended) torn += !tested.reads_the_same();
    });
  }
  for (int i = 0; i < 20'000; ++i) tested.change();
  ended = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(torn, 0u);
  EXPECT_EQ(tested.first, 20'000u);
}

// The gate has lost its fence most times that it is closed.
TEST(reader_gate, readers_without_a_fence_never_see_half_a_change) {
  pair_behind_gate tested;
  std::atomic<std::uint64_t> torn = 0;
  std::atomic<std::uint64_t> reads = 0;
  std::atomic<bool> ended = false;
  std::thread reader([&] {
    while (!ended) {
      for (int i = 0; i < 3000; ++i) torn += !tested.reads_the_same();
      reads.fetch_add(3000);
    }
  });
  std::uint64_t unfenced = 0;
  for (int i = 0; i < 500; ++i) {
    for (const std::uint64_t before = reads; reads < before + 6000;) std::this_thread::yield();
    unfenced += !tested.at.is_fenced();
    tested.change();
  }
  ended = true;
  reader.join();
  EXPECT_EQ(torn, 0u);
  if (reader_marks::can_fence_all()) {
    EXPECT_GT(unfenced, 100u);
  }
}

TEST(reader_gate, loses_its_fence_when_it_is_only_read) {
  pair_behind_gate tested;
  EXPECT_TRUE(tested.at.is_fenced());
  read_quietly(tested.at);
  EXPECT_EQ(tested.at.is_fenced(), !reader_marks::can_fence_all());
  tested.change();
  EXPECT_TRUE(tested.at.is_fenced());
}

TEST(reader_gate, two_can_be_passed_at_once) {
  pair_behind_gate outer, inner;
  const gate::passage in(outer.at);
  EXPECT_TRUE(inner.reads_the_same());
  inner.change();  // a gate that this thread is not behind
  EXPECT_TRUE(inner.reads_the_same());
}

TEST(reader_gate, a_closer_waits_for_a_reader_inside) {
  for (const bool is_counted : {false, true}) {
    pair_behind_gate tested, other;
    std::atomic<bool> changed = false;
    std::thread closer;
    {
      std::optional<gate::passage> elsewhere;
      if (is_counted) elsewhere.emplace(other.at);
      const gate::passage in(tested.at);
      closer = std::thread([&] {
        tested.change();
        changed = true;
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      EXPECT_FALSE(changed);
    }
    closer.join();
    EXPECT_EQ(tested.first, 1u);
  }
}

TEST(reader_marks, are_given_back_when_a_thread_ends) {
  pair_behind_gate tested;
  EXPECT_TRUE(tested.reads_the_same());
  const std::uint32_t before = reader_marks::claimed();
  for (int i = 0; i < 1000; ++i) std::thread([&] { EXPECT_TRUE(tested.reads_the_same()); }).join();
  EXPECT_EQ(reader_marks::claimed(), before);
  EXPECT_LT(reader_marks::used().size(), reader_marks::most);
}

// What the thread's own variables do when it ends, after its mark has been given back.
TEST(reader_marks, are_not_needed_at_a_threads_end) {
  static pair_behind_gate tested;
  struct late_reader {
    ~late_reader() { EXPECT_TRUE(tested.reads_the_same()); }
  };
  const std::uint32_t before = reader_marks::claimed();
  std::thread([] {
    thread_local const late_reader late;  // made before the mark is claimed, so it goes after it
    static_cast<void>(late);
    EXPECT_TRUE(tested.reads_the_same());
  }).join();
  EXPECT_EQ(reader_marks::claimed(), before);
  tested.change();
}

TEST(reader_marks, threads_without_one_are_counted) {
  constexpr int threads = reader_marks::most + 40;
  pair_behind_gate tested;
  std::atomic<std::uint64_t> torn = 0;
  std::atomic<int> without = 0;
  std::barrier all_have_read(threads + 1);
  std::vector<std::thread> readers;
  for (int r = 0; r < threads; ++r) {
    readers.emplace_back([&] {
      torn += !tested.reads_the_same();
      without += reader_marks::my_number() == reader_marks::most;
      all_have_read.arrive_and_wait();  // everybody is still there
      for (int i = 0; i < 200; ++i) torn += !tested.reads_the_same();
    });
  }
  all_have_read.arrive_and_wait();
  for (int i = 0; i < 200; ++i) tested.change();
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(torn, 0u);
  EXPECT_GE(without, 40);
}

// The child of a fork has one thread: the marks of others, who may have been reading, must not keep its closers waiting.
TEST(reader_marks, of_other_threads_are_gone_in_a_fork) {
  static pair_behind_gate tested;
  std::atomic<bool> is_inside = false, may_leave = false;
  std::thread reader([&] {
    const gate::passage in(tested.at);
    is_inside = true;
    while (!may_leave) std::this_thread::yield();
  });
  while (!is_inside) std::this_thread::yield();
  EXPECT_TRUE(tested.reads_the_same());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    read_quietly(tested.at);  // so that its closer needs the system's fence, if there is one
    tested.change();
    _exit(tested.reads_the_same() && reader_marks::claimed() == 1 ? 0 : 1);
  }
  int ended = 0;
  ASSERT_EQ(waitpid(child, &ended, 0), child);
  EXPECT_EQ(ended, 0);
  may_leave = true;
  reader.join();
}

}  // namespace
}  // namespace tamis::test
