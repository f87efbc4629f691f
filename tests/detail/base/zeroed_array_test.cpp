#include "tamis/detail/base/zeroed_array.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <thread>
#include <vector>

#include "tamis/detail/base/random.hpp"
#include "tamis/memory.hpp"
#include "tests/support/bytes.hpp"
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace tamis {

using namespace detail;

namespace {

constexpr std::uint64_t page = 2u << 20;  // a huge one
constexpr std::uint64_t enough = page / 16 * 11;

// Around the sizes at which tables are mapped instead of allocated (11/16 to 1, 27/16 to 2 huge pages, and from there on), and
// at odd sizes.
constexpr std::uint64_t sizes[] = {1,
                                   63,
                                   64,
                                   65,
                                   4095,
                                   enough - 1,
                                   enough,
                                   page - 1,
                                   page,
                                   page + 1,
                                   page + 54321,
                                   page + enough - 1,
                                   page + enough,
                                   2 * page - 1,
                                   2 * page,
                                   2 * page + 1,
                                   3 * page + 12345};

TEST(zeroed_array, is_zero_aligned_and_writable_to_the_last_byte) {
  for (const std::uint64_t size : sizes) {
    auto array = zeroed_array<std::uint8_t>::make(size).value();
    EXPECT_EQ(array.size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % cache_line_bytes, 0u);
    EXPECT_EQ(std::accumulate(array.begin(), array.end(), std::uint64_t{0}), 0u);
    std::fill(array.begin(), array.end(), std::uint8_t{1});
    EXPECT_EQ(std::accumulate(array.begin(), array.end(), std::uint64_t{0}), size);
  }
}

TEST(zeroed_array, large_ones_stand_on_huge_pages) {
  for (const std::uint64_t size : {enough, page, page + enough, 2 * page, 4 * page}) {
    SCOPED_TRACE(size);
    const auto array = zeroed_array<std::uint8_t>::make(size).value();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % page, 0u);
  }
}

TEST(zeroed_array, empty_one_takes_no_memory) {
  const auto array = zeroed_array<std::uint64_t>::make(0).value();
  EXPECT_EQ(array.size(), 0u);
  EXPECT_EQ(array.data(), nullptr);
  EXPECT_EQ(array, zeroed_array<std::uint64_t>());
}

// Many arrays of middling size share regions of huge pages: they must not overlap, and come back zero.
TEST(zeroed_array, many_parts_come_and_go) {
  constexpr std::uint64_t seed = 17;
  SCOPED_TRACE(seed);
  random_source random(seed);
  constexpr std::uint64_t part_sizes[] = {1024, 1500, 20000, 65536, 300000, 1u << 20};
  struct part {
    zeroed_array<std::uint8_t> bytes;
    std::uint8_t mark;
  };
  const auto is_all = [](const zeroed_array<std::uint8_t>& bytes, std::uint8_t value) {
    return std::all_of(bytes.begin(), bytes.end(), [value](std::uint8_t b) { return b == value; });
  };
  std::vector<part> parts;
  for (int round = 0; round < 3; ++round) {
    for (int step = 0; step < 300; ++step) {
      auto made = zeroed_array<std::uint8_t>::make(part_sizes[random.below(std::size(part_sizes))]).value();
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(made.data()) % cache_line_bytes, 0u);
      ASSERT_TRUE(is_all(made, 0));
      const auto mark = static_cast<std::uint8_t>(1 + random.below(255));
      std::fill(made.begin(), made.end(), mark);
      parts.push_back({std::move(made), mark});
      if (random.below(3) == 0) {
        std::swap(parts[random.below(parts.size())], parts.back());
        ASSERT_TRUE(is_all(parts.back().bytes, parts.back().mark));
        parts.pop_back();
      }
    }
    for (const part& p : parts) ASSERT_TRUE(is_all(p.bytes, p.mark));
    if (round == 1) parts.clear();  // whole regions go, and new ones come
  }
}

TEST(zeroed_array, parts_are_made_and_freed_by_many_threads) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (std::uint8_t t = 1; t <= 4; ++t) {
    threads.emplace_back([t, &wrong] {
      std::vector<zeroed_array<std::uint8_t>> mine;
      for (std::uint64_t step = 0; step < 400; ++step) {
        mine.push_back(zeroed_array<std::uint8_t>::make(1024 + 4096 * (step % 50)).value());
        auto& made = mine.back();
        for (const std::uint8_t b : made) wrong += b != 0;
        std::fill(made.begin(), made.end(), t);
        if (step % 3 == 0) {
          for (const std::uint8_t b : mine.front()) wrong += b != t;
          mine.erase(mine.begin());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

long page_faults(int whose) {
  rusage used{};
  getrusage(whose, &used);
  return used.ru_minflt;
}

// What was prepared is not found again page by page: 12 MiB of parts would be six huge pages, or thousands of small ones.
TEST(zeroed_array, parts_of_prepared_memory_need_no_page_faults) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers allocate parts one by one, or have page faults of their own";
#endif
  const auto faults = [] { return page_faults(RUSAGE_SELF); };
  constexpr std::uint64_t part = 20'000;
  std::vector<zeroed_array<std::uint8_t>> parts;
  parts.reserve(1000);
  const auto take = [&](std::uint64_t bytes) {
    for (std::uint64_t taken = 0; taken < bytes; taken += part) {
      parts.push_back(zeroed_array<std::uint8_t>::make(part).value());
      std::fill(parts.back().begin(), parts.back().end(), std::uint8_t{1});
    }
  };
  take(5u << 20);  // from here on there are enough parts to share regions
  prepare_small_tables(24u << 20);
  take(4u << 20);  // uses up the region that was begun before
  const long before = faults();
  take(8u << 20);
  EXPECT_LE(faults() - before, 3);  // the bookkeeping may need one
}

// Whoever must not wait gets small pages until a thread has found a large one; then parts come without any page fault.
TEST(zeroed_array, who_must_not_wait_soon_finds_memory_prepared) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers allocate parts one by one, or have page faults of their own";
#endif
  const auto faults = [] { return page_faults(RUSAGE_THREAD); };
  constexpr std::uint64_t part = 20'000;  // five small pages
  prepare_ahead(true);
  const no_waiting here;
  std::vector<zeroed_array<std::uint8_t>> parts;
  parts.reserve(100'000);
  unsigned without_faults = 0;
  for (unsigned taken = 0; taken < 20'000 && without_faults < 20; ++taken) {
    const long before = faults();
    parts.push_back(zeroed_array<std::uint8_t>::make(part).value());
    ASSERT_TRUE(std::all_of(parts.back().begin(), parts.back().end(), [](std::uint8_t b) { return b == 0; }));
    std::fill(parts.back().begin(), parts.back().end(), static_cast<std::uint8_t>(taken));
    without_faults = faults() == before ? without_faults + 1 : 0;
    if (taken > 300) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // 6 MB
  }
  prepare_ahead(false);
  EXPECT_EQ(without_faults, 20u);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto mark = static_cast<std::uint8_t>(i);
    ASSERT_TRUE(std::all_of(parts[i].begin(), parts[i].end(), [mark](std::uint8_t b) { return b == mark; })) << i;
  }
}

std::ptrdiff_t threads_of_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

std::ptrdiff_t most_threads_while_making_parts() {
  const no_waiting here;
  std::vector<zeroed_array<std::uint8_t>> parts;
  std::ptrdiff_t most = 0;
  for (unsigned taken = 0; taken < 1000; ++taken) {
    parts.push_back(zeroed_array<std::uint8_t>::make(20'000).value());
    most = std::max(most, threads_of_process());
  }
  return most;
}
TEST(zeroed_array, no_thread_is_started_unless_asked_for) {
  const std::ptrdiff_t before = threads_of_process();  // one that was begun may still end
  EXPECT_LE(most_threads_while_making_parts(), before);
}

#if defined(__SANITIZE_ADDRESS__)
// So many parts would share regions, where what runs over the end of one is in the next.
TEST(zeroed_array, the_sanitizer_sees_what_runs_over_the_end_of_a_part) {
  std::vector<zeroed_array<std::uint8_t>> parts;
  for (int i = 0; i < 300; ++i) parts.push_back(zeroed_array<std::uint8_t>::make(313 * cache_line_bytes).value());
  for (const auto& part : parts) ASSERT_TRUE(__asan_address_is_poisoned(part.data() + part.size()));
}
#endif

// A child process must not find the pool locked by a thread that it does not have.
TEST(zeroed_array, a_forked_process_can_make_parts) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer does not support it";
#endif
  prepare_ahead(true);
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&done] {
      const no_waiting here;
      while (!done) {
        std::vector<zeroed_array<std::uint8_t>> parts;
        for (int i = 0; i < 300; ++i) parts.push_back(zeroed_array<std::uint8_t>::make(20'000).value());
      }
    });
  }
  int ended_well = 0;
  constexpr int children = 40;
  while (ended_well < children) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      const no_waiting here;
      std::vector<zeroed_array<std::uint8_t>> parts;
      for (int i = 0; i < 300; ++i) parts.push_back(zeroed_array<std::uint8_t>::make(20'000).value());
      _exit(0);
    }
    int how = 0;
    if (child < 0 || waitpid(child, &how, 0) != child || !WIFEXITED(how) || WEXITSTATUS(how) != 0) break;
    ++ended_well;
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  prepare_ahead(false);
  EXPECT_EQ(ended_well, children);
}

TEST(zeroed_array, parts_without_waiting_are_made_by_many_threads) {
  prepare_ahead(true);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (std::uint8_t t = 1; t <= 4; ++t) {
    threads.emplace_back([t, &wrong] {
      const no_waiting outer;
      std::vector<zeroed_array<std::uint8_t>> mine;
      for (std::uint64_t step = 0; step < 400; ++step) {
        if (step % 7 == 0) const no_waiting inner;
        mine.push_back(zeroed_array<std::uint8_t>::make(1024 + 4096 * (step % 50)).value());
        for (const std::uint8_t b : mine.back()) wrong += b != 0;
        std::fill(mine.back().begin(), mine.back().end(), t);
        if (step % 3 == 0) {
          for (const std::uint8_t b : mine.front()) wrong += b != t;
          mine.erase(mine.begin());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  prepare_ahead(false);
  EXPECT_EQ(wrong, 0);
}

TEST(zeroed_array, copies_are_independent) {
  for (const std::uint64_t size : sizes) {
    auto original = zeroed_array<std::uint8_t>::make(size).value();
    original[size - 1] = 7;
    zeroed_array<std::uint8_t> copy = original;
    EXPECT_EQ(copy, original);
    copy[0] = 9;
    EXPECT_NE(copy, original);
    copy = original;
    EXPECT_EQ(copy, original);
    const zeroed_array<std::uint8_t>& same = copy;
    copy = same;
    EXPECT_EQ(copy, original);
  }
}

TEST(zeroed_array, moving_leaves_no_second_owner) {
  auto first = zeroed_array<std::uint32_t>::make(100).value();
  first[5] = 42;
  zeroed_array<std::uint32_t> second = std::move(first);
  EXPECT_EQ(second[5], 42u);
  zeroed_array<std::uint32_t> third;
  third = std::move(second);
  EXPECT_EQ(third[5], 42u);
}

TEST(zeroed_array, sizes_that_cannot_be_are_refused) {
  EXPECT_TRUE(test::refused(zeroed_array<std::uint64_t>::make(~std::uint64_t{0}), "2^64"));
  EXPECT_TRUE(test::refused(zeroed_array<std::uint64_t>::make(std::uint64_t{1} << 58), "memory"));
  EXPECT_TRUE(test::refused(zeroed_array<std::uint8_t>::make(~std::uint64_t{0}), "memory"));
}

TEST(format_bytes, takes_the_fitting_unit) {
  EXPECT_EQ(format_bytes(0), "0 bytes");
  EXPECT_EQ(format_bytes(1023), "1023 bytes");
  EXPECT_EQ(format_bytes(1024), "1.0 KiB");
  EXPECT_EQ(format_bytes(std::uint64_t{3} << 29), "1.5 GiB");
  EXPECT_EQ(format_bytes(~std::uint64_t{0}), "16.0 EiB");
}

#ifdef __linux__
// A huge page that a table hardly begins would be taken whole.
TEST(zeroed_array, the_end_of_a_table_takes_what_it_needs) {
  constexpr std::uint64_t page = 4096;
  for (const std::uint64_t bytes : {(std::uint64_t{4} << 20) + 3 * page, (std::uint64_t{17} << 20) + page / 2}) {
    auto table = zeroed_array<std::uint8_t>::make(bytes).value();
    std::memset(table.data(), 1, bytes);
    const std::uint64_t mapped = divide_up(bytes, std::uint64_t{2} << 20) * (std::uint64_t{2} << 20);
    std::vector<unsigned char> resident(mapped / page);
    ASSERT_EQ(mincore(table.data(), mapped, resident.data()), 0);
    const auto pages = std::count_if(resident.begin(), resident.end(), [](unsigned char in) { return (in & 1) != 0; });
    EXPECT_LE(static_cast<std::uint64_t>(pages), bytes / page + 1);
  }
}
#endif

}  // namespace
}  // namespace tamis
